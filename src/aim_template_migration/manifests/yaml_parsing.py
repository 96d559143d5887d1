"""YAML text to nodes, by the events of libyaml."""

from collections.abc import Callable, Iterator, Sequence
from typing import cast

import yaml
from yaml import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from aim_template_migration.manifests.nodes import (
    AliasNode,
    Entry,
    ListNode,
    MapNode,
    Node,
    ReadError,
    ScalarNode,
    name_of_key,
)
from aim_template_migration.manifests.scalars import ScalarError, resolve

_DEEPEST = 100
_MERGE = "<<"
_BLOCK_STYLES = ("|", ">")


def parse_yaml(text: str, base: int = 0) -> Iterator[Node]:
    """Yield the root of every document in ``text``; empty documents are left out.

    Args:
        text: the YAML text.
        base: offset of ``text`` in the file, which all offsets of nodes include.

    Raises:
        ReadError: libyaml refuses it, or it is deeper than any manifest.
    """
    try:
        parser = yaml.CSafeLoader(text)
        builder = _Builder(text, base, cast("Callable[[], yaml.Event]", parser.get_event))
        for event in iter(parser.get_event, None):
            if isinstance(event, DocumentStartEvent):
                root = builder.document()
                if not _is_nothing(root):
                    yield root
    except yaml.MarkedYAMLError as error:
        raise ReadError(_problem(error), base + (error.problem_mark.index if error.problem_mark else 0)) from None
    except yaml.YAMLError as error:
        position = getattr(error, "position", 0)
        reason = getattr(error, "reason", "it is no YAML")
        raise ReadError(str(reason), base + (position if isinstance(position, int) else 0)) from None


def _problem(error: yaml.MarkedYAMLError) -> str:
    parts = [part for part in (error.problem, error.context) if part]
    return ", ".join(parts) or "it is no YAML"


def _is_nothing(root: Node) -> bool:
    return isinstance(root, ScalarNode) and root.value is None and root.start == root.end


class _Builder:
    """Builds nodes from events; libyaml gives every event both marks, which the types do not know."""

    def __init__(self, text: str, base: int, take: Callable[[], yaml.Event]) -> None:
        self._text = text
        self._base = base
        self._take = take
        self._open: list[MapNode | ListNode] = []
        self._anchors: dict[str, Node] = {}

    def document(self) -> Node:
        """Take the events of a document behind its start; return its root."""
        self._anchors = {}
        return self._node(self._take())

    def _node(self, event: yaml.Event) -> Node:
        if isinstance(event, ScalarEvent):
            return self._scalar(event)
        if isinstance(event, MappingStartEvent):
            return self._map(event)
        if isinstance(event, SequenceStartEvent):
            return self._list(event)
        assert isinstance(event, AliasEvent)
        return self._alias(event)

    def _scalar(self, event: ScalarEvent) -> ScalarNode:
        start: int = event.start_mark.index  # type: ignore[union-attr]
        end: int = event.end_mark.index  # type: ignore[union-attr]
        style = event.style or ""
        try:
            value = resolve(event.value, event.tag, plain=not style)
        except ScalarError as error:
            raise ReadError(str(error), self._base + start) from None
        if style in _BLOCK_STYLES:
            end = self._block_scalar_end(start, end)
        node = ScalarNode(self._base + start, self._base + end, value, style, event.anchor or "")
        if node.anchor:
            self._anchors[node.anchor] = node
        return node

    def _block_scalar_end(self, start: int, end: int) -> int:
        """Leave out the blank lines below a block scalar, unless ``+`` makes them part of it."""
        header = self._text[start : self._text.find("\n", start)].partition("#")[0]
        return end if "+" in header else start + len(self._text[start:end].rstrip())

    def _alias(self, event: AliasEvent) -> AliasNode:
        start, end = self._place(event)
        name = event.anchor or ""
        target = self._anchors.get(name)
        if target is None:
            # Its name is not quoted: an unquoted password that begins with * looks like one.
            raise ReadError("an alias here stands for nothing", start)
        if any(target is node for node in self._open):
            raise ReadError(f"the anchor &{name} contains itself", start)
        return AliasNode(start, end, name, target)

    def _map(self, event: MappingStartEvent) -> MapNode:
        node = MapNode(*self._place(event), bool(event.flow_style), anchor=event.anchor or "")
        self._begin(node)
        entries, take = node.entries, self._take
        while not isinstance(part := take(), MappingEndEvent):
            key = self._key(self._node(part))
            value = self._node(take())
            merges = key.value == _MERGE and not key.style
            entries.append(Entry(key, _MERGE if merges else name_of_key(key), value, merges))
        self._finish(node, part, entries)
        return node

    def _list(self, event: SequenceStartEvent) -> ListNode:
        node = ListNode(*self._place(event), bool(event.flow_style), anchor=event.anchor or "")
        self._begin(node)
        items, take = node.items, self._take
        while not isinstance(part := take(), SequenceEndEvent):
            items.append(self._node(part))
        self._finish(node, part, items)
        return node

    def _begin(self, node: MapNode | ListNode) -> None:
        if len(self._open) >= _DEEPEST:
            raise ReadError(f"it is nested deeper than {_DEEPEST} levels", node.start)
        if node.anchor:
            self._anchors[node.anchor] = node
        self._open.append(node)

    def _finish(self, node: MapNode | ListNode, event: yaml.Event, parts: Sequence[Entry | Node]) -> None:
        self._open.pop()
        if node.flow:
            node.end = self._place(event)[1]
        elif parts:
            # libyaml ends a block where the next token begins, behind comments that belong to what follows.
            node.end = max(node.end, parts[-1].end)

    def _place(self, event: yaml.Event) -> tuple[int, int]:
        base = self._base
        return base + event.start_mark.index, base + event.end_mark.index  # type: ignore[union-attr]

    def _key(self, node: Node) -> ScalarNode:
        if isinstance(node, AliasNode) and isinstance(node.target, ScalarNode):
            return ScalarNode(node.start, node.end, node.target.value, "*")
        if isinstance(node, ScalarNode):
            return node
        raise ReadError("a key must be text, a number or a boolean", node.start)
