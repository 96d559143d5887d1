"""The steps that wait for the operator: profile and runtime, and the cache with the predecessor's artifacts."""

from aim_api.kinds import (
    AIM_CLUSTER_PROFILE,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    CLUSTER_SERVING_RUNTIME,
    SERVING_RUNTIME,
)
from aim_api.tree import get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.readiness import Missing, cache_missing, profile_missing, runtime_missing
from aim_template_migration.applying.weights import require_no_download, require_weights
from aim_template_migration.documents.plan import AwaitProfile, AwaitProfileCache, ReverifyProfileCache, step_name


def await_profile(state: UnitState, step: AwaitProfile) -> None:
    """Wait until the profile is Ready at its generation with its own projected runtime (the pre-cutover fence).

    Raises:
        UnitStopped: the deadline passes, or the runtime belongs to something else.
    """
    namespaced = step.profile.kind == AIM_PROFILE.name
    kind = AIM_PROFILE if namespaced else AIM_CLUSTER_PROFILE
    runtime_kind = SERVING_RUNTIME if namespaced else CLUSTER_SERVING_RUNTIME

    def probe() -> Missing | None:
        profile = state.read(kind, step.profile.name)
        if profile is None:
            return Missing(f"{step.profile.id} does not exist", final=True)
        missing = profile_missing(profile)
        if missing is None:
            runtime = state.read(runtime_kind, get_str(profile, "status", "projectedRuntimeName") or "")
            missing = runtime_missing(profile, runtime)
        if missing is not None:
            return Missing(f"{step.profile.id}: {missing.message}", final=missing.final)
        facts = {
            "uid": get_str(profile, "metadata", "uid"),
            "runtime": get_str(profile, "status", "projectedRuntimeName"),
        }
        state.record("AwaitProfile", {**facts, "runtimeUid": get_str(runtime, "metadata", "uid")})
        return None

    state.poll("AwaitProfile", "ProfileNotReady", step.deadline_seconds, probe)


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
