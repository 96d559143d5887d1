"""``rbac``: print the least-privilege roles; nothing is installed."""

import argparse

import msgspec

from aim_api.tree import Json, JsonObject
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE
from aim_template_migration.cli.options.rbac import RbacArguments, read
from aim_template_migration.documents.backup_yaml import emit, join_documents
from aim_template_migration.kube.permissions import OPERATOR, OperatorPlace, RoleName, Rule, operator_rules, rules

_API_VERSION = "rbac.authorization.k8s.io/v1"
_HEAD = """\
Least-privilege roles for aim-template-migration ({role}). Nothing was installed: review them, apply them yourself, and
bind the ClusterRole with a ClusterRoleBinding and each Role with a RoleBinding to the identity that runs the tool.
/version and SelfSubjectAccessReview need no rule: Kubernetes grants them to every authenticated user by default.
"""


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Print the roles; return 0.

    Raises:
        CommandStopped: no namespace is named.
    """
    arguments = read(parsed)
    objects = role_objects(arguments)
    if parsed.output == "json":
        listed: list[Json] = [*objects]
        data = msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": listed})
        console.answer(msgspec.json.format(data, indent=2).decode())
    else:
        head = _HEAD.format(role=arguments.role)
        console.answer(join_documents(head, (emit(item) for item in objects)))
    return DONE.number


def role_objects(arguments: RbacArguments) -> tuple[JsonObject, ...]:
    """Return one ClusterRole for what lives outside namespaces, and one Role in each namespace.

    The Role in the operator's own namespace grants its Deployment alone, which ``preflight`` compares with the CRDs.
    """
    role: RoleName = "apply" if arguments.role == "apply" else "read"
    name = f"aim-template-migration-{role}"
    chosen = arguments.namespaces
    cluster = _role("ClusterRole", {"name": name}, rules(role, chosen, namespaced=False))
    inside = rules(role, chosen, namespaced=True)
    granted = dict.fromkeys(chosen, inside)
    operator = OperatorPlace(*arguments.operator) if arguments.operator else OPERATOR
    granted[operator.namespace] = (*granted.get(operator.namespace, ()), *operator_rules(operator))
    return cluster, *(_role("Role", {"name": name, "namespace": where}, found) for where, found in granted.items())


def _role(kind: str, metadata: JsonObject, granted: tuple[Rule, ...]) -> JsonObject:
    return {"apiVersion": _API_VERSION, "kind": kind, "metadata": metadata, "rules": [_rule(rule) for rule in granted]}


def _rule(rule: Rule) -> JsonObject:
    entry: JsonObject = {"apiGroups": [rule.group], "resources": [*rule.resources], "verbs": [*rule.verbs]}
    return {**entry, "resourceNames": [*rule.names]} if rule.names else entry
