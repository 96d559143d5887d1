"""What a migration leaves in place, and what removing the old API would take with it (pure).

Nothing of it is this tool's to remove: after separate validation and approval, administrators may (R, "Partial
recovery"). Facts about deletion: legacy pipeline facts, deletion; Kubernetes' garbage collector deletes an object once
none of its owners exists.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from aim_api.kinds import AIM_ARTIFACT, AIM_GROUP, AIM_KINDS, DUAL_VERSION_KINDS, LEGACY_VERSION, Kind
from aim_template_migration.applying.readiness import is_protected
from aim_template_migration.documents.plan import OwnerReference, Unit
from aim_template_migration.documents.verification import Remaining, Removal
from aim_template_migration.inspecting.live import Migration, UnitLive

LEGACY_KINDS: tuple[Kind, ...] = tuple(kind for kind in AIM_KINDS if kind.version == LEGACY_VERSION)
_LEGACY_API = f"{AIM_GROUP}/{LEGACY_VERSION}"
_SHOWN = 3

_CACHE = (
    "kept for services that still use it; its deletion runs a finalizer, and a service that still uses it makes it anew"
)
_TEMPLATE = "kept, because other services may resolve to it; its deletion takes along the caches that it owns"
_PROTECTED = "spared by quota eviction; without the protection a quota can delete weights that only profile caches use"
_PINNED = (
    "the next change of its spec resumes normal rendering and can roll the workload; so does removing the annotations, "
    "or running an operator that is not the bridge"
)
_INPUTS = {
    "AIMRuntimeConfig": ", which the profile pipeline still reads",
    "AIMClusterRuntimeConfig": ", which the profile pipeline still reads",
    AIM_ARTIFACT.name: ", which hold the weights of the target caches",
}


@dataclass(frozen=True, slots=True)
class Known:
    """One object that was read.

    Attributes:
        id: ``Kind/namespace/name``.
        kind: its kind.
        uid: its UID.
        owners: its owner references.
    """

    id: str
    kind: str
    uid: str
    owners: tuple[OwnerReference, ...]


def remaining_of(migration: Migration, live: UnitLive, stale: str) -> Iterator[Remaining]:
    """Yield what is left in place of one migrated unit.

    Args:
        migration: the unit.
        live: what is there now.
        stale: why the plan's forecast of the pin's end is no longer whole, or empty.
    """
    unit = migration.unit
    for reading in live.pins:
        if reading.observed is None:
            continue
        match reading.pin.role:
            case "templateCache":
                yield _left("LegacyTemplateCacheRemains", reading.pin.reference.id, _CACHE, unit)
            case "template":
                yield _left("LegacyTemplateRemains", reading.pin.reference.id, _TEMPLATE, unit)
            case "artifact" if is_protected(reading.raw):
                yield _left("ProtectionRemains", reading.pin.reference.id, _PROTECTED, unit)
            case "service" if _pin_is_active(migration, live, reading.observed.generation):
                changes = unit.after_expiry.changes if unit.after_expiry else ()
                yield Remaining("PinActive", unit.id, f"{_PINNED}; {stale}" if stale else _PINNED, (unit.id,), changes)
            case _:
                pass


def merged(items: Iterable[Remaining]) -> tuple[Remaining, ...]:
    """Return what remains, each object once with all the units it belongs to, by code and object."""
    found: dict[tuple[str, str], Remaining] = {}
    units: dict[tuple[str, str], list[str]] = {}
    for item in items:
        key = (item.code, item.object)
        found.setdefault(key, item)
        units.setdefault(key, []).extend(item.units)
    return tuple(msgspec.structs.replace(item, units=tuple(units[key])) for key, item in sorted(found.items()))


def known_objects(lives: Iterable[UnitLive]) -> dict[str, Known]:
    """Return every object that was read, by UID."""
    found: dict[str, Known] = {}
    for live in lives:
        for reading in live.pins:
            item = reading.observed
            if item is not None:
                found[item.uid] = Known(item.id, item.kind.name, item.uid, item.owner_references)
    return found


def removals(objects: Mapping[str, Known]) -> tuple[Removal, ...]:
    """Return what the removal of each v1alpha1 CRD, and of version v1alpha1 of the others, would take with it."""
    return tuple(
        item
        for item in (
            *(_removed_crd(kind, objects) for kind in LEGACY_KINDS),
            *(_removed_version(kind, objects) for kind in DUAL_VERSION_KINDS),
        )
        if item is not None
    )


def _removed_crd(kind: Kind, objects: Mapping[str, Known]) -> Removal | None:
    deleted = [item for item in objects.values() if item.kind == kind.name]
    if not deleted:
        return None
    gone = {item.uid for item in deleted}
    collected: list[Known] = []
    while True:
        orphans = [
            item
            for item in objects.values()
            if item.uid not in gone and item.owners and all(owner.uid in gone for owner in item.owners)
        ]
        if not orphans:
            break
        collected += orphans
        gone |= {item.uid for item in orphans}
    ids = tuple(sorted(item.id for item in deleted))
    followers = tuple(sorted(item.id for item in collected))
    then = f"garbage collection then deletes {_some(followers)}" if followers else "nothing read here is owned by them"
    message = f"removing this CRD deletes {_some(ids)}{_INPUTS.get(kind.name, '')}; {then}"
    cascades = bool(followers) or kind.name == AIM_ARTIFACT.name
    return Removal(kind.crd_name, cascades, ids, followers, message)


def _removed_version(kind: Kind, objects: Mapping[str, Known]) -> Removal | None:
    """Removing a version deletes nothing, but owner references that name it can't be resolved any more."""
    named = tuple(
        sorted(
            item.id
            for item in objects.values()
            if any((owner.api_version, owner.kind) == (_LEGACY_API, kind.name) for owner in item.owners)
        )
    )
    if not named:
        return None
    message = (
        f"removing version {LEGACY_VERSION} alone deletes nothing, but the owner references of {_some(named)} name it "
        "and would no longer resolve"
    )
    return Removal(kind.crd_name, cascades=False, deleted=(), collected=(), message=message)


def _pin_is_active(migration: Migration, live: UnitLive, generation: int | None) -> bool:
    return live.cut_over and generation == migration.cut_over.pinned_generation


def _left(code: str, object_id: str, message: str, unit: Unit) -> Remaining:
    return Remaining(code, object_id, message, (unit.id,))


def _some(ids: tuple[str, ...]) -> str:
    shown = ", ".join(ids[:_SHOWN])
    return f"{shown} and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else shown
