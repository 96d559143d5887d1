"""One reading for all who ask for the same at the same moment, never one that began before they asked.

It works as group commit does. Who asks while nothing is read begins a reading at once. Who asks while one is under way
gets the next, together with all others who ask until it begins: the one under way may have missed what they ask for.
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")

_LEAST_SECONDS = 0.001
"""A reading with no time left at all would be one without a limit."""
LONGEST_SECONDS = 30.0
"""No reading takes longer, since others wait behind it, some of them with the deadline of a cutover."""


@dataclass(eq=False, slots=True)
class _Reading(Generic[T]):
    """One reading.

    Attributes:
        asking: those who asked before it began, each by the moment until which it waits.
        answers: what it gave; empty where it failed or was abandoned.
        error: why it failed.
        ended: whether there is nothing to wait for any more.
    """

    asking: list[float] = field(default_factory=list)
    answers: list[T] = field(default_factory=list)
    error: Exception | None = None
    ended: bool = False


class SharedReading(Generic[T]):
    """Something that several threads read again and again, each time afresh.

    A reading runs in the thread of one of those who wait for it, of them the one that may wait longest, so that no
    reading is cut short for somebody else's limit.
    """

    def __init__(self, read: Callable[[float], T], monotonic: Callable[[], float]) -> None:
        """Take what reads.

        Args:
            read: reads within so many seconds; its answer is shared, so nobody may change it.
            monotonic: the clock, in seconds.
        """
        self._read = read
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._under_way = False
        self._next: _Reading[T] = _Reading()

    def get(self, within: float | None = None) -> T:
        """Return what a reading gave that began after this call.

        Args:
            within: seconds after which nobody waits any longer; None for no limit.

        Raises:
            Exception: what the reading raised; everybody who shares it gets the same.
            TimeoutError: the time is over, and another thread's reading has not ended.
        """
        until = math.inf if within is None else self._monotonic() + within
        while True:
            reading, leads = self._join(until)
            if leads:
                self._lead(reading, until)
            if reading.error is not None:
                raise reading.error
            if reading.answers:
                return reading.answers[0]
            # Its thread was ended in the middle: what it would have given is nobody's failure, so ask again.

    def _join(self, until: float) -> tuple[_Reading[T], bool]:
        """Wait for the next reading to end, or for the turn to lead it; return it, and which of both it is."""
        with self._changed:
            reading = self._next
            reading.asking.append(until)
            try:
                while not reading.ended and not self._may_lead(reading, until):
                    left = until - self._monotonic()
                    if left <= 0:
                        raise TimeoutError
                    self._changed.wait(None if left == math.inf else left)
            except BaseException:
                reading.asking.remove(until)
                self._changed.notify_all()  # another one may lead now
                raise
            if reading.ended:
                return reading, False
            self._under_way = True
            self._next = _Reading()
            return reading, True

    def _may_lead(self, reading: _Reading[T], until: float) -> bool:
        return not self._under_way and reading is self._next and until == max(reading.asking)

    def _lead(self, reading: _Reading[T], until: float) -> None:
        """Read for all who wait; whatever happens here, they learn of it."""
        try:
            left = max(_LEAST_SECONDS, until - self._monotonic())
            reading.answers.append(self._read(min(left, LONGEST_SECONDS)))
        except Exception as error:  # noqa: BLE001 - raised by each who shares the reading
            reading.error = error
        finally:
            with self._changed:
                reading.ended = True
                self._under_way = False
                self._changed.notify_all()
