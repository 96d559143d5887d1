"""A process that classifies namespaces for another: it gets pages of JSON and gives text, over one pair of sockets.

It has no connection to a cluster, no credentials and no files. Whatever becomes of the process that started it, its
socket closes, and this process ends.
"""

import contextlib
import os
import select
import signal
import threading
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from multiprocessing.connection import Connection

import msgspec

from aim_api.kinds import Kind
from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.kube.errors import IncompleteList
from aim_template_migration.kube.permissions import LISTED_KINDS
from aim_template_migration.kube.requests import Action
from aim_template_migration.planning.inventory import NamespacePages, reduced_page
from aim_template_migration.planning.namespace_text import NamespaceText, namespace_text
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import ClusterScope, NamespaceScope, Observed

_KINDS = {kind: kind for kind in LISTED_KINDS}


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is the same for all namespaces, the first message.

    Attributes:
        cluster: what was read outside namespaces.
        settings: the settings of the plan.
    """

    cluster: ClusterScope
    settings: Settings


@dataclass(frozen=True, slots=True)
class PageAhead:
    """A page or a piece of it, whose bytes are the next message.

    Attributes:
        number: what it is called in ``NamespacePages``.
        kind: the kind of its objects.
        action: the list that it belongs to.
        ends: where each object ends in the bytes.
    """

    number: int
    kind: Kind
    action: Action
    ends: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Unusable:
    """A page that is no page of a list; ``IncompleteList`` in a form that can be sent."""

    action: Action
    text: str


@dataclass(frozen=True, slots=True)
class Failed:
    """A fault of the tool, with the traceback that it gave; or too little memory."""

    traceback: str
    short_of_memory: bool


Message = Beginning | PageAhead | NamespacePages[int]
Answer = tuple[str, NamespaceText | Unusable | Failed]
"""A namespace and what it gives."""


def main(descriptor: int) -> None:
    """Answer over the socket with this number until it is closed."""
    # Only the process that started this one decides when it ends, whoever else sends a signal.
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with_the_other_side, args=(descriptor,), daemon=True).start()
    opened: Connection[Answer, Message] = Connection(descriptor)
    with contextlib.suppress(EOFError, OSError), opened as connection, without_cycle_collection():
        for answer in answers(connection.recv, connection.recv_bytes):
            connection.send(answer)


def _end_with_the_other_side(descriptor: int) -> None:
    """End this process, in the middle of a namespace too, once nobody is left who could take an answer."""
    hung_up = select.poll()
    hung_up.register(descriptor, 0)  # only that the other side is gone is told, not that there is something to read
    hung_up.poll()
    os._exit(0)


def answers(receive: Callable[[], Message], receive_bytes: Callable[[], bytes]) -> Iterator[Answer]:
    """Yield an answer for each namespace.

    Raises:
        EOFError: the other side has ended.
    """
    desk = _Desk(receive())
    while True:
        match receive():
            case PageAhead() as page:
                desk.put(page, receive_bytes())
            case NamespacePages() as namespace:
                yield namespace.name, desk.text_of(namespace)


class _Desk:
    """The pages of the namespaces that are being read."""

    def __init__(self, beginning: Message) -> None:
        assert isinstance(beginning, Beginning)
        self._settings = beginning.settings
        scope = beginning.cluster
        objects = {
            kind: {name: msgspec.structs.replace(item, kind=_known(item.kind)) for name, item in items.items()}
            for kind, items in scope.objects.items()
        }
        self._cluster = replace(scope, objects=objects)
        self._pages: dict[str | None, dict[int, list[Observed] | Unusable | Failed]] = {}

    def put(self, page: PageAhead, data: bytes) -> None:
        """Reduce a page at once, since what is kept of it is small."""
        self._pages.setdefault(page.action.namespace, {})[page.number] = _reduced(page, memoryview(data))

    def text_of(self, namespace: NamespacePages[int]) -> NamespaceText | Unusable | Failed:
        """Return what a namespace gives, and forget its pages, those of lists that began anew included."""
        pages = self._pages.pop(namespace.name)
        objects: list[Observed] = []
        for page in map(pages.__getitem__, namespace.pages):
            if not isinstance(page, list):
                return page
            objects += page
        try:
            scope = NamespaceScope(namespace.name, objects, terminating=namespace.terminating)
            return namespace_text(self._cluster, scope, self._settings)
        except Exception as error:  # noqa: BLE001 - told where the namespace is waited for
            return _failed(error)


def _failed(error: Exception) -> Failed:
    return Failed("".join(traceback.format_exception(error)), isinstance(error, MemoryError))


def _reduced(page: PageAhead, data: memoryview) -> list[Observed] | Unusable | Failed:
    texts = (data[start:end] for start, end in pairwise((0, *page.ends)))
    try:
        return reduced_page(_known(page.kind), page.action, texts)
    except IncompleteList as error:
        return Unusable(error.action, error.text)
    except Exception as error:  # noqa: BLE001 - told where the namespace is waited for
        return _failed(error)


def _known(kind: Kind) -> Kind:
    """Return the constant that a kind equals, which rules may compare by identity, or the kind itself."""
    return _KINDS.get(kind, kind)
