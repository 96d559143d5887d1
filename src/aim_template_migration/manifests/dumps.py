"""What kubectl wrote to a file, or a person did: every object with its place, and no object that is not whole."""

from collections.abc import Iterator
from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, Key, get_list, get_map, get_str
from aim_template_migration.manifests.nodes import ReadError
from aim_template_migration.manifests.objects import is_list, typed_item
from aim_template_migration.manifests.reading import Document, ManifestText, read_manifest


class DumpUnreadableError(Exception):
    """A file, or an object in it, can't be read; the message is one sentence with the file, the line and the reason."""


@dataclass(frozen=True, slots=True)
class PlacedObject:
    """One object.

    Attributes:
        value: the object, with apiVersion, kind and a name.
        place: where it stands, for example ``dump.yaml, line 12``.
    """

    value: JsonObject
    place: str


def read_dump(data: bytes, name: str) -> list[PlacedObject]:
    """Return the objects of a file.

    Args:
        data: its bytes.
        name: what messages call it.

    Raises:
        DumpUnreadableError: it is no YAML or JSON, or something in it is no object.
    """
    try:
        text = read_manifest(data)
    except ReadError as error:
        raise DumpUnreadableError(f"{name} can't be read: {error}") from error
    for part in text.unreadable:
        raise DumpUnreadableError(f"{_place(text, name, part.offset)} can't be read: {part.message}")
    return [item for document in text.documents for item in _objects(text, name, document)]


def _objects(text: ManifestText, name: str, document: Document) -> Iterator[PlacedObject]:
    value = document.value
    if isinstance(value, dict) and not get_str(value, "kind") and isinstance(value.get("items"), list):
        place = _at(text, name, document, ())
        raise DumpUnreadableError(
            f"{place} holds items without kind, as a List of kubectl that was cut off; dump it again"
        )
    if not isinstance(value, dict) or not is_list(value):
        yield _checked(value, _at(text, name, document, ()))
        return
    for index, item in enumerate(get_list(value, "items")):
        yield _checked(
            typed_item(item, value) if isinstance(item, dict) else item, _at(text, name, document, ("items", index))
        )


def _checked(value: Json, place: str) -> PlacedObject:
    if not isinstance(value, dict):
        raise DumpUnreadableError(f"{place} holds no Kubernetes object")
    for field in ("apiVersion", "kind"):
        if not get_str(value, field):
            raise DumpUnreadableError(f"{place} holds an object without {field}")
    if not get_str(get_map(value, "metadata"), "name"):
        raise DumpUnreadableError(f"{place} holds a {get_str(value, 'kind')} without metadata.name")
    return PlacedObject(value, place)


def _at(text: ManifestText, name: str, document: Document, path: tuple[Key, ...]) -> str:
    return _place(text, name, document.find(path).node.start)


def _place(text: ManifestText, name: str, offset: int) -> str:
    return f"{name}, line {text.position(offset).line}"
