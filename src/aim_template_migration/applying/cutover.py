"""The cutover: the one write that moves a service, sent only when its dry run shows exactly the expected change."""

from aim_api.bridge import Pin
from aim_api.kinds import AIM_SERVICE, DEPLOYMENT, INFERENCE_SERVICE, POD
from aim_api.labels import KSERVE_INFERENCE_SERVICE
from aim_api.tree import JsonObject, get, get_int, get_objects, get_str, get_strings, has
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import UnitStopped, stop_unit
from aim_template_migration.applying.patching import apply_operations, guarded_operations, unexpected_differences
from aim_template_migration.applying.targets import read_back
from aim_template_migration.applying.workload import workload_facts
from aim_template_migration.applying.writer import Found, Write
from aim_template_migration.documents.canonical import digest
from aim_template_migration.documents.plan import ConfirmNoRollout, CutOver
from aim_template_migration.documents.result import WorkloadFacts


def cut_over(state: UnitState, step: CutOver) -> None:
    """Send the cutover patch: first as a dry run, then, in a commit, for real.

    Raises:
        UnitStopped: the service is not as pinned, the dry run shows an unexpected change, or the patch is refused.
    """
    live = _service_to_cut(state, step)
    expected = expected_service(live, step)
    if state.context.settings.commit:
        confirm = _confirm_step(state)
        state.workload_before = read_workload(state, confirm)
        state.record(
            "CutOver", {"workload": _facts_object(state.workload_before), "specSha256": digest(live.get("spec"))}
        )
    _send(state, step, live, expected, dry_run=True)
    if state.context.settings.commit:
        _send(state, step, live, expected, dry_run=False)
        state.cut_over = True
        state.context.revalidator.forget(state.namespace)


def expected_service(live: JsonObject, step: CutOver) -> JsonObject:
    """Return the service as the patch must leave it: the operations applied, and the pinned generation."""
    changed = apply_operations(live, step.operations)
    return apply_operations(changed, [{"op": "add", "path": "/metadata/generation", "value": step.pinned_generation}])


def is_cut_over(live: JsonObject, step: CutOver, profile_name: str) -> bool:
    """Return whether a service's spec and pin are exactly what this cutover leaves (recognised by content)."""
    pin = Pin.from_annotations(get_strings(live, "metadata", "annotations"))
    return (
        get_str(live, "metadata", "uid") == step.uid
        and pin == Pin(step.pinned_inference_service_uid, step.pinned_generation)
        and get(live, "spec", "profile") == {"name": profile_name}
        and not has(live, "spec", "template")
    )


def read_workload(state: UnitState, step: ConfirmNoRollout) -> WorkloadFacts:
    """Read the InferenceService, the Deployment that it owns and its pods, and return their facts.

    Raises:
        UnitStopped: the InferenceService is gone, or something can't be read.
    """
    isvc = state.read(INFERENCE_SERVICE, step.inference_service.name)
    if isvc is None:
        raise stop_unit("RolloutDetected", f"{step.inference_service.id} is gone", halts=True)
    uid = get_str(isvc, "metadata", "uid")
    owned = [item for item in state.list(DEPLOYMENT) if _controlled_by(item, uid)]
    pods = state.list(POD, f"{KSERVE_INFERENCE_SERVICE}={step.inference_service.name}")
    return workload_facts(isvc, owned[0] if len(owned) == 1 else None, pods)


def _service_to_cut(state: UnitState, step: CutOver) -> JsonObject:
    live = state.read(AIM_SERVICE, step.service.name)
    if live is None:
        raise stop_unit("PinGone", f"{step.service.id} is gone")
    if get_str(live, "metadata", "uid") != step.uid:
        raise stop_unit("PinReplaced", f"{step.service.id} was replaced: its UID is no longer {step.uid}")
    if get_int(live, "metadata", "generation") != step.generation:
        generation = get_int(live, "metadata", "generation")
        raise stop_unit(
            "PinEdited", f"{step.service.id} was edited: its generation is {generation}, not {step.generation}"
        )
    return live


def _send(state: UnitState, step: CutOver, live: JsonObject, expected: JsonObject, *, dry_run: bool) -> None:
    prepared = state.context.cluster.prepare_json_patch(
        AIM_SERVICE, step.service.name, state.namespace, guarded_operations(live, step.operations), dry_run=dry_run
    )
    write = Write(
        unit=state.unit.id,
        step="CutOver",
        object_id=step.service.id,
        prepared=prepared,
        must_hold={"spec": expected.get("spec")},
        read_back=lambda: _settled(read_back(state, AIM_SERVICE, step.service.name), live, expected),
    )
    try:
        answer = state.context.writer.send(write)
    except UnitStopped as stopped:
        raise _named_cause(state, step, live, stopped) from stopped
    state.warn("CutOver", answer.warnings)
    differences = unexpected_differences(expected, answer.body)
    if differences:
        message = f"the patch of {step.service.id} changes more than expected: {', '.join(differences[:5])}"
        raise stop_unit("CutoverDiffers", message, halts=not dry_run)


def _named_cause(state: UnitState, step: CutOver, live: JsonObject, stopped: UnitStopped) -> UnitStopped:
    """A failed test of a JSON Patch answers 422 without saying which: read again to name the cause."""
    if stopped.failure.http_status not in (409, 422):
        return stopped
    now = state.read(AIM_SERVICE, step.service.name)
    if now is None:
        return stop_unit("PinGone", f"{step.service.id} is gone")
    if get_str(now, "metadata", "uid") != step.uid:
        return stop_unit("PinReplaced", f"{step.service.id} was replaced between reading and writing")
    for label, path in (
        ("spec", ("spec",)),
        ("annotations", ("metadata", "annotations")),
        ("generation", ("metadata", "generation")),
    ):
        if get(now, *path) != get(live, *path):
            return stop_unit(
                "PinEdited", f"{step.service.id} was edited between reading and writing: its {label} changed"
            )
    return stopped


def _settled(now: JsonObject | None, before: JsonObject, expected: JsonObject) -> tuple[Found, JsonObject]:
    if now is None:
        return "other", {}
    if not unexpected_differences(expected, now):
        return "stored", now
    return ("notStored" if not unexpected_differences(before, now) else "other"), now


def _confirm_step(state: UnitState) -> ConfirmNoRollout:
    return next(step for step in state.unit.steps if isinstance(step, ConfirmNoRollout))


def _controlled_by(obj: JsonObject, uid: str | None) -> bool:
    return any(
        owner.get("controller") is True and owner.get("uid") == uid
        for owner in get_objects(obj, "metadata", "ownerReferences")
    )


def _facts_object(facts: WorkloadFacts) -> JsonObject:
    return {
        "uid": facts.uid,
        "generation": facts.generation,
        "specDigest": facts.spec_digest,
        "metadataDigest": facts.metadata_digest,
        "templateHash": facts.template_hash,
        "pods": [
            {"name": pod.name, "uid": pod.uid, "restarts": pod.restarts, "templateHash": pod.template_hash}
            for pod in facts.pods
        ],
    }
