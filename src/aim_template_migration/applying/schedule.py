"""Which units may run side by side, in which order, and the gate before the cutovers."""

import heapq
import threading
from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence

from aim_template_migration.documents.plan import CreateProfile, CreateProfileCache, Unit


def shared_groups(units: Sequence[Unit]) -> dict[str, str]:
    """Return a group name per unit id: units that share a target, directly or through others, have the same one."""
    group_of: dict[str, str] = {unit.id: unit.id for unit in units}

    def root(unit_id: str) -> str:
        while group_of[unit_id] != unit_id:
            group_of[unit_id] = group_of[group_of[unit_id]]  # halves the path, so that long chains stay cheap
            unit_id = group_of[unit_id]
        return unit_id

    first_user: dict[str, str] = {}
    for unit in units:
        for target in _targets(unit):
            earlier = first_user.setdefault(target, unit.id)
            group_of[root(unit.id)] = root(earlier)
    return {unit.id: root(unit.id) for unit in units}


class UnitQueue:
    """Units that have not begun, in plan order; of units that share a target one runs at a time.

    Taking and releasing cost the same however many units wait.
    """

    def __init__(self, units: Sequence[Unit]) -> None:
        """Take the units in plan order."""
        self._group_of = shared_groups(units)
        self._place = {unit.id: place for place, unit in enumerate(units)}
        self._waiting: dict[str, deque[str]] = {}
        for unit in units:
            self._waiting.setdefault(self._group_of[unit.id], deque()).append(unit.id)
        # The first unit of every group; of a group whose unit runs there is none.
        self._ready = [(self._place[ids[0]], ids[0]) for ids in self._waiting.values()]
        heapq.heapify(self._ready)
        self._left = len(units)

    def __len__(self) -> int:
        """Return how many units have not begun."""
        return self._left

    def take(self) -> str | None:
        """Return the first unit in plan order whose group has none under way, or None."""
        if not self._ready:
            return None
        _, unit_id = heapq.heappop(self._ready)
        self._waiting[self._group_of[unit_id]].popleft()
        self._left -= 1
        return unit_id

    def release(self, unit_id: str) -> None:
        """Let the next unit of the group begin, once for each unit taken."""
        waiting = self._waiting[self._group_of[unit_id]]
        if waiting:
            heapq.heappush(self._ready, (self._place[waiting[0]], waiting[0]))

    def drain(self) -> tuple[str, ...]:
        """Return the units that will not begin, in plan order, and forget them."""
        left = sorted((unit_id for ids in self._waiting.values() for unit_id in ids), key=self._place.__getitem__)
        self._waiting = {group: deque() for group in self._waiting}
        self._ready.clear()
        self._left = 0
        return tuple(left)


def _targets(unit: Unit) -> tuple[str, ...]:
    """What a unit creates, and so shares: a unit of a group runs only after the others of it."""
    return tuple(step.target for step in unit.steps if isinstance(step, CreateProfile | CreateProfileCache))


class CutoverGate:
    """No cutover leaves before the first eligible unit, in plan order, was cut over and confirmed with its soak.

    If that unit fails before, the next one is first. A rollout or an unobserved cutover closes the gate for good: it is
    a fault of what all units share (R, "Controlled-development limitations").
    """

    def __init__(self, unit_order: Iterable[str]) -> None:
        """Take the ids of the units of the run, in plan order."""
        self._waiting = OrderedDict.fromkeys(unit_order)
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

    def has_turn(self, unit_id: str) -> bool:
        """Return whether ``wait`` would not wait."""
        with self._condition:
            return self._open or self._is_first(unit_id)

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
        return next(iter(self._waiting), None) == unit_id

    def _leave(self, unit_id: str) -> None:
        self._waiting.pop(unit_id, None)
        self._condition.notify_all()
