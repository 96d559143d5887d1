"""How a document is laid out, and how new text is written so that it fits in."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from aim_api.tree import Json
from aim_template_migration.documents.backup_yaml import emit, quoted_text, reads_alike, scalar_text
from aim_template_migration.manifests.nodes import ListNode, MapNode, Node, walk
from aim_template_migration.manifests.reading import Document
from aim_template_migration.manifests.splicing import column

_DEFAULT_STEP = 2
_SINGLE_QUOTED = re.compile(r"[ -~]*")


@dataclass(frozen=True, slots=True)
class Layout:
    """The habits of a document.

    Attributes:
        newline: how lines end.
        json: everything is written as JSON.
        list_indent: how much further than its key a list begins.
        step: by how much a level of JSON is indented, None where all of it is on one line.
    """

    newline: str
    json: bool
    list_indent: str
    step: int | None

    def lines(self, key: str, value: Json) -> list[str]:
        """Return ``key: value`` in block style, without indentation."""
        return emit({key: value}, list_indent=self.list_indent).splitlines()

    def flow(self, value: Json, indent: int | None = None) -> str:
        """Return a value in flow style.

        Args:
            value: the value.
            indent: the column at which its line begins, where it may take several lines; None for one line.
        """
        if not self.json:
            return _flow(value)
        if indent is None:
            return _escaped_json(value, None)
        return _escaped_json(value, self.step).replace("\n", f"{self.newline}{' ' * indent}")

    def key(self, name: str, style: str = "") -> str:
        """Return a key, quoted as another one was."""
        return self.scalar(name, style)

    def scalar(self, value: Json, style: str = "") -> str:
        """Return a scalar, a string quoted as another one was where that is possible."""
        if isinstance(value, str) and (self.json or style == '"'):
            return quoted_text(value)
        if isinstance(value, str) and style == "'" and _SINGLE_QUOTED.fullmatch(value):
            return "'{}'".format(value.replace("'", "''"))
        return scalar_text(value)


def layout_of(text: str, newline: str, document: Document) -> Layout:
    """Return the habits of a document."""
    return Layout(newline, document.json, _list_indent(text, document.root), _step(text, document.root))


def _list_indent(text: str, root: Node) -> str:
    for node in walk(root):
        if isinstance(node, MapNode) and not node.flow:
            for entry in node.entries:
                if isinstance(entry.value, ListNode) and not entry.value.flow and not entry.value.anchor:
                    further = column(text, entry.value.start) - column(text, entry.key.start)
                    return " " * max(0, further)
    return " " * _DEFAULT_STEP


def _step(text: str, root: Node) -> int | None:
    if "\n" not in text[root.start : root.end]:
        return None
    if not isinstance(root, MapNode) or not root.entries:
        return _DEFAULT_STEP
    return column(text, root.entries[0].start) - column(text, root.start) or _DEFAULT_STEP


def _escaped_json(value: Json, step: int | None) -> str:
    return json.dumps(value, indent=step, ensure_ascii=False)


def _flow(value: Json) -> str:
    if isinstance(value, dict) and value:
        return f"{{{', '.join(f'{_flow(key)}: {_flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, list) and value:
        return f"[{', '.join(_flow(item) for item in value)}]"
    if isinstance(value, str) and not reads_alike(value):
        return quoted_text(value)
    return scalar_text(value)


def same(one: Json, other: Json) -> bool:
    """Return whether two values are the same in JSON: ``1`` and ``true`` are not."""
    if one is other:
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(map(same, one.values(), [other[key] for key in one]))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


def indented(lines: list[str], indent: int) -> Iterator[str]:
    """Yield lines further to the right; empty ones stay empty."""
    return (f"{' ' * indent}{line}" if line.strip() else line for line in lines)
