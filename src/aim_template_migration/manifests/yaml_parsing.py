"""YAML text to nodes, by the events of libyaml."""

from collections.abc import Iterator

import yaml

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
    builder = _Builder(text, base)
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            root = builder.take(event)
            if root is not None and not _is_nothing(root):
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


def _span(event: yaml.Event) -> tuple[int, int]:
    """Return the offsets of an event; libyaml gives every event both marks, which the types do not know."""
    start, end = event.start_mark, event.end_mark
    return (start.index if start else 0), (end.index if end else 0)


def _is_nothing(root: Node) -> bool:
    return isinstance(root, ScalarNode) and root.value is None and root.start == root.end


class _Builder:
    """Builds nodes from events; collections that are still open are on a stack."""

    def __init__(self, text: str, base: int) -> None:
        self._text = text
        self._base = base
        self._open: list[MapNode | ListNode] = []
        self._keys: list[ScalarNode | None] = []
        self._anchors: dict[str, Node] = {}

    def take(self, event: yaml.Event) -> Node | None:
        """Take one event; return the root when it is complete."""
        if isinstance(event, yaml.ScalarEvent):
            return self._add(self._scalar(event))
        if isinstance(event, yaml.AliasEvent):
            return self._add(self._alias(event))
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            self._begin(event)
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            return self._finish(event)
        elif isinstance(event, yaml.DocumentStartEvent):
            self._anchors = {}
        return None

    def _place(self, event: yaml.Event) -> tuple[int, int]:
        start, end = _span(event)
        return self._base + start, self._base + end

    def _scalar(self, event: yaml.ScalarEvent) -> ScalarNode:
        start, end = _span(event)
        style = event.style or ""
        try:
            value = resolve(event.value, event.tag, plain=not style)
        except ScalarError as error:
            raise ReadError(str(error), self._base + start) from None
        if style in _BLOCK_STYLES:
            end = self._block_scalar_end(start, end)
        node = ScalarNode(self._base + start, self._base + end, value, style, event.anchor or "")
        self._name(node)
        return node

    def _block_scalar_end(self, start: int, end: int) -> int:
        """Leave out the blank lines below a block scalar, unless ``+`` makes them part of it."""
        header = self._text[start : self._text.find("\n", start)].partition("#")[0]
        return end if "+" in header else start + len(self._text[start:end].rstrip())

    def _alias(self, event: yaml.AliasEvent) -> AliasNode:
        start, end = self._place(event)
        name = event.anchor or ""
        target = self._anchors.get(name)
        if target is None:
            # Its name is not quoted: an unquoted password that begins with * looks like one.
            raise ReadError("an alias here stands for nothing", start)
        if any(target is node for node in self._open):
            raise ReadError(f"the anchor &{name} contains itself", start)
        return AliasNode(start, end, name, target)

    def _begin(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent) -> None:
        start, end = self._place(event)
        if len(self._open) >= _DEEPEST:
            raise ReadError(f"it is nested deeper than {_DEEPEST} levels", start)
        flow, anchor = bool(event.flow_style), event.anchor or ""
        node: MapNode | ListNode = (
            MapNode(start, end, flow, anchor=anchor)
            if isinstance(event, yaml.MappingStartEvent)
            else ListNode(start, end, flow, anchor=anchor)
        )
        self._name(node)
        self._open.append(node)
        self._keys.append(None)

    def _finish(self, event: yaml.Event) -> Node | None:
        node = self._open.pop()
        self._keys.pop()
        if node.flow:
            node.end = self._place(event)[1]
        else:
            # libyaml ends a block where the next token begins, behind comments that belong to what follows.
            last = node.entries[-1:] if isinstance(node, MapNode) else node.items[-1:]
            node.end = max(node.end, *(part.end for part in last)) if last else node.end
        return self._add(node)

    def _add(self, node: Node) -> Node | None:
        if not self._open:
            return node
        parent = self._open[-1]
        if isinstance(parent, ListNode):
            parent.items.append(node)
            return None
        key = self._keys[-1]
        if key is None:
            self._keys[-1] = self._key(node)
            return None
        merges = key.value == _MERGE and not key.style
        parent.entries.append(Entry(key, _MERGE if merges else name_of_key(key), node, merges))
        self._keys[-1] = None
        return None

    def _key(self, node: Node) -> ScalarNode:
        if isinstance(node, AliasNode) and isinstance(node.target, ScalarNode):
            return ScalarNode(node.start, node.end, node.target.value, "*")
        if isinstance(node, ScalarNode):
            return node
        raise ReadError("a key must be text, a number or a boolean", node.start)

    def _name(self, node: ScalarNode | MapNode | ListNode) -> None:
        if node.anchor:
            self._anchors[node.anchor] = node
