"""The cutover: the one write that moves a service, sent only when its dry run shows exactly the expected change."""

from dataclasses import replace

from aim_api.bridge import Pin
from aim_api.kinds import AIM_SERVICE
from aim_api.tree import JsonObject, get, get_str, get_strings, has
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import Failure, UnitStopped, stop_unit
from aim_template_migration.applying.fences import FenceCode
from aim_template_migration.applying.patching import (
    apply_operations,
    fit_operations,
    guarded_operations,
    unexpected_differences,
)
from aim_template_migration.applying.readiness import condition_status
from aim_template_migration.applying.revalidate import PinReading
from aim_template_migration.applying.serving import read_workload, require_comparable
from aim_template_migration.applying.targets import read_back
from aim_template_migration.applying.workload import facts_object
from aim_template_migration.applying.writer import Found, Write
from aim_template_migration.documents.canonical import digest
from aim_template_migration.documents.plan import CutOver
from aim_template_migration.kube import PreparedRequest
from aim_template_migration.kube.errors import RequestError

_SHOWN_FIELDS = 5


def cut_over(state: UnitState, step: CutOver) -> None:
    """Send the cutover patch: first as a dry run, then, in a commit, for real.

    The fences of the service and of its InferenceService hold for the very reads that the patch and the proof of no
    rollout start from.

    Raises:
        UnitStopped: the service is not as pinned, the InferenceService is not as pinned or not Ready, the dry run shows
            an unexpected change, the patch is refused, or the cutovers of the run were halted.
    """
    service = _require_pinned(state, "service")
    live = service.raw or {}
    operations = fit_operations(live, step.operations)
    expected = expected_service(live, step, operations)
    if not state.dry_run:
        _note_workload(state, service)
    _send(state, step, live, expected, _prepare(state, step, live, operations, dry_run=True))
    if not state.dry_run:
        require_turn(state)
        _send(state, step, live, expected, _prepare(state, step, live, operations, dry_run=False))


def require_turn(state: UnitState) -> None:
    """Stop the unit where another one has halted the cutovers of the run.

    Raises:
        UnitStopped: it has.
    """
    by = state.context.gate.halted_by
    if by:
        message = f"not cut over, because {by} halted the cutovers of this run"
        raise UnitStopped(Failure("HaltedAfterRollout", message, status="skipped"))


def expected_service(live: JsonObject, step: CutOver, operations: tuple[JsonObject, ...]) -> JsonObject:
    """Return the service as the patch must leave it: the operations applied, and the pinned generation.

    Raises:
        UnitStopped: the operations do not fit the service.
    """
    try:
        changed = apply_operations(live, operations)
    except ValueError as error:
        raise stop_unit("CutoverDiffers", f"the plan's patch does not fit {step.service.id}: {error}") from error
    return apply_operations(changed, [{"op": "add", "path": "/metadata/generation", "value": step.pinned_generation}])


def is_cut_over(live: JsonObject, step: CutOver, profile_name: str) -> bool:
    """Return whether a service's spec and pin are what this cutover leaves (recognised by content, never by history).

    The generation is looked at by those who ask: a higher one says that the pin has expired.
    """
    pin = Pin.from_annotations(get_strings(live, "metadata", "annotations"))
    return (
        get_str(live, "metadata", "uid") == step.uid
        and pin == Pin(step.pinned_inference_service_uid, step.pinned_generation)
        and get(live, "spec", "profile") == {"name": profile_name}
        and not has(live, "spec", "template")
    )


def _require_pinned(state: UnitState, role: str) -> PinReading:
    """Read a pinned object of the unit and hold its fence for this very read."""
    (reading,) = state.read_pins(role)
    breach = reading.breach
    if breach is not None:
        raise stop_unit(breach.code, breach.message)
    return reading


def _note_workload(state: UnitState, service: PinReading) -> None:
    """Journal the workload before the cutover; it must be as planned, and Ready (R, "Dry-run and commit")."""
    isvc = _require_pinned(state, "inferenceService")
    if isvc.observed is None or condition_status(isvc.observed.obj, "Ready") != "True":
        raise stop_unit("InferenceServiceNotReady", f"{state.confirm_step.inference_service.id} is not Ready")
    state.workload_before = read_workload(state, isvc)
    require_comparable(state, isvc.observed.obj, state.workload_before)
    sanitised = service.observed.obj if service.observed else {}
    tested: JsonObject = {
        "spec": digest(get(sanitised, "spec")),
        "annotations": digest(get(sanitised, "metadata", "annotations")),
    }
    state.record("CutOver", {"workload": facts_object(state.workload_before), "testedSha256": tested})


