"""What a rehearsal is about: a world, and what of the original it supplies or cannot show."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from aim_api.bridge import COMPATIBLE_CONDITION
from aim_api.kinds import AIM_SERVICE
from aim_api.tree import JsonObject, get_int, get_objects, get_str
from aim_rehearsal.worlds import World
from aim_rehearsal.worlds.applying import object_reference
from aim_rehearsal.worlds.defaults import unknown_fields
from aim_template_migration.documents.plan import ClusterIdentity
from aim_template_migration.planning.checks.pipeline import crd_faults

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """What is rehearsed.

    Attributes:
        world: the objects.
        supplied: proofs that the original lacks and the simulation supplies, one phrase each.
        not_rehearsed: what this rehearsal cannot show of the original, one sentence each.
        places: where objects stand that the server has yet to accept, by ``Kind/namespace/name``.
    """

    world: World
    supplied: tuple[str, ...] = ()
    not_rehearsed: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict)


def missing_proofs(objects: Iterable[JsonObject], identity: ClusterIdentity | None = None) -> tuple[str, ...]:
    """Return what the simulated bridge adds to copied services that their own cluster does not say of them (pure).

    To a service that is being deleted it adds nothing.

    Args:
        objects: the copied objects.
        identity: the definitions of the cluster that they come from, where it was asked.
    """
    services = [item for item in objects if get_str(item, "kind") == AIM_SERVICE.name and not _is_going(item)]
    unproven = [item for item in services if not _is_proven(item)]
    unobserved = [item for item in services if not _is_observed(item)]
    return (*_crds(identity), *_bridge(services, unproven), *_observation(services, unobserved))


def unknown_content(objects: Iterable[JsonObject]) -> tuple[str, ...]:
    """Return what the rehearsal's CRDs do not know of copied objects (pure)."""
    found = {object_reference(item): fields for item in objects if (fields := unknown_fields(item))}
    if not found:
        return ()
    first, fields = next(iter(found.items()))
    sentence = (
        f"{count(len(found), 'object has', 'objects have')} fields that the rehearsal's CRDs do not know, for example "
        f"{first}: {', '.join(fields[:_NAMED])}; the first write to such an object drops them."
    )
    return (sentence,)


def named(references: Iterable[str]) -> str:
    """Return some names, the first few of them."""
    given = list(references)
    more = f" and {len(given) - _NAMED:,} more" if len(given) > _NAMED else ""
    return f"{', '.join(given[:_NAMED])}{more}"


def count(number: int, one: str, many: str) -> str:
    """Return a number with its noun: ``1 object has``, ``3 objects have``."""
    return f"{number:,} {one if number == 1 else many}"


def _crds(identity: ClusterIdentity | None) -> tuple[str, ...]:
    faults = [f"{kind.crd_name} ({why})" for kind, why in crd_faults(identity)] if identity is not None else []
    return (f"the CRDs of a bridge build, which the cluster itself lacks: {named(faults)}",) if faults else ()


def _bridge(services: list[JsonObject], unproven: list[JsonObject]) -> tuple[str, ...]:
    if not unproven:
        return ()
    if len(unproven) == len(services) and not any(_condition(item) for item in services):
        phrase = (
            f"the bridge itself: none of the copied services reports the condition {COMPATIBLE_CONDITION}, so nothing "
            "shows that the cluster's own operator is a bridge build; there, plan makes every unit manual with "
            "BridgeNotProven"
        )
    else:
        phrase = (
            f"{COMPATIBLE_CONDITION}=True at the present generation of {len(unproven):,} of {len(services):,} copied "
            f"services, of which their own cluster does not say it: {named(map(object_reference, unproven))}"
        )
    return (phrase,)


def _observation(services: list[JsonObject], unobserved: list[JsonObject]) -> tuple[str, ...]:
    if not unobserved:
        return ()
    phrase = (
        f"status.observedGeneration of {len(unobserved):,} of {len(services):,} copied services, whose own cluster has "
        f"not observed their present generation: {named(map(object_reference, unobserved))}"
    )
    return (phrase,)


def _condition(service: JsonObject) -> JsonObject | None:
    found = (item for item in get_objects(service, "status", "conditions") if item.get("type") == COMPATIBLE_CONDITION)
    return next(found, None)


def _is_proven(service: JsonObject) -> bool:
    condition = _condition(service) or {}
    if condition.get("status") == "False":
        return True  # a refusal is no proof that is missing; the simulation repeats it
    same = condition.get("observedGeneration") == get_int(service, "metadata", "generation")
    return condition.get("status") == "True" and same


def _is_going(service: JsonObject) -> bool:
    return bool(get_str(service, "metadata", "deletionTimestamp"))


def _is_observed(service: JsonObject) -> bool:
    return get_int(service, "status", "observedGeneration") == get_int(service, "metadata", "generation")
