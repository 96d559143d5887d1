"""The old value that belongs to a new one, and ratcheting: what did not change is not held against an update.

Objects correlate by key, lists of type ``map`` by their keys; the items of other lists do not correlate. A value that
the schema does not name does not correlate either, so an object with such a value never counts as unchanged.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

from collections.abc import Hashable

from aim_api.tree import Json
from aim_schema.listtypes import identity
from aim_schema.nodes import Node
from aim_schema.paths import Path, Segment, segments


class Correlated:
    """A new value with its old value and their schema; comparisons are made once."""

    __slots__ = ("_children", "_equal", "_old_items", "new", "node", "old")

    def __init__(self, new: Json, old: Json, node: Node) -> None:
        self.new = new
        self.old = old
        self.node = node
        self._equal: bool | None = None
        self._children: dict[Segment, Correlated | None] = {}
        self._old_items: dict[Hashable, Json] | None = None

    def child(self, segment: Segment) -> "Correlated | None":
        """Return the correlated value at a key or an index, or None where there is none."""
        if segment not in self._children:
            self._children[segment] = self._item(segment) if isinstance(segment, int) else self._key(segment)
        return self._children[segment]

    def _key(self, key: str) -> "Correlated | None":
        node = self.node.below(key)
        if node is None or not (isinstance(self.new, dict) and isinstance(self.old, dict)):
            return None
        if key not in self.new or key not in self.old:
            return None
        return Correlated(self.new[key], self.old[key], node)

    def _item(self, index: int) -> "Correlated | None":
        if self.node.items is None or not (isinstance(self.new, list) and isinstance(self.old, list)):
            return None
        if self.node.list_type != "map" or index >= len(self.new):
            return None
        if self._old_items is None:
            self._old_items = items_by_key(self.old, self.node.list_map_keys)
        key = list_map_key(self.new[index], self.node.list_map_keys)
        old = self._old_items.get(key) if key is not None else None
        return None if old is None else Correlated(self.new[index], old, self.node.items)

    def unchanged(self) -> bool:
        """Return whether the new value equals the old one."""
        if self._equal is None:
            self._equal = self._compare()
        return self._equal

    def _compare(self) -> bool:
        new, old = self.new, self.old
        if isinstance(new, dict) and isinstance(old, dict):
            return len(new) == len(old) and all(self._child_unchanged(key) for key in new)
        if isinstance(new, list) and isinstance(old, list) and self.node.list_type == "map" and self.node.items:
            return len(new) == len(old) and all(self._child_unchanged(index) for index in range(len(new)))
        return identity(new) == identity(old)

    def _child_unchanged(self, segment: Segment) -> bool:
        child = self.child(segment)
        return child is not None and child.unchanged()


def list_map_key(item: Json, keys: tuple[str, ...]) -> Hashable | None:
    """Return the key of an item of a list of type ``map``, or None where it lacks one or one is no scalar."""
    if not isinstance(item, dict):
        return None
    parts: list[Hashable] = []
    for key in keys:
        value = item.get(key)
        if value is None or isinstance(value, dict | list):
            return None
        parts.append(identity(value))
    return tuple(parts)


def items_by_key(items: list[Json], keys: tuple[str, ...]) -> dict[Hashable, Json]:
    """Return the items of a list of type ``map`` by key; the first of two with one key wins."""
    found: dict[Hashable, Json] = {}
    for item in items:
        key = list_map_key(item, keys)
        if key is not None:
            found.setdefault(key, item)
    return found


_UNSEEN_CHANGES = frozenset({"apiVersion", "kind"})
"""Old and new object are of one version when they are compared, so changes of these cannot be seen."""


def excuses_value(root: Correlated, owner: Path) -> bool:
    """Return whether a finding of value validation about ``owner`` is old: it or something around it is unchanged."""
    current: Correlated | None = root
    for depth, segment in enumerate(segments(owner)):
        assert current is not None
        if current.unchanged():
            return True
        current = None if depth == 0 and segment in _UNSEEN_CHANGES else current.child(segment)
        if current is None:
            return False
    return current is not None and current.unchanged()


def excuses_rule(root: Correlated, owner: Path) -> bool:
    """Return whether a broken rule is old: its value, or the nearest correlated value around it, is unchanged."""
    current: Correlated | None = root
    nearest: Correlated | None = None
    for segment in segments(owner):
        if current is None:
            break
        if nearest is None and segment in _UNSEEN_CHANGES:
            return False
        nearest, current = current, current.child(segment)
    subject = current or nearest
    return subject is not None and subject.unchanged()
