"""Every request that the tool makes, as one table: kind, verb, where, and which role it belongs to (pure).

``rbac`` prints roles from it, and tests hold it to the requests that commands really make on a real API server: no
request outside the table, no row without a request (R grants nothing itself: the tool installs no RBAC).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_KINDS,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    CLUSTER_SERVING_RUNTIME,
    CRD,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    MUTATING_WEBHOOKS,
    NAMESPACE,
    POD,
    PVC,
    REPLICA_SET,
    SERVING_RUNTIME,
    VALIDATING_WEBHOOKS,
    Kind,
)

RoleName = Literal["read", "apply"]
Verb = Literal["get", "list", "create", "patch"]

KUBE_SYSTEM = "kube-system"

DEFINED_KINDS = (*AIM_KINDS, INFERENCE_SERVICE, SERVING_RUNTIME)


@dataclass(frozen=True, slots=True)
class Permission:
    """One row: a verb on a kind.

    Attributes:
        kind: the kind; its scope says whether a Role or a ClusterRole grants it.
        verb: the verb.
        role: ``read`` for every read-only command, ``apply`` for what apply asks beyond that, dry run or commit.
        names: the only object names that are asked for; empty for any.
        namespace: the only namespace that is asked in, where it need be none of the selected ones.
        optional: whether a command that is refused it goes on, and says what it could not check.
    """

    kind: Kind
    verb: Verb
    role: RoleName
    names: tuple[str, ...] = ()
    namespace: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class OperatorPlace:
    """Where the operator's Deployment is.

    Attributes:
        namespace: its namespace.
        name: its name.
    """

    namespace: str
    name: str

    def __str__(self) -> str:
        """Return ``NAMESPACE/NAME``."""
        return f"{self.namespace}/{self.name}"


OPERATOR = OperatorPlace("aim-system", "aim-engine-controller-manager")
"""Where the operator's own chart installs it (profile pipeline facts, install)."""


LISTED_KINDS = (
    AIM_SERVICE,
    AIM_MODEL,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    AIM_ARTIFACT,
    AIM_RUNTIME_CONFIG,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    INFERENCE_SERVICE,
    PVC,
    DEPLOYMENT,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_PROFILE,
)
"""What a plan lists: in each selected namespace, or once where the kind has none."""

PERMISSIONS: tuple[Permission, ...] = (
    Permission(CRD, "get", "read", tuple(kind.crd_name for kind in DEFINED_KINDS)),
    Permission(NAMESPACE, "get", "read", (KUBE_SYSTEM,), optional=True),
    *(Permission(kind, "list", "read") for kind in LISTED_KINDS),
    # A pinned object is read on its own, whatever a list said a moment ago; inspect and verify do so, and apply.
    *(Permission(kind, "get", "read") for kind in LISTED_KINDS),
    *(Permission(kind, "get", "read") for kind in (SERVING_RUNTIME, CLUSTER_SERVING_RUNTIME)),
    Permission(POD, "list", "read"),
    # rehearse copies them, and says what it cannot show where it may not look.
    *(Permission(kind, "list", "read", optional=True) for kind in (REPLICA_SET, JOB)),
    # preflight says so where it may not look.
    *(Permission(kind, "list", "read", optional=True) for kind in (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS)),
    Permission(JOB, "list", "apply"),
    Permission(AIM_PROFILE, "create", "apply"),
    Permission(AIM_PROFILE_CACHE, "create", "apply"),
    Permission(AIM_ARTIFACT, "patch", "apply"),
    Permission(AIM_SERVICE, "patch", "apply"),
)


def operator_permission(operator: OperatorPlace = OPERATOR) -> Permission:
    """Return the row for the operator's own Deployment, which preflight compares with the CRDs."""
    return Permission(DEPLOYMENT, "get", "read", (operator.name,), namespace=operator.namespace, optional=True)


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a role, as RBAC writes it; kinds of one group with the same verbs and names share a rule."""

    group: str
    resources: tuple[str, ...]
    verbs: tuple[str, ...]
    names: tuple[str, ...] = ()


def permissions_of(role: RoleName) -> tuple[Permission, ...]:
    """Return the rows of a role in the selected namespaces; ``apply`` includes ``read``, since it classifies afresh."""
    return tuple(row for row in PERMISSIONS if role == "apply" or row.role == "read")


def rules(role: RoleName, namespaces: Iterable[str], *, namespaced: bool) -> tuple[Rule, ...]:
    """Return the rules for one scope: those of the ClusterRole, or those of a Role in each selected namespace.

    Args:
        role: which role.
        namespaces: the selected namespaces, which are read by name.
        namespaced: whether the rules are for a Role.
    """
    chosen = tuple(namespaces)
    rows = (row for row in permissions_of(role) if row.kind.namespaced == namespaced)
    return _rules((row, tuple(sorted({*row.names, *chosen})) if row.kind is NAMESPACE else row.names) for row in rows)


def operator_rules(operator: OperatorPlace = OPERATOR) -> tuple[Rule, ...]:
    """Return the rules for a Role in the operator's own namespace."""
    row = operator_permission(operator)
    return _rules([(row, row.names)])


def _rules(rows: Iterable[tuple[Permission, tuple[str, ...]]]) -> tuple[Rule, ...]:
    verbs: dict[tuple[Kind, tuple[str, ...]], set[str]] = {}
    for row, names in rows:
        verbs.setdefault((row.kind, names), set()).add(row.verb)
    grouped: dict[tuple[str, tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for (kind, names), asked in verbs.items():
        grouped.setdefault((kind.group, tuple(sorted(asked)), names), []).append(kind.plural)
    return tuple(
        Rule(group, tuple(sorted(plurals)), asked, names) for (group, asked, names), plurals in sorted(grouped.items())
    )
