"""JSON as Go's encoding/json writes and complains about it, where clients can see the difference."""

import json

from aim_api.tree import Json

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_COMPLAINTS = {
    "Expecting value": "looking for beginning of value",
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Illegal trailing comma before end of object": "looking for beginning of object key string",
    "Illegal trailing comma before end of array": "looking for beginning of value",
    "Expecting ':' delimiter": "after object key",
    "Expecting ',' delimiter": "after object key:value pair",
    "Extra data": "after top-level value",
    "Invalid control character at": "in string literal",
    "Invalid \\escape": "in string escape code",
    "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
}


def go_scalar(value: Json) -> bytes:
    """Return a string, number, boolean or null as Go writes it: HTML characters escaped, others as they are."""
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str):
        for character, escape in _ESCAPES.items():
            text = text.replace(character, escape)
    return text.encode("utf-8", "replace")


def go_complaint(error: ValueError) -> str:
    """Return what Go's decoder says about a body that Python's decoder refused with ``error``."""
    if not isinstance(error, json.JSONDecodeError):
        return str(error)
    if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated string"):
        return "unexpected end of JSON input"
    what = next((text for start, text in _COMPLAINTS.items() if error.msg.startswith(start)), error.msg)
    if what == "after object key:value pair" and _in_array(error.doc[: error.pos]):
        what = "after array element"
    character = error.doc[error.pos]
    shown = {"'": r"'\''", '"': "'\"'"}.get(character, f"'{character}'")
    return f"invalid character {shown} {what}"


def _in_array(text: str) -> bool:
    """Return whether JSON text that ends here is inside an array rather than an object."""
    depth: list[str] = []
    inside, escaped = False, False
    for character in text:
        if inside:
            inside = escaped or character != '"'
            escaped = character == "\\" and not escaped
        elif character == '"':
            inside = True
        elif character in "[{":
            depth.append(character)
        elif character in "]}" and depth:
            depth.pop()
    return bool(depth) and depth[-1] == "["


def go_kind(value: Json) -> str:
    """Return how Go names the JSON type of a value."""
    if isinstance(value, bool):
        return "bool"
    names: dict[type, str] = {str: "string", list: "array", dict: "object", int: "number", float: "number"}
    return names.get(type(value), "null")


def go_text(value: Json) -> str:
    """Return a value as Go's fmt prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return "[" + " ".join(go_text(item) for item in value) + "]"
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{go_text(value[key])}" for key in sorted(value)) + "]"
    return "<nil>" if value is None else str(value)
