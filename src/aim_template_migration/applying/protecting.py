"""The step that protects an artifact from quota eviction once only profile caches use it."""

from dataclasses import replace

from aim_api.kinds import AIM_ARTIFACT
from aim_api.labels import EVICTION_PROTECTED
from aim_api.tree import JsonObject, get, get_str, pointer_part
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import UnitStopped, stop_unit
from aim_template_migration.applying.readiness import artifact_fault, is_protected
from aim_template_migration.applying.targets import read_back
from aim_template_migration.applying.writer import Found, Write
from aim_template_migration.documents.plan import PinnedArtifact, ProtectArtifact
from aim_template_migration.kube.errors import RequestError

_POINTER = "/metadata/annotations/" + pointer_part(EVICTION_PROTECTED)


def protect_artifact(state: UnitState, step: ProtectArtifact) -> None:
    """Set the protection on one ownerless artifact; already set counts as done.

    Raises:
        UnitStopped: the artifact is not as pinned, or the patch is refused.
    """
    pinned = next(item for item in state.cache_step.artifacts if item.uid == step.uid)
    artifact = state.read(AIM_ARTIFACT, step.artifact.name)
    fault = _fault(artifact, pinned)
    if fault or artifact is None:
        raise stop_unit("ArtifactChanged", f"{step.artifact.id}: {fault}")
    if is_protected(artifact):
        _record_present(state, step)
        return
    prepared = state.context.cluster.prepare_json_patch(
        AIM_ARTIFACT, step.artifact.name, state.namespace, protection_patch(artifact), dry_run=state.dry_run
    )
    write = Write(
        unit=state.unit.id,
        step="ProtectArtifact",
        object_id=step.artifact.id,
        prepared=prepared,
        must_hold={"metadata": {"annotations": {EVICTION_PROTECTED: "true"}}},
        read_back=lambda: _found(read_back(state, AIM_ARTIFACT, step.artifact.name), step.uid),
    )
    try:
        sent = state.context.writer.send(write)
    except UnitStopped as stopped:
        _require_protected_meanwhile(state, step, pinned, stopped)
        return
    state.warn("ProtectArtifact", sent.warnings)
    state.keep_answer(step.artifact.id, sent.body)
    # The patch leaves the spec alone: admission must, too. Where the answer was lost others may have written since.
    if not sent.settled and get(sent.body, "spec") != get(artifact, "spec"):
        raise stop_unit(
            "AnswerDiffers", f"the answer to the patch of {step.artifact.id} has another spec than was read"
        )


def protection_patch(artifact: JsonObject) -> list[JsonObject]:
    """Return the patch: tests on UID and absent owners, then the one annotation, adding the map where it is absent."""
    tests: list[JsonObject] = [
        {"op": "test", "path": "/metadata/uid", "value": get(artifact, "metadata", "uid")},
        {"op": "test", "path": "/metadata/ownerReferences", "value": None},
    ]
    if isinstance(get(artifact, "metadata", "annotations"), dict):
        return [*tests, {"op": "add", "path": _POINTER, "value": "true"}]
    whole: list[JsonObject] = [
        {"op": "test", "path": "/metadata/annotations", "value": None},
        {"op": "add", "path": "/metadata/annotations", "value": {EVICTION_PROTECTED: "true"}},
    ]
    return [*tests, *whole]


def _fault(artifact: JsonObject | None, pinned: PinnedArtifact) -> str:
    return "it is gone" if artifact is None else artifact_fault(artifact, pinned)


def _require_protected_meanwhile(
    state: UnitState, step: ProtectArtifact, pinned: PinnedArtifact, stopped: UnitStopped
) -> None:
    """A failed test of a JSON Patch answers 422 without saying which: read again to name the cause.

    Another unit that uses the same weights may have protected them meanwhile; then nothing is left to do.

    Raises:
        UnitStopped: the artifact is not protected, or not as pinned.
    """
    if stopped.failure.http_status not in (409, 422):
        raise stopped
    try:
        now = read_back(state, AIM_ARTIFACT, step.artifact.name)
    except RequestError:
        raise stopped from None
    fault = _fault(now, pinned)
    if fault:
        message = f"{step.artifact.id} changed between reading and writing: {fault}"
        raise UnitStopped(replace(stopped.failure, code="ArtifactChanged", message=message)) from stopped
    if not is_protected(now):
        raise stopped
    _record_present(state, step)


def _record_present(state: UnitState, step: ProtectArtifact) -> None:
    state.record("ProtectArtifact", {"alreadyPresent": True, "object": step.artifact.id, "uid": step.uid})


def _found(artifact: JsonObject | None, uid: str) -> tuple[Found, JsonObject]:
    if artifact is None or get_str(artifact, "metadata", "uid") != uid:
        return "other", artifact or {}
    return ("stored" if is_protected(artifact) else "notStored"), artifact
