"""Signals while a run writes: the request in flight is finished and journaled, then the run ends."""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from aim_template_migration.cli.console import Console

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_FIRST = "stopping: the request in flight is finished and journaled, then the run ends; nothing is rolled back"
_AGAIN = "already stopping: the request in flight must be journaled first, so another signal changes nothing"


@contextlib.contextmanager
def stopping_on_signals(stop: threading.Event, console: Console) -> Iterator[None]:
    """Set ``stop`` on SIGINT, SIGTERM and SIGHUP while entered; a signal that this process ignores stays ignored."""

    def handle(signum: int, frame: FrameType | None) -> None:
        del signum, frame
        _say(console, _AGAIN if stop.is_set() else _FIRST)
        stop.set()

    former = {number: signal.getsignal(number) for number in _SIGNALS}
    taken = [number for number in _SIGNALS if former[number] is not signal.SIG_IGN]
    for number in taken:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, former[number])


def _say(console: Console, text: str) -> None:
    """Write around the stream's buffer: the signal may have come in the middle of a write to it."""
    try:
        os.write(console.err.fileno(), f"\n{text}\n".encode())
    except (OSError, ValueError):
        console.note(text)
