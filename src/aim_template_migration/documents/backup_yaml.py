"""YAML for people: block style, read alike by kubectl, YAML 1.1 and YAML 1.2 readers, and never with a changed type.

Every scalar, key or value, that could be read as anything but a string is written as a JSON string, which is valid
YAML.
"""

import json
import re
from collections.abc import Iterable, Iterator

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
    if isinstance(value, dict) and value:
        return "".join(_object_lines(value, "", list_indent))
    if isinstance(value, list) and value:
        return "".join(_list_lines(value, "", list_indent))
    return f"{scalar_text(value)}\n"


def _object_lines(value: JsonObject, indent: str, list_indent: str) -> Iterator[str]:
    for key, item in value.items():
        name = scalar_text(key)
        if isinstance(item, dict) and item:
            yield f"{indent}{name}:\n"
            yield from _object_lines(item, f"{indent}  ", list_indent)
        elif isinstance(item, list) and item:
            yield f"{indent}{name}:\n"
            yield from _list_lines(item, f"{indent}{list_indent}", list_indent)
        else:
            yield f"{indent}{name}: {scalar_text(item)}\n"


def _list_lines(value: list[Json], indent: str, list_indent: str) -> Iterator[str]:
    for item in value:
        below: Iterator[str]
        if isinstance(item, dict) and item:
            below = _object_lines(item, f"{indent}  ", list_indent)
        elif isinstance(item, list) and item:
            below = _list_lines(item, f"{indent}  ", list_indent)
        else:
            yield f"{indent}- {scalar_text(item)}\n"
            continue
        first = next(below)
        yield f"{indent}- {first[len(indent) + 2 :]}"
        yield from below


def scalar_text(value: Json) -> str:
    """Return a scalar, or an empty collection, as it is written: without quotes only where no reader can err."""
    if not isinstance(value, str):
        return json.dumps(value)
    return value if reads_alike(value) else quoted_text(value)


def reads_alike(text: str) -> bool:
    """Return whether every reader takes ``text`` without quotes for just this string."""
    return bool(_PLAIN.fullmatch(text)) and text.lower() not in _WORDS


def quoted_text(text: str) -> str:
    """Return a string as a JSON string, which is valid YAML."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))
