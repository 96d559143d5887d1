"""How often and how soon a read is repeated; writes never are.

A polite client (pains: endless fast retries): bounded attempts, waits that double and are jittered so that many
threads do not come back at once, and the server's own Retry-After obeyed up to a cap.
"""

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from aim_template_migration.kube.errors import RequestError

_LONGEST_WAIT_WHEN_STOPPED = 1.0


@dataclass(frozen=True, slots=True)
class Pacing:
    """The retry policy of reads, with the clock, the sleep and the randomness that tests replace.

    Attributes:
        attempts: how often one read is sent at most.
        first_wait: seconds before the second attempt; each later wait is twice the one before.
        longest_wait: seconds that a wait of the client's own choice never exceeds.
        longest_retry_after: seconds of a server's Retry-After that are obeyed; a longer one is cut to this.
        monotonic: the clock, in seconds.
        sleep: waits for a number of seconds; it may raise to interrupt.
        jitter: returns a number from 0 up to 1.
    """

    attempts: int = 5
    first_wait: float = 0.2
    longest_wait: float = 5.0
    longest_retry_after: float = 60.0
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    jitter: Callable[[], float] = random.random

    @classmethod
    def stopped_by(cls, stop: threading.Event) -> Self:
        """Return the default policy with waits that last at most a second once ``stop`` is set.

        Reads are still repeated then, since the outcome of the request in flight has to be settled.
        """

        def sleep(seconds: float) -> None:
            if stop.wait(seconds):
                time.sleep(min(seconds, _LONGEST_WAIT_WHEN_STOPPED))

        return cls(sleep=sleep)

    def wait_after(self, attempt: int, error: RequestError) -> float:
        """Return the seconds to wait after the given attempt (the first is 1) failed with ``error``."""
        own = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1)) * (0.5 + self.jitter() / 2)
        asked = error.retry_after or 0.0
        return min(asked, self.longest_retry_after) + own
