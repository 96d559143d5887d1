"""Work on several things at once that nobody has to wait for: a Ctrl-C in the main thread leaves it where it is.

``ThreadPoolExecutor`` joins its threads when it is left and when the interpreter ends, so that a cluster which answers
slowly would hold up whoever has given up on it. These threads only read, so that they may end with the process.
"""

import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


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
    done: queue.SimpleQueue[tuple[Item, Result] | Exception] = queue.SimpleQueue()
    left = threading.Event()
    for item in items:
        waiting.put(item)

    def work_off() -> None:
        while not left.is_set():
            try:
                item = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((item, work(item)))
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                done.put(error)

    for number in range(min(threads, len(items))):
        threading.Thread(target=work_off, name=f"side-by-side-{number}", daemon=True).start()
    try:
        for _ in items:
            ended = done.get()
            if isinstance(ended, Exception):
                raise ended
            yield ended
    finally:
        left.set()
