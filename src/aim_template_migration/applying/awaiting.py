"""The steps that wait for the operator: profile and runtime, and the cache with the predecessor's artifacts."""

from aim_api.kinds import (
    AIM_CLUSTER_PROFILE,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    CLUSTER_SERVING_RUNTIME,
    SERVING_RUNTIME,
)
from aim_api.tree import JsonObject, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import stop_unit
from aim_template_migration.applying.readiness import Missing, cache_missing, profile_missing, runtime_missing
from aim_template_migration.applying.weights import require_no_download, require_weights
from aim_template_migration.documents.plan import AwaitProfile, AwaitProfileCache, ReverifyProfileCache, step_name


def await_profile(state: UnitState, step: AwaitProfile) -> None:
    """Wait until the profile is Ready at its generation with its own projected runtime (the pre-cutover fence).

    Raises:
        UnitStopped: the deadline passes, or the runtime belongs to something else.
    """

    def probe() -> Missing | None:
        found = _look_at_profile(state, step)
        if isinstance(found, Missing):
            return found
        state.profile_uid = found["uid"]
        state.record("AwaitProfile", {**found})
        return None

    state.poll("AwaitProfile", "ProfileNotReady", step.deadline_seconds, probe)


def require_profile(state: UnitState, step: AwaitProfile) -> None:
    """Hold the fence of ``await_profile`` once more without waiting, and for the very profile that it saw.

    Raises:
        UnitStopped: the profile or its runtime is no longer as it was; or they can't be read.
    """
    found = _look_at_profile(state, step)
    if isinstance(found, Missing):
        raise stop_unit("ProfileNotReady", f"{found.message}, though it was Ready before")
    if found["uid"] != state.profile_uid:
        message = f"{step.profile.id} was replaced since it became Ready: its UID is {found['uid']}"
        raise stop_unit("ProfileNotReady", f"{message}, not {state.profile_uid}")


def _look_at_profile(state: UnitState, step: AwaitProfile) -> Missing | dict[str, str]:
    """Read profile and runtime once; return who they are, or what is missing."""
    namespaced = step.profile.kind == AIM_PROFILE.name
    kind = AIM_PROFILE if namespaced else AIM_CLUSTER_PROFILE
    profile = state.read(kind, step.profile.name)
    if profile is None:
        return Missing(f"{step.profile.id} does not exist", final=True)
    missing, name = profile_missing(profile), get_str(profile, "status", "projectedRuntimeName") or ""
    runtime: JsonObject | None = None
    if missing is None:
        runtime = state.read(SERVING_RUNTIME if namespaced else CLUSTER_SERVING_RUNTIME, name)
        missing = runtime_missing(profile, runtime)
    if missing is not None:
        return Missing(f"{step.profile.id}: {missing.message}", final=missing.final)
    uids = (get_str(profile, "metadata", "uid") or "", get_str(runtime, "metadata", "uid") or "")
    return {"uid": uids[0], "runtime": name, "runtimeUid": uids[1]}


def await_profile_cache(state: UnitState, step: AwaitProfileCache | ReverifyProfileCache) -> None:
    """Wait until the cache reports exactly the predecessor's artifacts and PVCs, and re-read each live PVC.

    Raises:
        UnitStopped: the deadline passes, another artifact is adopted, a download begins, or a PVC is not as pinned.
    """
    name = step_name(step)

    def probe() -> Missing | None:
        cache = state.read(AIM_PROFILE_CACHE, step.profile_cache.name)
        if cache is None:
            return Missing(f"{step.profile_cache.id} does not exist", final=True)
        missing = cache_missing(cache, step.artifacts)
        if missing is None:
            return None
        require_no_download(state)  # a download that has begun is a reason to stop, not to wait
        return Missing(f"{step.profile_cache.id}: {missing.message}", final=missing.final)

    state.poll(name, "ProfileCacheNotReady", step.deadline_seconds, probe)
    require_no_download(state)
    require_weights(state)
    state.record(
        name,
        {
            "artifacts": [artifact.uid for artifact in step.artifacts],
            "pvcs": [artifact.pvc_uid for artifact in step.artifacts],
        },
    )
