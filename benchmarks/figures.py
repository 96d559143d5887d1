"""What a benchmark gives: figures, each beside what it is compared with and the figure to reach."""

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

RESULTS = Path(__file__).with_name("results.json")


class Figure(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measured value.

    Attributes:
        name: what is measured, short and unique within its benchmark, for example ``plan 10,000: whole command``.
        value: the measured value.
        unit: of ``value`` and ``peer``, for example ``s``, ``MB`` or ``requests``.
        peer: the floor or the peer that was measured beside it, None where there is none.
        peer_name: what the peer is.
        limit: the figure to reach, None where nothing is asked.
        limit_of: what ``limit`` bounds from above: the ``ratio`` to the peer or the ``value``.
        note: what a reader must know to judge it.
    """

    name: str
    value: float
    unit: str
    peer: float | None = None
    peer_name: str = ""
    limit: float | None = None
    limit_of: Literal["ratio", "value"] = "ratio"
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """The value in units of its peer, None where there is no peer."""
        return self.value / self.peer if self.peer else None

    @property
    def reached(self) -> bool | None:
        """Whether the figure to reach is reached, None where nothing is asked."""
        bounded = self.value if self.limit_of == "value" else self.ratio
        return None if self.limit is None or bounded is None else bounded <= self.limit


class Machine(msgspec.Struct, frozen=True):
    """What the figures were measured on."""

    cpus: int
    cpu: str
    memory_gb: int
    system: str
    python: str

    def __str__(self) -> str:
        return f"{self.cpus} CPUs ({self.cpu}), {self.memory_gb} GB, {self.system}, Python {self.python}"


class Run(msgspec.Struct, frozen=True):
    """One run of one benchmark.

    Attributes:
        benchmark: its name.
        what: what it measures, in a sentence.
        date: when it ended, UTC.
        size: ``full``, or ``quick`` for a smaller one.
        machine: where it ran.
        figures: what it gave.
    """

    benchmark: str
    what: str
    date: str
    size: str
    machine: Machine
    figures: tuple[Figure, ...]


def this_machine() -> Machine:
    """Return what the figures of this process are measured on."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return Machine(
        cpus=os.cpu_count() or 1,
        cpu=models[0] if models else platform.machine(),
        memory_gb=round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9),
        system=f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        python=platform.python_version(),
    )


def finished(benchmark: str, what: str, figures: tuple[Figure, ...], *, size: str) -> Run:
    """Return a run that ends now, on this machine."""
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
    return Run(benchmark, what, now, size, this_machine(), figures)


def read_runs(path: Path) -> dict[str, Run]:
    """Return the runs of a results file by the names of their benchmarks; none where there is no file."""
    if not path.exists():
        return {}
    return {run.benchmark: run for run in msgspec.json.decode(path.read_bytes(), type=list[Run])}


def merge_runs(path: Path, runs: dict[str, Run]) -> None:
    """Write runs into a results file, in the place of earlier runs of the same benchmarks."""
    merged = read_runs(path) | runs
    ordered = [merged[name] for name in sorted(merged)]
    path.write_bytes(msgspec.json.format(msgspec.json.encode(ordered), indent=1) + b"\n")
