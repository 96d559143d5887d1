"""The one word that says where a unit stands: how it ended, or what the plan makes of it (pure)."""

from collections import Counter
from collections.abc import Iterable

from aim_template_migration.documents.plan import Unit
from aim_template_migration.inspecting.records import UnitRecord

STATES = ("unknown", "failed", "interrupted", "unfinished", "skipped", "manual", "automatic", "skip", "succeeded")
"""Every state, those that need attention first."""


def state_of(unit: Unit, record: UnitRecord) -> str:
    """Return the status on record, ``unfinished`` where a run broke off in the unit, else the disposition."""
    if record.status in STATES:
        return record.status
    # A journal can hold any word; one that is no status says only that the unit was begun.
    return "unfinished" if record.status or record.attempted or record.attempts else unit.disposition


def counted(states: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Return the states that occur and how often, those that need attention first."""
    found = Counter(states)
    return tuple((state, found[state]) for state in STATES if found[state])
