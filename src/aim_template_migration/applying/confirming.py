"""The proof after a cutover: observed at the pinned generation, resolved to the target, and nothing rolled."""

from collections.abc import Callable

from aim_api.kinds import AIM_PROFILE_CACHE, AIM_SERVICE
from aim_api.tree import JsonObject, get_int, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import UnitStopped, stop_unit
from aim_template_migration.applying.observing import ResolvedTarget, not_observed, rival_profile
from aim_template_migration.applying.readiness import Missing
from aim_template_migration.applying.revalidate import PinReading
from aim_template_migration.applying.serving import read_workload
from aim_template_migration.applying.weights import know_sources, require_no_download, require_no_earlier_download
from aim_template_migration.applying.workload import find_change
from aim_template_migration.documents.deadlines import LONGEST_CUTOVER_DEADLINE_SECONDS
from aim_template_migration.documents.plan import ConfirmNoRollout, CutOver, Finding
from aim_template_migration.documents.result import WorkloadFacts

INFRASTRUCTURE_FAILURES = frozenset({"CutoverNotObserved", "RolloutDetected", "PodsChanged"})


def confirm(state: UnitState, step: ConfirmNoRollout, before: WorkloadFacts) -> None:
    """Wait until the operator has observed the cutover, and require at every look that nothing rolled.

    Raises:
        UnitStopped: ``CutoverNotObserved`` after the deadline, ``PinExpired``, ``RolloutDetected``, ``PodsChanged``, or
            ``DownloadStarted``, as the new cache may be one that downloads.
    """
    deadline = deadline_seconds(state, step)
    state.record("ConfirmNoRollout", {"deadlineSeconds": deadline})

    def probe() -> Missing | None:
        service = _pinned_service(state, step)
        _require_no_change(state, before)
        state.resolved_profile = get_str(service, "status", "resolvedProfile", "name") or ""
        missing = _not_observed(state, service, step)
        if missing is None:
            require_no_download(state)
        return missing

    _poll(state, deadline, probe)


def deadline_seconds(state: UnitState, step: ConfirmNoRollout) -> float:
    """Return how long the operator may take to observe the cutover: as asked, else as planned; at most 10 minutes."""
    asked = state.context.settings.cutover_deadline_seconds
    return min(asked if asked is not None else float(step.deadline_seconds), LONGEST_CUTOVER_DEADLINE_SECONDS)


def confirm_after_soak(state: UnitState, step: ConfirmNoRollout, before: WorkloadFacts) -> None:
    """Look once more after the soak: the same proof; it is waited for only as long as reads fail.

    Raises:
        UnitStopped: as ``confirm``.
    """

    def probe() -> Missing | None:
        service = _pinned_service(state, step)
        _require_no_change(state, before)
        missing = _not_observed(state, service, step)
        if missing is not None:
            return Missing(f"after the soak, {missing.message}", final=True)
        _require_no_rival(state)
        require_no_download(state)
        return None

    _poll(state, deadline_seconds(state, step), probe)


def _poll(state: UnitState, deadline: float, probe: Callable[[], Missing | None]) -> None:
    """Wait for the proof; one that can't be read until the deadline was not observed, whatever kept it from us."""
    code = "CutoverNotObserved"
    state.poll("ConfirmNoRollout", code, deadline, probe, unread_code=code)


def _not_observed(state: UnitState, service: JsonObject, step: ConfirmNoRollout) -> Missing | None:
    target = ResolvedTarget(state.profile_step.profile, state.profile_uid)
    return not_observed(service, step, state.cut_over_step.pinned_generation, target)


def halting(state: UnitState, stopped: UnitStopped) -> bool:
    """Return whether a failure halts further cutovers.

    It does where it is a fault of the infrastructure that all units share, and wherever the unit's own cutover is or
    may be stored and was not proven harmless: nobody knows then how the next would fare.
    """
    failure = stopped.failure
    unproven = state.may_be_cut_over and failure.status in ("failed", "unknown")
    return failure.halts or failure.code in INFRASTRUCTURE_FAILURES or unproven


