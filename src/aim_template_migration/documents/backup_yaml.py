"""YAML for people: block style, read alike by kubectl, YAML 1.1 and YAML 1.2 readers, and never with a changed type.

Every scalar, key or value, that could be read as anything but a string is written as a JSON string, which is valid
YAML.
"""

import json
import re
from collections.abc import Iterable
from functools import lru_cache

from aim_api.tree import Json, JsonObject

_PLAIN = re.compile(r"[A-Za-z_/][A-Za-z0-9_./-]*")
_WORDS = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_ESCAPED = re.compile("[\u007f-\u009f\u2028\u2029\ufeff\ud800-\udfff]")


def join_documents(head: str, documents: Iterable[str]) -> str:
    """Return emitted documents below a comment; every line of ``head`` becomes a comment line."""
    comment = "".join(f"# {line}".rstrip() + "\n" for line in head.splitlines())
    return comment + "".join(f"---\n{document}" for document in documents)


def emit(value: Json, *, list_indent: str = "") -> str:
    """Return one value as a YAML document in block style, with a final newline.

    Args:
        value: the value.
        list_indent: how much further than its key a list begins.
    """
    parts: list[str] = []
    if isinstance(value, dict) and value:
        _add_object(parts, value, "", "", list_indent)
    elif isinstance(value, list) and value:
        _add_list(parts, value, "", list_indent)
    else:
        parts = [scalar_text(value), "\n"]
    return "".join(parts)


def _add_object(parts: list[str], value: JsonObject, start: str, indent: str, list_indent: str) -> None:
    """Add the lines of an object; ``start`` stands before its first key, ``indent`` before the others."""
    for key, item in value.items():
        name = _text(key)
        if isinstance(item, str):
            parts.append(f"{start}{name}: {_text(item)}\n")
        elif isinstance(item, dict) and item:
            parts.append(f"{start}{name}:\n")
            below = f"{indent}  "
            _add_object(parts, item, below, below, list_indent)
        elif isinstance(item, list) and item:
            parts.append(f"{start}{name}:\n")
            _add_list(parts, item, f"{indent}{list_indent}", list_indent)
        else:
            parts.append(f"{start}{name}: {json.dumps(item)}\n")
        start = indent


def _add_list(parts: list[str], value: list[Json], indent: str, list_indent: str, start: str | None = None) -> None:
    """Add the lines of a list; ``start`` stands before its first dash, by default the indent."""
    start = indent if start is None else start
    below = f"{indent}  "
    for item in value:
        if isinstance(item, dict) and item:
            _add_object(parts, item, f"{start}- ", below, list_indent)
        elif isinstance(item, list) and item:
            _add_list(parts, item, below, list_indent, f"{start}- ")
        else:
            parts.append(f"{start}- {scalar_text(item)}\n")
        start = indent


def scalar_text(value: Json) -> str:
    """Return a scalar, or an empty collection, as it is written: without quotes only where no reader can err."""
    return _text(value) if isinstance(value, str) else json.dumps(value)


@lru_cache(maxsize=8192)
def _text(text: str) -> str:
    """Return a string as it is written; most of a fleet's strings come again and again."""
    return text if reads_alike(text) else quoted_text(text)


def reads_alike(text: str) -> bool:
    """Return whether every reader takes ``text`` without quotes for just this string."""
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _WORDS


def quoted_text(text: str) -> str:
    """Return a string as a JSON string, which is valid YAML."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))
