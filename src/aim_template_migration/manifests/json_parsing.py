"""JSON text to nodes. JSON is read on its own, since YAML readers refuse the surrogate pairs of its escapes."""

import json
import re
from collections.abc import Iterator

from aim_api.tree import Json
from aim_template_migration.manifests.nodes import Entry, ListNode, MapNode, Node, ReadError, ScalarNode

_DEEPEST = 100
_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_WORD = re.compile(r"true|false|null")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_DIGITS = 400
_WHOLE_BELOW = 1e21


def parse_json(text: str) -> Iterator[Node]:
    """Yield the root of every value in a stream of JSON values.

    Raises:
        ReadError: it is no JSON.
    """
    scanner = _Scanner(text)
    while not scanner.at_end():
        yield scanner.value(0)


class _Scanner:
    """Reads values from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._behind = 0
        self._skip()

    def at_end(self) -> bool:
        return self._at == len(self._text)

    def value(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise ReadError(f"it is nested deeper than {_DEEPEST} levels", self._at)
        character = self._text[self._at : self._at + 1]
        if character == "{":
            return self._object(depth)
        if character == "[":
            return self._array(depth)
        return self._scalar()

    def _object(self, depth: int) -> MapNode:
        node = MapNode(self._at, self._at, flow=True)
        self._expect("{")
        if not self._takes("}"):
            while True:
                key = self._string()
                self._expect(":")
                node.entries.append(Entry(key, str(key.value), self.value(depth + 1)))
                if self._takes("}"):
                    break
                self._expect(",")
        node.end = self._behind
        return node

    def _array(self, depth: int) -> ListNode:
        node = ListNode(self._at, self._at, flow=True)
        self._expect("[")
        if not self._takes("]"):
            while True:
                node.items.append(self.value(depth + 1))
                if self._takes("]"):
                    break
                self._expect(",")
        node.end = self._behind
        return node

    def _scalar(self) -> ScalarNode:
        if self._text.startswith('"', self._at):
            return self._string()
        start = self._at
        word = _WORD.match(self._text, start)
        if word:
            self._move(word.end())
            return ScalarNode(start, word.end(), _WORDS[word.group()])
        number = _NUMBER.match(self._text, start)
        if not number:
            raise ReadError("it is no JSON: a value is expected", start)
        self._move(number.end())
        return ScalarNode(start, number.end(), _number(number))

    def _string(self) -> ScalarNode:
        start = self._at
        found = _STRING.match(self._text, start)
        if not found:
            raise ReadError("it is no JSON: a string in double quotes is expected", start)
        self._move(found.end())
        value: str = json.loads(found.group())
        # A lone half of a pair is no character; the API server's reader replaces it in the same way.
        return ScalarNode(start, found.end(), _SURROGATE.sub("\ufffd", value), '"')

    def _takes(self, character: str) -> bool:
        if not self._text.startswith(character, self._at):
            return False
        self._move(self._at + 1)
        return True

    def _expect(self, character: str) -> None:
        if not self._takes(character):
            raise ReadError(f"it is no JSON: {character} is expected", self._at)

    def _move(self, to: int) -> None:
        self._behind = to
        self._at = to
        self._skip()

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._at)
        self._at = space.end() if space else self._at


def _number(found: re.Match[str]) -> int | float:
    text = found.group()
    if not found.group(1) and not found.group(2) and len(text) <= _MOST_DIGITS:
        return int(text)
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ReadError(f"{text} is no number that JSON can express", found.start())
    return int(value) if value.is_integer() and abs(value) < _WHOLE_BELOW else value
