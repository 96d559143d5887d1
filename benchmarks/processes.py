"""Measures a command from outside: clock, CPU time and peak memory of one child process."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

_LAUNCHER = Path(__file__).with_name("launch.py")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a process cost.

    Attributes:
        wall: seconds on the clock.
        cpu: seconds of CPU, user and system, of the process and the children that it waited for.
        peak_mb: the most that these processes had resident at once, in MB.
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
    out.touch()
    launcher = [sys.executable, "-S", "-E", str(_LAUNCHER), str(out)]
    with err.open("wb") as errors, Path(stdin or os.devnull).open("rb") as given:
        launched = subprocess.run(
            [*launcher, *map(str, command)],
            stdin=given,
            stdout=subprocess.PIPE,
            stderr=errors,
            env=None if environment is None else {**os.environ, **environment},
            check=True,
        )
    cost = Cost(
        **json.loads(launched.stdout), output=out.read_text(errors="replace"), errors=err.read_text(errors="replace")
    )
    out.write_bytes(b"")
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