def _prepare(
    state: UnitState, step: CutOver, live: JsonObject, operations: tuple[JsonObject, ...], *, dry_run: bool
) -> PreparedRequest:
    return state.context.cluster.prepare_json_patch(
        AIM_SERVICE, step.service.name, state.namespace, guarded_operations(live, operations), dry_run=dry_run
    )


def _send(state: UnitState, step: CutOver, live: JsonObject, expected: JsonObject, prepared: PreparedRequest) -> None:
    write = Write(
        unit=state.unit.id,
        step="CutOver",
        object_id=step.service.id,
        prepared=prepared,
        must_hold={},  # the whole answer is compared below
        read_back=lambda: _found(state, step, live, expected),
        before_leaving=lambda: None if prepared.dry_run else _leave(state),
        doubt_refusals=not prepared.dry_run,
    )
    try:
        sent = state.context.writer.send(write)
    except UnitStopped as stopped:
        if stopped.failure.not_stored:
            state.may_be_cut_over = False
        raise _named_cause(state, step, live, stopped) from stopped
    state.warn("CutOver", sent.warnings)
    if not prepared.dry_run:
        state.keep_answer(step.service.id, sent.body)
    # Where the answer was lost others may have written since; the proof that follows looks at the generation.
    differences = [] if sent.settled else unexpected_differences(expected, sent.body)
    if differences:
        fields = ", ".join(differences[:_SHOWN_FIELDS])
        what = "would change more than" if prepared.dry_run else "left the service otherwise than"
        # Stored otherwise than its own dry run showed, the pin may not hold, and the next may fare no better.
        raise stop_unit(
            "CutoverDiffers", f"the patch of {step.service.id} {what} expected: {fields}", halts=not prepared.dry_run
        )


def _leave(state: UnitState) -> None:
    """Look at the gate a last time; from here on the service may be cut over."""
    require_turn(state)
    state.may_be_cut_over = True


def _named_cause(state: UnitState, step: CutOver, live: JsonObject, stopped: UnitStopped) -> UnitStopped:
    """A failed test of a JSON Patch answers 422 without saying which: read again to name the cause."""
    if stopped.failure.code == "ReadBackDiffers":
        return UnitStopped(replace(stopped.failure, halts=True))  # a cutover that is not as sent may be without its pin
    if stopped.failure.http_status not in (409, 422):
        return stopped
    try:
        now = read_back(state, AIM_SERVICE, step.service.name)
    except RequestError:
        return stopped
    if get_str(now, "spec", "profile", "name") == state.confirm_step.profile_name:
        state.may_be_cut_over = True  # ours may have been stored and changed since, for example by a webhook
    found = _cause(step, live, now)
    if found is None:
        return stopped
    code, what = found
    message = f"{step.service.id} {what} between reading and writing"
    return UnitStopped(replace(stopped.failure, code=code, message=message))


def _cause(step: CutOver, live: JsonObject, now: JsonObject | None) -> tuple[FenceCode, str] | None:
    if now is None:
        return "PinGone", "vanished"
    if get_str(now, "metadata", "uid") != step.uid:
        return "PinReplaced", "was replaced"
    if get_str(now, "metadata", "deletionTimestamp") is not None:
        return "PinTerminating", "was deleted"
    for label, path in (
        ("spec", ("spec",)),
        ("annotations", ("metadata", "annotations")),
        ("generation", ("metadata", "generation")),
    ):
        if get(now, *path) != get(live, *path):
            return "PinEdited", f"was edited (its {label} changed)"
    return None


def _found(state: UnitState, step: CutOver, before: JsonObject, expected: JsonObject) -> tuple[Found, JsonObject]:
    now = read_back(state, AIM_SERVICE, step.service.name)
    if now is None:
        return "other", {}
    # Others may write labels right after; what this patch is about is the pipeline and the pin.
    if is_cut_over(now, step, state.confirm_step.profile_name) or not unexpected_differences(expected, now):
        return "stored", now
    return ("notStored" if not unexpected_differences(before, now) else "other"), now
