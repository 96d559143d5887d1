"""The differences between the local API and a real API server that are known and explained in the documentation."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.comparing import Difference, matches

DOCUMENT = Path(__file__).parents[2] / "docs" / "explanation" / "fidelity.md"
_BEGIN, _END = "<!-- known differences: begin -->", "<!-- known differences: end -->"
_COLUMNS = ["Script", "Step", "Part", "Reason"]


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """One row of the table; ``*`` in step and part matches anything.

    A row that names several scripts must be seen in each of them.
    """

    script: str
    step: str
    part: str
    reason: str

    def covers(self, difference: Difference) -> bool:
        """Return whether this row is about a difference."""
        return (
            self.script == difference.script
            and matches(self.step, difference.step)
            and matches(self.part, difference.part)
        )

    def __str__(self) -> str:
        """Return the row without its reason."""
        return f"{self.script} | {self.step} | {self.part}"


def known_differences() -> list[KnownDifference]:
    """Return the rows of the table in ``docs/explanation/fidelity.md``.

    Raises:
        ValueError: the table is not where it was or has other columns.
    """
    text = DOCUMENT.read_text()
    begin, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    rows = [_cells(line) for line in text[begin:end].splitlines() if line.startswith("|")]
    if not rows or rows[0] != _COLUMNS:
        raise ValueError(f"the known differences in {DOCUMENT} are no table of {', '.join(_COLUMNS)}")
    wrong = [row for row in rows if len(row) != len(_COLUMNS) or not all(row)]
    if wrong:
        raise ValueError(f"{DOCUMENT}: not a row of {', '.join(_COLUMNS)}: {wrong[0]}")
    return [KnownDifference(script.strip(), *rest) for scripts, *rest in rows[2:] for script in scripts.split(",")]


class Ledger:
    """Compares what differs with what is known to differ."""

    def __init__(self, known: Iterable[KnownDifference]) -> None:
        """Expect the known differences, and each of them at least once."""
        self._known = list(known)
        self._unseen = set(self._known)

    def is_known(self, difference: Difference) -> bool:
        """Return whether a row is about a difference; the row then counts as seen."""
        covering = {row for row in self._known if row.covers(difference)}
        self._unseen -= covering
        return bool(covering)

    def check(self, reports: list[str]) -> None:
        """Fail if there are reports of unknown differences, or known ones that no longer occur."""
        assert not reports, "the servers differ:\n" + "\n".join(reports)
        assert not self._unseen, f"no longer different; to be deleted: {', '.join(map(str, self._unseen))}"


def _cells(line: str) -> list[str]:
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
