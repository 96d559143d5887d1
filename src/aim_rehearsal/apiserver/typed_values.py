"""What server-side apply refuses in a configuration before anything is merged: fields without a schema, wrong types."""

from collections.abc import Iterator

from aim_api.tree import Json, JsonObject, get_list, get_map, get_str
from aim_rehearsal.apiserver.field_paths import field_schema, item_element, text_of
from aim_rehearsal.apiserver.go_json import go_kind, go_text

_EXPECTED = {
    "string": "string",
    "boolean": "boolean",
    "integer": "numeric (int or float)",
    "number": "numeric (int or float)",
}
_GO_TYPES = {
    "string": "string",
    "bool": "bool",
    "array": "[]interface {}",
    "object": "map[string]interface {}",
    "number": "int64",
    "null": "<nil>",
}
_OMITS = (
    "element {}: associative list with keys has an element that omits all key fields [{}] "
    "(and doesn't have default values for any key fields)"
)
_TWICE = "duplicate entries for key"
_PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int, float),
    "number": (int, float),
}


def typed_problems(value: Json, schema: JsonObject, *, duplicates: bool = True) -> list[str]:
    """Return what does not fit the schema, in the server's words.

    Args:
        value: the applied configuration.
        schema: the schema of the kind, metadata included.
        duplicates: whether items that occur twice count.
    """
    found = _walk(value, schema, "")
    return [f"{path}: {problem}" for path, problem in found if duplicates or not problem.startswith(_TWICE)]


def _walk(value: Json, schema: JsonObject, path: str) -> Iterator[tuple[str, str]]:
    if value is None or not schema or schema.get("x-kubernetes-int-or-string"):
        return
    kind = get_str(schema, "type")
    if kind in _PYTHON_TYPES:
        fits = isinstance(value, _PYTHON_TYPES[kind]) and (kind == "boolean") == isinstance(value, bool)
        if not fits:
            yield path, f"expected {_EXPECTED[kind]}, got {_mismatch(kind, value)}"
    elif kind == "object":
        if isinstance(value, dict):
            yield from _fields(value, schema, path)
        else:
            yield path, f"expected map, got &{{{go_text(value)}}}"
    elif kind == "array":
        if isinstance(value, list):
            yield from _items(value, schema, path)
        else:
            yield path, f"expected list, got &{{{go_text(value)}}}"


def _fields(value: JsonObject, schema: JsonObject, path: str) -> Iterator[tuple[str, str]]:
    properties = get_map(schema, "properties")
    closed = bool(properties) and not schema.get("additionalProperties")
    closed = closed and not schema.get("x-kubernetes-preserve-unknown-fields")
    for key, item in value.items():
        if key in properties or not closed:
            yield from _walk(item, field_schema(schema, key), f"{path}.{key}")
        else:
            yield f"{path}.{key}", "field not declared in schema"


def _items(value: list[Json], schema: JsonObject, path: str) -> Iterator[tuple[str, str]]:
    below, listing = get_map(schema, "items"), get_str(schema, "x-kubernetes-list-type")
    keys = [str(key) for key in get_list(schema, "x-kubernetes-list-map-keys")]
    seen: set[str] = set()
    for index, item in enumerate(value):
        name = f"[{index}]"
        if listing in ("map", "set"):
            element = item_element(item, schema)
            if element == "k:{}":
                yield path, _OMITS.format(index, " ".join(f'"{key}"' for key in keys))
                continue
            name = text_of((element,))
            if element in seen:
                yield path, f"{_TWICE} {name}"
            seen.add(element)
        yield from _walk(item, below, f"{path}{name}")


def _mismatch(kind: str, value: Json) -> str:
    """Return a wrong type as each of the server's checks prints it."""
    if kind == "string":
        return f"&value.valueUnstructured{{Value:{go_text(value)}}}"
    return f"&{{{go_text(value)}}}" if kind == "boolean" else _GO_TYPES[go_kind(value)]
