"""When a target counts as ready (pure): the pre-cutover fences of R, "Cache behavior".

Every function returns None when the condition holds, and otherwise a sentence on what is still missing.
"""

from dataclasses import dataclass

from aim_api.labels import EVICTION_PROTECTED
from aim_api.tree import Json, JsonObject, get_int, get_map, get_objects, get_str
from aim_template_migration.documents.plan import PinnedArtifact


@dataclass(frozen=True, slots=True)
class Missing:
    """What is missing.

    Attributes:
        message: one sentence.
        final: waiting can't bring it; another artifact or a foreign owner is an answer, not a delay.
    """

    message: str
    final: bool = False


def condition_status(obj: JsonObject, condition_type: str) -> str:
    """Return the status of a condition (``True``, ``False``, ``Unknown``), or an empty string where it is absent."""
    for condition in get_objects(obj, "status", "conditions"):
        if get_str(condition, "type") == condition_type:
            return get_str(condition, "status") or ""
    return ""


def is_current(obj: JsonObject) -> bool:
    """Return whether status.observedGeneration equals metadata.generation."""
    generation = get_int(obj, "metadata", "generation")
    return generation is not None and get_int(obj, "status", "observedGeneration") == generation


def profile_missing(profile: JsonObject) -> Missing | None:
    """Return what keeps a profile from being Ready with a projected runtime at its generation."""
    if not is_current(profile):
        return Missing("its status does not observe its present generation yet")
    if get_str(profile, "status", "status") != "Ready" or condition_status(profile, "Ready") != "True":
        return Missing(f"its status is {get_str(profile, 'status', 'status') or 'unset'}, not Ready")
    if condition_status(profile, "RuntimeProjected") != "True" or not get_str(
        profile, "status", "projectedRuntimeName"
    ):
        return Missing("its runtime is not projected yet (condition RuntimeProjected is not True)")
    return None


def runtime_missing(profile: JsonObject, runtime: JsonObject | None) -> Missing | None:
    """Return what keeps the projected runtime from belonging to the profile."""
    name = get_str(profile, "status", "projectedRuntimeName")
    if runtime is None:
        return Missing(f"its projected runtime {name} does not exist yet")
    uid = get_str(profile, "metadata", "uid")
    owners = get_objects(runtime, "metadata", "ownerReferences")
    if not any(owner.get("controller") is True and owner.get("uid") == uid for owner in owners):
        return Missing(f"its projected runtime {name} is not controlled by this profile (owner UID {uid})", final=True)
    return None


def cache_missing(cache: JsonObject, artifacts: tuple[PinnedArtifact, ...]) -> Missing | None:
    """Return what keeps a profile cache from being Ready with exactly the predecessor's artifacts and PVCs."""
    reported = [entry for entry in get_map(cache, "status", "artifacts").values() if isinstance(entry, dict)]
    foreign = _foreign_artifact(reported, artifacts)
    if foreign:
        return Missing(foreign, final=True)
    if not is_current(cache):
        return Missing("its status does not observe its present generation yet")
    if get_str(cache, "status", "status") != "Ready" or condition_status(cache, "Ready") not in ("True", ""):
        return Missing(f"its status is {get_str(cache, 'status', 'status') or 'unset'}, not Ready")
    if len(reported) != len(artifacts):
        return Missing(f"it reports {len(reported)} artifacts, not the predecessor's {len(artifacts)}")
    return next((fault for artifact in artifacts if (fault := _not_reported(reported, artifact))), None)


def _not_reported(reported: list[JsonObject], artifact: PinnedArtifact) -> Missing | None:
    entry = next((item for item in reported if item.get("uid") == artifact.uid), None)
    if entry is None:
        return Missing(f"it does not report the predecessor artifact {artifact.name} (UID {artifact.uid}) yet")
    claim = entry.get("persistentVolumeClaim")
    if claim == artifact.pvc_name:
        return None
    return Missing(f"it reports PVC {claim} for artifact {artifact.name}, not {artifact.pvc_name}", final=bool(claim))


def _foreign_artifact(reported: list[JsonObject], artifacts: tuple[PinnedArtifact, ...]) -> str:
    known = {artifact.uid for artifact in artifacts}
    for entry in reported:
        uid = get_str(entry, "uid")
        if uid and uid not in known:
            name = get_str(entry, "name")
            return f"it reports artifact {name} (UID {uid}), not the predecessor's: weights may download again"
    return ""


def unpinned_artifact(artifacts: list[JsonObject], known: frozenset[str]) -> str:
    """Return a sentence on the first artifact whose UID is not known, or an empty string."""
    for artifact in artifacts:
        uid = get_str(artifact, "metadata", "uid")
        if uid not in known:
            name = get_str(artifact, "metadata", "name")
            return f"artifact {name} (UID {uid}) holds the same source: weights may download again"
    return ""


def artifact_fault(artifact: JsonObject, pinned: PinnedArtifact) -> str:
    """Return why a live artifact is not the pinned one in the state that the plan relied on, or an empty string."""
    checks: tuple[tuple[bool, str], ...] = (
        (get_str(artifact, "metadata", "uid") == pinned.uid, f"its UID is not {pinned.uid}"),
        (
            not get_objects(artifact, "metadata", "ownerReferences"),
            "it has an owner now, so no Shared cache would adopt it",
        ),
        (get_str(artifact, "metadata", "deletionTimestamp") is None, "it is terminating"),
        (get_str(artifact, "spec", "sourceUri") == pinned.source_uri, f"its source is not {pinned.source_uri}"),
        (
            get_str(artifact, "status", "status") == "Ready",
            f"its status is {get_str(artifact, 'status', 'status')}, not Ready",
        ),
        (get_str(artifact, "status", "persistentVolumeClaim") == pinned.pvc_name, f"its PVC is not {pinned.pvc_name}"),
    )
    return next((message for holds, message in checks if not holds), "")


def pvc_fault(pvc: JsonObject, pinned: PinnedArtifact) -> str:
    """Return why a live PVC is not the pinned one, Bound and staying, or an empty string."""
    checks: tuple[tuple[bool, str], ...] = (
        (get_str(pvc, "metadata", "uid") == pinned.pvc_uid, f"its UID is not {pinned.pvc_uid}"),
        (get_str(pvc, "metadata", "deletionTimestamp") is None, "it is terminating"),
        (get_str(pvc, "status", "phase") == "Bound", f"its phase is {get_str(pvc, 'status', 'phase')}, not Bound"),
    )
    return next((message for holds, message in checks if not holds), "")


def is_protected(artifact: Json) -> bool:
    """Return whether the artifact is protected from quota eviction already."""
    return get_str(artifact, "metadata", "annotations", EVICTION_PROTECTED) == "true"
