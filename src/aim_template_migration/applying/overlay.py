"""A namespace as it was listed, with some of its objects read afresh (pure).

A unit's own objects are read one by one, while the lists that say who else is there may be shared and some seconds old.
Laying the fresh objects over the lists costs the same however large the namespace is, and nothing where they are what
was listed.
"""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from aim_api.kinds import Kind
from aim_api.tree import get_str
from aim_template_migration.planning.snapshot import ClusterScope, KeysOf, NamespaceScope, Observed, index


def fresh_namespace(
    below: NamespaceScope, fresh: Iterable[Observed], gone: Iterable[tuple[Kind, str]]
) -> NamespaceScope:
    """Return a listed namespace with objects read afresh in the place of the listed ones.

    Args:
        below: the namespace as it was listed.
        fresh: objects that were read afresh.
        gone: kinds and names of what does not exist.
    """
    changed = [item for item in fresh if below.get(item.kind, item.name) is not item]
    vanished = [(kind.name, name) for kind, name in gone if below.get(kind, name) is not None]
    return _FreshNamespace(below, changed, vanished) if changed or vanished else below


class _FreshNamespace(NamespaceScope):
    """The same look-ups as the namespace below, answered with the fresh objects in the place of the listed ones."""

    def __init__(self, below: NamespaceScope, fresh: list[Observed], gone: list[tuple[str, str]]) -> None:
        super().__init__(below.name, (), terminating=below.terminating)
        self._below = below
        self._fresh = index(fresh)
        self._replaced: dict[str, set[str]] = {kind: set(items) for kind, items in self._fresh.items()}
        for kind, name in gone:
            self._replaced.setdefault(kind, set()).add(name)

    def all(self, kind: Kind) -> Iterable[Observed]:
        """Return the objects of a kind, by name."""
        return self.merged(kind, self._below.all(kind), self._of(kind))

    def get(self, kind: Kind, name: str) -> Observed | None:
        """Return an object by kind and name, or None."""
        if name in self._replaced.get(kind.name, ()):
            return self._fresh.get(kind.name, {}).get(name)
        return self._below.get(kind, name)

    def every(self) -> Iterable[Observed]:
        """Return all objects; those read afresh come first."""
        for items in self._fresh.values():
            yield from items.values()
        yield from (item for item in self._below.every() if item.name not in self._replaced.get(item.kind.name, ()))

    def grouped(self, kind: Kind, key: str, keys_of: KeysOf) -> Mapping[str, tuple[Observed, ...]]:
        """Return the objects of a kind grouped by what ``keys_of`` says, by name; ``key`` names the grouping."""
        listed = self._below.grouped(kind, key, keys_of)
        fresh = NamespaceScope(self.name, self._of(kind)).grouped(kind, key, keys_of)
        return _Groups(self, kind, listed, fresh)

    def owned_by(self, kind: Kind, uid: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose controller has this UID, by name."""
        fresh = (item for item in self._of(kind) if item.controller and item.controller.uid == uid)
        return tuple(self.merged(kind, self._below.owned_by(kind, uid), fresh))

    def with_label(self, kind: Kind, label: str, value: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose label has this value, by name."""
        fresh = (item for item in self._of(kind) if value and item.labels.get(label) == value)
        return tuple(self.merged(kind, self._below.with_label(kind, label, value), fresh))

    def with_field(self, kind: Kind, path: tuple[str, ...], value: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose string field at ``path`` has this value, by name."""
        fresh = (item for item in self._of(kind) if value and get_str(item.obj, *path) == value)
        return tuple(self.merged(kind, self._below.with_field(kind, path, value), fresh))

    def merged(self, kind: Kind, listed: Iterable[Observed], fresh: Iterable[Observed]) -> Iterable[Observed]:
        """Return listed objects without those that were replaced, and fresh ones, by name."""
        replaced = self._replaced.get(kind.name)
        if not replaced:
            return listed
        kept = (item for item in listed if item.name not in replaced)
        return heapq.merge(kept, fresh, key=lambda item: item.name)

    def _of(self, kind: Kind) -> Iterable[Observed]:
        return self._fresh.get(kind.name, {}).values()


@dataclass(frozen=True, slots=True)
class _Groups(Mapping[str, tuple[Observed, ...]]):
    """Groups of listed and of fresh objects, merged only where one is asked for."""

    over: _FreshNamespace
    kind: Kind
    listed: Mapping[str, tuple[Observed, ...]]
    fresh: Mapping[str, tuple[Observed, ...]]

    def __getitem__(self, value: str) -> tuple[Observed, ...]:
        found = tuple(self.over.merged(self.kind, self.listed.get(value, ()), self.fresh.get(value, ())))
        if not found:
            raise KeyError(value)
        return found

    def __iter__(self) -> Iterator[str]:
        return (value for value in {**self.listed, **self.fresh} if value in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def fresh_cluster(below: ClusterScope, fresh: Iterable[Observed], gone: Iterable[tuple[Kind, str]]) -> ClusterScope:
    """Return the cluster scope with some objects read afresh, and some known not to exist."""
    changed = [item for item in fresh if below.objects.get(item.kind.name, {}).get(item.name) is not item]
    vanished = [(kind.name, name) for kind, name in gone if name in below.objects.get(kind.name, {})]
    if not changed and not vanished:
        return below
    objects = dict(below.objects)
    for kind, name in vanished:
        objects[kind] = {other: item for other, item in objects[kind].items() if other != name}
    for item in changed:
        objects[item.kind.name] = {**objects.get(item.kind.name, {}), item.name: item}
    return replace(below, objects=objects)
