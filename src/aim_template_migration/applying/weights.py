"""The weights that must not download again: artifacts, their claims, and download Jobs (R, "Cache behavior")."""

from aim_api.kinds import AIM_ARTIFACT, JOB, PVC
from aim_api.tree import JsonObject, get_objects, get_str
from aim_template_migration.applying.context import KnownSources, UnitState
from aim_template_migration.applying.failures import stop_unit
from aim_template_migration.applying.readiness import artifact_fault, pvc_fault, unpinned_artifact
from aim_template_migration.documents.plan import PinnedArtifact


def require_weights(state: UnitState) -> None:
    """Re-read each pinned artifact and, on its own, the PVC that it reports.

    Raises:
        UnitStopped: one is gone, replaced, owned, terminating, not Ready or not Bound; or it can't be read.
    """
    for pinned in _pinned(state):
        artifact = state.read(AIM_ARTIFACT, pinned.name)
        fault = artifact_fault(artifact, pinned) if artifact is not None else "it is gone"
        if fault:
            raise stop_unit("ArtifactChanged", f"AIMArtifact/{state.namespace}/{pinned.name}: {fault}")
        claim = state.read(PVC, pinned.pvc_name)
        fault = pvc_fault(claim, pinned) if claim is not None else "it is gone"
        if fault:
            raise stop_unit("PvcChanged", f"PersistentVolumeClaim/{state.namespace}/{pinned.pvc_name}: {fault}")


def know_sources(state: UnitState) -> None:
    """Note which artifacts of the unit's sources and which download Jobs are there; none may come afterwards.

    Raises:
        UnitStopped: a second ownerless artifact holds a source and could be adopted; or they can't be read.
    """
    artifacts = _same_source(state)
    rival = unpinned_artifact(
        [item for item in artifacts if not get_objects(item, "metadata", "ownerReferences")], _uids(state)
    )
    if rival:
        raise stop_unit("DownloadStarted", rival)
    state.known_sources = KnownSources(
        frozenset(get_str(item, "metadata", "uid") or "" for item in artifacts), _download_jobs(state)
    )


def require_no_download(state: UnitState) -> None:
    """Require that no artifact of the unit's sources and no download Job has come since ``know_sources``.

    Raises:
        UnitStopped: one has, so weights may download again; or they can't be read.
    """
    appeared = unpinned_artifact(_same_source(state), state.known_sources.artifacts | _uids(state))
    if appeared:
        raise stop_unit("DownloadStarted", appeared)
    if _download_jobs(state) - state.known_sources.jobs:
        raise stop_unit("DownloadStarted", f"a download Job has appeared for the artifacts of {state.unit.id}")


def _pinned(state: UnitState) -> tuple[PinnedArtifact, ...]:
    return state.cache_step.artifacts


def _uids(state: UnitState) -> frozenset[str]:
    return frozenset(artifact.uid for artifact in _pinned(state))


def _same_source(state: UnitState) -> list[JsonObject]:
    sources = {artifact.source_uri for artifact in _pinned(state)}
    return [item for item in state.list(AIM_ARTIFACT) if get_str(item, "spec", "sourceUri") in sources]


def _download_jobs(state: UnitState) -> frozenset[str]:
    """Return the UIDs of Jobs that the pinned artifacts own."""
    owners = _uids(state)
    return frozenset(
        get_str(job, "metadata", "uid") or ""
        for job in state.list(JOB)
        if any(get_str(owner, "uid") in owners for owner in get_objects(job, "metadata", "ownerReferences"))
    )
