"""Which units may run side by side (pure), and the gate before the cutovers."""

import threading
from collections.abc import Iterable, Mapping, Sequence

from aim_template_migration.documents.plan import CreateProfile, CreateProfileCache, Unit


def shared_groups(units: Sequence[Unit]) -> dict[str, str]:
    """Return a group name per unit id: units that share a target, directly or through others, have the same one."""
    group_of: dict[str, str] = {unit.id: unit.id for unit in units}

    def root(unit_id: str) -> str:
        while group_of[unit_id] != unit_id:
            unit_id = group_of[unit_id]
        return unit_id

    first_user: dict[str, str] = {}
    for unit in units:
        for target in _targets(unit):
            earlier = first_user.setdefault(target, unit.id)
            group_of[root(unit.id)] = root(earlier)
    return {unit.id: root(unit.id) for unit in units}


def next_unit(pending: Iterable[str], groups: Mapping[str, str], busy: frozenset[str]) -> str | None:
    """Return the first pending unit, in plan order, whose group has no unit under way."""
    return next((unit_id for unit_id in pending if groups[unit_id] not in busy), None)


def _targets(unit: Unit) -> tuple[str, ...]:
    """What a unit creates, and so shares: a unit of a group runs only after the others of it."""
    return tuple(step.target for step in unit.steps if isinstance(step, CreateProfile | CreateProfileCache))


class CutoverGate:
    """No cutover leaves before the first eligible unit, in plan order, was cut over and confirmed with its soak.

    If that unit fails before, the next one is first. A rollout or an unobserved cutover closes the gate for good: it is
    a fault of what all units share (R, "Controlled-development limitations").
    """

    def __init__(self, unit_order: Sequence[str]) -> None:
        self._waiting = list(unit_order)
        self._condition = threading.Condition()
        self._open = False
        self._halted_by = ""
        self._cancelled = False

    def wait(self, unit_id: str) -> bool:
        """Wait for the turn to cut over; return False where cutovers were halted or the run is stopping."""
        with self._condition:
            self._condition.wait_for(
                lambda: self._open or self._halted_by or self._cancelled or self._is_first(unit_id)
            )
            return not self._halted_by and not self._cancelled

    def is_first(self, unit_id: str) -> bool:
        """Return whether this unit's cutover is the lone first one of the run."""
        with self._condition:
            return not self._open and self._is_first(unit_id)

    def passed(self, unit_id: str) -> None:
        """A unit was confirmed with its soak: the others may follow."""
        with self._condition:
            self._open = True
            self._leave(unit_id)

    def left(self, unit_id: str) -> None:
        """A unit ended without a confirmed cutover: the next one is first."""
        with self._condition:
            self._leave(unit_id)

    def halt(self, unit_id: str) -> None:
        """A unit showed a rollout or an unobserved cutover: no further cutover leaves."""
        with self._condition:
            self._halted_by = self._halted_by or unit_id
            self._condition.notify_all()

    def cancel(self) -> None:
        """The run is stopping: nobody waits on."""
        with self._condition:
            self._cancelled = True
            self._condition.notify_all()

    @property
    def halted_by(self) -> str:
        """The unit that halted the cutovers, or an empty string."""
        with self._condition:
            return self._halted_by

    def _is_first(self, unit_id: str) -> bool:
        return bool(self._waiting) and self._waiting[0] == unit_id

    def _leave(self, unit_id: str) -> None:
        if unit_id in self._waiting:
            self._waiting.remove(unit_id)
        self._condition.notify_all()
