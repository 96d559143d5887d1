"""Defaulting, with the API server's rules about null.

A null that the schema neither allows nor replaces by a default is dropped from maps; one that has a default takes it;
a nullable null stays.
"""

from aim_api.tree import Json, JsonObject
from aim_schema.nodes import Node
from aim_schema.pruning import copy


def default(obj: JsonObject, root: Node) -> JsonObject:
    """Return a copy of an object with its defaults."""
    return _object(obj, root)


def _value(value: Json, node: Node | None) -> Json:
    if isinstance(value, dict):
        return copy(value) if node is None else _object(value, node)
    if isinstance(value, list):
        return [_item(item, None if node is None else node.items) for item in value]
    return value


def _object(value: JsonObject, node: Node) -> JsonObject:
    result: JsonObject = {}
    for key, item in value.items():
        below = node.below(key)
        if item is None and below is not None and not below.nullable:
            if below.default is not None:
                result[key] = _value(below.default, below)
        elif isinstance(item, dict | list):
            result[key] = _value(item, below)
        else:
            result[key] = item
    for key, below in node.properties.items():
        if below.default is not None and key not in result:
            result[key] = _value(below.default, below)
    return result


def _item(item: Json, node: Node | None) -> Json:
    if item is None and node is not None and not node.nullable:
        return _value(node.default, node)
    return _value(item, node)
