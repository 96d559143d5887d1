"""The objects of a manifest file: documents, and the items of lists."""

from collections.abc import Iterator
from dataclasses import dataclass

from aim_api.tree import JsonObject, Key, field_path, get_list, get_str
from aim_template_migration.manifests.reading import Document, ManifestText, Position


@dataclass(frozen=True, slots=True)
class ObjectPlace:
    """One object and where it stands.

    Attributes:
        document: number of its document in the file, from 0.
        path: where it is in the document: the root, or an item of a list.
        value: the object; an item of a list of one kind has that kind, which its text may leave out.
    """

    document: int
    path: tuple[Key, ...]
    value: JsonObject


def objects_of(manifest: ManifestText) -> Iterator[ObjectPlace]:
    """Yield the objects of a file, the items of a list in place of the list."""
    for number, document in enumerate(manifest.documents):
        value = document.value
        if not isinstance(value, dict):
            continue
        if is_list(value):
            for index, item in enumerate(get_list(value, "items")):
                if isinstance(item, dict):
                    yield ObjectPlace(number, ("items", index), typed_item(item, value))
        else:
            yield ObjectPlace(number, (), value)


def is_list(value: JsonObject) -> bool:
    """Return whether an object is a list of objects."""
    return (get_str(value, "kind") or "").endswith("List") and isinstance(value.get("items"), list)


def typed_item(item: JsonObject, parent: JsonObject) -> JsonObject:
    """Return an item of a list with the apiVersion and kind that API servers leave out, as kubectl does.

    An item that has one of the two keeps what it has; kubectl refuses it.
    """
    kind = (get_str(parent, "kind") or "").removesuffix("List")
    if not kind or get_str(item, "kind") or get_str(item, "apiVersion"):
        return item
    head: JsonObject = {"apiVersion": parent.get("apiVersion"), "kind": kind}
    return {**head, **item, **head}


def position_of(manifest: ManifestText, place: ObjectPlace, path: tuple[Key, ...]) -> Position:
    """Return where a field of an object stands: its key, or the deepest part on the way to it that exists."""
    document: Document = manifest.documents[place.document]
    found = document.find((*place.path, *path))
    node = found.entry.key if found.entry is not None else found.node
    return manifest.position(node.start)


def shown(path: tuple[Key, ...]) -> str:
    """Return a path as Kubernetes writes it; an empty one is the object itself."""
    return field_path(path) or "the object"
