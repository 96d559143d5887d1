"""The step that protects an artifact from quota eviction once only profile caches use it."""

from aim_api.kinds import AIM_ARTIFACT
from aim_api.labels import EVICTION_PROTECTED
from aim_api.tree import Json, JsonObject, get, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import stop_unit
from aim_template_migration.applying.readiness import artifact_fault, is_protected
from aim_template_migration.applying.targets import pinned_artifacts, read_back
from aim_template_migration.applying.writer import Found, Write
from aim_template_migration.documents.plan import ProtectArtifact

_POINTER = "/metadata/annotations/" + EVICTION_PROTECTED.replace("~", "~0").replace("/", "~1")


def protect_artifact(state: UnitState, step: ProtectArtifact) -> None:
    """Set the protection on one ownerless artifact; already set counts as done.

    Raises:
        UnitStopped: the artifact is not as pinned, or the patch is refused.
    """
    artifact = state.read(AIM_ARTIFACT, step.artifact.name)
    pinned = next(item for item in pinned_artifacts(state) if item.uid == step.uid)
    fault = artifact_fault(artifact, pinned) if artifact is not None else "it is gone"
    if fault or artifact is None:
        raise stop_unit("ArtifactChanged", f"{step.artifact.id}: {fault}")
    if is_protected(artifact):
        state.record("ProtectArtifact", {"alreadyPresent": True, "uid": step.uid})
        return
    prepared = state.context.cluster.prepare_json_patch(
        AIM_ARTIFACT, step.artifact.name, state.namespace, protection_patch(artifact), dry_run=state.dry_run
    )
    answer = state.context.writer.send(
        Write(
            unit=state.unit.id,
            step="ProtectArtifact",
            object_id=step.artifact.id,
            prepared=prepared,
            must_hold={"metadata": {"annotations": {EVICTION_PROTECTED: "true"}}},
            read_back=lambda: _settled(read_back(state, AIM_ARTIFACT, step.artifact.name), step.uid),
        )
    )
    state.warn("ProtectArtifact", answer.warnings)


def protection_patch(artifact: JsonObject) -> list[JsonObject]:
    """Return the patch: tests on UID and absent owners, then the one annotation, adding the map where it is absent."""
    tests: list[JsonObject] = [
        {"op": "test", "path": "/metadata/uid", "value": get(artifact, "metadata", "uid")},
        {"op": "test", "path": "/metadata/ownerReferences", "value": None},
    ]
    if isinstance(get(artifact, "metadata", "annotations"), dict):
        return [*tests, {"op": "add", "path": _POINTER, "value": "true"}]
    absent: Json = None
    whole: list[JsonObject] = [
        {"op": "test", "path": "/metadata/annotations", "value": absent},
        {"op": "add", "path": "/metadata/annotations", "value": {EVICTION_PROTECTED: "true"}},
    ]
    return [*tests, *whole]


def _settled(artifact: JsonObject | None, uid: str) -> tuple[Found, JsonObject]:
    if artifact is None or get_str(artifact, "metadata", "uid") != uid:
        return "other", artifact or {}
    return ("stored" if is_protected(artifact) else "notStored"), artifact
