"""What lies beside a unit in its namespace and could take its place: other artifacts, other InferenceServices.

Pins name what was there when the plan was made; what has joined since is seen in lists alone, read once per namespace.
"""

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from aim_api.kinds import AIM_ARTIFACT, INFERENCE_SERVICE
from aim_api.labels import SERVICE, SERVICE_NAME
from aim_api.names import label_value
from aim_api.tree import JsonObject, get_map, get_objects, get_str, get_strings
from aim_template_migration.applying.readiness import unpinned_artifact
from aim_template_migration.inspecting.live import Migration, UnitLive
from aim_template_migration.kube import Cluster


@dataclass(frozen=True, slots=True)
class Beside:
    """All artifacts and InferenceServices of one namespace, reduced to what tells whose they are."""

    artifacts: tuple[JsonObject, ...] = ()
    inference_services: tuple[JsonObject, ...] = ()


class Neighbours:
    """Lists each namespace once, when it is first asked for (shell)."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._lock = threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._known: dict[str, Beside] = {}

    def of(self, namespace: str) -> Beside:
        """Return what is in a namespace.

        Raises:
            RequestError: it can't be listed.
        """
        with self._lock:
            lock = self._locks.setdefault(namespace, threading.Lock())
        with lock:  # one reader for a namespace; others may be read meanwhile
            if namespace not in self._known:
                self._known[namespace] = Beside(
                    tuple(self._cluster.list_reduced(AIM_ARTIFACT, namespace, _whose)),
                    tuple(self._cluster.list_reduced(INFERENCE_SERVICE, namespace, _whose)),
                )
            return self._known[namespace]


def second_artifact(migration: Migration, live: UnitLive, artifacts: Iterable[JsonObject]) -> str:
    """Return a sentence on another artifact of the unit's sources that is its concern, or an empty string."""
    pinned = migration.cache.artifacts
    sources = {item.source_uri for item in pinned}
    own = _own_uids(migration, live)
    same = [
        artifact
        for artifact in artifacts
        if get_str(artifact, "spec", "sourceUri") in sources and _concerns(artifact, own)
    ]
    return unpinned_artifact(same, frozenset(item.uid for item in pinned))


def second_inference_service(migration: Migration, services: Iterable[JsonObject]) -> str:
    """Return a sentence on another InferenceService that is the service's or carries its name, or an empty string."""
    pinned = {pin.uid for pin in migration.unit.pins if pin.role == "inferenceService"}
    service_uid, name = migration.cut_over.uid, migration.unit.id.split("/")[2]
    for item in services:
        if get_str(item, "metadata", "uid") in pinned:
            continue
        labels = get_strings(item, "metadata", "labels")
        owners = (get_str(owner, "uid") for owner in get_objects(item, "metadata", "ownerReferences"))
        if labels.get(SERVICE_NAME) == name or labels.get(SERVICE) == label_value(name) or service_uid in owners:
            found, uid = get_str(item, "metadata", "name"), get_str(item, "metadata", "uid")
            return f"InferenceService {found} (UID {uid}) has appeared beside the pinned one: two may serve"
    return ""


def _own_uids(migration: Migration, live: UnitLive) -> frozenset[str]:
    """Return the UIDs of what could own an artifact that was downloaded for this unit."""
    owners = (migration.unit.id, migration.profile.id, migration.cache.profile_cache.id)
    return frozenset(uid for item in owners if (uid := get_str(live.raw(item), "metadata", "uid")))


def _concerns(artifact: JsonObject, own: frozenset[str]) -> bool:
    """Return whether an artifact could be adopted by the unit's cache, or was made for it.

    One that something else owns, such as another service's Dedicated cache, is none of its business.
    """
    owners = get_objects(artifact, "metadata", "ownerReferences")
    return not owners or any(get_str(owner, "uid") in own for owner in owners)


def _whose(obj: JsonObject) -> JsonObject:
    """Keep of an object who it is, whose it is, and which source it holds."""
    metadata = get_map(obj, "metadata")
    kept = ("name", "uid", "ownerReferences", "labels")
    return {
        "metadata": {key: metadata[key] for key in kept if key in metadata},
        "spec": {"sourceUri": get_str(obj, "spec", "sourceUri")},
    }
