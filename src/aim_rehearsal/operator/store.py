"""What the operator knows of the cluster: the last seen state of every object that it watches."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from aim_api import labels
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    CLUSTER_SERVING_RUNTIME,
    CONFIG_MAP,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    LEGACY_VERSION,
    NAMESPACE,
    POD,
    PVC,
    REPLICA_SET,
    SERVING_RUNTIME,
    Kind,
)
from aim_api.tree import JsonObject, get_int, get_objects, get_str

# The operator's own types for AIMService are those of v1alpha1 (profile pipeline facts, API versions).
SERVICE = AIM_SERVICE.at(LEGACY_VERSION)

NODE = Kind("Node", "", "v1", "nodes", namespaced=False)

WATCHED: tuple[Kind, ...] = (
    NAMESPACE,
    NODE,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    CLUSTER_SERVING_RUNTIME,
    AIM_MODEL,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    AIM_ARTIFACT,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    SERVICE,
    SERVING_RUNTIME,
    CONFIG_MAP,
    INFERENCE_SERVICE,
    DEPLOYMENT,
    REPLICA_SET,
    POD,
    PVC,
    JOB,
)
# The operator sees only ConfigMaps of its own (profile pipeline facts, runtime ownership).
SELECTORS: dict[str, str] = {CONFIG_MAP.name: f"{labels.MANAGED_BY}={labels.MANAGED_BY_AIM_ENGINE}"}
KINDS: dict[str, Kind] = {kind.name: kind for kind in WATCHED}


class Key(NamedTuple):
    """An object's identity in the store; the namespace is empty for cluster-scoped kinds."""

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, obj: JsonObject) -> "Key":
        """Return the key of an object that carries its kind."""
        return cls(
            get_str(obj, "kind") or "",
            get_str(obj, "metadata", "namespace") or "",
            get_str(obj, "metadata", "name") or "",
        )


class Store:
    """Objects by key, with a namespace index; used by one thread."""

    def __init__(self, objects: Iterable[JsonObject] = ()) -> None:
        self._objects: dict[tuple[str, str], dict[str, JsonObject]] = {}
        for obj in objects:
            self.put(obj)

    def put(self, obj: JsonObject) -> bool:
        """Keep an object; return whether it is news, so not older than or equal to what is known."""
        key = Key.of(obj)
        shelf = self._objects.setdefault((key.kind, key.namespace), {})
        known = shelf.get(key.name)
        if known is not None and uid(known) == uid(obj) and _version(known) >= _version(obj) > 0:
            return False
        shelf[key.name] = obj
        return True

    def remove(self, obj: JsonObject) -> bool:
        """Forget an object; return whether it was known, with this UID."""
        key = Key.of(obj)
        shelf = self._objects.get((key.kind, key.namespace), {})
        known = shelf.get(key.name)
        if known is None or uid(known) != uid(obj):
            return False
        del shelf[key.name]
        return True

    def find(self, kind: Kind, namespace: str, name: str) -> JsonObject | None:
        """Return an object; the namespace is empty for cluster-scoped kinds."""
        return self._objects.get((kind.name, namespace), {}).get(name)

    def at(self, key: Key) -> JsonObject | None:
        """Return the object at a key."""
        return self._objects.get((key.kind, key.namespace), {}).get(key.name)

    def all(self, kind: Kind, namespace: str | None = None) -> list[JsonObject]:
        """Return the objects of a kind in name order, in one namespace or in all."""
        if namespace is not None:
            shelf = self._objects.get((kind.name, namespace), {})
            return [shelf[name] for name in sorted(shelf)]
        shelves = sorted(key for key in self._objects if key[0] == kind.name)
        return [self._objects[key][name] for key in shelves for name in sorted(self._objects[key])]

    def owned(self, kind: Kind, owner: JsonObject) -> list[JsonObject]:
        """Return the objects of a kind that ``owner`` controls, in name order."""
        namespace = get_str(owner, "metadata", "namespace") or ""
        return [obj for obj in self.all(kind, namespace) if controller_uid(obj) == uid(owner)]

    def __iter__(self) -> Iterator[Key]:
        """Yield the keys of all objects."""
        for (kind, namespace), shelf in self._objects.items():
            for name in shelf:
                yield Key(kind, namespace, name)


def uid(obj: JsonObject) -> str:
    """Return an object's UID, or an empty string."""
    return get_str(obj, "metadata", "uid") or ""


def name(obj: JsonObject) -> str:
    """Return an object's name, or an empty string."""
    return get_str(obj, "metadata", "name") or ""


def namespace(obj: JsonObject) -> str:
    """Return an object's namespace; empty for cluster-scoped kinds."""
    return get_str(obj, "metadata", "namespace") or ""


def generation(obj: JsonObject) -> int:
    """Return an object's generation; 0 for kinds without one."""
    return get_int(obj, "metadata", "generation") or 0


def terminating(obj: JsonObject) -> bool:
    """Return whether an object has been deleted and waits for its finalizers."""
    return get_str(obj, "metadata", "deletionTimestamp") is not None


def owner_references(obj: JsonObject) -> list[JsonObject]:
    """Return an object's owner references."""
    return get_objects(obj, "metadata", "ownerReferences")


def controller_uid(obj: JsonObject) -> str:
    """Return the UID of an object's controller owner, or an empty string."""
    for owner in owner_references(obj):
        if owner.get("controller") is True:
            return get_str(owner, "uid") or ""
    return ""


def _version(obj: JsonObject) -> int:
    """Return a resource version as a number, which API servers promise it can be compared as; 0 if it has none."""
    version = get_str(obj, "metadata", "resourceVersion") or ""
    return int(version) if version.isascii() and version.isdecimal() else 0
