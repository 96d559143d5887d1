"""The simulated bridge operator: watches feed a set of dirty keys, one thread works them off in sorted order."""

import logging
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Self

from aim_api.kinds import DEPLOYMENT, INFERENCE_SERVICE, Kind
from aim_api.tree import JsonObject, get_strings
from aim_rehearsal.client import ApiError, Change, Client, Listing, Watch, typed
from aim_rehearsal.operator import kserve
from aim_rehearsal.operator.agenda import Agenda
from aim_rehearsal.operator.controllers import CONTROLLERS
from aim_rehearsal.operator.dependents import affected
from aim_rehearsal.operator.executor import Executor
from aim_rehearsal.operator.settings import Misbehaviour, Settings
from aim_rehearsal.operator.store import SELECTORS, SERVICE, WATCHED, Key, Store, owner_references, uid
from aim_rehearsal.operator.view import View, fingerprint
from aim_rehearsal.operator.writes import Render, Write
from aim_rehearsal.sharing import Sharing

_LOG = logging.getLogger(__name__)
_FIRST_RETRY_SECONDS = 0.05
_LAST_RETRY_SECONDS = 5.0
_HOPELESS_SECONDS = 1.0
_RECONNECT_SECONDS = 0.5
_SETTLE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a watch reported: the whole collection, or one event."""

    kind: Kind
    what: Listing | Change


@dataclass(slots=True)
class _Settle:
    """A request to work until nothing is left to do."""

    done: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class _Retry:
    """A key whose last pass was refused: when it is due, on the monotonic clock, after which wait, and why."""

    due: float
    wait: float
    message: str


@dataclass(slots=True)
class _Loaded:
    """What was there when the operator first started; it survives a restart."""

    fingerprints: dict[str, str]
    keys: frozenset[Key]
    templates: dict[str, str]


class BridgeOperator:
    """An ordinary API client that plays the AIM operator, KServe and the workload controllers.

    What it finds at its first start counts as loaded: the simulated template pipeline and KServe leave it alone until
    a spec changes, so that a copied cluster stays as it was copied.

    Args:
        client: the operator's own identity.
        settings: projection mode, name formulas, misbehaviour.
        clock: the present time, for tests.
    """

    def __init__(
        self, client: Client, settings: Settings, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._client = client
        self._settings = settings
        self._clock = clock
        self._loaded: _Loaded | None = None
        self._inbox: queue.Queue[_Seen | _Settle | None] = queue.Queue()
        self._store = Store()
        self._executor = Executor(client, self._store)
        self._agenda = Agenda()
        self._retries: dict[Key, _Retry] = {}
        self._waiting: list[_Settle] = []
        self._stopping = threading.Event()
        self._threads: list[threading.Thread] = []
        self._watches: list[Watch] = []

    def start(self) -> None:
        """Read everything, then watch and reconcile in the background.

        Raises:
            ApiError: the server cannot be read.
        """
        self._stopping.clear()
        self._store = Store()
        self._executor = Executor(self._client, self._store, self._take_time)
        present = self._read_all(Sharing())
        if self._loaded is None:
            self._loaded = self._remember()
        self._agenda = Agenda(key for key in self._store if key.kind in CONTROLLERS)
        for kind, version in present.items():
            watch = self._client.watch(kind, label_selector=SELECTORS.get(kind.name, ""), since=version)
            self._watches.append(watch)
            self._spawn(f"watch-{kind.plural}", self._follow, kind, watch)
        self._spawn("reconcile", self._run)

    def mend(self) -> None:
        """Start again as a build that behaves, with the memory of what was loaded.

        Raises:
            ApiError: the server cannot be read.
        """
        self.stop()
        self._settings = replace(self._settings, misbehaviour=Misbehaviour.NONE)
        self.start()

    def stop(self) -> None:
        """End all threads; a stopped operator can be started again."""
        self._stopping.set()
        for watch in self._watches:
            watch.close()
        self._inbox.put(None)
        for thread in self._threads:
            thread.join(timeout=10)
        self._threads.clear()
        self._watches.clear()
        self._inbox = queue.Queue()

    def settle(self, timeout: float = _SETTLE_SECONDS) -> None:
        """Wait until the operator has seen the present state and has nothing left to write.

        What the server or the name rules refused again and again counts as done: it will not get better by waiting.

        Raises:
            TimeoutError: it was still writing after ``timeout`` seconds.
        """
        request = _Settle()
        self._inbox.put(request)
        if not request.done.wait(timeout):
            raise TimeoutError(f"the operator did not settle within {timeout:g} s; {self._busy()}")

    def _busy(self) -> str:
        """Return in words what is still to be done, and what the server refused."""
        keys = sorted({*self._agenda, *self._retries})
        if not keys:
            return "nothing is left to do, but new events keep coming"
        named = [f"{key.kind} {key.namespace}/{key.name}" for key in keys]
        refusals = [
            f"{name}: {self._retries[key].message}"
            for key, name in zip(keys, named, strict=True)
            if key in self._retries
        ]
        return "still busy with " + "; ".join(refusals or named)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _spawn(self, name: str, target: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=target, args=arguments, name=f"operator-{name}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _read_all(self, sharing: Sharing | None = None) -> dict[Kind, str]:
        """Read every collection into the store; return the kinds that the server has, with the version read.

        Args:
            sharing: what the objects share their equal parts with; None where few of them will be new.
        """
        present: dict[Kind, str] = {}
        for kind in WATCHED:
            try:
                selector = SELECTORS.get(kind.name, "")
                listing = self._client.list_all(kind, label_selector=selector, sharing=sharing)
            except ApiError as error:
                if error.status == 404:
                    continue
                raise
            present[kind] = listing.resource_version
            self._take(kind, listing)
        return present

    def _remember(self) -> _Loaded:
        objects = [obj for key in self._store if (obj := self._store.at(key)) is not None]
        view = View(self._store, self._settings, self._now())
        templates = {uid(item): kserve.template_digest(item, view) for item in self._store.all(INFERENCE_SERVICE)}
        return _Loaded({uid(obj): fingerprint(obj) for obj in objects}, frozenset(self._store), templates)

    def _follow(self, kind: Kind, watch: Watch) -> None:
        while not self._stopping.is_set():
            try:
                for what in watch:
                    self._inbox.put(_Seen(kind, what))
            except ApiError as error:
                if not self._stopping.is_set():
                    _LOG.debug("watch of %s broke: %s", kind.plural, error)
                    self._stopping.wait(_RECONNECT_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            self._drain(wait=not self._agenda)
            self._due()
            if self._agenda:
                self._work_one()
            elif self._settling():
                self._try_to_settle()

    def _drain(self, *, wait: bool) -> None:
        """Take in everything that arrived; wait for something only if there is nothing else to do."""
        timeout = self._idle_seconds() if wait and not self._settling() else 0.0
        try:
            item = self._inbox.get(timeout=timeout) if timeout else self._inbox.get_nowait()
        except queue.Empty:
            return
        while True:
            if isinstance(item, _Seen):
                self._take(item.kind, item.what)
            elif isinstance(item, _Settle):
                self._waiting.append(item)
            try:
                item = self._inbox.get_nowait()
            except queue.Empty:
                return

    def _settling(self) -> bool:
        """Return whether somebody waits and all that is left has been refused again and again."""
        return bool(self._waiting) and all(retry.wait >= _HOPELESS_SECONDS for retry in self._retries.values())

    def _idle_seconds(self) -> float:
        if not self._retries:
            return 3600.0
        return max(0.001, min(retry.due for retry in self._retries.values()) - time.monotonic())

    def _due(self) -> None:
        now = time.monotonic()
        for key, retry in self._retries.items():
            if retry.due <= now:
                self._agenda.add(key)

    def _take(self, kind: Kind, what: Listing | Change) -> None:
        if isinstance(what, Change):
            obj = typed(kind, what.object)
            news = self._store.remove(obj) if what.type == "DELETED" else self._store.put(obj)
            if news:
                self._mark(obj)
            return
        present = {Key.of(obj) for obj in what.items}
        for known in self._store.all(kind):
            if Key.of(known) not in present and self._store.remove(known):
                self._mark(known)
        for obj in what.items:
            if self._store.put(obj):
                self._mark(obj)

    def _mark(self, obj: JsonObject) -> None:
        blind = self._settings.does(Misbehaviour.SERVICE_NOT_OBSERVED)
        for key in affected(obj, self._store):
            if key.kind in CONTROLLERS and not (blind and key.kind == SERVICE.name):
                self._agenda.add(key)

    def _work_one(self) -> None:
        key = self._agenda.next()
        obj = self._store.at(key)
        if obj is None:
            self._retries.pop(key, None)
            return
        try:
            for write in CONTROLLERS[key.kind](obj, self._view()):
                self._perform(write)
        except (ApiError, ValueError) as error:
            before = self._retries.get(key)
            wait = min(before.wait * 2, _LAST_RETRY_SECONDS) if before else _FIRST_RETRY_SECONDS
            _LOG.debug("%s %s/%s: %s", key.kind, key.namespace, key.name, error)
            self._retries[key] = _Retry(time.monotonic() + wait, wait, str(error))
            if isinstance(error, ApiError) and error.status in {404, 409}:
                self._refresh(key)
        else:
            self._retries.pop(key, None)

    def _take_time(self) -> None:
        if self._settings.does(Misbehaviour.SLOW):
            self._stopping.wait(self._settings.slow_seconds)

    def _perform(self, write: Write) -> None:
        changed = self._executor.perform(write)
        if changed is None:
            return
        obj = self._store.at(changed)
        if obj is not None:
            self._mark(obj)
        if isinstance(write, Render) and write.kind is DEPLOYMENT and self._loaded is not None:
            # From here on the Deployment has the template that was rendered here, not the loaded one.
            for owner in owner_references(write.manifest):
                self._loaded.templates.pop(str(owner.get("uid")), None)

    def _refresh(self, key: Key) -> None:
        """Read an object again after a conflict, without waiting for its watch."""
        kind = next(kind for kind in WATCHED if kind.name == key.kind)
        try:
            found = self._client.get(kind, key.namespace or None, key.name)
        except ApiError:
            return
        if not SELECTORS.get(kind.name) or get_strings(found, "metadata", "labels"):
            self._store.put(typed(kind, found))

    def _view(self) -> View:
        assert self._loaded is not None  # set by start()
        return View(
            self._store,
            self._settings,
            self._now(),
            self._loaded.fingerprints,
            self._loaded.keys,
            self._loaded.templates,
        )

    def _now(self) -> str:
        return self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")

    def _try_to_settle(self) -> None:
        """Compare with the server; if nothing is new, everybody who waits is told."""
        before = len(self._agenda)
        try:
            self._read_all()
        except ApiError as error:
            _LOG.debug("settling: %s", error)
            self._stopping.wait(_RECONNECT_SECONDS)
            return
        if len(self._agenda) == before and self._inbox.empty():
            for request in self._waiting:
                request.done.set()
            self._waiting.clear()
