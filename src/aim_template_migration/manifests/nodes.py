"""The nodes of a manifest: values together with where they stand in the text."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from aim_api.tree import Json, JsonObject, Key
from aim_template_migration.manifests.scalars import ScalarError, key_text

_MOST_ALIASED = 100_000
"""Nodes that aliases may stand for in one document; more is a bomb, which kubectl refuses as well."""


class ReadError(Exception):
    """A document can't be read; the message says why.

    Attributes:
        offset: where, as an offset into the text.
    """

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.offset = offset


class ScalarNode(Struct):
    """A scalar.

    Attributes:
        start: offset of its first character, of its tag or anchor where it has one.
        end: offset behind its last character.
        value: what kubectl reads.
        style: the quote, ``|`` or ``>``, or empty.
        anchor: name of its anchor, or empty.
    """

    start: int
    end: int
    value: Json
    style: str = ""
    anchor: str = ""


class AliasNode(Struct):
    """A reference to a node that stands earlier in the document."""

    start: int
    end: int
    name: str
    target: "Node"
    anchor: str = ""


class Entry(Struct):
    """One entry of a mapping.

    Attributes:
        key: node of the key.
        name: the key as kubectl reads it.
        value: node of the value.
        merges: the key is ``<<``, so that the value's entries count as entries of this mapping.
    """

    key: ScalarNode
    name: str
    value: "Node"
    merges: bool = False

    @property
    def start(self) -> int:
        """Offset of the key."""
        return self.key.start

    @property
    def end(self) -> int:
        """Offset behind the value, or behind the key where there is no value."""
        return max(self.key.end, self.value.end)


class MapNode(Struct):
    """A mapping in block style or, as ``flow``, in braces.

    Attributes:
        effective: the entries that decide the value by name, merged ones too, once somebody has asked for one.
    """

    start: int
    end: int
    flow: bool
    entries: list[Entry] = field(default_factory=list)
    anchor: str = ""
    effective: dict[str, Entry] | None = None

    def entry(self, name: str) -> Entry | None:
        """Return the entry itself that has this name, the last one where there are several."""
        return next((entry for entry in reversed(self.entries) if entry.name == name and not entry.merges), None)


class ListNode(Struct):
    """A sequence in block style or, as ``flow``, in brackets."""

    start: int
    end: int
    flow: bool
    items: "list[Node]" = field(default_factory=list)
    anchor: str = ""


Node = ScalarNode | AliasNode | MapNode | ListNode


def resolved(node: Node) -> ScalarNode | MapNode | ListNode:
    """Return the node itself, or what an alias stands for."""
    while isinstance(node, AliasNode):
        node = node.target
    return node


class Reading:
    """Turns the nodes of one document into a value.

    Attributes:
        duplicates: the entries whose key stood before in the same mapping; kubectl takes the last.
    """

    def __init__(self) -> None:
        self.duplicates: list[Entry] = []
        self._aliased = 0
        self._inside_alias = 0

    def value(self, node: Node) -> Json:
        """Return the value of a node.

        Raises:
            ReadError: kubectl refuses it.
        """
        if isinstance(node, AliasNode):
            self._inside_alias += 1
            value = self.value(node.target)
            self._inside_alias -= 1
            return value
        if self._inside_alias:
            self._aliased += 1
            if self._aliased > _MOST_ALIASED:
                raise ReadError(f"aliases stand for more than {_MOST_ALIASED} values", node.start)
        if isinstance(node, ScalarNode):
            return node.value
        if isinstance(node, ListNode):
            return [self.value(item) for item in node.items]
        return self._object(node)

    def _object(self, node: MapNode) -> JsonObject:
        found: JsonObject = {}
        own: set[str] = set()
        for entry in node.entries:
            if entry.merges:
                found.update(self._merged(entry))
                continue
            if entry.name in own and not self._inside_alias:
                self.duplicates.append(entry)
            own.add(entry.name)
            found[entry.name] = self.value(entry.value)
        return found

    def _merged(self, entry: Entry) -> JsonObject:
        """Return what ``<<`` brings; of several mappings the first wins."""
        target = resolved(entry.value)
        parts = [resolved(item) for item in target.items] if isinstance(target, ListNode) else [target]
        merged: JsonObject = {}
        for part in reversed(parts):
            if not isinstance(part, MapNode):
                raise ReadError("<< merges mappings only", entry.start)
            self._inside_alias += 1
            value = self.value(part)
            self._inside_alias -= 1
            if isinstance(value, dict):
                merged.update(value)
        return merged


def name_of_key(key: ScalarNode) -> str:
    """Return the key as kubectl reads it.

    Raises:
        ReadError: kubectl refuses it.
    """
    try:
        return key_text(key.value)
    except ScalarError as error:
        raise ReadError(str(error), key.start) from None


class Found(NamedTuple):
    """Where a path leads.

    Attributes:
        node: the node, or the deepest one on the way that exists.
        entry: the entry that the node is the value of, None for an item or the root.
        parent: the collection that the node stands in, None for the root.
        complete: the whole path exists.
    """

    node: Node
    entry: Entry | None
    parent: MapNode | ListNode | None
    complete: bool


def find(root: Node, path: Sequence[Key]) -> Found:
    """Follow ``path`` from ``root`` as far as it goes."""
    found = Found(root, None, None, complete=True)
    for key in path:
        here = resolved(found.node)
        if isinstance(here, MapNode) and isinstance(key, str):
            below = effective_entry(here, key)
            if below is None:
                return found._replace(complete=False)
            found = Found(below.value, below, here, complete=True)
        elif isinstance(here, ListNode) and isinstance(key, int) and key < len(here.items):
            found = Found(here.items[key], None, here, complete=True)
        else:
            return found._replace(complete=False)
    return found


def effective_entry(mapping: MapNode, name: str) -> Entry | None:
    """Return the entry that decides the value of ``name``, be it the mapping's own or a merged one."""
    return _effective(mapping).get(name)


def _effective(target: ScalarNode | MapNode | ListNode) -> dict[str, Entry]:
    """Return the entries of a mapping, or of the mappings in a list that is merged, of which the first wins."""
    found: dict[str, Entry] = {}
    if isinstance(target, ListNode):
        for item in reversed(target.items):
            found.update(_effective(resolved(item)))
    if not isinstance(target, MapNode):
        return found
    if target.effective is None:
        for entry in target.entries:
            found.update(_effective(resolved(entry.value)) if entry.merges else {entry.name: entry})
        target.effective = found
    return target.effective


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and all below it as they stand in the text: keys too, but not what aliases stand for."""
    ahead: list[Node] = [node]
    while ahead:
        node = ahead.pop()
        yield node
        if isinstance(node, MapNode):
            for entry in reversed(node.entries):
                ahead += (entry.value, entry.key)
        elif isinstance(node, ListNode):
            ahead += reversed(node.items)


def scalars_of(node: Node) -> list[ScalarNode | AliasNode]:
    """Return the scalars and aliases at and below a node as they stand in the text, keys included."""
    found: list[ScalarNode | AliasNode] = []
    _collect_scalars(node, found)
    return found


def _collect_scalars(node: Node, found: list[ScalarNode | AliasNode]) -> None:
    if isinstance(node, MapNode):
        for entry in node.entries:
            found.append(entry.key)
            _collect_scalars(entry.value, found)
    elif isinstance(node, ListNode):
        for item in node.items:
            _collect_scalars(item, found)
    else:
        found.append(node)
