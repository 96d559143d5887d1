"""Which artifacts a cache adopts, which it creates, and what it reports: the same for template and profile caches.

Facts: profile pipeline (artifact matching), legacy pipeline (matching and artifact creation, status).
"""

from collections.abc import Sequence
from dataclasses import dataclass

from aim_api import names
from aim_api.kinds import AIM_ARTIFACT
from aim_api.tree import JsonObject, get_map, get_objects, get_str
from aim_rehearsal.operator import framework
from aim_rehearsal.operator.conditions import Condition, find, status_place
from aim_rehearsal.operator.store import name as name_of
from aim_rehearsal.operator.store import namespace, owner_references, terminating, uid
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Render, owner_reference


@dataclass(frozen=True, slots=True)
class Match:
    """One model source and the artifact that a cache found for it, if any."""

    source: JsonObject
    artifact: JsonObject | None
    waits_for_deletion: bool = False


def match_sources(cache: JsonObject, sources: Sequence[JsonObject], view: View) -> list[Match]:
    """Return for each source the adoptable artifact with the best status.

    Adoptable: same sourceUri, not terminating, any status, storage class equal unless the cache names none; in Shared
    mode without any owner, in Dedicated mode owned by this cache.
    """
    artifacts = view.store.all(AIM_ARTIFACT, namespace(cache))
    return [_match(cache, source, artifacts) for source in sources]


def is_dedicated(cache: JsonObject) -> bool:
    """Return whether a cache keeps its artifacts to itself."""
    return get_str(cache, "spec", "mode") == "Dedicated"


def create_missing(
    cache: JsonObject, match: Match, *, controller: str, api_version: str, marks: JsonObject, salt: str = ""
) -> Render:
    """Return the artifact that a cache creates for a source without one; ``salt`` gives it another name."""
    spec = get_map(cache, "spec")
    uri = get_str(match.source, "sourceUri") or ""
    storage_class = get_str(spec, "storageClassName") or ""
    env = framework.merge_env(framework.env_of(spec, "env"), framework.env_of(match.source, "env"))
    dedicated = name_of(cache) if is_dedicated(cache) else salt
    artifact = names.artifact_name(uri, [item for item in env if isinstance(item, dict)], storage_class, dedicated)
    manifest = framework.child(
        AIM_ARTIFACT,
        cache,
        artifact,
        framework.child_labels(cache, controller, marks),
        {
            "sourceUri": uri,
            "modelId": get_str(match.source, "modelId"),
            "size": match.source.get("size"),
            "env": env,
            "storageClassName": storage_class,
            "runtimeConfigName": get_str(spec, "runtimeConfigName"),
        },
    )
    if is_dedicated(cache):
        manifest = framework.owned_by(manifest, owner_reference(cache, api_version, get_str(cache, "kind") or ""))
    return Render(AIM_ARTIFACT, manifest, framework.manager_of(controller))


def report(matches: Sequence[Match]) -> JsonObject:
    """Return ``status.artifacts``: keyed by artifact name; of two sources with one modelId the later stands."""
    by_model: dict[str, JsonObject] = {}
    for match in matches:
        if match.artifact is not None:
            by_model[get_str(match.source, "modelId") or ""] = _entry(match.source, match.artifact)
    return {get_str(entry, "name") or "": entry for entry in by_model.values()}


def artifacts_ready(matches: Sequence[Match]) -> Condition:
    """Return the ``ArtifactsReady`` condition."""
    if not matches:
        return _not_ready("NoCaches", "There is no model source to cache.")
    if any(match.waits_for_deletion for match in matches):
        return _not_ready("ArtifactTerminating", "A matching artifact is being deleted.")
    artifacts = [match.artifact for match in matches if match.artifact is not None]
    if len(artifacts) < len(matches):
        return _not_ready("CreatingCaches", "An artifact is being created.")
    worst = max(artifacts, key=status_place)
    if status_place(worst) == 0:
        return Condition("ArtifactsReady", true=True, reason="AllCachesReady", message="All artifacts are ready.")
    ready = find(worst, "Ready")
    reason = (get_str(ready, "reason") if ready else None) or "CachesNotReady"
    state = get_str(worst, "status", "status") or "Progressing"
    return Condition(
        "ArtifactsReady", true=False, reason=reason, message=f"{name_of(worst)} is not ready.", state=state
    )


def settled_when_loaded(cache: JsonObject, upstream: JsonObject | None, view: View) -> bool:
    """Return whether a loaded cache keeps the status it came with.

    It does while its spec, its profile or template, and every artifact that it reports are as they were loaded.
    """
    if not view.settled(cache, upstream):
        return False
    for entry in get_map(cache, "status", "artifacts").values():
        artifact = view.store.find(AIM_ARTIFACT, namespace(cache), get_str(entry, "name") or "")
        if artifact is None or uid(artifact) != get_str(entry, "uid") or not view.untouched(artifact):
            return False
    return True


def sources_of(obj: JsonObject | None, *path: str) -> list[JsonObject]:
    """Return the model sources at a path of an object that may be absent."""
    return get_objects(obj, *path)


def _match(cache: JsonObject, source: JsonObject, artifacts: Sequence[JsonObject]) -> Match:
    candidates = [artifact for artifact in artifacts if _fits(cache, source, artifact)]
    alive = [artifact for artifact in candidates if not terminating(artifact) and get_str(artifact, "status", "status")]
    if alive:
        return Match(source, min(alive, key=lambda item: (status_place(item), name_of(item))))
    return Match(source, None, waits_for_deletion=any(terminating(artifact) for artifact in candidates))


def _fits(cache: JsonObject, source: JsonObject, artifact: JsonObject) -> bool:
    if get_str(artifact, "spec", "sourceUri") != get_str(source, "sourceUri"):
        return False
    wanted_class = get_str(cache, "spec", "storageClassName") or ""
    if wanted_class and wanted_class != (get_str(artifact, "spec", "storageClassName") or ""):
        return False
    if cache.get("spec") and get_map(cache, "spec").get("requiresAdapterDisk") is True:
        return "adapterDisk" in get_map(artifact, "spec")
    owners = owner_references(artifact)
    if is_dedicated(cache):
        return any(get_str(owner, "uid") == uid(cache) for owner in owners)
    return not owners


def _entry(source: JsonObject, artifact: JsonObject) -> JsonObject:
    entry: JsonObject = {
        "uid": uid(artifact),
        "name": name_of(artifact),
        "model": get_str(source, "modelId") or "",
        "status": get_str(artifact, "status", "status") or "",
    }
    if claim := get_str(artifact, "status", "persistentVolumeClaim"):
        entry["persistentVolumeClaim"] = claim
    return entry


def _not_ready(reason: str, message: str) -> Condition:
    return Condition("ArtifactsReady", true=False, reason=reason, message=message)
