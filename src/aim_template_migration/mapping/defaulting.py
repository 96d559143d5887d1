"""Schema defaults, applied as an API server applies them, and equality after them (pure)."""

import copy

from aim_api.tree import Json, JsonObject, get_map


def with_defaults(value: Json, schema: JsonObject) -> Json:
    """Return ``value`` with the defaults of a structural schema filled in where a property is absent.

    A null for a property that has a default and is not nullable counts as absent, as on an API server.
    """
    if isinstance(value, dict):
        return _object_with_defaults(value, schema)
    items = get_map(schema, "items")
    if isinstance(value, list) and items:
        return [with_defaults(item, items) for item in value]
    return value


def _object_with_defaults(value: JsonObject, schema: JsonObject) -> JsonObject:
    filled = dict(value)
    properties = get_map(schema, "properties")
    for name, below in properties.items():
        if not isinstance(below, dict):
            continue
        if "default" in below and (name not in filled or (filled[name] is None and below.get("nullable") is not True)):
            filled[name] = copy.deepcopy(below["default"])
        if name in filled:
            filled[name] = with_defaults(filled[name], below)
    others = get_map(schema, "additionalProperties")
    if others:
        filled |= {name: with_defaults(item, others) for name, item in filled.items() if name not in properties}
    return filled


def spec_schema(schema: JsonObject) -> JsonObject:
    """Return the schema of ``spec`` from the schema of a whole object."""
    return get_map(schema, "properties", "spec")


def is_empty(value: Json) -> bool:
    """Return whether a value states nothing: null, or an empty text, list or object."""
    return not value and (value is None or isinstance(value, (str, list, dict)))


def normalised(value: Json) -> Json:
    """Return ``value`` in the form in which equal meanings are equal: no empty members, environments by name.

    Lists of objects that all have a name, like environments, are sets by name to Kubernetes; other lists keep their
    order.
    """
    if isinstance(value, dict):
        kept = {key: normalised(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if not is_empty(item)}
    if isinstance(value, list):
        items = [normalised(item) for item in value]
        names = [item.get("name") if isinstance(item, dict) else None for item in items]
        if items and all(isinstance(name, str) for name in names):
            return [item for _, item in sorted(zip(map(str, names), items, strict=True), key=lambda pair: pair[0])]
        return items
    return value
