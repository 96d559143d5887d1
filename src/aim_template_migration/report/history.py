"""When each step of each unit ran, and what it sent, from the journal (pure)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aim_api.tree import get_int, get_str
from aim_template_migration.documents.journal import Entry

_OUTCOMES = frozenset({"accepted", "rejected", "unknown", "settled"})
_ENDS = frozenset({"stepCompleted", "failed", "unitFinished"})


@dataclass(slots=True)
class StepTimes:
    """One step: when it was begun and when it ended (seconds since the epoch, None while open), and its writes."""

    name: str
    begun: float
    ended: float | None = None
    requests: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """How long it took, None where no end is on record."""
        return None if self.ended is None else max(self.ended - self.begun, 0.0)


@dataclass(slots=True)
class UnitHistory:
    """One unit's steps in the order in which they ran, and when the unit ended (None where no end is on record)."""

    steps: list[StepTimes] = field(default_factory=list)
    ended: float | None = None

    @property
    def seconds(self) -> float | None:
        """From the first step to the end."""
        return max(self.ended - self.steps[0].begun, 0.0) if self.steps and self.ended is not None else None

    def add(self, entry: Entry, moment: float) -> None:
        """Take in one line of the journal."""
        if entry.event == "stepStarted":
            self.steps.append(StepTimes(entry.step, moment))
            return
        if entry.event == "unitFinished":
            self.ended = moment
        step = self.steps[-1] if self.steps else None
        if step is None:
            return
        if entry.event in _ENDS and step.ended is None:
            step.ended = moment
        elif entry.event in _OUTCOMES:
            step.requests.append(_request(entry))


def unit_histories(entries: Iterable[Entry]) -> dict[str, UnitHistory]:
    """Return the history of every unit that the journal names, by its id."""
    found: dict[str, UnitHistory] = {}
    for entry in entries:
        if entry.unit:
            found.setdefault(entry.unit, UnitHistory()).add(entry, moment_of(entry.time))
    return found


def moment_of(time: str) -> float:
    """Return a time of RFC 3339 in seconds since the epoch, 0 for what is none."""
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0


def rfc3339(moment: float) -> str:
    """Return seconds since the epoch as a time of RFC 3339, UTC, to the second."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _request(entry: Entry) -> str:
    status = get_int(entry.facts, "httpStatus")
    dry_run = " (dry run)" if entry.facts.get("dryRun") is True else ""
    answer = f", HTTP {status}" if status is not None else ""
    return f"{get_str(entry.facts, 'object') or ''}: {entry.event}{answer}{dry_run}"
