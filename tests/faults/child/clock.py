"""Time for a run that must not wait: a sleep passes at once, and the world is told that it passed."""

import os
import struct
import threading
import time
from datetime import UTC, datetime, timedelta

STOPPED_SECONDS = 60.0
_SECONDS = struct.Struct("d")


class TellingClock:
    """The machine's clock plus all sleeps so far; each sleep is told to the parent, which answers when it is over.

    Args:
        stop: a sleep passes no time once this is set, as with the tool's own clock.
        channel: the descriptor of a socket to the parent.
        jumps: after how many looks at the wall clock it jumps, and by how many seconds.
    """

    def __init__(self, stop: threading.Event, channel: int, jumps: dict[int, float]) -> None:
        self._stop = stop
        self._channel = channel
        self._jumps = jumps
        self._lock = threading.Lock()
        self._looks = 0
        self._offset = timedelta(0)
        self._slept = 0.0
        self._stopped = 0.0

    def now(self) -> str:
        with self._lock:
            self._looks += 1
            self._offset += timedelta(seconds=self._jumps.get(self._looks, 0.0))
            shown = datetime.now(UTC) + self._offset
        return shown.strftime("%Y-%m-%dT%H:%M:%S.%fZ")

    def monotonic(self) -> float:
        with self._lock:
            return time.monotonic() + self._slept + self._stopped

    def sleep(self, seconds: float) -> None:
        if self._stop.is_set():
            return
        with self._lock:
            os.write(self._channel, _SECONDS.pack(seconds))
            os.read(self._channel, 1)
            self._slept += seconds

    def stand_still(self) -> None:
        """Let much more time have passed than really has, as for a process that was stopped and goes on."""
        # No lock: a signal's handler calls this, maybe while this very thread holds it.
        self._stopped += STOPPED_SECONDS
        self._offset += timedelta(seconds=STOPPED_SECONDS)
