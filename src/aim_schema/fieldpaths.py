"""The ``fieldPath`` of a rule: a simple path such as ``.spec.labels['app']`` that the schema must know."""

import re

from aim_schema.nodes import Node
from aim_schema.paths import MapKey, Path, field_path

_STEP = re.compile(r"\.([^.\[\]]+)|\['((?:[^'\\]|\\.)*)'\]")
_ESCAPE = re.compile(r"\\(.)")
_UNESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "'": "'", "\\": "\\"}


def normalized(text: str, node: Node) -> str | None:
    """Return the path as it is appended to that of the value, or None where it names no field of the schema."""
    path: Path = None
    position = 0
    current: Node | None = node
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None or current is None:
            return None
        key = match[1] if match[1] is not None else _ESCAPE.sub(lambda found: _UNESCAPED.get(found[1], ""), match[2])
        if current.properties:
            path, current = (path, key), current.properties.get(key)
            if current is None:
                return None
        elif current.additional is not None:
            path, current = (path, MapKey(key)), current.additional_node
        else:
            return None
        position = match.end()
    return field_path(path) if path is not None else None
