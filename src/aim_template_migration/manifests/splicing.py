"""Edits of a text by offsets, and what stands between the values of a document."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aim_template_migration.manifests.nodes import Node, scalars_of

_COMMENT = re.compile(r"(?:(?<=\s)|^)#[^\r\n]*", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Edit:
    """The text between two offsets is replaced; equal offsets insert."""

    start: int
    end: int
    text: str


class OverlapError(Exception):
    """Two edits want the same text."""


def spliced(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """Return the text between ``start`` and ``end`` with the edits; of insertions at one place the first comes first.

    Raises:
        OverlapError: two edits want the same text.
    """
    pieces: list[str] = []
    at = start
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if edit.start < at:
            raise OverlapError
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:end]])


def line_start(text: str, offset: int) -> int:
    """Return where the line of ``offset`` begins."""
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Return where the line of ``offset`` ends: before its line break."""
    newline = text.find("\n", offset)
    if newline < 0:
        return len(text)
    return newline - 1 if newline > offset and text[newline - 1] == "\r" else newline


def break_before(text: str, offset: int) -> int:
    """Return where the line break before the line of ``offset`` begins; 0 where there is none."""
    start = line_start(text, offset)
    if not start:
        return 0
    return start - 2 if text[start - 2 : start] == "\r\n" else start - 1


def column(text: str, offset: int) -> int:
    """Return the column of an offset, from 0."""
    return offset - line_start(text, offset)


def begins_line(text: str, offset: int) -> bool:
    """Return whether only spaces stand before ``offset`` in its line."""
    return not text[line_start(text, offset) : offset].strip()


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment: where it begins, and its text from ``#`` to the end of the line."""

    start: int
    text: str


def comments(text: str, root: Node, start: int, end: int) -> Iterator[Comment]:
    """Yield the comments between two offsets that lie in or around ``root``."""
    at, mark = start, text.find("#", start, end)
    for node in scalars_of(root) if mark >= 0 else ():
        if node.start < at or node.start >= end:
            continue
        if mark < node.start:
            yield from _between(text, at, node.start)
        at = max(at, node.end)
        if mark < at:
            mark = text.find("#", at, end)
            if mark < 0:
                return
    if mark >= 0:
        yield from _between(text, at, max(at, end))


def _between(text: str, start: int, end: int) -> Iterator[Comment]:
    return (Comment(match.start(), match.group().rstrip()) for match in _COMMENT.finditer(text, start, end))


def leading_comments(text: str, offset: int, lowest: int = 0) -> int:
    """Return where the comment lines directly above the line of ``offset`` begin, if they are indented like it."""
    first = line_start(text, offset)
    indent = text[first:offset]
    while first > lowest:
        above = line_start(text, first - 1)
        if above < lowest or not text[above:first].startswith(f"{indent}#"):
            break
        first = above
    return first
