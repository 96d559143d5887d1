"""Watches: streams of changes from a revision on."""

import time
from collections.abc import Iterator

from aim_api.tree import Json, JsonObject
from aim_rehearsal.apiserver.call import Call
from aim_rehearsal.apiserver.errors import expired
from aim_rehearsal.apiserver.list_options import list_options
from aim_rehearsal.apiserver.messages import JSON_TYPE, Response, encode
from aim_rehearsal.apiserver.reading import rendering_of, selector_of
from aim_rehearsal.apiserver.selectors import Selector
from aim_rehearsal.apiserver.store import Change, CompactedError, Store, with_metadata
from aim_rehearsal.apiserver.tables import Form, Rendering

_DEFAULT_SECONDS = 1800
_BOOKMARK_SECONDS = 60.0
_BOOKMARK_BEFORE_END = 2.0
_TICK_SECONDS = 1.0
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"


def watch_objects(store: Store, call: Call) -> Response:
    """Answer a watch.

    The client pulls: a slow one holds no copy of the events, and one that falls behind the history gets 410.

    Raises:
        ApiError: a parameter cannot be read.
    """
    options = list_options(call.info.query, watching=True)
    watch = _Watch(store, call, rendering_of(call), selector_of(call), bookmarks=options.bookmarks)
    seconds = _DEFAULT_SECONDS if options.seconds is None else options.seconds
    stream = watch.stream(options.revision, seconds, initial=options.initial)
    return Response(200, (("Content-Type", JSON_TYPE),), stream=stream)


class _Watch:
    def __init__(self, store: Store, call: Call, rendering: Rendering, selector: Selector, *, bookmarks: bool) -> None:
        self._store = store
        self._rendering = rendering
        self._selector = selector
        self._headings_sent = False
        self._collection = call.resource.collection
        self._namespace = call.info.namespace if call.resource.namespaced else ""
        self._bookmarks = bookmarks

    def stream(self, revision: int, seconds: int, *, initial: bool) -> Iterator[bytes]:
        deadline = time.monotonic() + seconds
        if revision == 0 or initial:
            with self._store:
                found, revision = self._store.scan(self._collection, self._namespace), self._store.revision
            for _, stored in found:
                if self._selector.matches(stored):
                    yield self._event("ADDED", stored)
            if self._bookmarks:
                yield self._bookmark(revision, {"annotations": {_INITIAL_EVENTS_END: "true"}})
        yield from self._follow(revision, deadline)

    def _follow(self, revision: int, deadline: float) -> Iterator[bytes]:
        next_bookmark = min(time.monotonic() + _BOOKMARK_SECONDS, deadline - _BOOKMARK_BEFORE_END)
        if next_bookmark < time.monotonic():
            next_bookmark = deadline + _BOOKMARK_SECONDS
        while not self._store.closed:
            try:
                changes = self._store.changes_since(revision)
            except CompactedError as error:
                yield encode({"type": "ERROR", "object": expired(str(error)).status})
                return
            for change in changes:
                revision = change.revision
                yield from self._seen(change)
            now = time.monotonic()
            if self._bookmarks and now >= next_bookmark:
                next_bookmark = now + _BOOKMARK_SECONDS
                yield self._bookmark(revision, {})
            if now >= deadline:
                return
            if not self._store.wait(revision, min(_TICK_SECONDS, deadline - now)):
                yield b""

    def _seen(self, change: Change) -> Iterator[bytes]:
        if change.collection != self._collection or (
            self._namespace and not change.key.startswith(f"{self._namespace}/")
        ):
            return
        was = change.before is not None and self._selector.matches(change.before)
        if change.after is not None and self._selector.matches(change.after):
            yield self._event("MODIFIED" if was else "ADDED", change.after)
        elif was and change.before is not None:
            gone = change.removed or with_metadata(change.before, resourceVersion=str(change.revision))
            yield self._event("DELETED", gone)

    def _event(self, kind: str, stored: JsonObject) -> bytes:
        shown = self._rendering.one(stored)
        if self._rendering.form is Form.TABLE and self._headings_sent:
            shown["columnDefinitions"] = None
        self._headings_sent = True
        return encode({"type": kind, "object": shown})

    def _bookmark(self, revision: int, extra: dict[str, Json]) -> bytes:
        resource = self._rendering.resource
        shown: JsonObject = {
            "kind": resource.kind,
            "apiVersion": resource.api_version(self._rendering.version.name),
            "metadata": {"resourceVersion": str(revision), **extra},
        }
        return encode({"type": "BOOKMARK", "object": shown})
