"""The proof after a cutover: observed at the pinned generation, resolved to the target, and nothing rolled."""

from aim_api.kinds import AIM_SERVICE
from aim_api.tree import JsonObject, get_int, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.cutover import read_workload
from aim_template_migration.applying.failures import UnitStopped, refusal, stop_unit
from aim_template_migration.applying.fences import Live, check_pin
from aim_template_migration.applying.readiness import Missing, condition_status
from aim_template_migration.applying.workload import find_change
from aim_template_migration.documents.plan import ConfirmNoRollout, CutOver, Finding, Pin
from aim_template_migration.documents.result import WorkloadFacts
from aim_template_migration.kube.errors import RequestError

INFRASTRUCTURE_FAILURES = frozenset({"CutoverNotObserved", "RolloutDetected", "PodsChanged"})


def confirm(state: UnitState, step: ConfirmNoRollout, before: WorkloadFacts) -> None:
    """Wait until the operator has observed the cutover, and require at every look that nothing rolled.

    Raises:
        UnitStopped: ``CutoverNotObserved`` after the deadline, ``PinExpired``, ``RolloutDetected`` or ``PodsChanged``.
    """
    pinned = cut_over_step(state).pinned_generation

    def probe() -> Missing | None:
        require_no_change(state, step, before)
        service = _live_service(state, step)
        generation = get_int(service, "metadata", "generation") or 0
        if generation > pinned:
            raise stop_unit(
                "PinExpired",
                f"{step.service.id} was edited (generation {generation}, pinned {pinned}): the pin has expired",
            )
        missing = not_observed(service, step, pinned)
        state.resolved_profile = get_str(service, "status", "resolvedProfile", "name") or ""
        return missing

    state.poll("ConfirmNoRollout", "CutoverNotObserved", state.context.settings.cutover_deadline_seconds, probe)


def not_observed(service: JsonObject, step: ConfirmNoRollout, pinned: int) -> Missing | None:
    """Return what is still missing before a cutover counts as observed (pure)."""
    generation = get_int(service, "metadata", "generation")
    observed = get_int(service, "status", "observedGeneration")
    if generation != pinned or observed != pinned:
        return Missing(f"{step.service.id}: observedGeneration is {observed}, generation {generation}, pinned {pinned}")
    resolved = get_str(service, "status", "resolvedProfile", "name")
    if resolved != step.profile_name:
        return Missing(f"{step.service.id} resolves to profile {resolved or 'none'}, not {step.profile_name}")
    if condition_status(service, "Ready") != "True":
        return Missing(f"{step.service.id} is not Ready")
    return None


def require_no_change(state: UnitState, step: ConfirmNoRollout, before: WorkloadFacts) -> None:
    """Compare the workload with what was journaled before the cutover.

    Raises:
        UnitStopped: it changed; a rollout halts further cutovers.
    """
    after = read_workload(state, step)
    state.workload_after = after
    change = find_change(before, after)
    if change is not None:
        raise stop_unit(change.code, change.message, halts=change.code in INFRASTRUCTURE_FAILURES)


def confirm_after_soak(state: UnitState, step: ConfirmNoRollout, before: WorkloadFacts) -> None:
    """Look once more after the soak: the same proof, without waiting.

    Raises:
        UnitStopped: as ``confirm``.
    """
    require_no_change(state, step, before)
    service = _live_service(state, step)
    pinned = cut_over_step(state).pinned_generation
    generation = get_int(service, "metadata", "generation") or 0
    if generation > pinned:
        raise stop_unit(
            "PinExpired",
            f"{step.service.id} was edited in the soak (generation {generation}, pinned {pinned}): the pin has expired",
        )
    missing = not_observed(service, step, pinned)
    if missing is not None:
        raise stop_unit("CutoverNotObserved", f"after the soak, {missing.message}", halts=True)


def halting(stopped: UnitStopped) -> bool:
    """Return whether a failure is a fault of the infrastructure that all units share."""
    return stopped.failure.halts or stopped.failure.code in INFRASTRUCTURE_FAILURES


def confirm_earlier_cutover(state: UnitState, step: ConfirmNoRollout) -> None:
    """Confirm a cutover that a former run made: against the plan's pins, and a baseline's pods where one is given.

    Raises:
        UnitStopped: as ``confirm``.
    """
    for pin in state.unit.pins:
        if pin.role in ("inferenceService", "deployment"):
            breach = check_pin(pin, live_pin(state, pin))
            if breach is not None:
                raise stop_unit("RolloutDetected", breach.message, halts=True)
    baseline = state.context.settings.baseline.get(state.unit.id)
    if baseline is None:
        message = (
            "pods were not compared with those before the cutover; --baseline takes the archived result of that run"
        )
        state.warnings.append(Finding(code="PodsNotCompared", object=state.unit.id, message=message))
    confirm(state, step, baseline or read_workload(state, step))


def live_pin(state: UnitState, pin: Pin) -> Live | None:
    """Read one pinned object.

    Raises:
        UnitStopped: it can't be read.
        RunStopped: the credentials are rejected.
    """
    try:
        return state.context.revalidator.live(pin)
    except RequestError as error:
        raise refusal(error, verb="reading", object_id=pin.reference.id, dry_run=False) from error


def cut_over_step(state: UnitState) -> CutOver:
    """Return the unit's CutOver step."""
    return next(step for step in state.unit.steps if isinstance(step, CutOver))


def _live_service(state: UnitState, step: ConfirmNoRollout) -> JsonObject:
    service = state.read(AIM_SERVICE, step.service.name)
    if service is None:
        raise stop_unit("PinGone", f"{step.service.id} is gone")
    if get_str(service, "metadata", "uid") != cut_over_step(state).uid:
        raise stop_unit("PinReplaced", f"{step.service.id} was replaced after the cutover")
    return service
