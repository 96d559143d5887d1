"""Who must own the artifacts at a phase, exactly: references, flags and order (pure; R, phases 5 and 7)."""

from collections.abc import Iterator

from aim_api.kinds import AIM_PROFILE_CACHE
from aim_template_migration.documents.evidence import SourceObject
from aim_template_migration.documents.plan import OwnerReference
from aim_template_migration.handoff.difference import Difference
from aim_template_migration.handoff.phases import Phase
from aim_template_migration.handoff.sighting import Sighting
from aim_template_migration.planning.snapshot import Observed


def owner_differences(seen: Sighting, source: SourceObject, live: Observed, at: Phase) -> Iterator[Difference]:
    """Yield a difference where the owners of an object are not exactly those that the phase asks for."""
    if source.role != "artifact" or at.owners == "source":
        fits = live.owner_references == source.owner_references
        needed = _texts(source.owner_references)
    else:
        target = seen.target_cache
        if target is None:
            return  # the missing target is a difference already
        fits = _staged(source, live, target) if at.owners == "staged" else _transferred(source, live, target)
        needed = _needed(source, target, at)
    if not fits:
        found = _texts(live.owner_references)
        yield Difference(source.reference.id, f"its owners are {found}; this phase needs exactly {needed}")


def staged_flags(seen: Sighting, at: Phase) -> tuple[str, ...]:
    """Return what people must compare with the approval: the flags of each owner that was staged, as they stand."""
    if at.owners != "staged":
        return ()
    lives = ((item.reference.id, seen.live(item)) for item in seen.of("artifact"))
    return tuple(
        f"the second owner of {name} was approved exactly so: {owner_text(live.owner_references[-1])}"
        for name, live in lives
        if live is not None and live.owner_references
    )


def owner_text(owner: OwnerReference) -> str:
    """Return an owner reference with its flags, as it stands."""
    flags = f"controller {_flag(flag=owner.controller)}, blockOwnerDeletion {_flag(flag=owner.block_owner_deletion)}"
    return f"{owner.kind} {owner.name} (UID {owner.uid}, {owner.api_version}, {flags})"


def _staged(source: SourceObject, live: Observed, target: Observed) -> bool:
    """The source's owners as they were, then the target cache as the only further owner, not as controller (R)."""
    owners = live.owner_references
    if not owners or owners[:-1] != source.owner_references:
        return False
    return _is(owners[-1], target) and not owners[-1].controller


def _transferred(source: SourceObject, live: Observed, target: Observed) -> bool:
    """The target cache as controller in the source cache's place, with the approved deletion protection kept (R)."""
    owners = live.owner_references
    others = tuple(owner for owner in source.owner_references if not owner.controller)
    mine = [owner for owner in owners if _is(owner, target)]
    if len(mine) != 1 or tuple(owner for owner in owners if owner is not mine[0]) != others:
        return False
    return mine[0].controller is True and mine[0].block_owner_deletion == _protection(source)


def _is(owner: OwnerReference, target: Observed) -> bool:
    wanted = (AIM_PROFILE_CACHE.api_version, AIM_PROFILE_CACHE.name, target.name, target.uid)
    return (owner.api_version, owner.kind, owner.name, owner.uid) == wanted


def _protection(source: SourceObject) -> bool | None:
    return next((owner.block_owner_deletion for owner in source.owner_references if owner.controller), None)


def _needed(source: SourceObject, target: Observed, at: Phase) -> str:
    name = f"{AIM_PROFILE_CACHE.name} {target.name} (UID {target.uid}, {AIM_PROFILE_CACHE.api_version})"
    if at.owners == "target":
        others = [owner_text(owner) for owner in source.owner_references if not owner.controller]
        controller = f"{name} as controller with blockOwnerDeletion {_flag(flag=_protection(source))}"
        return "; ".join([controller, *others])
    return "; ".join([*(owner_text(owner) for owner in source.owner_references), f"{name} last, not as controller"])


def _texts(owners: tuple[OwnerReference, ...]) -> str:
    return "; ".join(owner_text(owner) for owner in owners) or "none"


def _flag(*, flag: bool | None) -> str:
    return "absent" if flag is None else str(flag).lower()
