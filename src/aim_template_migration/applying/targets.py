"""The steps that create targets: an AIMProfile, and the service-driven AIMProfileCache."""

from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_PROFILE_CACHE, JOB, PVC, Kind
from aim_api.tree import JsonObject, get_objects, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import UnitStopped, stop_unit
from aim_template_migration.applying.patching import fields_not_stored
from aim_template_migration.applying.readiness import artifact_fault, new_artifact, pvc_fault
from aim_template_migration.applying.writer import Found, Write
from aim_template_migration.documents.plan import AwaitProfileCache, CreateProfile, CreateProfileCache, PinnedArtifact
from aim_template_migration.kube.errors import NotFound


def create_profile(state: UnitState, step: CreateProfile) -> None:
    """Create the AIMProfile only if absent; an equal one counts as done.

    Raises:
        UnitStopped: another profile of this name exists, or the creation is refused.
    """
    _ensure(state, "CreateProfile", AIM_PROFILE, step.target)


def create_profile_cache(state: UnitState, step: CreateProfileCache) -> None:
    """Create the AIMProfileCache only if absent, right after re-reading the artifacts that it must adopt.

    Raises:
        UnitStopped: an artifact or PVC is not as pinned, another cache of this name exists, or the creation is refused.
    """
    require_artifacts(state, pinned_artifacts(state))
    _ensure(state, "CreateProfileCache", AIM_PROFILE_CACHE, step.target)


def pinned_artifacts(state: UnitState) -> tuple[PinnedArtifact, ...]:
    """Return the predecessor's artifacts that the unit's cache must adopt."""
    return next(step.artifacts for step in state.unit.steps if isinstance(step, AwaitProfileCache))


def require_artifacts(state: UnitState, pinned: tuple[PinnedArtifact, ...]) -> None:
    """Re-read the pinned artifacts and their PVCs, and look for artifacts that have appeared for the same sources.

    Raises:
        UnitStopped: one is gone, replaced, owned, not Ready or not Bound, or another one has appeared.
    """
    live = {get_str(item, "metadata", "name"): item for item in state.list(AIM_ARTIFACT)}
    appeared = new_artifact(list(live.values()), pinned)
    if appeared is not None:
        raise stop_unit("DownloadStarted", appeared.message)
    for artifact in pinned:
        found = live.get(artifact.name)
        fault = artifact_fault(found, artifact) if found is not None else "it is gone"
        if fault:
            raise stop_unit("ArtifactChanged", f"AIMArtifact/{state.namespace}/{artifact.name}: {fault}")
        require_pvc(state, artifact)


def require_pvc(state: UnitState, artifact: PinnedArtifact) -> None:
    """Re-read the live PVC of a pinned artifact on its own.

    Raises:
        UnitStopped: it is gone, replaced, terminating or not Bound.
    """
    pvc = state.read(PVC, artifact.pvc_name)
    fault = pvc_fault(pvc, artifact) if pvc is not None else "it is gone"
    if fault:
        raise stop_unit("PvcChanged", f"PersistentVolumeClaim/{state.namespace}/{artifact.pvc_name}: {fault}")


def download_jobs(state: UnitState, pinned: tuple[PinnedArtifact, ...]) -> frozenset[str]:
    """Return the UIDs of Jobs that the pinned artifacts own: a new one among them means a download."""
    owners = {artifact.uid for artifact in pinned}
    return frozenset(
        get_str(job, "metadata", "uid") or ""
        for job in state.list(JOB)
        if any(get_str(owner, "uid") in owners for owner in get_objects(job, "metadata", "ownerReferences"))
    )


def _ensure(state: UnitState, step: str, kind: Kind, target_id: str) -> None:
    body = state.context.plan.target(target_id).body
    name = get_str(body, "metadata", "name") or ""
    found, live = _compare(state.read(kind, name), body)
    if found == "stored":
        _record_present(state, step, live)
        return
    if found == "other":
        raise _conflict(target_id, live, body)
    cluster = state.context.cluster
    write = Write(
        unit=state.unit.id,
        step=step,
        object_id=target_id,
        prepared=cluster.prepare_create(kind, body, state.namespace, dry_run=state.dry_run),
        must_hold=body,
        read_back=lambda: _compare(read_back(state, kind, name), body),
    )
    answer = state.context.writer.send(write)
    state.warn(step, answer.warnings)
    if not state.dry_run:
        state.context.revalidator.forget(state.namespace)


def read_back(state: UnitState, kind: Kind, name: str) -> JsonObject | None:
    """Read an object while a lost answer is settled.

    Raises:
        RequestError: it can't be read now; the settling goes on.
    """
    try:
        return state.context.cluster.get(kind, name, state.namespace)
    except NotFound:
        return None


def _compare(live: JsonObject | None, body: JsonObject) -> tuple[Found, JsonObject]:
    """Return whether a live object is the planned target: ownerless, staying, and with every planned field."""
    if live is None:
        return "notStored", {}
    foreign = (
        bool(get_objects(live, "metadata", "ownerReferences"))
        or get_str(live, "metadata", "deletionTimestamp") is not None
    )
    return ("other" if foreign or fields_not_stored({"spec": body.get("spec")}, live) else "stored"), live


def _conflict(target_id: str, live: JsonObject, body: JsonObject) -> UnitStopped:
    differing = fields_not_stored({"spec": body.get("spec")}, live)
    if differing:
        return stop_unit("TargetDiffers", f"{target_id} exists already with other content: {', '.join(differing[:5])}")
    return stop_unit("TargetDiffers", f"{target_id} exists already and is owned by something else or terminating")


def _record_present(state: UnitState, step: str, live: JsonObject) -> None:
    state.record(step, {"alreadyPresent": True, "uid": get_str(live, "metadata", "uid") or ""})
