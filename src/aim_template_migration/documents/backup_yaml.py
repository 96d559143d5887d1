"""YAML for people: block style, read alike by kubectl, YAML 1.1 and YAML 1.2 readers, and never with a changed type.

Every scalar, key or value, that could be read as anything but a string is written as a JSON string, which is valid
YAML.
"""

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from aim_api.tree import Json, JsonObject

_QUOTING = json.JSONEncoder(ensure_ascii=False)
_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_ESCAPED = re.compile("[\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff]")


def join_documents(head: str, documents: Iterable[str]) -> str:
    """Return emitted documents below a comment; every line of ``head`` becomes a comment line."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in head.splitlines())
    return comment + "".join(f"---\n{document}" for document in documents)


def emit(value: Json, *, list_indent: str = "", change: Callable[[str], str] = str) -> str:
    """Return one value as a YAML document in block style, with a final newline.

    Args:
        value: the value.
        list_indent: how much further than its key a list begins.
        change: what is written in the place of a string value; keys stay.
    """
    emitter = _Emitter(list_indent, _text if change is str else _changed_text(change))
    if isinstance(value, dict) and value:
        emitter.add_object(value, "", "")
    elif isinstance(value, list) and value:
        emitter.add_list(value, "", "")
    else:
        emitter.lines.append(f"{emitter.scalar(value)}\n")
    return "".join(emitter.lines)


class _Emitter:
    """Collects the lines of one document; ``text_of`` gives a string value as it is written."""

    def __init__(self, list_indent: str, text_of: Callable[[str], str]) -> None:
        self.lines: list[str] = []
        self._list_indent = list_indent
        self._text_of = text_of

    def add_object(self, value: JsonObject, start: str, indent: str) -> None:
        """Add the lines of an object; ``start`` stands before its first key, ``indent`` before the others."""
        add, text_of = self.lines.append, self._text_of
        for key, item in value.items():
            if isinstance(item, str):
                add(f"{start}{_text(key)}: {text_of(item)}\n")
            elif isinstance(item, dict) and item:
                add(f"{start}{_text(key)}:\n")
                below = f"{indent}  "
                self.add_object(item, below, below)
            elif isinstance(item, list) and item:
                add(f"{start}{_text(key)}:\n")
                below = f"{indent}{self._list_indent}"
                self.add_list(item, below, below)
            else:
                add(f"{start}{_text(key)}: {_plain(item)}\n")
            start = indent

    def add_list(self, value: list[Json], start: str, indent: str) -> None:
        """Add the lines of a list; ``start`` stands before its first dash, ``indent`` before the others."""
        for item in value:
            if isinstance(item, dict) and item:
                self.add_object(item, f"{start}- ", f"{indent}  ")
            elif isinstance(item, list) and item:
                self.add_list(item, f"{start}- ", f"{indent}  ")
            else:
                self.lines.append(f"{start}- {self.scalar(item)}\n")
            start = indent

    def scalar(self, value: Json) -> str:
        """Return a scalar, or an empty collection, as it is written."""
        return self._text_of(value) if isinstance(value, str) else _plain(value)


def scalar_text(value: Json) -> str:
    """Return a scalar, or an empty collection, as it is written: without quotes only where no reader can err."""
    return _text(value) if isinstance(value, str) else _plain(value)


def _plain(value: Json) -> str:
    """Return what is no string, and has nothing in it; most of it is numbers."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else json.dumps(value)


@lru_cache(maxsize=8192)
def _text(text: str) -> str:
    """Return a string as it is written; most of a fleet's strings come again and again."""
    return text if reads_alike(text) else quoted_text(text)


@lru_cache(maxsize=2)
def _changed_text(change: Callable[[str], str]) -> Callable[[str], str]:
    """Return what gives a string, changed, as it is written; it knows as many strings as those that stay."""
    return lru_cache(maxsize=8192)(lambda text: _text(change(text)))


def reads_alike(text: str) -> bool:
    """Return whether every reader takes ``text`` without quotes for just this string."""
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _WORDS


def quoted_text(text: str) -> str:
    """Return a string as a JSON string, which is valid YAML."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", _QUOTING.encode(text))
