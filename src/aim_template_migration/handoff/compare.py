"""Does what is seen fit a phase? (pure) Every difference is a reason to stop and reassess (R)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from aim_api.bridge import RECONCILIATION_PAUSED
from aim_api.kinds import AIM_PROFILE_CACHE
from aim_api.tree import get_map, get_str, has
from aim_template_migration.documents.evidence import SourceObject
from aim_template_migration.documents.plan import OwnerReference
from aim_template_migration.handoff.phases import INDISTINGUISHABLE, PHASES, Phase, phase
from aim_template_migration.handoff.sighting import Sighting
from aim_template_migration.planning.content import pin_of
from aim_template_migration.planning.snapshot import Observed


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is not as it must be.

    Attributes:
        object: id of the object.
        message: one sentence: what is, and what had to be.
    """

    object: str
    message: str


def differences(seen: Sighting, at: Phase) -> tuple[Difference, ...]:
    """Return every difference between what is seen and what must hold at a phase, in a fixed order."""
    return (
        *(item for source in seen.evidence.objects for item in _source(seen, source, at)),
        *_target(seen, at),
        *(Difference(seen.evidence.unit, message) for message in seen.outside),
    )


def detect_phase(seen: Sighting) -> tuple[Phase, tuple[Difference, ...]]:
    """Return the phase that fits best, with its differences.

    Of several that fit, it is the furthest; of those that reads can't tell apart, the first.
    """
    found = {at.number: differences(seen, at) for at in PHASES}
    best = min(found, key=lambda number: (len(found[number]), -number))
    best = next((first for first, second in INDISTINGUISHABLE if second == best), best)
    return phase(best), found[best]


def _source(seen: Sighting, source: SourceObject, at: Phase) -> Iterator[Difference]:
    live = seen.live(source)
    name = source.reference.id
    if live is None:
        yield Difference(name, f"it is gone; the evidence has UID {source.uid}")
        return
    if live.uid != source.uid:
        yield Difference(name, f"it was replaced: its UID is {live.uid}, the evidence has {source.uid}")
        return
    if live.terminating:
        yield Difference(name, "it is terminating")
    if source.role == "service":
        yield from _service(seen, source, live, at)
    else:
        yield from _desired_state(source, live)
        yield from _status(source, live)
    yield from _owners(seen, source, live, at)
    yield from _pause(source, live, at)


def _service(seen: Sighting, source: SourceObject, live: Observed, at: Phase) -> Iterator[Difference]:
    name = source.reference.id
    if not at.cut_over:
        yield from _desired_state(source, live)
        yield from _status(source, live)
        return
    profile = get_str(live.obj, "spec", "profile", "name")
    if profile != seen.profile_name or has(live.obj, "spec", "template"):
        yield Difference(name, f"it selects profile {profile or 'none'}, not the approved {seen.profile_name} alone")
    if source.generation is not None and live.generation != source.generation + 1:
        message = f"its generation is {live.generation}, not {source.generation + 1}: more than the cutover was changed"
        yield Difference(name, message)
    if live.observed_generation is not None and live.observed_generation != live.generation:
        yield Difference(name, f"its status observes generation {live.observed_generation}, not {live.generation}")
    resolved = get_str(live.obj, "status", "resolvedProfile", "name")
    if resolved != seen.profile_name:
        yield Difference(name, f"it resolves to profile {resolved or 'none'}, not {seen.profile_name}")
    if live.condition_status("Ready") != "True":
        yield Difference(name, "its condition Ready is not True")


def _desired_state(source: SourceObject, live: Observed) -> Iterator[Difference]:
    """The pause annotation is looked at on its own: a phase asks for it, and it is no desired state."""
    pin = pin_of(source.role, live if source.paused else _unpaused(live))
    if pin.content_digest != source.content_digest:
        yield Difference(source.reference.id, "its desired state differs from the evidence")
    if source.generation is not None and live.generation != source.generation:
        yield Difference(source.reference.id, f"its generation is {live.generation}, not {source.generation}")


def _status(source: SourceObject, live: Observed) -> Iterator[Difference]:
    name = source.reference.id
    facts = (
        ("observed generation", source.observed_generation, live.observed_generation),
        ("condition Ready", source.ready, live.condition_status("Ready")),
        ("status", source.status, live.status_word),
        ("phase", source.phase, get_str(live.obj, "status", "phase") or ""),
    )
    for label, before, now in facts:
        if before not in (None, "") and before != now:
            yield Difference(name, f"its {label} is {now or 'unset'}, the evidence has {before}")
    reported = {get_str(item, "uid"): item for item in get_map(live.obj, "status", "artifacts").values()}
    for report in source.artifacts:
        entry = reported.get(report.uid)
        if get_str(entry, "persistentVolumeClaim") != (report.persistent_volume_claim or None):
            yield Difference(name, f"it no longer reports artifact {report.name} with the same claim")


