"""What is still to be looked at: keys in sorted order, each once."""

import heapq
from collections.abc import Iterable, Iterator

from aim_rehearsal.operator.store import Key


class Agenda:
    """A set of keys that gives the smallest first, so that the order of work does not depend on the order of events."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._keys = set(keys)
        self._heap = sorted(self._keys)

    def add(self, key: Key) -> None:
        """Put a key on the agenda, unless it is there."""
        if key not in self._keys:
            self._keys.add(key)
            heapq.heappush(self._heap, key)

    def next(self) -> Key:
        """Take the smallest key off the agenda.

        Raises:
            IndexError: the agenda is empty.
        """
        key = heapq.heappop(self._heap)
        self._keys.remove(key)
        return key

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(self._keys))
