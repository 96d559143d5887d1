"""How many worker processes fit here: by processors and by memory, a container's limits included."""

import os
import sys
from pathlib import Path

MOST_WORKERS = 2
"""With more, the tool could need more than 300 MB."""
WORKER_MEMORY = 120 << 20
"""Bytes that a worker may need, and this process beside them."""
_CGROUP = Path("/sys/fs/cgroup")


def fitting_workers() -> int:
    """Return how many processes can classify at once; 1 where another process would be of no use."""
    processors = _processors()
    memory = _limit("memory.max")
    fitting = MOST_WORKERS if memory is None else int(memory // WORKER_MEMORY) - 1
    return max(1, min(processors, fitting, MOST_WORKERS)) if sys.executable else 1


def _processors() -> int:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    granted = _limit("cpu.max")
    return usable if granted is None else min(usable, max(1, int(granted)))


def _limit(name: str) -> float | None:
    """Return a limit of this process's control group (version 2), a quota as a share of its period, None for none."""
    try:
        words = (_CGROUP / name).read_text().split()
        return None if words[0] == "max" else int(words[0]) / int(words[1] if len(words) > 1 else 1)
    except (OSError, ValueError, IndexError):
        return None
