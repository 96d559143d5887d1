"""Measures a command from outside: clock, CPU time and peak memory of one child process."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process cost.

    Attributes:
        wall: seconds on the clock.
        cpu: seconds of CPU, user and system, of the process and the children that it waited for.
        peak_mb: the largest resident set of any one of these processes, in MB.
        code: its exit code.
        output: what it wrote to standard output.
        errors: what it wrote to standard error.
    """

    wall: float
    cpu: float
    peak_mb: float
    code: int
    output: str
    errors: str


class CommandFailedError(Exception):
    """A command that is to be measured failed."""


def measured(
    command: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    stdin: Path | None = None,
    accepted: Sequence[int] = (0,),
    folder: Path,
) -> Cost:
    """Run a command to its end and return its cost; its output goes to files in ``folder``.

    Raises:
        CommandFailedError: its exit code is none of ``accepted``.
    """
    out, err = folder / "measured.out", folder / "measured.err"
    with out.open("wb") as output, err.open("wb") as errors, Path(stdin or os.devnull).open("rb") as given:
        began = time.monotonic()
        process = subprocess.Popen(
            [str(part) for part in command],
            stdin=given,
            stdout=output,
            stderr=errors,
            env=None if environment is None else {**os.environ, **environment},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    cost = Cost(
        wall=wall,
        cpu=usage.ru_utime + usage.ru_stime,
        peak_mb=usage.ru_maxrss * 1024 / 1e6,
        code=process.returncode,
        output=out.read_text(errors="replace"),
        errors=err.read_text(errors="replace"),
    )
    if cost.code not in accepted:
        raise CommandFailedError(f"{command[0]} ended with {cost.code}: {cost.errors[-1000:] or cost.output[-1000:]}")
    return cost


def middle(costs: Sequence[Cost]) -> Cost:
    """Return the median of repeated runs, each value by itself, with the last one's output."""
    last = costs[-1]
    return Cost(
        wall=median(cost.wall for cost in costs),
        cpu=median(cost.cpu for cost in costs),
        peak_mb=max(cost.peak_mb for cost in costs),
        code=last.code,
        output=last.output,
        errors=last.errors,
    )
