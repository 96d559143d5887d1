"""JSON merge patch (RFC 7396) and, for built-in kinds, strategic merge patch.

Strategic merge follows the lists' own keys in the schemas and knows the directives that kubectl sends: ``$patch``,
``$retainKeys``, ``$setElementOrder/…`` and ``$deleteFromPrimitiveList/…``.
"""

from collections.abc import Sequence

from aim_api.tree import Json, JsonObject, get_list, get_map, get_str

_ORDER = "$setElementOrder/"
_DELETE_ITEMS = "$deleteFromPrimitiveList/"
_METADATA_SCHEMA: JsonObject = {
    "properties": {
        "finalizers": {"x-kubernetes-list-type": "set"},
        "ownerReferences": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["uid"]},
    }
}


def merge(target: Json, patch: Json) -> Json:
    """Return ``target`` after a JSON merge patch; the original is left as it is."""
    if not isinstance(patch, dict):
        return patch
    merged: JsonObject = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def strategic_merge(target: JsonObject, patch: JsonObject, schema: JsonObject) -> JsonObject:
    """Return ``target`` after a strategic merge patch; the original is left as it is.

    Args:
        target: the object.
        patch: the patch.
        schema: the schema of the object, whose list-maps and sets are merged item by item.
    """
    properties = {**get_map(schema, "properties"), "metadata": _METADATA_SCHEMA}
    return _merge_object(target, patch, {"properties": properties})


def _merge_object(target: JsonObject, patch: JsonObject, schema: JsonObject) -> JsonObject:
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    retained = patch.get("$retainKeys")
    merged = {key: value for key, value in target.items() if not isinstance(retained, list) or key in retained}
    for key, value in patch.items():
        if key.startswith("$"):
            continue
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merge_field(merged.get(key), value, _field_schema(schema, key))
    for key, value in patch.items():
        field = key.partition("/")[2]
        if key.startswith(_DELETE_ITEMS) and isinstance(value, list):
            merged[field] = [item for item in get_list(merged, field) if item not in value]
        elif key.startswith(_ORDER) and isinstance(value, list) and field in merged:
            field_key = _key_of(_field_schema(schema, field))
            merged[field] = _ordered(get_list(merged, field), value, field_key, get_list(target, field))
    return merged


def _field_schema(schema: JsonObject, key: str) -> JsonObject:
    properties = get_map(schema, "properties")
    found = properties.get(key, schema.get("additionalProperties"))
    return found if isinstance(found, dict) else {}


def _key_of(schema: JsonObject) -> str:
    keys = get_list(schema, "x-kubernetes-list-map-keys")
    return str(keys[0]) if keys else ""


def _merge_field(target: Json, patch: Json, schema: JsonObject) -> Json:
    if isinstance(patch, dict):
        if get_str(schema, "x-kubernetes-map-type") == "atomic" and not schema.get("properties"):
            return merge(target, patch)
        return _merge_object(target if isinstance(target, dict) else {}, patch, schema)
    if not isinstance(patch, list):
        return patch
    items = target if isinstance(target, list) else []
    kind = get_str(schema, "x-kubernetes-list-type")
    if kind == "set":
        return [*items, *(item for item in patch if item not in items)]
    return _merge_items(items, patch, _key_of(schema), get_map(schema, "items")) if kind == "map" else patch


def _merge_items(items: Sequence[Json], patch: Sequence[Json], key: str, schema: JsonObject) -> list[Json]:
    merged: list[Json] = list(items)
    if any(isinstance(item, dict) and item.get("$patch") == "replace" and key not in item for item in patch):
        merged = []
    named = [item for item in patch if isinstance(item, dict) and key in item]
    for item in named:
        at = next(
            (index for index, old in enumerate(merged) if isinstance(old, dict) and old.get(key) == item[key]), None
        )
        if item.get("$patch") == "delete":
            if at is not None:
                del merged[at]
            continue
        old = merged[at] if at is not None else {}
        new = _merge_object(old if isinstance(old, dict) else {}, item, schema)
        if at is None:
            merged.append(new)
        else:
            merged[at] = new
    return _ordered(merged, named, key, items)


def _ordered(items: Sequence[Json], order: Sequence[Json], key: str, before: Sequence[Json] = ()) -> list[Json]:
    """Put the items that ``order`` names into its order, before others unless they stood behind them already."""

    def identity(item: Json) -> Json:
        return item.get(key) if key and isinstance(item, dict) else item

    wanted, places = [identity(item) for item in order], [identity(item) for item in before or items]
    listed = sorted((item for item in items if identity(item) in wanted), key=lambda item: wanted.index(identity(item)))
    others = [item for item in items if identity(item) not in wanted]
    result: list[Json] = []
    while listed and others:
        first, other = identity(listed[0]), identity(others[0])
        both = first in places and other in places
        result.append((others if both and places.index(other) < places.index(first) else listed).pop(0))
    return [*result, *listed, *others]
