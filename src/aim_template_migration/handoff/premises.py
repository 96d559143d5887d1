"""What must hold at every phase, whatever the evidence says (pure; R, "Manual Dedicated handoff").

Evidence of a unit that did not serve, or whose closure was not whole, would be met by a world that is as broken as it
was. So the evidence must name everything, the predecessor must serve now, and nothing may have joined it.
"""

from collections.abc import Iterator

from aim_api.bridge import COMPATIBLE_CONDITION
from aim_api.kinds import NAMESPACE
from aim_api.tree import get_str
from aim_template_migration.documents.evidence import DedicatedEvidence, SourceObject
from aim_template_migration.handoff.difference import Difference
from aim_template_migration.handoff.sighting import Sighting
from aim_template_migration.planning.currency import currency_of
from aim_template_migration.planning.snapshot import Observed

_ONE_EACH = ("service", "model", "template", "templateCache", "inferenceService", "deployment")


def premise_differences(seen: Sighting) -> Iterator[Difference]:
    """Yield everything that keeps a handoff from going on at whatever phase it is."""
    yield from _whole(seen.evidence)
    if seen.namespace_terminating:
        yield Difference(f"{NAMESPACE.name}/{seen.namespace}", "it is terminating, and everything in it with it")
    yield from _serving(seen)
    yield from _joined(seen)


def _whole(evidence: DedicatedEvidence) -> Iterator[Difference]:
    """Yield what the evidence lacks of a Dedicated unit that could be handed over."""
    by_role: dict[str, list[SourceObject]] = {}
    for item in evidence.objects:
        by_role.setdefault(item.role, []).append(item)
    for role in _ONE_EACH:
        number = len(by_role.get(role, []))
        if number != 1:
            message = f"its evidence names {number} objects as its {role}, not exactly one; settle that and plan again"
            yield Difference(evidence.unit, message)
    if not by_role.get("artifact"):
        yield Difference(evidence.unit, "its evidence names no artifact, so there is nothing to hand over")
    for cache in by_role.get("templateCache", []):
        for artifact in by_role.get("artifact", []):
            yield from _held(artifact, cache, by_role.get("pvc", []))


def _held(artifact: SourceObject, cache: SourceObject, claims: list[SourceObject]) -> Iterator[Difference]:
    """Yield why an artifact of the evidence is not the source cache's own, on a claim of its own."""
    name = artifact.reference.id
    controllers = [owner.uid for owner in artifact.owner_references if owner.controller]
    if controllers != [cache.uid]:
        yield Difference(name, f"in the evidence its controller is not {cache.reference.id}, so it is not Dedicated")
    report = next((item for item in cache.artifacts if item.uid == artifact.uid), None)
    if report is None or not report.persistent_volume_claim:
        yield Difference(name, f"in the evidence {cache.reference.id} does not report it with a claim")
        return
    claim = next((item for item in claims if item.reference.name == report.persistent_volume_claim), None)
    if claim is None or artifact.uid not in {owner.uid for owner in claim.owner_references}:
        message = f"the evidence has no claim {report.persistent_volume_claim} that belongs to it"
        yield Difference(name, message)


def _serving(seen: Sighting) -> Iterator[Difference]:
    for source in seen.evidence.objects:
        live = seen.live(source)
        if live is None or live.uid != source.uid:
            continue  # said already
        for fault in _faults(seen, source, live):
            yield Difference(source.reference.id, fault)


def _faults(seen: Sighting, source: SourceObject, live: Observed) -> Iterator[str]:
    match source.role:
        case "service":
            if live.condition_status("Ready") != "True":
                yield "its condition Ready is not True"
            if live.condition_status(COMPATIBLE_CONDITION) == "False":
                yield f"the bridge reports {COMPATIBLE_CONDITION}=False for it"
        case "inferenceService":
            deployments = [item for owned in seen.of("deployment") if (item := seen.live(owned)) is not None]
            why = currency_of(live, deployments)[1]
            if why:
                yield f"it is not Ready and current: {why}"
        case "pvc" if get_str(live.obj, "status", "phase") != "Bound":
            yield f"its phase is {get_str(live.obj, 'status', 'phase') or 'unset'}, not Bound"
        case "templateCache" | "artifact":
            yield from _weight_faults(seen, source, live)
        case _:
            pass


def _weight_faults(seen: Sighting, source: SourceObject, live: Observed) -> Iterator[str]:
    if live.status_word != "Ready":
        yield f"its status is {live.status_word or 'unset'}, not Ready"
    if source.role == "artifact":
        found, wanted = get_str(live.obj, "status", "persistentVolumeClaim"), seen.claims.get(source.uid)
        if found != wanted:
            yield f"its claim is {found or 'none'}, the evidence has {wanted or 'none'}"


def _joined(seen: Sighting) -> Iterator[Difference]:
    """Yield what has appeared beside the evidence's objects and could serve or hold weights in their place."""
    known = {item.uid for item in seen.evidence.objects}
    for item in seen.inference_services:
        if item.uid not in known:
            yield Difference(item.id, f"it has appeared: {seen.evidence.unit} had only what the evidence names")
    for item in seen.owned_artifacts:
        if item.uid not in known:
            owners = ", ".join(f"{owner.kind} {owner.name}" for owner in item.owner_references)
            yield Difference(item.id, f"it has appeared, owned by {owners}: weights may download again")


def is_observed(item: Observed) -> bool:
    """Return whether an object's status is of its present generation."""
    return item.generation is not None and item.observed_generation == item.generation
