"""The guide's validation traps (G): which row of its table a finding is, and what v1alpha2 has instead.

The rules themselves are part of the CustomResourceDefinitions; a real server, the local API and the offline validation
all say the same because all three evaluate those. Here their findings are only recognised.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from aim_api.tree import JsonObject, Key, get, get_list, has


@dataclass(frozen=True, slots=True)
class Trap:
    """One field of one row.

    Attributes:
        row: the row of the guide's table, counted from 1; 0 for a rule that the guide states outside of it.
        kind: the namespaced kind; the cluster-scoped one has the same rule.
        field: the field that the finding names.
        problem: words of its message that no other rule about the field has.
    """

    row: int
    kind: str
    field: str
    problem: str


_REMOVED = "is not part of v1alpha2"
_NOT_OF_CLUSTERS = "is not part of AIMClusterProfile"
_WITH_MODEL_ID = "cannot be set with spec.modelId"
_DERIVED = "spec.profiles.derivedFrom"

TRAPS: tuple[Trap, ...] = (
    *(
        Trap(row, "AIMModel", f"spec.{field}", _REMOVED)
        for row, field in enumerate(("modelSources", "custom", "customTemplates", "profileCopy", "derivedFrom"), 1)
    ),
    Trap(6, "AIMModel", "spec.modelId", "cannot be set with"),
    Trap(7, "AIMModel", "spec", "needs one of"),
    Trap(8, "AIMModel", _DERIVED, "is required without spec.image"),
    Trap(9, "AIMModel", f"{_DERIVED}.sourceRef", "cannot be set with spec.image"),
    Trap(9, "AIMModel", f"{_DERIVED}.selector.modelRef", "cannot be set with spec.image"),
    Trap(10, "AIMModel", "spec.source", "needs spec.modelId"),
    Trap(10, "AIMModel", "spec.accelerator", "needs spec.modelId"),
    *(
        Trap(11, "AIMModel", f"spec.{field}", "cannot be set with spec.profiles")
        for field in ("aimId", "source", "runtimeConfigName")
    ),
    *(
        Trap(12, "AIMModel", f"spec.{field}", _WITH_MODEL_ID)
        for field in (
            "discovery",
            "env",
            "imagePullSecrets",
            "serviceAccountName",
            "resources",
            "defaultServiceTemplate",
            "imageMetadata",
        )
    ),
    Trap(13, "AIMService", "spec.template", _REMOVED),
    Trap(14, "AIMService", "spec.overrides", _REMOVED),
    Trap(15, "AIMService", "spec.profileOverrides", "needs spec.profile"),
    Trap(16, "AIMService", "spec.profile.selector.role", "must be deployable"),
    Trap(17, "AIMService", "spec.profile.selector", "needs an anchor"),
    Trap(0, "AIMProfile", "spec.caching", _NOT_OF_CLUSTERS),
)

_LISTS = ("modelSources", "customTemplates")


def trap_of(kind: str, field: str, message: str) -> Trap | None:
    """Return the trap that a finding is, or None."""
    family = kind.replace("AIMCluster", "AIM")
    return next(
        (trap for trap in TRAPS if trap.kind == family and trap.field == field and trap.problem in message), None
    )


def equivalent_of(message: str) -> str:
    """Return what a rule's message says to write instead: what stands behind its reason."""
    _, separator, advice = message.partition(": ")
    _, further, instead = advice.partition(": ")
    return (instead if further else "") if separator else ""


@cache
def forbidden_fields(kind: str) -> frozenset[str]:
    """Return the fields that the schema of a kind knows at v1alpha2, only to refuse them."""
    family = kind.replace("AIMCluster", "AIM")
    problems = (_REMOVED, _NOT_OF_CLUSTERS) if family != kind else (_REMOVED,)
    return frozenset(trap.field for trap in TRAPS if trap.kind == family and trap.problem in problems)


def removed_fields(kind: str, value: JsonObject) -> Iterator[tuple[Key, ...]]:
    """Yield the fields of an object that are refused wherever they stand.

    A server does not get to these rules while the object has other faults; a person wants to know all at once.
    """
    for field in sorted(forbidden_fields(kind)):
        path = tuple(field.split("."))
        if has(value, *path) and (
            path[-1] not in _LISTS or (get_list(value, *path) or get(value, *path) not in ([], None))
        ):
            yield path
