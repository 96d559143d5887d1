"""Storage quota of a namespace and what it evicts (legacy pipeline facts, retention and eviction).

Evictable is a Ready, Shared artifact with a retention priority, neither protected nor in use by a template cache.
Profile caches do not protect: weights that only they use can be evicted, unless they carry the protection annotation.
"""

from aim_api import labels
from aim_api.kinds import AIM_ARTIFACT, AIM_TEMPLATE_CACHE, NAMESPACE
from aim_api.tree import JsonObject, get, get_int, get_map, get_str, get_strings
from aim_rehearsal.operator.conditions import Condition
from aim_rehearsal.operator.runtime_config import merged_config
from aim_rehearsal.operator.sizes import allocated, bytes_of
from aim_rehearsal.operator.store import name, namespace, owner_references, terminating, uid
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Remove, Write

QUOTA = f"{labels.PREFIX}artifact-storage-quota"


def check(artifact: JsonObject, view: View) -> tuple[list[Write], Condition | None]:
    """Return the evictions that make room for a new artifact, and the condition where it has to wait."""
    limit = _limit(artifact, view)
    if not limit:
        return [], None
    others = [item for item in view.store.all(AIM_ARTIFACT, namespace(artifact)) if uid(item) != uid(artifact)]
    used = sum(bytes_of(get(item, "status", "allocatedSize")) for item in others)
    excess = used + bytes_of(allocated(artifact, view)) - limit
    if excess <= 0:
        return [], None
    chosen: list[Write] = []
    for item in sorted((item for item in others if _evictable(item, view)), key=lambda item: _order(item, view)):
        chosen.append(Remove(AIM_ARTIFACT, item))
        excess -= bytes_of(get(item, "status", "allocatedSize"))
        if excess <= 0:
            return chosen, _exceeded("Evicting", "Room is being made by evicting artifacts.")
    return [], _exceeded("NamespaceQuotaExceeded", "The namespace's quota leaves no room for this artifact.")


def _exceeded(reason: str, message: str) -> Condition:
    return Condition("StorageQuotaReady", true=False, reason=reason, message=message, state="Pending")


def _limit(artifact: JsonObject, view: View) -> int:
    owner = view.store.find(NAMESPACE, "", namespace(artifact)) or {}
    stated = get_strings(owner, "metadata", "annotations").get(QUOTA)
    default = get_str(merged_config(artifact, view), "artifactStorageQuota", "defaultNamespaceLimit")
    return bytes_of(stated or default)


def _evictable(artifact: JsonObject, view: View) -> bool:
    in_use = any(
        get_str(entry, "uid") == uid(artifact)
        for cache in view.store.all(AIM_TEMPLATE_CACHE, namespace(artifact))
        for entry in get_map(cache, "status", "artifacts").values()
    )
    return (
        get_str(artifact, "status", "status") == "Ready"
        and not owner_references(artifact)
        and _priority(artifact, view) is not None
        and get_strings(artifact, "metadata", "annotations").get(labels.EVICTION_PROTECTED) != "true"
        and not terminating(artifact)
        and not in_use
    )


def _priority(artifact: JsonObject, view: View) -> int | None:
    own = get_int(artifact, "spec", "retentionPriority")
    return own if own is not None else get_int(merged_config(artifact, view), "artifact", "defaultRetentionPriority")


def _order(artifact: JsonObject, view: View) -> tuple[int, str, str]:
    """Return the eviction order: lowest priority first, then the oldest."""
    created = get_str(artifact, "metadata", "creationTimestamp") or ""
    return (_priority(artifact, view) or 0, created, name(artifact))