def confirm_earlier_cutover(state: UnitState, step: ConfirmNoRollout, readings: tuple[PinReading, ...]) -> None:
    """Confirm a cutover that a former run made: against the plan's pins, and a baseline's pods where one is given.

    Args:
        state: the unit.
        step: the step.
        readings: the unit's pinned objects, read just now.

    Raises:
        UnitStopped: as ``confirm``.
    """
    service = next(reading.raw for reading in readings if reading.pin.role == "service")
    _require_pin_unexpired(state.cut_over_step, service or {})
    for reading in readings:
        breach = reading.breach if reading.pin.role in ("inferenceService", "deployment") else None
        if breach is not None:
            raise stop_unit("RolloutDetected", breach.message, halts=True)
    baseline = state.context.settings.baseline.get(state.unit.id)
    if baseline is None:
        why = (
            "the result given with --baseline holds none of this unit"
            if state.context.settings.baseline
            else "--baseline takes the archived result of that run"
        )
        message = f"pods were not compared with those before the cutover; {why}"
        state.warnings.append(Finding(code="PodsNotCompared", object=state.unit.id, message=message))
    else:
        state.workload_before = baseline  # so that this run's result can be the next one's baseline
    _require_no_download_since_the_cache(state)
    _require_no_rival(state)
    state.profile_uid = _uid_of_the_profile(state, readings)
    know_sources(state)  # what was there before that cutover is on no other record; from here on nothing may come
    confirm(state, step, baseline or read_workload(state))


def _uid_of_the_profile(state: UnitState, readings: tuple[PinReading, ...]) -> str:
    """Return the UID of the target profile as it was read just now; none where there is no such object."""
    found = (reading.raw for reading in readings if reading.pin.reference.id == state.profile_step.profile.id)
    return get_str(next(found, None) or {}, "metadata", "uid") or ""


def _require_no_rival(state: UnitState) -> None:
    """Hold the absence of an AIMProfile that would win over the cluster-scoped target.

    Raises:
        UnitStopped: ``PinAppeared``.
    """
    pin = rival_profile(state.unit, state.profile_step.profile)
    breach = state.read_pin(pin).breach if pin else None
    if breach is not None:
        raise stop_unit(breach.code, breach.message)


def _require_no_download_since_the_cache(state: UnitState) -> None:
    """Look for what a former run's cache may have downloaded; one that was there before the plan says nothing."""
    target = state.cache_step.profile_cache
    if any(pin.reference.id == target.id and pin.absent for pin in state.unit.pins):
        cache = state.read(AIM_PROFILE_CACHE, target.name)
        if cache is not None:
            require_no_earlier_download(state, cache)


def _require_no_change(state: UnitState, before: WorkloadFacts) -> None:
    """Compare the workload with what was journaled before the cutover.

    Raises:
        UnitStopped: it changed; a rollout halts further cutovers.
    """
    after = read_workload(state)
    state.workload_after = after
    change = find_change(before, after)
    if change is not None:
        raise stop_unit(change.code, change.message, halts=change.code in INFRASTRUCTURE_FAILURES)


def _pinned_service(state: UnitState, step: ConfirmNoRollout) -> JsonObject:
    service = state.read(AIM_SERVICE, step.service.name)
    if service is None:
        raise stop_unit("PinGone", f"{step.service.id} is gone")
    if get_str(service, "metadata", "uid") != state.cut_over_step.uid:
        raise stop_unit("PinReplaced", f"{step.service.id} was replaced after the cutover")
    _require_pin_unexpired(state.cut_over_step, service)
    return service


def _require_pin_unexpired(step: CutOver, service: JsonObject) -> None:
    generation = get_int(service, "metadata", "generation") or 0
    if generation > step.pinned_generation:
        message = f"its generation is {generation}, the pin was for {step.pinned_generation}"
        raise stop_unit("PinExpired", f"{step.service.id} was edited after its cutover: {message}")
