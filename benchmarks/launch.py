"""Runs one command and prints what it cost as JSON, from a process that is small itself.

The kernel takes a new process's peak memory to be at least that of the process which started it, so that a benchmark
with a fleet in memory can't start what it measures.
"""

import json
import os
import sys
import time


def main() -> None:
    """Run the command behind the first argument, which names the file for its standard output."""
    output, *command = sys.argv[1:]
    began = time.monotonic()
    child = os.posix_spawnp(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY, 0)]
    )
    _, status, usage = os.wait4(child, 0)
    cost = {
        "wall": time.monotonic() - began,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak_mb": usage.ru_maxrss * 1024 / 1e6,
        "code": os.waitstatus_to_exitcode(status),
    }
    print(json.dumps(cost))


if __name__ == "__main__":
    main()
