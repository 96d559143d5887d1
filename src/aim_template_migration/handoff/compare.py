"""Does what is seen fit a phase? (pure) Every difference is a reason to stop and reassess (R)."""

from collections.abc import Iterator

import msgspec

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID, RECONCILIATION_PAUSED, Pin
from aim_api.tree import get, get_map, get_str, has
from aim_template_migration.documents.evidence import SourceObject
from aim_template_migration.handoff.difference import Difference
from aim_template_migration.handoff.ownership import owner_differences
from aim_template_migration.handoff.phases import INDISTINGUISHABLE, PHASES, Phase, phase
from aim_template_migration.handoff.premises import premise_differences
from aim_template_migration.handoff.sighting import Sighting
from aim_template_migration.handoff.target import target_differences
from aim_template_migration.planning.content import pin_of
from aim_template_migration.planning.evidence import (
    beside_selection,
    finalizers_of,
    is_eviction_protected,
    reports_of,
)
from aim_template_migration.planning.snapshot import Observed


def differences(seen: Sighting, at: Phase) -> tuple[Difference, ...]:
    """Return every difference between what is seen and what must hold at a phase, each once, in a fixed order."""
    found = (
        *(item for source in seen.evidence.objects for item in _source(seen, source, at)),
        *premise_differences(seen),
        *target_differences(seen, at),
        *(Difference(seen.evidence.unit, message) for message in seen.outside),
    )
    return tuple(dict.fromkeys(found))


def detect_phase(seen: Sighting, passed: int = 0) -> tuple[Phase, tuple[Difference, ...]]:
    """Return the phase that fits best, with its differences.

    Of several that fit, it is the furthest. Of those that reads can't tell apart, it is the first until the second is
    on record: that people did its work is theirs to say, by its number.

    Args:
        seen: what is there.
        passed: the furthest phase on record, 0 where there is none.
    """
    found = {at.number: differences(seen, at) for at in PHASES}
    best = min(found, key=lambda number: (len(found[number]), -number))
    first, second = next((pair for pair in INDISTINGUISHABLE if best in pair), (best, best))
    best = second if passed >= second else first
    return phase(best), found[best]


def desired_state(live: Observed, role: str) -> str:
    """Return the digest of an object's desired state; whether it is paused is looked at on its own."""
    return pin_of(role, _unpaused(live)).content_digest


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
    if source.role == "service" and at.cut_over:
        yield from _cut_over(seen, source, live)
    else:
        yield from _desired_state(source, live)
        yield from _status(source, live)
    if source.role == "service" and not at.cut_over:
        yield from _selection(seen, live)
    yield from _metadata(source, live)
    yield from owner_differences(seen, source, live, at)
    yield from _pause(source, live, at)


def _selection(seen: Sighting, live: Observed) -> Iterator[Difference]:
    """The service still resolves the very template of the evidence (R, phase 1)."""
    for template in seen.of("template"):
        resolved = get_str(live.obj, "status", "resolvedTemplate", "uid")
        if resolved != template.uid:
            yield Difference(live.id, f"it resolves template UID {resolved or 'none'}, the evidence has {template.uid}")


def _cut_over(seen: Sighting, source: SourceObject, live: Observed) -> Iterator[Difference]:
    """The service selects the approved profile, nothing else of it changed, and the operator saw it (R, phase 9)."""
    name = source.reference.id
    profile = get_str(live.obj, "spec", "profile", "name")
    if get(live.obj, "spec", "profile") != {"name": seen.profile_name} or has(live.obj, "spec", "template"):
        yield Difference(name, f"it selects profile {profile or 'none'}, not the approved {seen.profile_name} alone")
    if source.generation is not None and live.generation != source.generation + 1:
        message = f"its generation is {live.generation}, not {source.generation + 1}: more than the cutover was changed"
        yield Difference(name, message)
    if beside_selection(live) != source.beside_selection_digest:
        yield Difference(name, "its desired state differs from the evidence in more than the selection of the profile")
    if live.observed_generation != live.generation:
        observed = live.observed_generation or "none"
        yield Difference(name, f"its status observes generation {observed}, not {live.generation}")
    resolved = get_map(live.obj, "status", "resolvedProfile")
    uid = seen.profile.uid if seen.profile else ""
    if get_str(resolved, "name") != seen.profile_name or get_str(resolved, "uid") not in (None, uid):
        said = get_str(resolved, "name") or "none"
        yield Difference(name, f"it resolves to profile {said}, not {seen.profile_name} (UID {uid or 'unknown'})")
    yield from _pin(seen, live)


def _pin(seen: Sighting, live: Observed) -> Iterator[Difference]:
    """A pin that is there must hold; whether the platform uses one is its own decision."""
    if not {PRESERVE_UID, PRESERVE_GENERATION} & live.annotations.keys():
        return
    uids = [item.uid for item in seen.of("inferenceService")]
    pin = Pin.from_annotations(live.annotations)
    if pin is None or [pin.inference_service_uid] != uids or pin.generation != live.generation:
        message = f"its pin is not for generation {live.generation} and InferenceService UID {', '.join(uids)}"
        yield Difference(live.id, f"{message}, so that it preserves nothing")


def _desired_state(source: SourceObject, live: Observed) -> Iterator[Difference]:
    """The pause annotation is looked at on its own: a phase asks for it, and it is no desired state."""
    found = pin_of(source.role, live).content_digest if source.paused else desired_state(live, source.role)
    if found != source.content_digest:
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
    reported = {item.uid: item for item in reports_of(live)}
    for report in source.artifacts:
        if reported.pop(report.uid, None) != report:
            yield Difference(name, f"it no longer reports artifact {report.name} as the evidence has it")
    for report in reported.values():
        yield Difference(name, f"it reports artifact {report.name} (UID {report.uid}), which the evidence has not")


def _metadata(source: SourceObject, live: Observed) -> Iterator[Difference]:
    name = source.reference.id
    finalizers = finalizers_of(live)
    if finalizers != source.finalizers:
        found, before = ", ".join(finalizers) or "none", ", ".join(source.finalizers) or "none"
        yield Difference(name, f"its finalizers are {found}, the evidence has {before}")
    if is_eviction_protected(live) != source.eviction_protected:
        word = "is" if is_eviction_protected(live) else "is not"
        yield Difference(name, f"it {word} protected from quota eviction, which differs from the evidence")


def _pause(source: SourceObject, live: Observed, at: Phase) -> Iterator[Difference]:
    wanted = source.paused or (at.source_paused and source.role == "templateCache")
    if live.paused != wanted:
        yield Difference(source.reference.id, f"it is {'paused' if live.paused else 'not paused'} at this phase")


def _unpaused(live: Observed) -> Observed:
    metadata = get_map(live.obj, "metadata")
    kept = {key: value for key, value in get_map(metadata, "annotations").items() if key != RECONCILIATION_PAUSED}
    return msgspec.structs.replace(live, obj={**live.obj, "metadata": {**metadata, "annotations": kept}})
