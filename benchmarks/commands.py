"""What the commands cost that read no cluster: those that must answer at once, and those that read a large plan."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.figures import Figure
from benchmarks.plan import write_plan_of
from benchmarks.processes import Cost, measured, middle
from benchmarks.registry import Benchmark, Size
from benchmarks.servers import page_server

_TOOL = (sys.executable, "-m", "aim_template_migration")
_START_UP = {
    "--help": (*_TOOL, "--help"),
    "plan --help": (*_TOOL, "plan", "--help"),
    "explain CODE": (*_TOOL, "explain", "BridgeNotProven"),
    "import aim_template_migration": (sys.executable, "-c", "import aim_template_migration"),
}
_START_UP_LIMIT = 0.150
_PARSE = "import sys, msgspec; msgspec.json.decode(open(sys.argv[1], 'rb').read())"


def start_up(size: Size) -> Iterator[Figure]:
    """Yield the time on the clock of commands that must answer at once, beside that of an empty Python process."""
    times = 15 if size == "full" else 5
    with tempfile.TemporaryDirectory() as folder:
        for name, command in _START_UP.items():
            empty, full = [], []
            for _ in range(times):  # in turns, so that what else the machine does falls on both
                empty.append(measured((sys.executable, "-c", "pass"), folder=Path(folder)))
                full.append(measured(command, folder=Path(folder)))
            peer = "empty Python process"
            yield Figure(
                f"{name}: clock",
                middle(full).wall,
                "s",
                middle(empty).wall,
                peer,
                _START_UP_LIMIT,
                limit_of="value",
                note=f"the quickest of {times} took {min(cost.wall for cost in full) * 1000:.0f} ms",
            )
            yield Figure(
                f"{name}: CPU", middle(full).cpu, "s", middle(empty).cpu, peer, _START_UP_LIMIT, limit_of="value"
            )


def review(size: Size) -> Iterator[Figure]:
    """Yield what it costs to look at a plan, beside parsing its plan.json alone."""
    namespaces = 100 if size == "full" else 10
    units = f"{namespaces * 100:,} units"
    with page_server(namespaces, 100) as served:
        plan = write_plan_of(served)
        kept = served.folder / "reviewed"
        shutil.move(plan, kept)
        unit = f"AIMService/{served.namespaces[0]}/phi-4-chat"

        def run(*arguments: str | Path, accepted: tuple[int, ...] = (0,)) -> Cost:
            return measured([*_TOOL, *arguments], accepted=accepted, folder=served.folder)

        parse = measured([sys.executable, "-c", _PARSE, kept / "plan.json"], folder=served.folder)
        commands = {
            "show": run("show", "--plan", kept),
            "show UNIT": run("show", "--plan", kept, unit, accepted=(0, 2, 4)),
            "check": run("check", "--plan", kept),
            "report": run("report", "--plan", kept, "--file", served.folder / "report.html"),
        }
    for name, cost in commands.items():
        yield Figure(f"{name}, {units}: CPU", cost.cpu, "s", parse.cpu, "parsing plan.json")
        yield Figure(f"{name}, {units}: peak memory", cost.peak_mb, "MB", parse.peak_mb, "parsing plan.json")


BENCHMARKS = (
    Benchmark("start-up", "Commands that must answer at once; medians.", start_up),
    Benchmark("review", "Commands that read a plan and no cluster.", review),
)
