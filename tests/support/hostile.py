"""The same markup in every free string of a document, for tests that it stays text everywhere."""

from typing import Any, Literal, TypeVar, get_origin

import msgspec

Some = TypeVar("Some", bound=msgspec.Struct)


def poisoned(document: Some, text: str, keep: frozenset[str] = frozenset()) -> Some:
    """Return a copy with ``text`` behind every string that the type allows to be anything.

    Args:
        document: the document.
        text: what is appended.
        keep: names of attributes that are left alone, because something compares or parses them.
    """
    changes: dict[str, Any] = {}
    for field in msgspec.structs.fields(document):
        if field.name not in keep and get_origin(field.type) is not Literal:
            changes[field.name] = _value(getattr(document, field.name), text, keep)
    return msgspec.structs.replace(document, **changes)


def _value(value: Any, text: str, keep: frozenset[str]) -> Any:
    match value:
        case str():
            return value + text
        case tuple():
            return tuple(_value(item, text, keep) for item in value)
        case list():
            return [_value(item, text, keep) for item in value]
        case dict():
            return {key: _value(item, text, keep) for key, item in value.items()}
        case msgspec.Struct():
            return poisoned(value, text, keep)
        case _:
            return value
