"""The simulated operator without threads: it works when it is told to, and then until nothing is left.

A run of the tool sends the same requests in the same order every time only if the operator is never seen half-way. The
decisions are the simulated operator's own; what is different is when they are made.
"""

import threading
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import msgspec

from aim_api.kinds import Kind
from aim_rehearsal.apiserver import LocalApiServer, Request
from aim_rehearsal.apiserver.store import CompactedError
from aim_rehearsal.client import ApiError, Change, Client, typed
from aim_rehearsal.operator import BridgeOperator, Misbehaviour, Settings
from aim_rehearsal.operator.agenda import Agenda
from aim_rehearsal.operator.controllers import CONTROLLERS
from aim_rehearsal.operator.executor import Executor
from aim_rehearsal.operator.store import SELECTORS, WATCHED, Key, Store


class DirectClient(Client):
    """A client that asks the local API without a socket."""

    def __init__(self, server: LocalApiServer, identity: str) -> None:
        super().__init__(server.url, token=server.token(identity), ca_pem=server.ca_pem, user_agent=f"aim-{identity}")
        self._server = server

    def _send(self, method, path, body=None, *, query=None, content_type="application/json", stream=False) -> Any:
        headers = {name.lower(): value for name, value in self._headers.items()}
        data = b""
        if body is not None:
            headers["content-type"] = content_type
            data = msgspec.json.encode(body)
        answer = self._server.handle(Request(method, path + (f"?{urlencode(query)}" if query else ""), headers, data))
        return SimpleNamespace(status=answer.status, data=answer.body)


class LockstepOperator(BridgeOperator):
    """The operator of one local API, worked by hand."""

    def __init__(self, server: LocalApiServer, client: Client, settings: Settings) -> None:
        super().__init__(client, settings)
        self._server = server
        self._turn = threading.RLock()
        self._seen = 0
        self._patience = 0.0
        self._beginning: tuple[dict[str, str], list[Any]] = ({}, [])
        self._kinds = {collection_of(kind): kind for kind in WATCHED if kind.name not in SELECTORS}

    def start(self) -> None:
        """Read everything and work it off."""
        with self._turn:
            self._store = Store()
            self._begin()
            self._seen = self._server.store.revision
            self._read_all()
            if self._loaded is None:
                self._loaded = self._remember()
            self._agenda = Agenda(key for key in self._store if key.kind in CONTROLLERS)
        self.work()

    def remember(self) -> None:
        """Keep what is there now for ``rewind``."""
        with self._turn:
            assert self._loaded is not None
            self._beginning = (dict(self._loaded.templates), [self._store.at(key) for key in self._store])

    def rewind(self, revision: int) -> None:
        """Know again only what was kept, as if nothing since had happened; all that has changed since is looked at.

        Args:
            revision: the server's revision at which it was kept.
        """
        with self._turn:
            assert self._loaded is not None
            templates, objects = self._beginning
            self._loaded.templates.clear()
            self._loaded.templates.update(templates)
            self._store = Store(item for item in objects if item is not None)
            self._begin()
            self._seen = revision
        self.work()

    def _begin(self) -> None:
        self._executor = Executor(self._client, self._store, self._take_time)
        self._agenda = Agenda()
        self._retries.clear()
        self._patience = 0.0

    def stop(self) -> None:
        """Nothing runs that could be stopped."""

    def work(self) -> None:
        """Look at what has changed and work until nothing is left; a slow operator waits for time to pass."""
        with self._turn:
            while self._look() and self._has_time():
                self._work_one()

    def pass_time(self, seconds: float) -> None:
        """Let time pass: what was refused is tried again, and a slow operator gets on."""
        with self._turn:
            for key in self._retries:
                self._agenda.add(key)
            if self._settings.does(Misbehaviour.SLOW):
                self._patience += seconds
            self.work()

    def _look(self) -> bool:
        """Take in what has changed; return whether there is anything to do."""
        store = self._server.store
        if store.revision != self._seen:
            self._take_changes()
        return bool(self._agenda)

    def _take_changes(self) -> None:
        store = self._server.store
        try:
            changes = store.changes_since(self._seen)
        except CompactedError:
            self._seen = store.revision
            self._read_all()
            return
        self._seen = changes[-1].revision if changes else self._seen
        for change in {(item.collection, item.key): item for item in changes}.values():
            kind = self._kinds.get(change.collection)
            if kind is not None:
                self._take_change(kind, change)

    def _take_change(self, kind: Kind, change: Any) -> None:
        namespace, _, name = change.key.partition("/")
        if change.after is None:
            self._take(kind, Change("DELETED", typed(kind, change.removed)))
            return
        known = self._store.at(Key(kind.name, namespace, name))
        metadata = change.after["metadata"]
        if known is not None and known["metadata"]["resourceVersion"] == metadata["resourceVersion"]:
            return  # its own write
        try:
            self._take(kind, Change("MODIFIED", self._client.get(kind, namespace or None, name)))
        except ApiError as error:
            if error.status != 404:
                raise

    def _has_time(self) -> bool:
        if not self._settings.does(Misbehaviour.SLOW):
            return True
        if self._patience < self._settings.slow_seconds:
            return False
        self._patience -= self._settings.slow_seconds
        return True

    def _take_time(self) -> None:
        """The slowness is in ``work``."""


def collection_of(kind: Kind) -> str:
    """Return plural and group of a kind, by which changes are known."""
    return f"{kind.plural}.{kind.group}" if kind.group else kind.plural
