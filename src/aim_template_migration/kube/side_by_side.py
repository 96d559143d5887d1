"""Work on several things at once that nobody has to wait for: a Ctrl-C in the main thread leaves it where it is.

``ThreadPoolExecutor`` joins its threads when it is left and when the interpreter ends, so that a cluster which answers
slowly would hold up whoever has given up on it. These threads only read, so that they may end with the process.
"""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Raised:
    """What was raised in the place of a result."""

    error: Exception


_Done = queue.SimpleQueue[Result | _Raised]
_LOOK_UP = 0.5
"""Seconds after which a thread that waits looks for signals: the kernel may have given one to another thread."""


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item], threads: int) -> Iterator[tuple[Item, Result]]:
    """Yield each item with what ``work`` returns for it, in the order in which they are done.

    Args:
        work: is called from several threads; it must not need an end.
        items: what to work on.
        threads: how many at once.

    Raises:
        Exception: what ``work`` raised first; nothing further is begun then, nor when the iterator is closed.
    """
    waiting: queue.SimpleQueue[Item] = queue.SimpleQueue()
    done: _Done[tuple[Item, Result]] = queue.SimpleQueue()
    left = threading.Event()
    for item in items:
        waiting.put(item)

    def work_off() -> None:
        while not left.is_set():
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            done.put(_outcome(lambda item: (item, work(item)), item))

    for _ in range(min(threads, len(items))):
        _start(work_off)
    try:
        for _ in items:
            yield _taken(done)
    finally:
        left.set()


def ahead(work: Callable[[Item], Result], items: Sequence[Item], threads: int, *, further: int = 0) -> Iterator[Result]:
    """Yield what ``work`` returns for each item, in the order of the items; a few are worked on ahead, and no others.

    Args:
        work: is called from several threads; it must not need an end.
        items: what to work on.
        threads: how many at once, beside the one whose result is in use.
        further: how many results may wait beside those that are worked on.

    Raises:
        Exception: what ``work`` raised for an item, in its turn; nothing further is begun then, nor when the iterator
            is closed.
    """
    waiting: queue.SimpleQueue[tuple[Item, _Done[Result]] | None] = queue.SimpleQueue()
    begun: deque[_Done[Result]] = deque()
    left = threading.Event()

    def work_off() -> None:
        while (task := waiting.get()) is not None:
            if not left.is_set():
                item, done = task
                done.put(_outcome(work, item))

    for _ in range(min(threads, len(items))):
        _start(work_off)
    try:
        for item in items:
            begun.append(queue.SimpleQueue())
            waiting.put((item, begun[-1]))
            if len(begun) > threads + further:
                yield _taken(begun.popleft())
        while begun:
            yield _taken(begun.popleft())
    finally:
        left.set()
        for _ in range(threads):
            waiting.put(None)


def _start(work_off: Callable[[], None]) -> None:
    threading.Thread(target=work_off, name="side-by-side", daemon=True).start()


def _outcome(work: Callable[[Item], Result], item: Item) -> Result | _Raised:
    try:
        return work(item)
    except Exception as error:  # noqa: BLE001 - raised again where it is waited for
        return _Raised(error)


def awaited(done: queue.SimpleQueue[Item]) -> Item:
    """Return what comes out of a queue next; a signal is not waited through."""
    while True:
        try:
            return done.get(timeout=_LOOK_UP)
        except queue.Empty:
            continue


def _taken(done: _Done[Result]) -> Result:
    """Return the next result, or raise what was raised in its place."""
    ended = awaited(done)
    if isinstance(ended, _Raised):
        raise ended.error
    return ended
