"""The page on the simulated operator names every module that decides something, and every misbehaviour."""

import re
from pathlib import Path

from aim_rehearsal.operator import Misbehaviour

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "operator-simulation.md").read_text(encoding="utf-8")
MACHINERY = {
    "__init__",
    "agenda",
    "bridge_operator",
    "controllers",
    "dependents",
    "executor",
    "outcome",
    "store",
    "writes",
}
"""Modules that carry decisions out and decide nothing themselves."""


def test_every_module_that_decides_has_its_row_and_no_other_is_named():
    modules = {path.stem for path in (ROOT / "src" / "aim_rehearsal" / "operator").glob("*.py")} - MACHINERY
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and line.count("|") == 4]
    named = {name for row in rows for name in re.split(r", ", row.strip("| ").rpartition("|")[2].strip())} - {"module"}
    assert named == modules


def test_every_row_says_what_it_rests_on():
    for row in PAGE.splitlines():
        if row.startswith("| ") and row.count("|") == 4:
            assert row.split("|")[2].strip()


def test_every_misbehaviour_is_listed():
    listed = re.findall(r"^\| `([a-z-]+)` \|", PAGE, re.MULTILINE)
    assert listed == [item.value for item in Misbehaviour if item is not Misbehaviour.NONE]
