"""Objects of a list of which only a few fields matter: who holds or downloads the weights of a namespace.

These lists are read several times for each unit and hold what all units of the namespace have. So most of what they say
is not even built, units that ask for one at the same moment share one answer, and each looks up in it what is its own.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from operator import is_
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from aim_api.kinds import AIM_ARTIFACT, JOB, Kind
from aim_api.tree import Json, JsonObject, get_objects, get_str
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.shared_reading import SharedReading
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.listing import objects_of
from aim_template_migration.kube.requests import Action
from aim_template_migration.planning.reduction import reader_of

if TYPE_CHECKING:
    Value = Json
else:
    Value = Any  # msgspec resolves annotations at run time and knows no recursive types


class _Metadata(TypedDict, total=False):
    name: Value
    namespace: Value
    uid: Value
    creationTimestamp: Value
    ownerReferences: Value


class _Spec(TypedDict, total=False):
    sourceUri: Value


class _Glimpse(TypedDict, total=False):
    apiVersion: Value
    kind: Value
    metadata: _Metadata
    spec: _Spec


_KEPT_LISTS = 16
_REMEMBERED_BYTES = 8 << 20
"""The JSON of longer lists is forgotten, and they are decoded each time."""

read_glimpse = reader_of(_Glimpse)
"""Reads an object's identity, owners, age and source."""


class Glimpses:
    """The objects of one list, by what units look them up by; shared by many, and changed by none.

    Attributes:
        objects: the objects, in the order of the list.
    """

    def __init__(self, objects: Sequence[JsonObject], keys_of: Callable[[JsonObject], Iterable[str]]) -> None:
        """Index ``objects`` by each of the keys that ``keys_of`` gives."""
        self.objects = objects
        self._places: dict[str, list[int]] = {}
        for place, obj in enumerate(objects):
            for key in keys_of(obj):
                self._places.setdefault(key, []).append(place)

    def of(self, keys: Iterable[str]) -> list[JsonObject]:
        """Return the objects that have one of some keys, each once, in the order of the list."""
        places = {place for key in keys for place in self._places.get(key, ())}
        return [self.objects[place] for place in sorted(places)]


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one page, or a whole list, was: its objects, and their JSON as long as that is to be remembered."""

    texts: list[msgspec.Raw]
    objects: list[JsonObject]


class RepeatedList:
    """One list that is read again and again: what is the same JSON as the last time is not decoded and indexed anew.

    Every reading asks for the whole list and looks at all of its answer, so that none is less fresh than the first.
    """

    def __init__(self, kind: Kind, namespace: str) -> None:
        """Take what is listed."""
        self._kind = kind
        self._namespace = namespace
        self._before = _Seen([], [])
        self._glimpses = Glimpses((), _KEYS[kind])

    def read(self, cluster: Cluster, within: float) -> Glimpses:
        """Read the list within so many seconds.

        Raises:
            RequestError: it can't be read whole.
        """
        place = size = 0

        def keep(action: Action, texts: list[msgspec.Raw]) -> _Seen:
            nonlocal place, size
            size += sum(memoryview(text).nbytes for text in texts)
            objects = self._objects(action, texts, place)
            place += len(texts)  # where the list begins again it fits nothing, so that all is decoded
            return _Seen(texts if size <= _REMEMBERED_BYTES else [], objects)

        pages = cluster.list_pages(self._kind, self._namespace, keep, within=within)
        now = _Seen([text for page in pages for text in page.texts], [obj for page in pages for obj in page.objects])
        same = len(now.objects) == len(self._before.objects) and all(map(is_, now.objects, self._before.objects))
        if not same:
            self._glimpses = Glimpses(now.objects, _KEYS[self._kind])
        self._before = now
        return self._glimpses

    def _objects(self, action: Action, texts: list[msgspec.Raw], place: int) -> list[JsonObject]:
        """Return the objects of a page: those of the last time where their JSON is the same, at the same place."""
        before = self._before.texts[place : place + len(texts)]
        known = self._before.objects[place : place + len(before)]
        if texts == before:
            return known
        objects: list[JsonObject] = []
        for text, earlier, obj in zip_longest(texts, before, known):
            objects += (obj,) if text == earlier else objects_of(action, self._kind, (text,), read_glimpse)
        return objects


class FreshGlimpses:
    """Glimpses of namespaces, read afresh for all who ask at the same moment; safe to use from several threads."""

    def __init__(self, cluster: Cluster, clock: Clock) -> None:
        """Take the connection, and the clock that limits of time are stated by."""
        self._cluster = cluster
        self._clock = clock
        self._lock = threading.Lock()
        self._readings: OrderedDict[tuple[Kind, str], SharedReading[Glimpses]] = OrderedDict()

    def artifacts(self, namespace: str, sources: Iterable[str], *, within: float | None) -> list[JsonObject]:
        """Return the artifacts of a namespace with some source URIs, as they are now.

        Args:
            namespace: the namespace.
            sources: the source URIs.
            within: seconds that it may take; None for no limit.

        Raises:
            RequestError: they can't be read.
            TimeoutError: the time is over while somebody else's reading goes on.
        """
        return self._read(AIM_ARTIFACT, namespace, within).of(sources)

    def jobs(self, namespace: str, owners: Iterable[str], *, within: float | None) -> list[JsonObject]:
        """Return the Jobs of a namespace that have owners with some UIDs; otherwise as ``artifacts``."""
        return self._read(JOB, namespace, within).of(owners)

    def _read(self, kind: Kind, namespace: str, within: float | None) -> Glimpses:
        with self._lock:
            reading = self._readings.get((kind, namespace))
            if reading is None:
                repeated = RepeatedList(kind, namespace)
                reading = SharedReading(partial(repeated.read, self._cluster), self._clock.monotonic)
                self._readings[kind, namespace] = reading
            self._readings.move_to_end((kind, namespace))
            while len(self._readings) > _KEPT_LISTS:
                self._readings.popitem(last=False)  # whoever still reads it goes on
        return reading.get(within)


def owner_uids(obj: JsonObject) -> list[str]:
    """Return the UIDs of an object's owners."""
    return [get_str(owner, "uid") or "" for owner in get_objects(obj, "metadata", "ownerReferences")]


def _source(artifact: JsonObject) -> tuple[str, ...]:
    source = get_str(artifact, "spec", "sourceUri")
    return () if source is None else (source,)


_KEYS: dict[Kind, Callable[[JsonObject], Iterable[str]]] = {AIM_ARTIFACT: _source, JOB: owner_uids}
