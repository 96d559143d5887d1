"""Which fields an object has, as managedFields names them, with list items named by their keys.

Source: Kubernetes documentation, "Server-Side Apply" (FieldsV1), and the Structured Merge Diff rules: a field without a
schema is a granular map, an atomic list or a scalar.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from aim_api.tree import Json, JsonObject, get_list, get_map, get_str
from aim_rehearsal.apiserver.messages import encode_sorted

Path = tuple[str, ...]
Paths = frozenset[Path]

_STRING: Final[JsonObject] = {"type": "string"}
_METADATA: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
        "finalizers": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "items": {"type": "object", "x-kubernetes-map-type": "atomic"},
        },
        "managedFields": {"type": "array"},
        **dict.fromkeys(
            ("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "creationTimestamp"), _STRING
        ),
        "deletionTimestamp": _STRING,
        "generation": {"type": "integer"},
        "deletionGracePeriodSeconds": {"type": "integer"},
    },
}


def with_metadata_schema(schema: JsonObject) -> JsonObject:
    """Return the schema of a kind with that of its metadata, which the kind's own schema leaves out."""
    named: JsonObject = {"apiVersion": _STRING, "kind": _STRING, "metadata": _METADATA}
    properties: JsonObject = {**get_map(schema, "properties"), **named}
    return {**schema, "properties": properties}


def is_atomic(value: Json, schema: JsonObject) -> bool:
    """Return whether a value is owned as a whole."""
    if isinstance(value, dict):
        return get_str(schema, "x-kubernetes-map-type") == "atomic"
    if isinstance(value, list):
        return get_str(schema, "x-kubernetes-list-type") not in ("map", "set")
    return True


def is_named_field(schema: JsonObject, key: str) -> bool:
    """Return whether ``key`` is a field of the schema rather than a key of a map."""
    return key in get_map(schema, "properties")


def field_schema(schema: JsonObject, key: str) -> JsonObject:
    """Return the schema of a field or of a map's values; empty where nothing is known."""
    found = get_map(schema, "properties").get(key, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else {}


def item_element(item: Json, schema: JsonObject) -> str:
    """Return the path element that names a list item: by its keys (``k:``) or its value (``v:``)."""
    if get_str(schema, "x-kubernetes-list-type") == "map" and isinstance(item, dict):
        keys = [str(key) for key in get_list(schema, "x-kubernetes-list-map-keys")]
        defaults = get_map(schema, "items", "properties")
        named = {key: item.get(key, get_map(defaults, key).get("default")) for key in keys}
        return "k:" + encode_sorted({key: value for key, value in named.items() if value is not None}).decode()
    return "v:" + encode_sorted(item).decode()


def children(value: Json, schema: JsonObject) -> Iterator[tuple[str, Json, JsonObject]]:
    """Yield the path element, value and schema of everything directly below a granular map or list."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield f"f:{key}", item, field_schema(schema, key)
    elif isinstance(value, list):
        below = get_map(schema, "items")
        for item in value:
            yield item_element(item, schema), item, below


def all_fields(value: Json, schema: JsonObject) -> dict[Path, tuple[bool, Json]]:
    """Return every field below ``value``: whether it is owned as a whole, and its value."""
    found: dict[Path, tuple[bool, Json]] = {}
    _collect(value, schema, (), found)
    return found


def _collect(value: Json, schema: JsonObject, path: Path, found: dict[Path, tuple[bool, Json]]) -> None:
    for element, item, below in children(value, schema):
        here = (*path, element)
        whole = is_atomic(item, below)
        found[here] = (whole, item)
        if not whole:
            _collect(item, below, here, found)


def applied_fields(value: Json, schema: JsonObject) -> set[Path]:
    """Return the fields that an applied configuration claims: leaves, list items, keys of maps, empty maps."""
    claimed: set[Path] = set()
    _claim(value, schema, (), claimed)
    return claimed


def _claim(value: Json, schema: JsonObject, path: Path, claimed: set[Path]) -> None:
    for element, item, below in children(value, schema):
        here = (*path, element)
        whole = is_atomic(item, below)
        is_field = isinstance(value, dict) and is_named_field(schema, element[2:])
        if whole or not is_field or item == {}:
            claimed.add(here)
        if not whole:
            _claim(item, below, here, claimed)


def to_fields_v1(paths: Iterable[Path]) -> JsonObject:
    """Return paths as the ``fieldsV1`` of a managedFields entry."""
    root: JsonObject = {}
    members = set(paths)
    for path in sorted(members):
        node = root
        for depth, element in enumerate(path, start=1):
            below = node.get(element)
            if not isinstance(below, dict):
                below = node[element] = {}
            elif not below and path[:depth] in members and depth < len(path):
                below["."] = {}
            node = below
    return root


def from_fields_v1(fields: Mapping[str, Json]) -> set[Path]:
    """Return the paths of a ``fieldsV1``."""
    paths: set[Path] = set()
    _read(fields, (), paths)
    return paths


def _read(fields: Mapping[str, Json], path: Path, paths: set[Path]) -> None:
    for element, below in fields.items():
        if element == ".":
            paths.add(path)
        elif isinstance(below, dict) and below:
            _read(below, (*path, element), paths)
        else:
            paths.add((*path, element))


def prefixes(paths: Iterable[Path]) -> set[Path]:
    """Return all paths and all that lie above them."""
    return {path[:length] for path in paths for length in range(1, len(path) + 1)}


def text_of(path: Path) -> str:
    """Return a path as conflict messages write it: ``.spec.containers[name="a"].image``."""
    return "".join(_element_text(element) for element in path)


def _element_text(element: str) -> str:
    kind, value = element[:2], element[2:]
    if kind == "f:":
        return f".{value}"
    if kind == "k:":
        keys = msgspec.json.decode(value)
        pairs = [f"{key}={encode_sorted(item).decode()}" for key, item in sorted(keys.items())]
        return f"[{','.join(pairs)}]"
    return f"[={value}]" if kind == "v:" else f"[{value}]"
