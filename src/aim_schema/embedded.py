"""Embedded resources: ``apiVersion`` and ``kind`` must be there and must read as such.

The metadata of an embedded resource is not looked at here.
"""

import re
from collections.abc import Callable, Iterator

from aim_api.tree import Json, JsonObject
from aim_schema import errors
from aim_schema.errors import FieldError
from aim_schema.nodes import Node
from aim_schema.paths import MapKey, Path, field_path

Inspection = Callable[[Json, Path, list[FieldError]], None]
"""Looks through a value and appends what is wrong with its embedded resources."""

_KIND = re.compile(r"[a-z](?:[-a-z0-9]*[a-z0-9])?")
_KIND_RULE = (
    "may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric "
    "characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  "
    "or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
)


def compile_inspection(node: Node) -> Inspection | None:
    """Return the inspection of the embedded resources below a schema, or None where it has none."""
    known = {key: each for key, below in node.properties.items() if (each := compile_inspection(below)) is not None}
    further = compile_inspection(node.additional) if isinstance(node.additional, Node) else None
    items = compile_inspection(node.items) if node.items is not None else None
    if not (node.embedded or known or further or items):
        return None

    def inspect(value: Json, path: Path, found: list[FieldError]) -> None:
        if isinstance(value, dict):
            if node.embedded:
                found.extend(_type_meta(value, path))
            for key, item in value.items():
                below = known.get(key) if key in node.properties else further
                if below is not None:
                    below(item, (path, key if key in node.properties else MapKey(key)), found)
        elif isinstance(value, list) and items is not None:
            for index, item in enumerate(value):
                items(item, (path, index), found)

    return inspect


def _type_meta(value: JsonObject, path: Path) -> Iterator[FieldError]:
    for key in ("apiVersion", "kind"):
        field, text = field_path((path, key)), value.get(key)
        if key not in value:
            yield errors.required(field)
        elif not isinstance(text, str):
            yield errors.invalid(field, text, "must be a string")
        elif not text:
            yield errors.invalid(field, text, "must not be empty")
        elif key == "kind" and (len(text) > 63 or _KIND.fullmatch(text.lower()) is None):
            detail = _KIND_RULE if len(text) <= 63 else "may have mixed case, but should otherwise match: "
            yield errors.invalid(
                field, text, detail + ("" if len(text) <= 63 else "must be no more than 63 characters")
            )
        elif key == "apiVersion" and text.count("/") > 1:
            yield errors.invalid(field, text, f"unexpected GroupVersion string: {text}")
