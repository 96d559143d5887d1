"""The weights that must not download again: artifacts, their claims, and download Jobs (R, "Cache behavior")."""

from aim_api.kinds import AIM_ARTIFACT, PVC
from aim_api.tree import JsonObject, get_objects, get_str
from aim_template_migration.applying.context import KnownSources, UnitState
from aim_template_migration.applying.failures import stop_unit
from aim_template_migration.applying.glimpses import owner_uids
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


def require_no_earlier_download(state: UnitState, cache: JsonObject) -> None:
    """Require that nothing has downloaded the weights since a former run created the target cache.

    What such a download leaves is an artifact that this cache owns, or a Job of a pinned artifact that is not older
    than the cache. Both times are the API server's, in whole seconds: what came in the same second counts as later. A
    Job that has been removed since, as finished ones are in time, can't be seen any more.

    Args:
        state: the unit.
        cache: the live target cache, absent when the plan was made.

    Raises:
        UnitStopped: there is such a download; or it can't be read.
    """
    born, uid = get_str(cache, "metadata", "creationTimestamp") or "", get_str(cache, "metadata", "uid")
    owned = [item for item in _same_source(state) if uid in owner_uids(item)]
    if owned:
        raise stop_unit("DownloadStarted", unpinned_artifact(owned, _uids(state)))
    for job in _jobs(state):
        begun = get_str(job, "metadata", "creationTimestamp") or ""
        if begun >= born > "":
            place = f"Job/{state.namespace}/{get_str(job, 'metadata', 'name')}"
            since = f"which began at {begun}, after the profile cache was created at {born}"
            raise stop_unit("DownloadStarted", f"{place}, {since}, downloads for the artifacts of {state.unit.id}")


def _pinned(state: UnitState) -> tuple[PinnedArtifact, ...]:
    return state.cache_step.artifacts


def _uids(state: UnitState) -> frozenset[str]:
    return frozenset(artifact.uid for artifact in _pinned(state))


def _same_source(state: UnitState) -> list[JsonObject]:
    return state.same_source({artifact.source_uri for artifact in _pinned(state)})


def _download_jobs(state: UnitState) -> frozenset[str]:
    return frozenset(get_str(job, "metadata", "uid") or "" for job in _jobs(state))


def _jobs(state: UnitState) -> list[JsonObject]:
    """Return the Jobs that the pinned artifacts own."""
    return state.owned_jobs(_uids(state))
