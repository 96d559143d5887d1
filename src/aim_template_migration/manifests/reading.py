"""The text of a manifest file to its documents, split as kubectl splits it."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from aim_api.tree import Json, Key
from aim_template_migration.manifests.json_parsing import parse_json
from aim_template_migration.manifests.nodes import Found, Node, ReadError, Reading, find
from aim_template_migration.manifests.yaml_parsing import parse_yaml

_BOM = "\ufeff"
TEMPLATE_MARK = "{{"
_RENDER = "; it holds expressions of a template, so render it first, for example by helm template"
_SEPARATOR = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_DIRECTIVES_ALONE = re.compile(r"(?:[ \t]*(?:#[^\n]*)?\r?\n|%[^\n]*\n)*")


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a file; both numbers count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Duplicate:
    """A key that stands twice in one mapping; kubectl takes the last, an API server that is asked strictly refuses."""

    name: str
    offset: int


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a file.

    Attributes:
        value: what kubectl reads.
        root: the nodes behind the value.
        start: offset of the part of the file that is the document's, from the separator that opens it.
        end: offset behind that part.
        json: the document is JSON, so that an edit must leave it so.
        duplicates: keys that stand twice.
    """

    value: Json
    root: Node
    start: int
    end: int
    json: bool = False
    duplicates: tuple[Duplicate, ...] = ()

    def find(self, path: tuple[Key, ...]) -> Found:
        """Follow a path as far as it goes."""
        return find(self.root, path)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of a file that can't be read: the reason, and where."""

    message: str
    offset: int


@dataclass(slots=True)
class ManifestText:
    """The text of one file and what it holds.

    Attributes:
        text: the text without byte order mark.
        bom: whether the file begins with a byte order mark.
        documents: its documents, in order.
        unreadable: its parts that can't be read, in order.
    """

    text: str
    bom: bool = False
    documents: list[Document] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    _line_starts: list[int] = field(default_factory=list)

    @property
    def newline(self) -> str:
        """How lines end: as the first one does."""
        first = self.text.find("\n")
        return "\r\n" if first > 0 and self.text[first - 1] == "\r" else "\n"

    def position(self, offset: int) -> Position:
        """Return the place of an offset."""
        if not self._line_starts:
            self._line_starts = [0, *(match.end() for match in re.finditer("\n", self.text))]
        line = bisect_right(self._line_starts, offset)
        return Position(line, offset - self._line_starts[line - 1] + 1)

    def encoded(self, text: str) -> bytes:
        """Return a changed text as the bytes of this file: with the byte order mark that it had."""
        return f"{_BOM if self.bom else ''}{text}".encode()


def read_manifest(data: bytes) -> ManifestText:
    """Read the bytes of a file.

    Raises:
        ReadError: they are no UTF-8 text.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise ReadError("it is no UTF-8 text", error.start) from None
    manifest = ManifestText(text.removeprefix(_BOM), bom=text.startswith(_BOM))
    # kubectl takes a file for JSON by its first character, and for YAML after all where JSON does not fit.
    if manifest.text.lstrip().startswith("{"):
        try:
            manifest.documents = [
                _document(root, root.start, root.end, json=True) for root in parse_json(manifest.text)
            ]
            return manifest
        except ReadError:
            manifest.documents = []
    for start, end in _parts(manifest.text):
        try:
            manifest.documents += [
                _document(root, start, end, json=False) for root in parse_yaml(manifest.text[start:end], start)
            ]
        except ReadError as error:
            advice = _RENDER if TEMPLATE_MARK in manifest.text[start:end] else ""
            manifest.unreadable.append(Unreadable(f"{error}{advice}", error.offset))
    return manifest


def _document(root: Node, start: int, end: int, *, json: bool) -> Document:
    reading = Reading()
    value = reading.value(root)
    duplicates = tuple(Duplicate(entry.name, entry.start) for entry in reading.duplicates)
    return Document(value, root, start, end, json, duplicates)


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans between separators, each with the separator that opens it and with its directives."""
    starts = [0, *(match.start() for match in _SEPARATOR.finditer(text) if match.start() > 0)]
    begin = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if "%" in text[start:end] and _DIRECTIVES_ALONE.fullmatch(text, start, end):
            continue
        yield begin, end
        begin = end
    if begin < len(text):
        yield begin, len(text)
