"""Anchors and aliases spelt out, for documents in which an edit would change what an alias stands for."""

import re
from collections.abc import Iterator

from aim_api.tree import Json, JsonObject
from aim_template_migration.manifests.editing import CannotEditError
from aim_template_migration.manifests.layout import Layout, indented
from aim_template_migration.manifests.nodes import (
    AliasNode,
    Entry,
    ListNode,
    MapNode,
    Node,
    Reading,
    effective_entry,
    resolved,
    walk,
)
from aim_template_migration.manifests.reading import Document
from aim_template_migration.manifests.splicing import Edit, begins_line, column, line_end, spliced

_ANCHOR = re.compile(r"&\S+")


def expanded(text: str, document: Document, layout: Layout) -> str:
    """Return the text of a document's part without anchors, aliases and merges.

    Raises:
        CannotEditError: a merge overrides an entry that stands above it.
    """
    edits = [edit for node in walk(document.root) for edit in _edits(text, node, layout)]
    return spliced(text, edits, document.start, document.end)


def _edits(text: str, node: Node, layout: Layout) -> Iterator[Edit]:
    if node.anchor:
        yield _without_anchor(text, node)
    if isinstance(node, ListNode):
        for item in node.items:
            if isinstance(item, AliasNode):
                yield Edit(item.start, item.end, layout.flow(Reading().value(item)))
    elif isinstance(node, MapNode):
        for entry in node.entries:
            if entry.merges:
                yield _merged(text, node, entry, layout)
            elif isinstance(entry.value, AliasNode):
                yield _entry(text, node, entry, {entry.name: Reading().value(entry.value)}, layout)


def _without_anchor(text: str, node: Node) -> Edit:
    found = _ANCHOR.search(text, node.start)
    if found is None:
        raise CannotEditError
    end = found.end()
    while text[end : end + 1] in (" ", "\t") and text[end : end + 1]:
        end += 1
    start = found.start() - 1 if end == line_end(text, end) and text[found.start() - 1] == " " else found.start()
    return Edit(start, end, "")


def _merged(text: str, node: MapNode, entry: Entry, layout: Layout) -> Edit:
    merged = Reading().value(MapNode(entry.start, entry.end, flow=True, entries=[entry]))
    kept: JsonObject = {}
    for name, value in merged.items() if isinstance(merged, dict) else ():
        own = node.entry(name)
        if own is None:
            kept[name] = value
        elif effective_entry(node, name) is not own:
            raise CannotEditError
    return _entry(text, node, entry, kept, layout)


def _entry(text: str, node: MapNode, entry: Entry, values: JsonObject, layout: Layout) -> Edit:
    """Write other entries in place of one."""
    if not values or isinstance(resolved(entry.value), (MapNode, ListNode)) is False:
        value: Json = next(iter(values.values()), None)
        if len(values) == 1 and not entry.merges:
            return Edit(entry.value.start, entry.value.end, layout.flow(value))
        raise CannotEditError
    if node.flow:
        parts = ", ".join(f"{layout.flow(name)}: {layout.flow(value)}" for name, value in values.items())
        return Edit(entry.start, entry.end, parts)
    indent = column(text, entry.start) if begins_line(text, entry.start) else column(text, node.start)
    lines = [line for name, value in values.items() for line in layout.lines(name, value)]
    return Edit(entry.start, entry.end, layout.newline.join(indented(lines, indent))[indent:])
