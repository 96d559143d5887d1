"""JSON Patch (RFC 6902) as kube-apiserver carries it out: a ``test`` with null passes on an absent path."""

from collections.abc import Sequence

from aim_api.tree import Json
from aim_rehearsal.apiserver.trees import same_value

MAX_OPERATIONS = 10_000
_OPERATIONS = frozenset({"add", "remove", "replace", "move", "copy", "test"})


class PatchError(ValueError):
    """An operation that cannot be carried out, or a ``test`` that fails."""


def apply_json_patch(document: Json, operations: Sequence[Json]) -> Json:
    """Return ``document`` after all operations; the original is left as it is.

    Raises:
        PatchError: one of the operations fails.
    """
    for operation in operations:
        if not isinstance(operation, dict):
            raise PatchError("an operation must be an object")
        document = _apply(document, operation)
    return document


def _apply(document: Json, operation: dict[str, Json]) -> Json:
    kind, path = operation.get("op"), _pointer(operation.get("path"))
    if kind not in _OPERATIONS:
        raise PatchError(f"Unexpected kind: {kind}")
    if kind in ("add", "replace", "test"):
        value = operation.get("value")
        if kind == "test":
            return _test(document, path, value)
        if "value" not in operation:
            raise PatchError(f"{kind} operation without a value")
        return _put(document, path, value, replacing=kind == "replace")
    if kind == "remove":
        return _remove(document, path)
    source = _pointer(operation.get("from"))
    value = _read(document, source)
    return _put(_remove(document, source) if kind == "move" else document, path, value, replacing=False)


def _pointer(text: Json) -> list[str]:
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise PatchError("a path must be a JSON pointer")
    return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def _read(document: Json, path: Sequence[str]) -> Json:
    for part in path:
        if isinstance(document, dict):
            if part not in document:
                raise PatchError(f"path not found: {part}")
            document = document[part]
        elif isinstance(document, list):
            document = document[_index(part, len(document) - 1)]
        else:
            raise PatchError(f"path not found: {part}")
    return document


def _test(document: Json, path: Sequence[str], wanted: Json) -> Json:
    try:
        found = _read(document, path)
    except PatchError:
        if wanted is None and path and isinstance(_read(document, path[:-1]), dict):
            return document
        raise
    if not same_value(found, wanted):
        raise PatchError("testing value failed")
    return document


def _put(document: Json, path: Sequence[str], value: Json, *, replacing: bool) -> Json:
    if not path:
        return value
    head, rest = path[0], path[1:]
    if isinstance(document, dict):
        if (rest or replacing) and head not in document:
            raise PatchError(f"path not found: {head}")
        return {**document, head: _put(document[head], rest, value, replacing=replacing) if rest else value}
    if not isinstance(document, list):
        raise PatchError(f"path not found: {head}")
    if rest or replacing:
        index = _index(head, len(document) - 1)
        new = _put(document[index], rest, value, replacing=replacing) if rest else value
        return [*document[:index], new, *document[index + 1 :]]
    index = len(document) if head == "-" else _index(head, len(document))
    return [*document[:index], value, *document[index:]]


def _remove(document: Json, path: Sequence[str]) -> Json:
    if not path:
        raise PatchError("cannot remove the whole document")
    head, rest = path[0], path[1:]
    if isinstance(document, dict):
        if head not in document:
            raise PatchError(f"path not found: {head}")
        if rest:
            return {**document, head: _remove(document[head], rest)}
        return {key: value for key, value in document.items() if key != head}
    if not isinstance(document, list):
        raise PatchError(f"path not found: {head}")
    index = _index(head, len(document) - 1)
    middle = [_remove(document[index], rest)] if rest else []
    return [*document[:index], *middle, *document[index + 1 :]]


def _index(text: str, last: int) -> int:
    try:
        index = int(text)
    except ValueError:
        raise PatchError(f"invalid index: {text}") from None
    if index < 0:
        index += last + 1
    if not 0 <= index <= last:
        raise PatchError(f"index out of bounds: {text}")
    return index
