"""Which admission webhooks would refuse the migration's dry runs (pure).

Kubernetes refuses a dry run that a webhook with side effects would see; the cutover is always sent as a dry run first,
so such a webhook stops a commit as well (pain of neighbouring tools: a dry run refused by a webhook).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_PROFILE_CACHE, AIM_SERVICE, Kind
from aim_api.tree import JsonObject, get_list, get_map, get_objects, get_str

WRITES: tuple[tuple[Kind, str], ...] = (
    (AIM_PROFILE, "CREATE"),
    (AIM_PROFILE_CACHE, "CREATE"),
    (AIM_ARTIFACT, "UPDATE"),
    (AIM_SERVICE, "UPDATE"),
)
"""The writes of the migration, as admission names their operations."""

_HARMLESS = frozenset({"None", "NoneOnDryRun"})


@dataclass(frozen=True, slots=True)
class Refusing:
    """A webhook that would refuse a dry run.

    Attributes:
        configuration: ``Kind/name`` of its configuration.
        webhook: its name.
        side_effects: what it declares, empty for nothing.
        writes: which of the migration's writes it sees.
        certain: False where a selector or a match condition may leave them out.
    """

    configuration: str
    webhook: str
    side_effects: str
    writes: tuple[str, ...]
    certain: bool


def refusing(configurations: Iterable[JsonObject]) -> Iterator[Refusing]:
    """Yield the webhooks that would refuse a dry run of the migration."""
    for configuration in configurations:
        name = f"{get_str(configuration, 'kind')}/{get_str(configuration, 'metadata', 'name')}"
        for webhook in get_objects(configuration, "webhooks"):
            side_effects = get_str(webhook, "sideEffects") or ""
            writes = tuple(
                f"{operation} of {kind.name}" for kind, operation in WRITES if _sees(webhook, kind, operation)
            )
            if side_effects not in _HARMLESS and writes:
                yield Refusing(
                    name, get_str(webhook, "name") or "", side_effects, writes, certain=not _selects(webhook)
                )


def _sees(webhook: JsonObject, kind: Kind, operation: str) -> bool:
    exact = get_str(webhook, "matchPolicy") == "Exact"
    return any(_fits(rule, kind, operation, exact=exact) for rule in get_objects(webhook, "rules"))


def _fits(rule: JsonObject, kind: Kind, operation: str, *, exact: bool) -> bool:
    """Return whether a rule matches a write; by default it matches the resource at any of its versions."""
    return (
        _names(rule, "operations", operation)
        and _names(rule, "apiGroups", kind.group)
        and (not exact or _names(rule, "apiVersions", kind.version))
        and (_names(rule, "resources", kind.plural) or "*/*" in get_list(rule, "resources"))
        and get_str(rule, "scope") in (None, "*", "Namespaced")
    )


def _names(rule: JsonObject, field: str, value: str) -> bool:
    listed = get_list(rule, field)
    return "*" in listed or value in listed


def _selects(webhook: JsonObject) -> bool:
    selectors = (get_map(webhook, "namespaceSelector"), get_map(webhook, "objectSelector"))
    return any(selectors) or bool(get_list(webhook, "matchConditions"))
