"""The controllers that finish deletes: garbage collection, namespaces, definitions, claims.

On a real cluster they are part of kube-controller-manager and of the API server. Here one thread follows the store.
"""

import logging
import threading
from collections.abc import Iterable, Iterator

from aim_api.tree import JsonObject, get, get_list, get_objects, get_str
from aim_rehearsal.apiserver.builtin_defaults import PVC_FINALIZER, VOLUME_FINALIZER
from aim_rehearsal.apiserver.crds import CLEANUP_FINALIZER, CRD_COLLECTION
from aim_rehearsal.apiserver.deleting import BACKGROUND, Deleter
from aim_rehearsal.apiserver.garbage import GarbageCollector, save, without_finalizer
from aim_rehearsal.apiserver.registry import Registry
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import CompactedError, Store

_CLAIMS, _PODS, _NAMESPACES = "persistentvolumeclaims", "pods", "namespaces"
_VOLUMES = "persistentvolumes"
_WAIT_SECONDS = 1.0
_log = logging.getLogger(__name__)


class Controllers:
    """Runs the controllers of one store in a thread of its own."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._deleter = Deleter(store)
        self._garbage = GarbageCollector(store, self._resource)
        self._ending: set[tuple[str, str]] = set()
        self._thread = threading.Thread(target=self._run, name="controllers", daemon=True)

    def start(self) -> None:
        """Begin to follow the store."""
        self._thread.start()

    def stop(self) -> None:
        """Wait for the thread's end; the store must be closed before."""
        self._thread.join()

    def assume_owners(self, uids: set[str]) -> None:
        """Take owners for existing although they are not in the store."""
        self._garbage.assume(uids)

    def _run(self) -> None:
        revision = self._relearn()
        while not self._store.closed:
            try:
                revision = self._follow(revision)
            except CompactedError:
                revision = self._relearn()
            except Exception as error:  # noqa: BLE001  (one bad object must not stop all clean-up)
                _log.error("a controller failed: %s: %s", type(error).__name__, error)
                _log.debug("a controller failed", exc_info=error)
                revision = self._store.revision
            self._store.wait(revision, _WAIT_SECONDS)

    def _relearn(self) -> int:
        """Index everything anew, and look at all that may have waited for what was missed."""
        with self._store:
            self._garbage.learn(self._everything())
            self._ending = {
                (collection, key)
                for collection, key, value in self._everything()
                if get(value, "metadata", "deletionTimestamp") is not None
            }
            revision = self._store.revision
        self._work(self._garbage.dependents())
        return revision

    def _work(self, places: Iterable[tuple[str, str]]) -> None:
        for place in places:
            self._garbage.look_at(place)
        for place in sorted(self._ending):
            self._finish(*place)

    def _everything(self) -> Iterator[tuple[str, str, JsonObject]]:
        for resource in self._registry.all():
            for key, value in self._store.scan(resource.collection):
                yield resource.collection, key, value

    def _follow(self, revision: int) -> int:
        changes = self._store.changes_since(revision)
        affected: dict[tuple[str, str], None] = {}
        for change in changes:
            affected.update(dict.fromkeys(sorted(self._garbage.note(change))))
            place = (change.collection, change.key)
            ending = change.after is not None and get(change.after, "metadata", "deletionTimestamp") is not None
            (self._ending.add if ending else self._ending.discard)(place)
        if not changes:
            return revision
        self._work(affected)
        return changes[-1].revision

    def _finish(self, collection: str, key: str) -> None:
        namespace, _, name = key.partition("/")
        with self._store:
            value = self._store.get(collection, namespace, name)
            resource = self._resource(collection)
            if value is None or resource is None:
                return
            if collection == _NAMESPACES:
                self._finish_namespace(resource, value, name)
            elif collection == CRD_COLLECTION and CLEANUP_FINALIZER in get_list(value, "metadata", "finalizers"):
                self._finish_definition(resource, value, name)
            elif collection == _VOLUMES:
                save(self._store, resource, without_finalizer(value, VOLUME_FINALIZER))
            elif collection == _CLAIMS and not self._claim_in_use(namespace, name):
                save(self._store, resource, without_finalizer(value, PVC_FINALIZER))

    def _finish_namespace(self, resource: Resource, value: JsonObject, name: str) -> None:
        if not get_list(value, "spec", "finalizers"):
            return
        remaining = [item.plural for item in self._registry.all() if item.namespaced and self._remains_of(item, name)]
        if not remaining:
            save(self._store, resource, {**value, "spec": {}})

    def _finish_definition(self, resource: Resource, value: JsonObject, name: str) -> None:
        defined = self._resource(name)
        if defined is None or not self._remains_of(defined, ""):
            save(self._store, resource, without_finalizer(value, CLEANUP_FINALIZER))

    def _remains_of(self, resource: Resource, namespace: str) -> bool:
        """Delete all objects of a resource, in one namespace if given; return whether any remain."""
        for _, value in self._store.scan(resource.collection, namespace):
            if get(value, "metadata", "deletionTimestamp") is None:
                self._deleter.delete_object(resource, value, BACKGROUND)
        return bool(self._store.scan(resource.collection, namespace))

    def _claim_in_use(self, namespace: str, name: str) -> bool:
        for _, pod in self._store.scan(_PODS, namespace):
            if get_str(pod, "status", "phase") in ("Succeeded", "Failed"):
                continue
            volumes = get_objects(pod, "spec", "volumes")
            if any(get_str(item, "persistentVolumeClaim", "claimName") == name for item in volumes):
                return True
        return False

    def _resource(self, collection: str) -> Resource | None:
        plural, _, group = collection.partition(".")
        return self._registry.resource(group, plural)
