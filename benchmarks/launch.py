"""Runs one command and prints what it cost as JSON, from a process that is small itself.

The kernel takes a new process's peak memory to be at least that of the process which started it, so that a benchmark
with a fleet in memory can't start what it measures.

Memory is that of the command and its children at once, looked at ten times a second; where they share pages, those
count for each. The largest set of any one process, which the kernel notes, is the least that is stated.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

_LOOK = 0.1
_PAGE = os.sysconf("SC_PAGE_SIZE")


class _Memory(threading.Thread):
    """Notes the most that a process and its children have resident at once, in bytes."""

    def __init__(self, process: int) -> None:
        super().__init__(daemon=True)
        self._process = process
        self._over = threading.Event()
        self.most = 0

    def run(self) -> None:
        """Look again and again."""
        while not self._over.wait(_LOOK):
            self.most = max(self.most, _resident(self._process))

    def end(self) -> int:
        """Stop looking and return the most that was seen."""
        self._over.set()
        self.join()
        return self.most


def _resident(process: int) -> int:
    """Return the bytes that a process and its children have resident; 0 where that can't be told."""
    folder = Path(f"/proc/{process}")
    children: list[str] = []
    try:
        resident = int((folder / "statm").read_text().split()[1]) * _PAGE
        for task in (folder / "task").iterdir():
            children += (task / "children").read_text().split()
    except (OSError, IndexError, ValueError):  # it has ended, or there is no such file system
        return 0
    return resident + sum(_resident(int(child)) for child in children)


def main() -> None:
    """Run the command behind the first argument, which names the file for its standard output."""
    output, *command = sys.argv[1:]
    began = time.monotonic()
    child = os.posix_spawnp(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY, 0)]
    )
    memory = _Memory(child)
    memory.start()
    _, status, usage = os.wait4(child, 0)
    wall = time.monotonic() - began
    cost = {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": max(usage.ru_maxrss * 1024, memory.end()) / 1e6,
        "code": os.waitstatus_to_exitcode(status),
    }
    print(json.dumps(cost))


if __name__ == "__main__":
    main()
