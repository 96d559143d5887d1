"""Garbage collection by owner references: background, foreground and orphaning.

Source: Kubernetes documentation, "Garbage Collection".
"""

from collections.abc import Callable, Iterator

from aim_api.tree import Json, JsonObject, get, get_list, get_map, get_objects, get_str
from aim_rehearsal.apiserver.deleting import BACKGROUND, FOREGROUND, ORPHAN, Deleter
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import Change, Store
from aim_rehearsal.apiserver.strategies import may_go

Place = tuple[str, str]
Find = Callable[[str], Resource | None]


def save(store: Store, resource: Resource, value: JsonObject) -> None:
    """Store an object, or remove it when it was waiting for nothing else."""
    namespace, name = get_str(value, "metadata", "namespace") or "", get_str(value, "metadata", "name") or ""
    if may_go(resource, value):
        store.remove(resource.collection, namespace, name)
    else:
        store.put(resource.collection, namespace, name, value)


def without_finalizer(value: JsonObject, finalizer: str) -> JsonObject:
    """Return an object without one finalizer."""
    metadata = dict(get_map(value, "metadata"))
    left = [item for item in get_list(metadata, "finalizers") if item != finalizer]
    metadata.pop("finalizers", None)
    if left:
        metadata["finalizers"] = left
    return {**value, "metadata": metadata}


class GarbageCollector:
    """Deletes dependents whose owners have gone.

    Args:
        store: the objects.
        find: gives the resource of a collection.
    """

    def __init__(self, store: Store, find: Find) -> None:
        self._store = store
        self._find = find
        self._deleter = Deleter(store)
        self._places: dict[str, Place] = {}
        self._dependents: dict[str, set[Place]] = {}
        self._assumed: set[str] = set()

    def assume(self, uids: set[str]) -> None:
        """Take owners for existing although they are not here: objects were copied without them."""
        self._assumed |= uids

    def learn(self, objects: Iterator[tuple[str, str, JsonObject]]) -> None:
        """Index all objects anew: collection, key, object."""
        self._places.clear()
        self._dependents.clear()
        for collection, key, value in objects:
            self._add((collection, key), value)

    def dependents(self) -> list[Place]:
        """Return all objects that have owners."""
        return sorted(set().union(*self._dependents.values()))

    def note(self, change: Change) -> set[Place]:
        """Index one change and return the objects that must be looked at because of it."""
        place = (change.collection, change.key)
        affected: set[Place] = set()
        if change.before is not None:
            self._forget(place, change.before)
        if change.after is not None:
            self._add(place, change.after)
            if get(change.after, "metadata", "ownerReferences") or get(change.after, "metadata", "deletionTimestamp"):
                affected.add(place)
        elif change.before is not None:
            uid = get_str(change.before, "metadata", "uid") or ""
            self._assumed.discard(uid)
            affected |= self._dependents.get(uid, set())
            affected |= {self._places[owner] for owner in _owner_uids(change.before) if owner in self._places}
        return affected

    def look_at(self, place: Place) -> None:
        """Do for one object what its owners, its dependents and its own deletion ask for."""
        with self._store:
            resource, value = self._find(place[0]), self._stored(place)
            if resource is None or value is None:
                return
            if get(value, "metadata", "deletionTimestamp") is not None:
                self._finish(resource, value)
            elif get(value, "metadata", "ownerReferences"):
                self._check_owners(resource, value)

    def _check_owners(self, resource: Resource, value: JsonObject) -> None:
        references = get_objects(value, "metadata", "ownerReferences")
        present = [item for item in references if self._is_present(value, item)]
        if not present:
            self._deleter.delete_object(resource, value, BACKGROUND)
        elif len(present) < len(references):
            kept: list[Json] = [*present]
            save(self._store, resource, {**value, "metadata": {**get_map(value, "metadata"), "ownerReferences": kept}})

    def _is_present(self, dependent: JsonObject, reference: JsonObject) -> bool:
        uid = get_str(reference, "uid") or ""
        place = self._places.get(uid)
        if place is None:
            return uid in self._assumed
        namespace = place[1].partition("/")[0]
        return namespace in ("", get_str(dependent, "metadata", "namespace"))

    def _finish(self, resource: Resource, owner: JsonObject) -> None:
        finalizers = get_list(owner, "metadata", "finalizers")
        uid = get_str(owner, "metadata", "uid") or ""
        dependents = [(place, value) for place in self._dependents.get(uid, set()) if (value := self._stored(place))]
        if ORPHAN in finalizers:
            for place, value in dependents:
                self._release(place, value, uid)
            save(self._store, resource, without_finalizer(owner, ORPHAN))
        elif FOREGROUND in finalizers:
            blocking = [value for _, value in dependents if _blocks(value, uid)]
            for place, value in dependents:
                found = self._find(place[0])
                if found is not None and get(value, "metadata", "deletionTimestamp") is None:
                    self._deleter.delete_object(found, value, BACKGROUND)
            if not any(
                self._stored(self._places.get(get_str(value, "metadata", "uid") or "", ("", ""))) for value in blocking
            ):
                save(self._store, resource, without_finalizer(owner, FOREGROUND))

    def _release(self, place: Place, value: JsonObject, uid: str) -> None:
        resource = self._find(place[0])
        if resource is None:
            return
        metadata = dict(get_map(value, "metadata"))
        kept: list[Json] = [item for item in get_objects(metadata, "ownerReferences") if item.get("uid") != uid]
        metadata.pop("ownerReferences", None)
        if kept:
            metadata["ownerReferences"] = kept
        save(self._store, resource, {**value, "metadata": metadata})

    def _stored(self, place: Place) -> JsonObject | None:
        namespace, _, name = place[1].partition("/")
        return self._store.get(place[0], namespace, name)

    def _add(self, place: Place, value: JsonObject) -> None:
        self._places[get_str(value, "metadata", "uid") or ""] = place
        for uid in _owner_uids(value):
            self._dependents.setdefault(uid, set()).add(place)

    def _forget(self, place: Place, value: JsonObject) -> None:
        self._places.pop(get_str(value, "metadata", "uid") or "", None)
        for uid in _owner_uids(value):
            places = self._dependents.get(uid, set())
            places.discard(place)
            if not places:
                self._dependents.pop(uid, None)


def _owner_uids(value: JsonObject) -> list[str]:
    return [get_str(item, "uid") or "" for item in get_objects(value, "metadata", "ownerReferences")]


def _blocks(value: JsonObject, uid: str) -> bool:
    references = get_objects(value, "metadata", "ownerReferences")
    return any(item.get("uid") == uid and item.get("blockOwnerDeletion") is True for item in references)
