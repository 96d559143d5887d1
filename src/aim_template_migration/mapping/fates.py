"""The fate of a v1alpha1 field, as data (pure).

One table per kind says what becomes of every field of the served schemas, and of the fields that only the guide's
examples show. Planning, conversion, the loss ledger and the reference page all read the same tables.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from aim_api.tree import Json, JsonObject, Key, leaves


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


def field_of(path: str) -> str:
    """Return the field of a row's path, without what stands for all items of it and everything below."""
    return path.removesuffix(".**").removesuffix("[]")


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why a table does not know a leaf.

    Attributes:
        path: the field that is unknown or has another type: the leaf itself, or something that it is below of.
        expected: what the field is in v1alpha1, such as ``a list``; empty where it has no such field.
    """

    path: tuple[Key, ...]
    expected: str = ""


@dataclass(slots=True)
class _Node:
    fate: FieldFate | None = None
    carried: bool = False
    children: "dict[str, _Node]" = field(default_factory=dict)

    def below(self, key: Key) -> "_Node | None":
        """Return what is known below at a key of a path."""
        return self.children.get("[]" if isinstance(key, int) else key) or self.children.get("*")

    def everything(self, above: FieldFate | None) -> FieldFate | None:
        """Return the fate of everything below that has none of its own; ``above`` is what it is in what this is in."""
        below = self.children.get("**")
        return below.fate if below else above

    @property
    def expected(self) -> str:
        """What stands here: a list where there are items, an object where there are fields, else a single value."""
        if "[]" in self.children:
            return _LIST
        return _OBJECT if self.children else _SINGLE


_LIST, _OBJECT, _SINGLE = "a list", "an object", "a single value"
_NOTHING = "null"
_SOMETHING = "any value"


class FateTable:
    """The fates of one kind, with the look-up of a concrete path."""

    def __init__(self, kind: str, fates: Iterable[FieldFate]) -> None:
        """Index the fates of ``kind`` by path."""
        self.kind = kind
        self.fates = tuple(fates)
        self._root = _Node()
        for fate in self.fates:
            node = self._root
            for part in _parts(fate):
                node = node.children.setdefault(part, _Node())
            node.fate, node.carried = fate, not fate.refusal
        self._search = lru_cache(maxsize=4096)(self._look_up)  # a fleet's objects have few paths

    def find(self, path: Iterable[Key], value: Json = _SOMETHING) -> FieldFate | None:
        """Return the fate of the field at a concrete path, or None where the table does not know it.

        An empty object or list where the table knows fields or items further down counts as known: it holds nothing.
        So does null, which servers leave out whatever the type of the field. What is empty and of another type is not
        known: it is no value of the field.

        Args:
            path: the field.
            value: its value; what is left out stands for one that is not empty.
        """
        return self._search(tuple(path), empty=_emptiness(value))

    def exceptions(self, value: JsonObject) -> "list[Exceptional]":
        """Return the leaves of an object that are not simply carried, in document order.

        Those are the leaves for which ``find`` gives no fate or one with a refusal. The object and the table are gone
        through together, so that what is carried as a whole is not looked into.
        """
        found: list[Exceptional] = []
        _add_exceptions(found, self._root, None, (), value)
        return found

    def misfit(self, path: tuple[Key, ...]) -> Misfit:
        """Return which part of a leaf's path is why the table does not know it."""
        node = self._root
        for index, key in enumerate(path):
            below = node.below(key)
            if below is None:
                known = node.expected in (_OBJECT, _LIST) and (node.expected == _LIST) == isinstance(key, int)
                return Misfit(path[: index + 1]) if known or not index else Misfit(path[:index], node.expected)
            node = below
        return Misfit(path, node.expected)

    def _look_up(self, path: tuple[Key, ...], *, empty: str) -> FieldFate | None:
        node = self._root
        everything: FieldFate | None = None
        for key in path:
            everything = node.everything(everything)
            below = node.below(key)
            if below is None:
                return everything
            node = below
        return _fate_at(node, everything, empty)


Exceptional = tuple[tuple[Key, ...], Json, FieldFate | None]
"""A leaf that is not simply carried: its path, its value, and its fate."""


def _add_exceptions(
    found: list[Exceptional], node: _Node, everything: FieldFate | None, path: tuple[Key, ...], value: Json
) -> None:
    items: Iterable[tuple[Key, Json]]
    if value and isinstance(value, dict):
        items = value.items()
    elif value and isinstance(value, list):
        items = enumerate(value)
    else:
        _add_leaves(found, _fate_at(node, everything, _emptiness(value)), path, value)
        return
    everything = node.everything(everything)
    for key, item in items:
        below = node.below(key)
        if below is None:
            _add_leaves(found, everything, (*path, key), item)
        elif not (below.carried and item) or isinstance(item, dict | list):
            _add_exceptions(found, below, everything, (*path, key), item)


def _add_leaves(found: list[Exceptional], fate: FieldFate | None, path: tuple[Key, ...], value: Json) -> None:
    """Add all leaves of a value that have one fate, where it is an exceptional one."""
    if fate is None or fate.refusal:
        found += ((leaf, item, fate) for leaf, item in leaves(value, path))


def _fate_at(node: _Node, everything: FieldFate | None, empty: str) -> FieldFate | None:
    """Return the fate of a leaf at a node, below one whose fate is that of everything there."""
    if empty not in ("", _NOTHING, node.expected):
        return None
    if node.fate is not None:
        return node.fate
    everything = node.everything(everything)
    if everything is None and node.children and empty:
        return next(_fates_below(node))
    return everything


def _emptiness(value: Json) -> str:
    """Return what a value that states nothing is an empty one of, or an empty text."""
    if value is None:
        return _NOTHING
    return _OBJECT if value == {} else _LIST if value == [] else _SINGLE if value == "" else ""


def rows_at(table: FateTable, path: Iterable[Key]) -> list[FieldFate]:
    """Return the row of a field or, of an object or a list, the rows of all that it can hold."""
    keys = tuple(path)
    own = table.find(keys)
    names = ["[]" if isinstance(key, int) else key for key in keys]
    return [own] if own else [row for row in table.fates if _parts(row)[: len(names)] == names]


def is_moved(table: FateTable, path: Iterable[Key]) -> bool:
    """Return whether a field, or something that it can hold, does not stay at its place with its meaning."""
    rows = rows_at(table, path)
    return any(row.fate is not Fate.MAPPED and field_of(row.path) != row.target.partition(".")[2] for row in rows)


def _parts(row: FieldFate) -> list[str]:
    return row.path.replace("[]", ".[]").split(".")


def _fates_below(node: _Node) -> Iterator[FieldFate]:
    if node.fate is not None:
        yield node.fate
    for child in node.children.values():
        yield from _fates_below(child)
