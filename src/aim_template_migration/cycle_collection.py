"""The collector of reference cycles, which need not walk through what has none."""

import contextlib
import gc
from collections.abc import Iterator


@contextlib.contextmanager
def without_cycle_collection() -> Iterator[None]:
    """Switch the collector of reference cycles off: it would walk all that is read, again and again, for nothing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
