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


@contextlib.contextmanager
def rare_cycle_collection() -> Iterator[None]:
    """Let the collector of reference cycles look a hundred times less often: of failures some may be left in a run."""
    often = gc.get_threshold()
    gc.set_threshold(often[0] * 100, *often[1:])
    try:
        yield
    finally:
        gc.set_threshold(*often)
