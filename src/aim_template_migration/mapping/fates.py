"""The fate of a v1alpha1 field, as data (pure).

One table per kind says what becomes of every field of the served schemas, and of the fields that only the guide's
examples show. Planning, conversion, the loss ledger and the reference page all read the same tables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from aim_api.tree import Json, Key


class Fate(StrEnum):
    """What becomes of a field."""

    MAPPED = "mapped"
    """Carried to a field of the same name and meaning."""
    RENAMED = "renamed"
    """Carried to a field of another name or place."""
    TYPED = "typed"
    """Carried, and its value changes type or spelling."""
    DEFAULTED = "defaulted"
    """Not carried; the target's default has the same effect, or the field has none."""
    IMPUTED = "imputed"
    """Names something whose content is looked up and written into the target."""
    NEEDS_DECISION = "needsDecision"
    """Has more than one possible target, or none that is exact; a person decides."""
    REFUSED = "refused"
    """Has no counterpart."""


@dataclass(frozen=True, slots=True)
class FieldFate:
    """The fate of one field.

    Attributes:
        path: the field: ``[]`` stands for any list item, ``*`` for any map key, a final ``**`` for everything below.
        fate: what becomes of it.
        target: kind and field that it is carried to, for example ``AIMProfile.spec.containerEnv``; empty where it is
            not.
        reason: one sentence.
        refusal: reason code that planning gives where the field is set; empty where a migration in place carries it, or
            where a check of its own looks at the value.
        served: whether a served schema has the field; false for shapes that only the guide's examples show (G).
    """

    path: str
    fate: Fate
    target: str
    reason: str
    refusal: str = ""
    served: bool = True


@dataclass(slots=True)
class _Node:
    fate: FieldFate | None = None
    children: "dict[str, _Node]" = field(default_factory=dict)


class FateTable:
    """The fates of one kind, with the look-up of a concrete path."""

    def __init__(self, kind: str, fates: Iterable[FieldFate]) -> None:
        """Index the fates of ``kind`` by path."""
        self.kind = kind
        self.fates = tuple(fates)
        self._root = _Node()
        for fate in self.fates:
            node = self._root
            for part in fate.path.replace("[]", ".[]").split("."):
                node = node.children.setdefault(part, _Node())
            node.fate = fate
        self._search = lru_cache(maxsize=4096)(self._look_up)  # a fleet's objects have few paths

    def find(self, path: Iterable[Key], value: Json = None) -> FieldFate | None:
        """Return the fate of the field at a concrete path, or None where the table does not know it.

        An empty object or list where the table knows fields further down counts as known: it holds nothing.
        """
        return self._search(tuple(path), empty=value in ({}, []))

    def _look_up(self, path: tuple[Key, ...], *, empty: bool) -> FieldFate | None:
        node, everything = self._root, None
        for key in path:
            part = "[]" if isinstance(key, int) else key
            everything = node.children.get("**", everything)
            below = node.children.get(part) or node.children.get("*")
            if below is None:
                return everything.fate if everything else None
            node = below
        everything = node.children.get("**", everything)
        if node.fate is None and everything is not None:
            return everything.fate
        if node.fate is None and node.children and empty:
            return next(_fates_below(node))
        return node.fate


def _fates_below(node: _Node) -> Iterator[FieldFate]:
    if node.fate is not None:
        yield node.fate
    for child in node.children.values():
        yield from _fates_below(child)
