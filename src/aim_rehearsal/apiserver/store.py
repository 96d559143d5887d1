"""The objects of the rehearsal cluster, with one revision counter and a bounded history for watches.

Stored objects are never changed in place: every write stores a new tree, so a reader may keep what it got without a
copy and without the lock.
"""

import bisect
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from aim_api.tree import JsonObject, get_map

DEFAULT_HISTORY = 4096


@dataclass(frozen=True, slots=True)
class Change:
    """One write: what an object was before it and is after it.

    Attributes:
        revision: the store's revision after this write.
        collection: the resource with its group, for example ``pods`` or ``aimservices.aim.eai.amd.com``.
        key: ``namespace/name``, with an empty namespace for cluster-scoped objects.
        before: the object that was replaced or removed.
        after: the stored object; None after a removal.
        removed: the removed object as watches show it, with the revision of its removal.
    """

    revision: int
    collection: str
    key: str
    before: JsonObject | None
    after: JsonObject | None
    removed: JsonObject | None = None


class CompactedError(Exception):
    """The asked revision is older than the history; ``oldest`` is the oldest one that is covered."""

    def __init__(self, revision: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {revision} ({oldest})")
        self.revision = revision
        self.oldest = oldest


def object_key(namespace: str, name: str) -> str:
    """Return the key that orders objects as etcd does: by ``namespace/name``, bytewise."""
    return f"{namespace}/{name}"


def with_metadata(stored: JsonObject, **changes: str | int | JsonObject) -> JsonObject:
    """Return a copy of an object with some metadata fields replaced; all else is shared with the original."""
    return {**stored, "metadata": {**get_map(stored, "metadata"), **changes}}


class Store:
    """All objects by collection and key.

    Used as a context manager it holds the one lock, so that a read and the write that depends on it are one step.
    """

    def __init__(self, history: int = DEFAULT_HISTORY) -> None:
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._objects: dict[str, dict[str, JsonObject]] = {}
        self._keys: dict[str, list[str]] = {}
        self._history: deque[Change] = deque()
        self._history_limit = history
        self._compacted = 0
        self._revision = 1
        self._closed = False

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()

    @property
    def revision(self) -> int:
        """The revision of the last write."""
        return self._revision

    @property
    def closed(self) -> bool:
        """Whether the server is going down; watches end."""
        return self._closed

    def get(self, collection: str, namespace: str, name: str) -> JsonObject | None:
        """Return the stored object, or None."""
        return self._objects.get(collection, {}).get(object_key(namespace, name))

    def put(self, collection: str, namespace: str, name: str, value: JsonObject) -> JsonObject:
        """Store an object under the next revision and return it with its ``resourceVersion``."""
        key = object_key(namespace, name)
        with self._lock:
            objects = self._objects.setdefault(collection, {})
            before = objects.get(key)
            stored = with_metadata(value, resourceVersion=str(self._revision + 1))
            if before is None:
                bisect.insort(self._keys.setdefault(collection, []), key)
            objects[key] = stored
            self._record(Change(self._revision + 1, collection, key, before, stored))
            return stored

    def remove(self, collection: str, namespace: str, name: str) -> JsonObject:
        """Remove an object and return it with the revision of its removal.

        Raises:
            KeyError: there is no such object.
        """
        key = object_key(namespace, name)
        with self._lock:
            before = self._objects[collection].pop(key)
            keys = self._keys[collection]
            del keys[bisect.bisect_left(keys, key)]
            removed = with_metadata(before, resourceVersion=str(self._revision + 1))
            self._record(Change(self._revision + 1, collection, key, before, None, removed))
            return removed

    def scan(
        self, collection: str, namespace: str = "", after: str = "", revision: int | None = None
    ) -> list[tuple[str, JsonObject]]:
        """Return keys and objects in key order, beyond the key ``after``.

        Args:
            collection: the resource with its group.
            namespace: only objects of this namespace, if not empty.
            after: the key to start behind.
            revision: show the state at this earlier revision.

        Raises:
            CompactedError: the history no longer reaches back to ``revision``.
        """
        prefix = f"{namespace}/" if namespace else ""
        with self._lock:
            objects = self._objects.get(collection, {})
            keys = self._keys.get(collection, [])
            start = bisect.bisect_left(keys, prefix)
            end = bisect.bisect_left(keys, f"{namespace}0") if namespace else len(keys)
            found = [(key, objects[key]) for key in keys[max(start, bisect.bisect_right(keys, after)) : end]]
            if revision is None or revision >= self._revision:
                return found
            past = self._undone(collection, revision)
        if not past:
            return found
        merged = {
            **dict(found),
            **{key: value for key, value in past.items() if key > after and key.startswith(prefix)},
        }
        return [(key, value) for key, value in sorted(merged.items()) if value is not None]

    def count(self, collection: str) -> int:
        """Return the number of objects of a collection."""
        return len(self._keys.get(collection, []))

    def changes_since(self, revision: int) -> list[Change]:
        """Return the writes after ``revision``, oldest first.

        Raises:
            CompactedError: the history no longer reaches back to ``revision``.
        """
        with self._lock:
            return list(reversed(list(self._backwards(revision))))

    def wait(self, revision: int, timeout: float) -> bool:
        """Wait up to ``timeout`` seconds for a write after ``revision``; return whether there is one."""
        with self._lock:
            self._changed.wait_for(lambda: self._closed or self._revision > revision, timeout)
            return self._revision > revision

    def forget_history(self) -> None:
        """Compact everything: watches and pages that rest on an earlier revision get 410."""
        with self._lock:
            self._compacted = self._revision
            self._history.clear()

    def close(self) -> None:
        """End all waits."""
        with self._lock:
            self._closed = True
            self._changed.notify_all()

    def _record(self, change: Change) -> None:
        self._revision = change.revision
        self._history.append(change)
        while len(self._history) > self._history_limit:
            self._compacted = self._history.popleft().revision
        self._changed.notify_all()

    def _backwards(self, revision: int) -> Iterator[Change]:
        if revision < self._compacted:
            raise CompactedError(revision, self._compacted)
        for change in reversed(self._history):
            if change.revision <= revision:
                return
            yield change

    def _undone(self, collection: str, revision: int) -> dict[str, JsonObject | None]:
        """Return what the keys written after ``revision`` held at it; None for those that did not exist."""
        return {change.key: change.before for change in self._backwards(revision) if change.collection == collection}
