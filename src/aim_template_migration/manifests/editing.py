"""Edits that turn a node into another value and leave alone all that does not change."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from aim_api.tree import Json, JsonObject, get
from aim_template_migration.manifests.flow_editing import Part, PartChange, part_edits
from aim_template_migration.manifests.layout import Layout, indented, same
from aim_template_migration.manifests.nodes import (
    AliasNode,
    Entry,
    Found,
    ListNode,
    MapNode,
    Node,
    Reading,
    ScalarNode,
    walk,
)
from aim_template_migration.manifests.origins import Path, Provenance
from aim_template_migration.manifests.reading import Document
from aim_template_migration.manifests.removing import Removal, Reused
from aim_template_migration.manifests.splicing import (
    Edit,
    begins_line,
    break_before,
    column,
    leading_comments,
    line_end,
    line_start,
    spliced,
)


class CannotEditError(Exception):
    """The text is such that only writing the document anew gives the wanted value."""


class _Child(NamedTuple):
    """One entry of the new mapping, and the entry that it is made from where that stands in the same mapping."""

    key: str
    value: Json
    origin: Path | None
    entry: Entry | None


class Editor:
    """Collects the edits of one document.

    Attributes:
        reused: spans of the text that stand elsewhere as well, with their comments.
    """

    def __init__(
        self,
        text: str,
        document: Document,
        layout: Layout,
        origins: Provenance,
        reused: Sequence[tuple[int, int]] = (),
    ) -> None:
        self._text = text
        self._document = document
        self._layout = layout
        self._origins = origins
        self._edits: list[Edit] = []
        self._removals: list[Removal] = []
        self._replaced: set[int] = set()
        self.reused: list[tuple[int, int]] = [*reused]

    def rewrite(
        self, node: Node, origin: Path | None, value: Json, path: Path, entry: Entry | None = None, *, stated: Json
    ) -> None:
        """Add the edits that turn ``node`` into ``value``.

        Args:
            node: the node.
            origin: its path in the document.
            value: what it becomes.
            path: the path of that in the new value.
            entry: the entry that the node is the value of.
            stated: what the node says.

        Raises:
            CannotEditError: there are no such edits.
        """
        if same(stated, value):
            return
        if isinstance(node, AliasNode):
            raise CannotEditError
        if isinstance(node, MapNode) and isinstance(value, dict) and value:
            self._rewrite_map(node, origin, value, path, stated=stated)
        elif isinstance(node, ListNode) and isinstance(value, list) and value:
            self._rewrite_list(node, origin, value, path, entry, stated=stated)
        else:
            self._replace(node, value, path, entry)

    def edits(self) -> list[Edit]:
        """Return the edits."""
        newline, reused = self._layout.newline, Reused(self._text, self.reused)
        return [*self._edits, *(removal.edit(self._text, newline, reused) for removal in self._removals)]

    def lines(self, key: str, value: Json, path: Path) -> list[str]:
        """Return ``key: value`` in block style without indentation, made from the document's own text where possible.

        Raises:
            CannotEditError: the text of the origin can't be reused.
        """
        origin = self._origins.stated(path)
        return self._lines(_Child(key, value, origin, None), path)

    def _rewrite_map(self, node: MapNode, origin: Path | None, value: JsonObject, path: Path, *, stated: Json) -> None:
        children = self._children(node, origin, value, path)
        if any(entry.merges for entry in node.entries) or node.anchor:
            raise CannotEditError
        # What is inserted at the end of an entry has to come before what is inserted below it.
        for child in children:
            if child.entry is not None:
                self._rewrite_entry(child.entry, child, (*path, child.key), stated=get(stated, child.entry.name))
        if node.flow or self._layout.json:
            self._rewrite_flow_map(node, children)
        else:
            self._rewrite_block_map(node, children, path)

    def _rewrite_entry(self, entry: Entry, child: _Child, path: Path, *, stated: Json) -> None:
        self.rewrite(entry.value, child.origin, child.value, path, entry, stated=stated)
        if entry.name != child.key and id(entry) not in self._replaced:
            key = entry.key
            self._edits.append(Edit(key.start, key.end, self._layout.key(child.key, key.style)))

    def _children(self, node: MapNode, origin: Path | None, value: JsonObject, path: Path) -> list[_Child]:
        children: list[_Child] = []
        claimed: set[int] = set()
        entries = {entry.name: entry for entry in node.entries if not entry.merges}
        for key, item in value.items():
            place = self._origins.of((*path, key), origin)
            inside = place is not None and origin is not None and place[:-1] == origin and isinstance(place[-1], str)
            entry = entries.get(str(place[-1])) if place is not None and inside else None
            if entry is not None and id(entry) in claimed:
                entry = None
            if entry is not None:
                claimed.add(id(entry))
            children.append(_Child(key, item, place, entry))
        return children

    def _rewrite_block_map(self, node: MapNode, children: list[_Child], path: Path) -> None:
        indent = column(self._text, node.entries[0].start) if node.entries else 0
        kept = [child.entry for child in children if child.entry is not None]
        if not kept:
            self._exchange_entries(
                node, [line for child in children for line in self._lines(child, (*path, child.key))]
            )
            return
        anchor: Entry | None = None
        first: list[str] = []
        for child in children:
            if child.entry is not None:
                anchor = child.entry
                continue
            lines = list(indented(self._lines(child, (*path, child.key)), indent))
            if anchor is None:
                first += lines
            else:
                self._insert_below(anchor, lines)
        if first:
            start = min(entry.start for entry in kept)
            text = self._layout.newline.join([*first, " " * indent])
            self._edits.append(Edit(start, start, text[indent:]))
        self._remove_entries(node, kept)

    def _remove_entries(self, node: MapNode, kept: Iterable[Entry]) -> None:
        stays = {id(entry) for entry in kept}
        index = 0
        while index < len(node.entries):
            entry = node.entries[index]
            index += 1
            if id(entry) in stays:
                continue
            if begins_line(self._text, entry.start):
                self._remove_lines(entry)
                continue
            # The first entry of a list item stands behind the dash, and what follows takes its place.
            while index < len(node.entries) and id(node.entries[index]) not in stays:
                index += 1
            if index == len(node.entries):
                raise CannotEditError
            self._edits.append(Edit(entry.start, node.entries[index].start, ""))

    def _remove_lines(self, entry: Entry) -> None:
        """Remove the lines of an entry; the comments of what is not moved elsewhere stay, each on a line of its own."""
        leading = leading_comments(self._text, entry.start, self._document.start)
        before, indent = break_before(self._text, entry.start), column(self._text, entry.start)
        self._removals.append(Removal(before, self._end_of(entry), _entry_node(entry), indent, leading=leading))

    def _exchange_entries(self, node: MapNode, lines: list[str]) -> None:
        """Put other entries into the place of all entries of a block mapping."""
        if not node.entries:
            raise CannotEditError
        start, end = node.entries[0].start, self._end_of(node.entries[-1])
        indent = column(self._text, start)
        self._removals.append(Removal(start, end, node, indent, tuple(lines), whole_lines=False))

    def _insert_below(self, entry: Entry, lines: list[str]) -> None:
        newline = self._layout.newline
        if entry.end and self._text[entry.end - 1] == "\n":
            self._edits.append(Edit(entry.end, entry.end, "".join(f"{line}{newline}" for line in lines)))
            return
        end = self._end_of(entry)
        self._edits.append(Edit(end, end, "".join(f"{newline}{line}" for line in lines)))

    def _end_of(self, entry: Entry | Node) -> int:
        """Return where the last line of an entry ends, its comment included, its line break not."""
        end = entry.end
        if end and self._text[end - 1] == "\n" and end > entry.start:
            return break_before(self._text, end)
        return line_end(self._text, end)

    def _lines(self, child: _Child, path: Path) -> list[str]:
        if child.origin is not None:
            found = self._document.find(child.origin)
            if found.complete and _reusable(found):
                return self._reused(found, child, path)
        value = child.value
        if isinstance(value, dict) and value and self._origins.has_below(path):
            below = [self._lines(_Child(key, item, self._origins.stated((*path, key)), None), (*path, key))
                     for key, item in value.items()]  # fmt: skip
            return [
                f"{self._layout.key(child.key)}:",
                *(f"  {line}" if line else line for lines in below for line in lines),
            ]
        return self._layout.lines(child.key, value)

    def _reused(self, found: Found, child: _Child, path: Path) -> list[str]:
        """Return the lines of an entry that stands elsewhere, with its comments, under the new key."""
        entry = found.entry
        if entry is None:
            return self._layout.lines(child.key, child.value)
        below = Editor(self._text, self._document, self._layout, self._origins)
        below._rewrite_entry(entry, child, path, stated=Reading().value(entry.value))
        start = entry.start
        if begins_line(self._text, start):
            start = leading_comments(self._text, start, self._document.start)
        end = self._end_of(entry)
        self.reused.append((start, end))
        text = spliced(self._text, below.edits(), start, end)
        indent = column(self._text, entry.start)
        first, *rest = text.replace("\r\n", "\n").split("\n")
        return [first.lstrip(" "), *(line[min(indent, len(line) - len(line.lstrip(" "))) :] for line in rest)]

    def _rewrite_list(
        self,
        node: ListNode,
        origin: Path | None,
        value: list[Json],
        path: Path,
        entry: Entry | None,
        *,
        stated: Json,
    ) -> None:
        places = [self._item_index((*path, index), origin, node) for index in range(len(value))]
        known = [place for place in places if place is not None]
        if known != sorted(set(known)) or not known or node.anchor:
            self._replace(node, value, path, entry)
            return
        changes = [
            PartChange(place, "" if place is not None else self._item_text(node, item))
            for place, item in zip(places, value, strict=True)
        ]
        for place, index in zip(places, range(len(value)), strict=True):
            if place is not None:
                below = None if origin is None else (*origin, place)
                self.rewrite(node.items[place], below, value[index], (*path, index), stated=get(stated, place))
        if node.flow or self._layout.json:
            self._edits += part_edits(self._text, self._parts(node.items), changes, self._layout.newline)
        else:
            self._edit_block_items(node, changes)

    def _item_index(self, path: Path, origin: Path | None, node: ListNode) -> int | None:
        place = self._origins.of(path, origin)
        if place is None or origin is None or place[:-1] != origin:
            return None
        index = place[-1]
        return index if isinstance(index, int) and index < len(node.items) else None

    def _item_text(self, node: ListNode, item: Json) -> str:
        if node.flow or self._layout.json:
            return self._layout.flow(item, self._line_indent(node.items[0].start if node.items else node.start))
        first, *rest = self._layout.lines("item", [item])[1:]
        skipped = len(first) - len(first.lstrip(" "))
        indent = column(self._text, node.start)
        return self._layout.newline.join(indented([first[skipped:], *(line[skipped:] for line in rest)], indent))

    def _edit_block_items(self, node: ListNode, changes: list[PartChange]) -> None:
        kept = {change.place for change in changes if change.place is not None}
        anchor = -1
        for change in changes:
            if change.place is not None:
                anchor = change.place
                continue
            if anchor < 0:
                start = line_start(self._text, node.start)
                self._edits.append(Edit(start, start, f"{change.text}{self._layout.newline}"))
                continue
            end = self._end_of(node.items[anchor])
            self._edits.append(Edit(end, end, f"{self._layout.newline}{change.text}"))
        for index, item in enumerate(node.items):
            if index in kept:
                continue
            start = self._dash(node, index)
            if not begins_line(self._text, start):
                raise CannotEditError
            before, indent = break_before(self._text, start), column(self._text, start)
            self._removals.append(Removal(before, self._end_of(item), item, indent))

    def _dash(self, node: ListNode, index: int) -> int:
        """Return the offset of an item's dash: the last line at or above the item with a dash in the list's column."""
        indent = column(self._text, node.start)
        lowest = node.items[index - 1].end if index else node.start
        start = line_start(self._text, node.items[index].start)
        while start >= 0:
            dash = start + indent
            if dash >= lowest and self._text[dash : dash + 1] == "-" and begins_line(self._text, dash):
                return dash
            if start <= lowest:
                break
            start = line_start(self._text, start - 1)
        raise CannotEditError

    def _rewrite_flow_map(self, node: MapNode, children: list[_Child]) -> None:
        if not any(child.entry for child in children):
            value: JsonObject = {child.key: child.value for child in children}
            self._edits.append(Edit(node.start, node.end, self._layout.flow(value, self._line_indent(node.start))))
            return
        indent = self._line_indent(node.entries[0].start)
        places = {id(entry): index for index, entry in enumerate(node.entries)}
        changes = [
            PartChange(
                places[id(child.entry)] if child.entry is not None else None,
                f"{self._layout.flow(child.key)}: {self._layout.flow(child.value, indent)}",
            )
            for child in children
        ]
        self._edits += part_edits(self._text, self._parts(node.entries), changes, self._layout.newline)

    def _line_indent(self, offset: int) -> int:
        start = line_start(self._text, offset)
        line = self._text[start : line_end(self._text, offset)]
        return len(line) - len(line.lstrip(" "))

    def _parts(self, parts: Iterable[Entry | Node]) -> list[Part]:
        return [Part(part.start, part.end) for part in parts]

    def _replace(self, node: Node, value: Json, path: Path, entry: Entry | None) -> None:
        """Put a value of another shape into the place of a node."""
        collection = isinstance(value, (dict, list)) and bool(value)
        in_block = isinstance(node, (MapNode, ListNode)) and not node.flow
        if node.anchor:
            raise CannotEditError
        if in_block or (collection and entry is not None and not self._in_flow(entry)):
            self._replace_block(value, path, entry)
        elif isinstance(node, ScalarNode) and not collection:
            self._edits.append(Edit(node.start, node.end, self._scalar(node, value)))
        else:
            text = self._layout.flow(value, self._line_indent(node.start))
            self._edits.append(Edit(node.start, node.end, text))

    def _scalar(self, node: ScalarNode, value: Json) -> str:
        text = self._layout.scalar(value, node.style)
        # A value that was left empty stands directly behind its colon.
        return f" {text}" if node.start == node.end else text

    def _replace_block(self, value: Json, path: Path, entry: Entry | None) -> None:
        if entry is None or not begins_line(self._text, entry.start):
            raise CannotEditError
        indent = column(self._text, entry.start)
        lines = self._layout.lines(str(path[-1]), value)
        self._replaced.add(id(entry))
        end = self._end_of(entry)
        self._removals.append(Removal(entry.start, end, _entry_node(entry), indent, tuple(lines), whole_lines=False))

    def _in_flow(self, entry: Entry) -> bool:
        return self._layout.json or not begins_line(self._text, entry.start)


def _reusable(found: Found) -> bool:
    """Return whether the text of an entry means the same elsewhere: it neither defines nor uses an anchor."""
    if found.entry is None or not isinstance(found.parent, MapNode) or found.parent.flow:
        return False
    return not any(isinstance(node, AliasNode) or node.anchor for node in walk(found.node))


def _entry_node(entry: Entry) -> MapNode:
    """Return an entry as a mapping of its own, to look through."""
    return MapNode(entry.start, entry.end, flow=False, entries=[entry])
