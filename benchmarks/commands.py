"""What the commands cost that read no cluster: start-up."""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.processes import measured, middle
from benchmarks.registry import Benchmark, Size

_TOOL = (sys.executable, "-m", "aim_template_migration.cli.main")
_START_UP = {
    "--help": [*_TOOL, "--help"],
    "plan --help": [*_TOOL, "plan", "--help"],
    "explain CODE": [*_TOOL, "explain", "BridgeNotProven"],
}
_START_UP_LIMIT = 0.150


def start_up(size: Size) -> Iterator[Figure]:
    """Yield the time on the clock of commands that must answer at once, beside that of an empty Python process."""
    times = 15 if size == "full" else 5
    with tempfile.TemporaryDirectory() as folder:

        def clock(command: list[str]) -> float:
            return middle([measured(command, folder=Path(folder)) for _ in range(times)]).wall

        for name, command in _START_UP.items():
            empty = clock([sys.executable, "-c", "pass"])
            yield Figure(
                name,
                clock(command),
                "s",
                peer=empty,
                peer_name="empty Python process",
                limit=_START_UP_LIMIT,
                limit_of="value",
            )


BENCHMARKS = (Benchmark("start-up", "Commands that must answer at once; median on the clock.", start_up),)