def _owners(seen: Sighting, source: SourceObject, live: Observed, at: Phase) -> Iterator[Difference]:
    if source.role != "artifact" or at.owners == "source":
        fits = live.owner_references == source.owner_references
        needed = "; ".join(_owner_text(owner) for owner in source.owner_references) or "none"
    else:
        target = seen.target_cache
        if target is None:
            return  # the missing target is a difference already
        fits = _staged(source, live, target) if at.owners == "staged" else _transferred(source, live, target)
        needed = _needed(source, target, at)
    if not fits:
        found = "; ".join(_owner_text(owner) for owner in live.owner_references) or "none"
        yield Difference(source.reference.id, f"its owners are {found}; this phase needs exactly {needed}")


def _staged(source: SourceObject, live: Observed, target: Observed) -> bool:
    """The source's owners as they were, then the target cache as the only further owner, not as controller (R)."""
    owners = live.owner_references
    if not owners or owners[:-1] != source.owner_references:
        return False
    return _is(owners[-1], target) and not owners[-1].controller


def _transferred(source: SourceObject, live: Observed, target: Observed) -> bool:
    """The target cache as controller in the source's place, with the approved deletion protection kept (R)."""
    owners = live.owner_references
    kept = len(owners) == 1 and owners[0].block_owner_deletion == _protection(source)
    return kept and _is(owners[0], target) and owners[0].controller is True


def _is(owner: OwnerReference, target: Observed) -> bool:
    return (owner.kind, owner.name, owner.uid) == (AIM_PROFILE_CACHE.name, target.name, target.uid)


def _protection(source: SourceObject) -> bool | None:
    return next((owner.block_owner_deletion for owner in source.owner_references if owner.controller), None)


def _needed(source: SourceObject, target: Observed, at: Phase) -> str:
    name = f"{AIM_PROFILE_CACHE.name} {target.name} (UID {target.uid})"
    if at.owners == "target":
        return f"{name} as controller with blockOwnerDeletion {_flag(flag=_protection(source))}"
    return "; ".join([*(_owner_text(owner) for owner in source.owner_references), f"{name} last, not as controller"])


def _pause(source: SourceObject, live: Observed, at: Phase) -> Iterator[Difference]:
    wanted = source.paused or (at.source_paused and source.role == "templateCache")
    if live.paused != wanted:
        yield Difference(source.reference.id, f"it is {'paused' if live.paused else 'not paused'} at this phase")


def _target(seen: Sighting, at: Phase) -> Iterator[Difference]:
    if not at.target:
        return
    profile_id = f"profile {seen.profile_name}"
    if seen.profile is None:
        yield Difference(profile_id, "the approved target profile does not exist")
    elif seen.profile.status_word != "Ready" or seen.profile.terminating:
        yield Difference(seen.profile.id, f"its status is {seen.profile.status_word or 'unset'}, not Ready, or it goes")
    if len(seen.target_caches) != 1:
        message = f"{len(seen.target_caches)} Dedicated profile caches of the service exist for it, not exactly one"
        yield Difference(profile_id, message)
        return
    cache = seen.target_caches[0]
    if cache.terminating:
        yield Difference(cache.id, "it is terminating")
    if cache.paused != (at.target == "paused"):
        yield Difference(cache.id, f"it is {'paused' if cache.paused else 'not paused'} at this phase")
    if at.target == "active":
        yield from _adoption(seen, cache)


def _adoption(seen: Sighting, cache: Observed) -> Iterator[Difference]:
    if cache.observed_generation != cache.generation or cache.status_word != "Ready":
        yield Difference(cache.id, f"it is not Ready at its generation {cache.generation}")
    reported = {get_str(item, "uid"): item for item in get_map(cache.obj, "status", "artifacts").values()}
    artifacts = seen.of("artifact")
    for artifact in artifacts:
        live = seen.live(artifact)
        claim = get_str(live.obj, "status", "persistentVolumeClaim") if live else None
        if get_str(reported.get(artifact.uid), "persistentVolumeClaim") != claim or not claim:
            message = f"it does not report artifact {artifact.reference.name} (UID {artifact.uid}) with its claim"
            yield Difference(cache.id, message)
    foreign = sorted(str(uid) for uid in set(reported) - {artifact.uid for artifact in artifacts})
    if foreign:
        yield Difference(cache.id, f"it reports other artifacts: {', '.join(foreign)}")


def _unpaused(live: Observed) -> Observed:
    metadata = get_map(live.obj, "metadata")
    kept = {key: value for key, value in get_map(metadata, "annotations").items() if key != RECONCILIATION_PAUSED}
    return replace(live, obj={**live.obj, "metadata": {**metadata, "annotations": kept}})


def _owner_text(owner: OwnerReference) -> str:
    flags = [
        f"controller {_flag(flag=owner.controller)}",
        f"blockOwnerDeletion {_flag(flag=owner.block_owner_deletion)}",
    ]
    return f"{owner.kind} {owner.name} (UID {owner.uid}, {', '.join(flags)})"


def _flag(*, flag: bool | None) -> str:
    return "absent" if flag is None else str(flag).lower()
