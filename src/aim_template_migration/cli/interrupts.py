"""Signals while a run writes: the request in flight is finished and journaled, then the run ends.

A handler runs in the main thread, between any two of its instructions, so it takes no lock and writes to no stream. It
does not run at all while the main thread waits for a lock and the kernel has given the signal to another thread (seen
after SIGSTOP and SIGCONT). So the handlers do nothing: the interpreter itself writes the signal's number into a pipe,
from whatever thread, and a thread on the other end does the rest.
"""

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
def stopping_on_signals(
    stop: threading.Event, console: Console, *, first: str = _FIRST, again: str = _AGAIN
) -> Iterator[None]:
    """Set ``stop`` on SIGINT, SIGTERM and SIGHUP while entered; under nohup, SIGHUP stays ignored.

    Args:
        stop: the event to set.
        console: where to say so.
        first: what is said at the first signal.
        again: what is said at each further one.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)

    def watch() -> None:
        while number := os.read(reader, 1):
            if number[0] in _SIGNALS:
                _say(console, again if stop.is_set() else first)
                stop.set()

    watcher = threading.Thread(target=watch, name="signals", daemon=True)
    watcher.start()
    nohup = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    taken = [number for number in _SIGNALS if not (nohup and number is signal.SIGHUP)]
    former_writer = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)  # a full pipe says enough
    former = {number: signal.signal(number, _noted) for number in taken}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(former_writer, warn_on_full_buffer=False)
        os.close(writer)
        watcher.join()
        os.close(reader)


def _noted(signum: int, frame: FrameType | None) -> None:
    """Do nothing: the interpreter has written into the pipe already."""
    del signum, frame


def _say(console: Console, text: str) -> None:
    """Write around the stream's buffer: the signal may have come in the middle of a write to it."""
    try:
        os.write(console.err.fileno(), f"\n{text}\n".encode())
    except (OSError, ValueError):
        console.note(text)
