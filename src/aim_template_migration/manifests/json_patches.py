"""JSON patches (RFC 6902) of objects (pure)."""

from collections.abc import Iterator, Sequence

from aim_api.tree import Json, JsonObject, Key, get_str, key_of_pointer_part
from aim_template_migration.mapping.recipes.draft import copied

_APPEND = "-"


def patched_fields(operations: Sequence[Json]) -> Iterator[tuple[Key, ...]]:
    """Yield the fields that operations read or write; an index of a list is a number."""
    for operation in operations:
        for name in ("path", "from"):
            parts = _parts(get_str(operation, name) or "")
            if parts:
                yield tuple(0 if part == _APPEND else int(part) if part.isdecimal() else part for part in parts)


def needed_fields(operations: Sequence[Json]) -> Iterator[tuple[Key, ...]]:
    """Yield the fields that have to be there for operations to apply."""
    return patched_fields([operation for operation in operations if get_str(operation, "op") != "add"])


def patched(value: JsonObject, operations: Sequence[Json]) -> JsonObject:
    """Return an object after operations; what has no place, since another patch makes it, gets one."""
    document: JsonObject = {key: copied(item) for key, item in value.items()}
    for operation in operations:
        kind, path = get_str(operation, "op"), _parts(get_str(operation, "path") or "")
        stated = copied(operation.get("value")) if isinstance(operation, dict) else None
        source = _parts(get_str(operation, "from") or "")
        if kind in ("move", "copy"):
            stated = copied(_read(document, source))
        if kind == "move":
            _remove(document, source)
        if kind in ("remove", "replace"):
            _remove(document, path)
        if path and (kind in ("add", "replace") or (kind in ("move", "copy") and stated is not None)):
            _add(document, path, stated)
    return document


def _parts(pointer: str) -> list[str]:
    return [key_of_pointer_part(part) for part in pointer.split("/")[1:]]


def _read(document: Json, path: Sequence[str]) -> Json:
    for part in path:
        if isinstance(document, dict):
            document = document.get(part)
        elif isinstance(document, list) and _is_index(part, len(document)):
            document = document[int(part)]
        else:
            return None
    return document


def _add(document: JsonObject, path: Sequence[str], value: Json) -> None:
    parent: Json = document
    for part in path[:-1]:
        below = _read(parent, [part])
        if below is None and isinstance(parent, dict):
            below = parent[part] = {}
        parent = below
    if isinstance(parent, dict):
        parent[path[-1]] = value
    elif isinstance(parent, list):
        parent.insert(int(path[-1]) if _is_index(path[-1], len(parent)) else len(parent), value)


def _remove(document: JsonObject, path: Sequence[str]) -> None:
    parent = _read(document, path[:-1])
    if isinstance(parent, dict) and path:
        parent.pop(path[-1], None)
    elif isinstance(parent, list) and _is_index(path[-1], len(parent)):
        del parent[int(path[-1])]


def _is_index(part: str, length: int) -> bool:
    return part.isdecimal() and int(part) < length
