"""Time as the engine sees it, so that tests need not wait and a jump of the wall clock does no harm."""

import threading
import time
from datetime import UTC, datetime
from functools import lru_cache
from typing import Protocol


class Clock(Protocol):
    """Wall time for records, monotonic time for deadlines, and a sleep that a stop request cuts short."""

    def now(self) -> str:
        """Return the current time, UTC, RFC 3339 with microseconds."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""

    def sleep(self, seconds: float) -> None:
        """Wait, at most until a stop is requested."""


class SystemClock:
    """The machine's clock."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def now(self) -> str:
        """Return the current time, UTC, RFC 3339 with microseconds."""
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        return f"{_to_the_second(seconds)}.{nanoseconds // 1000:06}Z"

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait, at most until a stop is requested."""
        self._stop.wait(seconds)


@lru_cache(maxsize=1)  # a run asks some hundred times a second
def _to_the_second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().removesuffix("+00:00")
