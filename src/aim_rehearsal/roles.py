"""The identities of a rehearsal and what each may do.

``admin`` may do everything and exists on every local API. ``migration`` has the rights that R's plan and apply need and
no others: no Secrets, no deletes. ``viewer`` may only read. ``operator`` has what the operator's chart grants.
"""

from collections.abc import Mapping, Sequence

from aim_api.kinds import AIM_GROUP, AIM_KINDS, KSERVE_GROUP, KSERVE_KINDS
from aim_api.tree import Json, JsonObject

MIGRATION = "migration"
VIEWER = "viewer"
OPERATOR = "operator"
IDENTITIES: Mapping[str, Sequence[str]] = {MIGRATION: (), VIEWER: (), OPERATOR: ()}

_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_ALL = (*_READ, "create", "update", "patch", "delete")
_AIM = tuple(sorted(kind.plural for kind in AIM_KINDS))
_KSERVE = tuple(sorted(kind.plural for kind in KSERVE_KINDS))


def role_objects() -> list[JsonObject]:
    """Return one ClusterRole and one ClusterRoleBinding for each identity."""
    return [item for identity, rules in _RULES.items() for item in _granted(identity, rules)]


def _rule(group: str, resources: Sequence[str], verbs: Sequence[str]) -> JsonObject:
    return {"apiGroups": [group], "resources": [*resources], "verbs": [*verbs]}


_READS = (
    _rule(AIM_GROUP, _AIM, _READ),
    _rule(KSERVE_GROUP, _KSERVE, _READ),
    _rule("", ("namespaces", "persistentvolumeclaims", "pods", "events", "configmaps"), _READ),
    _rule("apps", ("deployments", "replicasets"), _READ),
    _rule("batch", ("jobs",), _READ),
    _rule("apiextensions.k8s.io", ("customresourcedefinitions",), _READ),
    _rule("admissionregistration.k8s.io", ("mutatingwebhookconfigurations", "validatingwebhookconfigurations"), _READ),
)
_RULES: dict[str, Sequence[JsonObject]] = {
    MIGRATION: (
        *_READS,
        _rule(AIM_GROUP, ("aimprofiles", "aimprofilecaches"), ("create",)),
        _rule(AIM_GROUP, ("aimartifacts", "aimservices"), ("patch",)),
    ),
    VIEWER: _READS,
    OPERATOR: (
        _rule(AIM_GROUP, (*_AIM, *(f"{plural}/status" for plural in _AIM)), _ALL),
        _rule(KSERVE_GROUP, (*_KSERVE, "inferenceservices/status"), _ALL),
        _rule("", ("persistentvolumeclaims", "pods", "configmaps"), _ALL),
        _rule("", ("persistentvolumeclaims/status", "pods/status"), _ALL),
        _rule("", ("namespaces", "nodes"), _READ),
        _rule("apps", ("deployments", "replicasets", "deployments/status", "replicasets/status"), _ALL),
        _rule("batch", ("jobs", "jobs/status"), _ALL),
    ),
}


def _granted(identity: str, rules: Sequence[JsonObject]) -> tuple[JsonObject, JsonObject]:
    name = f"aim-rehearsal-{identity}"
    listed: list[Json] = [*rules]
    role: JsonObject = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": listed,
    }
    binding: JsonObject = {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": identity}],
    }
    return role, binding
