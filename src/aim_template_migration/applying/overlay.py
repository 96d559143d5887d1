"""A namespace as it was listed, with some of its objects read afresh (pure).

A unit's own objects are read one by one, while the lists that say who else is there may be shared and some seconds old.
Laying the fresh objects over the lists costs the same however large the namespace is.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import replace

from aim_api.kinds import Kind
from aim_api.tree import get_str
from aim_template_migration.planning.snapshot import ClusterScope, NamespaceScope, Observed


class FreshNamespace(NamespaceScope):
    """The same look-ups as the namespace below, answered with the fresh objects in the place of the listed ones."""

    def __init__(self, below: NamespaceScope, fresh: Iterable[Observed], gone: Iterable[tuple[str, str]]) -> None:
        """Take the listed namespace, the objects read afresh, and the kind names and names of what does not exist."""
        super().__init__(below.name, (), terminating=below.terminating)
        self._below = below
        self._fresh = {(item.kind.name, item.name): item for item in fresh}
        self._replaced = frozenset(self._fresh) | frozenset(gone)

    def all(self, kind: Kind) -> Iterable[Observed]:
        """Return the objects of a kind, by name."""
        return self._merged(kind, self._below.all(kind), self._of(kind))

    def get(self, kind: Kind, name: str) -> Observed | None:
        """Return an object by kind and name, or None."""
        key = (kind.name, name)
        return self._fresh.get(key) if key in self._replaced else self._below.get(kind, name)

    def every(self) -> Iterable[Observed]:
        """Return all objects; those read afresh come first."""
        yield from self._fresh.values()
        yield from (item for item in self._below.every() if (item.kind.name, item.name) not in self._replaced)

    def owned_by(self, kind: Kind, uid: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose controller has this UID, by name."""
        fresh = (item for item in self._of(kind) if item.controller and item.controller.uid == uid)
        return tuple(self._merged(kind, self._below.owned_by(kind, uid), fresh))

    def with_label(self, kind: Kind, label: str, value: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose label has this value, by name."""
        fresh = (item for item in self._of(kind) if value and item.labels.get(label) == value)
        return tuple(self._merged(kind, self._below.with_label(kind, label, value), fresh))

    def with_field(self, kind: Kind, path: tuple[str, ...], value: str) -> tuple[Observed, ...]:
        """Return the objects of a kind whose string field at ``path`` has this value, by name."""
        fresh = (item for item in self._of(kind) if value and get_str(item.obj, *path) == value)
        return tuple(self._merged(kind, self._below.with_field(kind, path, value), fresh))

    def _of(self, kind: Kind) -> Iterator[Observed]:
        return (item for (name, _), item in sorted(self._fresh.items()) if name == kind.name)

    def _merged(self, kind: Kind, listed: Iterable[Observed], fresh: Iterable[Observed]) -> Iterator[Observed]:
        kept = (item for item in listed if (kind.name, item.name) not in self._replaced)
        return heapq.merge(kept, fresh, key=lambda item: item.name)


def fresh_cluster(below: ClusterScope, fresh: Iterable[Observed], gone: Iterable[tuple[str, str]]) -> ClusterScope:
    """Return the cluster scope with some objects read afresh, and some known not to exist (kind name and name)."""
    fresh, gone = tuple(fresh), tuple(gone)
    touched = {item.kind.name for item in fresh} | {kind for kind, _ in gone}
    changed = {kind: dict(below.objects.get(kind, {})) for kind in touched}
    for kind, name in gone:
        changed[kind].pop(name, None)
    for item in fresh:
        changed[item.kind.name][item.name] = item
    return replace(below, objects={**below.objects, **changed})
