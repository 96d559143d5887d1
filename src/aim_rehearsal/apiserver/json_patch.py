"""JSON Patch (RFC 6902) as kube-apiserver carries it out.

Three of its habits matter to clients: a ``test`` with null passes on an absent field, ``replace`` of an absent field
adds it, and ``test`` compares strings and numbers *as they are written*. The server writes its own side as Go does, so
a client that writes ``&``, ``<`` or ``>`` bare, or escapes what Go does not, fails the test although the values are
equal.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from aim_api.tree import Json, JsonObject
from aim_rehearsal.apiserver.go_json import go_scalar

MAX_OPERATIONS = 10_000


class PatchError(ValueError):
    """An operation that cannot be carried out, or a ``test`` that fails."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of a patch.

    Attributes:
        fields: the operation as a JSON object.
        raw_value: its value as the client wrote it; empty if it has none.
    """

    fields: JsonObject
    raw_value: bytes

    @property
    def kind(self) -> Json:
        """The kind of the operation."""
        return self.fields.get("op")

    def pointer(self, key: str) -> list[str]:
        """Return the path in ``path`` or ``from``.

        Raises:
            PatchError: there is none.
        """
        text = self.fields.get(key)
        if not isinstance(text, str):
            raise PatchError(f"operation missing {key} field")
        if text and "/" not in text:
            raise PatchError(f"doc is missing path: {text}")
        return [part.replace("~1", "/").replace("~0", "~") for part in text.split("/")[1:]]


def read_operations(body: bytes, decoded: Sequence[Json]) -> list[Operation]:
    """Return the operations of a patch.

    Args:
        body: the patch as the client wrote it.
        decoded: the same, decoded.

    Raises:
        PatchError: an operation is no object.
    """
    if not all(isinstance(item, dict) for item in decoded):
        raise PatchError("json: cannot unmarshal into Go value of type jsonpatch.Operation")
    raw = msgspec.json.decode(body, type=list[dict[str, msgspec.Raw]])
    pairs = zip(decoded, raw, strict=True)
    return [Operation(item, bytes(fields.get("value", b""))) for item, fields in pairs if isinstance(item, dict)]


def apply_json_patch(document: Json, operations: Sequence[Operation]) -> Json:
    """Return ``document`` after all operations; the original is left as it is.

    Raises:
        PatchError: one of the operations fails.
    """
    for operation in operations:
        document = _apply(document, operation)
    return document


def _apply(document: Json, operation: Operation) -> Json:
    value = operation.fields.get("value")
    match operation.kind:
        case "add":
            return _put(document, operation.pointer("path"), value, inserting=True)
        case "replace":
            return _put(document, operation.pointer("path"), value, inserting=False)
        case "remove":
            return _remove(document, operation.pointer("path"))
        case "test":
            _test(document, operation)
            return document
        case "move" | "copy":
            source = operation.pointer("from")
            found = _read(document, source)
            base = _remove(document, source) if operation.kind == "move" else document
            return _put(base, operation.pointer("path"), found, inserting=True)
        case _:
            raise PatchError(f"Unexpected kind: {operation.kind}")


def _read(document: Json, path: Sequence[str]) -> Json:
    """Return the value at a path; the last field of an object may be absent and reads as null."""
    for depth, part in enumerate(path, start=1):
        if isinstance(document, dict):
            if part not in document and depth < len(path):
                raise PatchError(f"doc is missing path: {part}")
            document = document.get(part)
        elif isinstance(document, list):
            document = document[_index(part, len(document) - 1)]
        else:
            raise PatchError(f"doc is missing path: {part}")
    return document


def _test(document: Json, operation: Operation) -> None:
    found = _read(document, operation.pointer("path"))
    wanted = operation.raw_value.strip()
    absent = found is None and wanted in (b"", b"null")
    if not absent and not (wanted and _written_alike(found, wanted)):
        raise PatchError("testing value failed")


def _written_alike(found: Json, wanted: bytes) -> bool:
    """Return whether Go would write ``found`` as the client wrote ``wanted``, blanks and order of fields aside."""
    try:
        if isinstance(found, dict):
            fields = msgspec.json.decode(wanted, type=dict[str, msgspec.Raw])
            return found.keys() == fields.keys() and all(
                _written_alike(found[key], bytes(fields[key])) for key in found
            )
        if isinstance(found, list):
            items = msgspec.json.decode(wanted, type=list[msgspec.Raw])
            pairs = zip(found, items, strict=False)
            return len(found) == len(items) and all(_written_alike(item, bytes(raw)) for item, raw in pairs)
    except msgspec.DecodeError:
        return False
    return go_scalar(found) == wanted.strip()


def _put(document: Json, path: Sequence[str], value: Json, *, inserting: bool) -> Json:
    """Return the document with a value set, or inserted where the path ends in a list."""
    if not path:
        if inserting or not isinstance(value, dict | list):
            raise PatchError("operation does not apply to the whole document")
        return value
    head, rest = path[0], path[1:]
    if isinstance(document, dict):
        if rest and head not in document:
            raise PatchError(f"doc is missing path: {head}")
        return {**document, head: _put(document[head], rest, value, inserting=inserting) if rest else value}
    if not isinstance(document, list):
        raise PatchError(f"doc is missing path: {head}")
    if rest or not inserting:
        index = _index(head, len(document) - 1)
        new = _put(document[index], rest, value, inserting=inserting) if rest else value
        return [*document[:index], new, *document[index + 1 :]]
    index = len(document) if head == "-" else _index(head, len(document))
    return [*document[:index], value, *document[index:]]


def _remove(document: Json, path: Sequence[str]) -> Json:
    if not path:
        raise PatchError("cannot remove the whole document")
    head, rest = path[0], path[1:]
    if isinstance(document, dict):
        if head not in document:
            raise PatchError(f"Unable to remove nonexistent key: {head}")
        if rest:
            return {**document, head: _remove(document[head], rest)}
        return {key: value for key, value in document.items() if key != head}
    if not isinstance(document, list):
        raise PatchError(f"doc is missing path: {head}")
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
        raise PatchError(f"Unable to access invalid index: {text}")
    return index
