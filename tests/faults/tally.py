"""Adds up what came of points."""

from dataclasses import dataclass, field

from tests.faults.trial import Verdict

_SHOWN = 10


@dataclass(slots=True)
class Tally:
    """Counts of points, faults and violations.

    Attributes:
        places: the points: a world, a mode, and a request, a disk call, or all of a run.
        faults: how many runs with a fault were played there.
        violations: what was violated in them.
        violated: what was violated in each of those that had violations, and where their files are.
    """

    places: set[str] = field(default_factory=set)
    faults: int = 0
    violations: int = 0
    violated: list[str] = field(default_factory=list)

    def add(self, verdict: Verdict) -> None:
        """Add one."""
        point = verdict.point
        self.places.add(f"{point.world}, {'commit' if point.commit else 'dry run'}, {point.place}")
        self.faults += 1
        self.violations += len(verdict.violations)
        if verdict.violations:
            self.violated.append(str(verdict))

    def join(self, other: "Tally") -> None:
        """Add what another process has counted."""
        self.places |= other.places
        self.faults += other.faults
        self.violations += other.violations
        self.violated += other.violated

    def report(self) -> str:
        """Return the violations as text."""
        lines = self.violated[:_SHOWN]
        if len(self.violated) > _SHOWN:
            lines.append(f"and {len(self.violated) - _SHOWN} more points with violations")
        return "\n".join(lines)


def summary(tally: Tally) -> str:
    """Return the counts in one line."""
    return f"{len(tally.places)} points, {tally.faults} faults, {tally.violations} violations"
