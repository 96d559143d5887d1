"""Writes the counts of campaigns into the page on failures.

``python -m tests.faults.counts --full FILE HASH --ci FILE HASH --server FAULTS``: the files are what
``python -m tests.faults --json`` has written, with the commit that was tried; FAULTS is how many were played before a
real API server.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.faults.families import EVERYTHING, WORLDS
from tests.faults.process import Launcher
from tests.faults.stage.stage import Stage
from tests.faults.trial import Player

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "failure-model.md"
BEGIN, END = "<!-- counts: begin -->\n", "<!-- counts: end -->"
SERVER = "before a real kube-apiserver"


def render(full: Mapping[str, Any], ci: Mapping[str, Any], server: int, known: Mapping[str, int]) -> str:
    """Return the text with the counts.

    Args:
        full: the counts of a full campaign, with the commit.
        ci: those of what every change is tried with, with the commit.
        server: how many faults were played before a real API server, with nothing violated.
        known: how many faults there are, by class.
    """
    paragraphs = [
        _head("the full campaign", full),
        _table(
            ("class", "faults played", "of", "violations"),
            [(name, *_sums(full, "class", name), known[name]) for name in EVERYTHING],
        ),
        "" if full["complete"] else _partly(full),
        _head("what every change is tried with", ci),
        _table(
            ("world", "faults", "violations"),
            [*((world, *_sums(ci, "world", world)) for world in WORLDS), (SERVER, server, 0)],
        ),
        "" if ci["complete"] else _partly(ci),
    ]
    return "\n\n".join(text for text in paragraphs if text) + "\n"


def _head(name: str, counts: Mapping[str, Any]) -> str:
    said = f"{counts['points']:,} points, {counts['faults']:,} faults, {counts['violations']:,} violations"
    when = counts["written"].partition("T")[0]
    return f"Of {name}, on {when} at commit `{counts['commit']}`, version {counts['version']}:\n**{said}**."


def _partly(counts: Mapping[str, Any]) -> str:
    done, of = (sum(row[name] for row in counts["classes"]) for name in ("shares", "of"))
    return (
        f"It was ended early, after {done} of {of} shares. A share takes every n-th point of its class in one "
        "world:\nwhat was played lies all over the runs."
    )


def _sums(counts: Mapping[str, Any], column: str, value: str) -> tuple[int, int]:
    rows = [row for row in counts["classes"] if row[column] == value]
    return sum(row["faults"] for row in rows), sum(row["violations"] for row in rows)


def _table(head: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> str:
    """Return a table with a last line of sums; where ``of`` is asked for it stands before the violations."""
    ordered = [(name, faults, *more, violations) for name, faults, violations, *more in rows]
    total = ("all", *(sum(column) for column in list(zip(*ordered, strict=True))[1:]))
    lines = [head, ("---",) * len(head), *((name, *(f"{value:,}" for value in values)) for name, *values in
                                           (*ordered, total))]  # fmt: skip
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def faults_by_class() -> Counter[str]:
    """Return how many faults there are in all worlds together, by class."""
    known: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, Launcher() as launcher:
        for world in WORLDS:
            directory = Path(folder) / world
            directory.mkdir()
            with Stage(world, directory, launcher) as stage:
                player = Player(stage)
                known.update({name: sum(1 for _ in listing(player, world)) for name, listing in EVERYTHING.items()})
    return known


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite the page; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.counts", description=__doc__.splitlines()[0])
    for name in ("--full", "--ci"):
        parser.add_argument(name, nargs=2, required=True, metavar=("FILE", "HASH"))
    parser.add_argument("--server", type=int, required=True, metavar="FAULTS")
    options = parser.parse_args(argv)
    full, ci = ({**json.loads(Path(file).read_text()), "commit": commit} for file, commit in (options.full, options.ci))
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    counts = render(full, ci, options.server, faults_by_class())
    PAGE.write_text(f"{before}{BEGIN}\n{counts}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
