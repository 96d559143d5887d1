"""The proof that a cutover left its workload alone, as facts that can be read at any later time (pure).

They are the facts of the step ConfirmNoRollout; the pods can be compared only where a record has those from before.
"""

from collections.abc import Iterator

from aim_api.bridge import Pin
from aim_api.tree import get, get_int, get_str, get_strings, has
from aim_template_migration.applying.observing import ResolvedTarget, not_observed, rival_profile
from aim_template_migration.applying.readiness import Missing, condition_status
from aim_template_migration.applying.revalidate import PinReading
from aim_template_migration.applying.workload import find_change
from aim_template_migration.documents.plan import Finding
from aim_template_migration.documents.result import WorkloadFacts
from aim_template_migration.documents.verification import VerifiedFact
from aim_template_migration.inspecting.live import Migration, UnitLive


def service_fact(migration: Migration, live: UnitLive) -> VerifiedFact:
    """Return whether the service is what the cutover leaves, and if not, in what it differs."""
    service = migration.unit.id
    if live.cut_over:
        name = migration.confirmation.profile_name
        return VerifiedFact("ServiceCutOver", service, holds=True, message=f"spec.profile.name is {name}, pinned")
    return VerifiedFact("ServiceCutOver", service, holds=False, message=_not_cut_over(migration, live))


def proof_of(
    migration: Migration, live: UnitLive, before: WorkloadFacts | None
) -> tuple[tuple[VerifiedFact, ...], tuple[Finding, ...]]:
    """Return the facts that prove that nothing rolled, and what was not compared.

    Args:
        migration: the unit.
        live: what is there now; its service is cut over.
        before: the workload before the cutover, None where no record has it.
    """
    facts = (_observed(migration, live), *_workload_pins(live))
    if live.workload is None:
        return facts, ()
    if before is None:
        message = "no record at hand has the pods from before the cutover, so that they were not compared"
        return facts, (Finding(code="PodsNotCompared", object=migration.unit.id, message=message),)
    return (*facts, _pods(migration, before, live.workload)), ()


def _observed(migration: Migration, live: UnitLive) -> VerifiedFact:
    step, pinned = migration.confirmation, migration.cut_over.pinned_generation
    service = live.raw(migration.unit.id) or {}
    generation = get_int(service, "metadata", "generation") or 0
    if generation > pinned:
        message = (
            f"its generation is {generation} and the pin was for {pinned}: the pin has expired, and normal profile "
            "rendering has resumed"
        )
        return VerifiedFact("CutoverObserved", migration.unit.id, holds=False, message=message)
    profile = migration.profile
    uid = get_str(live.raw(profile.id) or {}, "metadata", "uid") or ""
    missing = not_observed(service, step, pinned, ResolvedTarget(profile, uid)) or _rival(migration, live)
    if missing is not None:
        return VerifiedFact("CutoverObserved", migration.unit.id, holds=False, message=missing.message)
    message = f"generation and observedGeneration are {pinned}, as pinned; it resolves {step.profile_name} and is Ready"
    return VerifiedFact("CutoverObserved", migration.unit.id, holds=True, message=message)


def _rival(migration: Migration, live: UnitLive) -> Missing | None:
    """An AIMProfile that would win over the cluster-scoped target the next time that the service is resolved."""
    pin = rival_profile(migration.unit, migration.profile)
    breach = next((reading.breach for reading in live.pins if reading.pin == pin), None)
    return Missing(f"{breach.message}; it wins over {migration.profile.id}") if breach else None


def _workload_pins(live: UnitLive) -> Iterator[VerifiedFact]:
    for reading in live.role("inferenceService"):
        fault = reading.breach.message if reading.breach else ""
        if not fault and condition_status(reading.raw or {}, "Ready") != "True":
            fault = "its condition Ready is not True"
        good = f"UID {reading.pin.uid}, generation {reading.pin.generation}, content and owners as pinned; Ready"
        yield _fact("InferenceServiceUnchanged", reading, fault, good)
    for reading in live.role("deployment"):
        fault = reading.breach.message if reading.breach else ""
        yield _fact("PodTemplateUnchanged", reading, fault, f"UID {reading.pin.uid}, pod template as pinned")


def _pods(migration: Migration, before: WorkloadFacts, after: WorkloadFacts) -> VerifiedFact:
    object_id = migration.confirmation.inference_service.id
    change = find_change(before, after)
    if change is not None:
        return VerifiedFact("PodsUnchanged", object_id, holds=False, message=change.message)
    return VerifiedFact("PodsUnchanged", object_id, holds=True, message=pods_that_hold(before, after))


def pods_that_hold(before: WorkloadFacts, after: WorkloadFacts) -> str:
    """Return in which way pods that changed in nothing that matters are those from before; autoscaled ones may go."""
    same = {pod.uid for pod in before.pods} == {pod.uid for pod in after.pods}
    what = "the same pods as before" if same else "same template; UIDs differ"
    pods = ", ".join(f"{pod.name} ({pod.uid}, {pod.restarts} restarts)" for pod in after.pods) or "no pods"
    return f"{what}: {pods}"


def _fact(code: str, reading: PinReading, fault: str, good: str) -> VerifiedFact:
    return VerifiedFact(code, reading.pin.reference.id, holds=not fault, message=fault or good)


def _not_cut_over(migration: Migration, live: UnitLive) -> str:
    """Return the first thing in which the service differs from what the cutover leaves."""
    service = live.raw(migration.unit.id)
    if service is None:
        return "it is gone"
    uid, pinned, wanted = (
        get_str(service, "metadata", "uid"),
        migration.cut_over.uid,
        migration.confirmation.profile_name,
    )
    profile = get(service, "spec", "profile")
    pin = Pin.from_annotations(get_strings(service, "metadata", "annotations"))
    of_another = f"generation {pin.generation}, InferenceService {pin.inference_service_uid}" if pin else ""
    faults = (
        (uid != pinned, f"it was replaced: its UID is {uid}, the plan was made on {pinned}"),
        (profile is None, "it has no spec.profile, so that the template pipeline serves it"),
        (has(service, "spec", "template"), "it has spec.template beside spec.profile"),
        (profile != {"name": wanted}, f"its spec.profile is not that of the plan (name: {wanted}, and nothing else)"),
        (pin is None, "its pin is gone, so that normal profile rendering resumes and may roll the workload"),
        (True, f"its pin is for another cutover ({of_another})"),
    )
    return next(message for fault, message in faults if fault)
