"""Pruning: fields that the schema does not name are dropped and reported."""

from aim_api.tree import Json, JsonObject
from aim_schema.nodes import META_FIELDS, Node


def prune(obj: JsonObject, root: Node) -> tuple[JsonObject, list[str]]:
    """Return a pruned copy and the sorted paths of the fields it lacks; the root's own metadata fields stay."""
    unknown: list[str] = []
    pruned = _object(obj, root, "", unknown, embedded=True)
    return pruned, sorted(unknown)


def prune_value(value: Json, node: Node) -> Json:
    """Return a pruned copy of a value inside an object."""
    return _value(value, node, "", [])


def _value(value: Json, node: Node | None, path: str, unknown: list[str]) -> Json:
    if isinstance(value, dict):
        return _object(value, node, path, unknown, embedded=node is not None and node.embedded)
    if isinstance(value, list):
        return _items(value, node, path, unknown)
    return value


def _object(value: JsonObject, node: Node | None, path: str, unknown: list[str], *, embedded: bool) -> JsonObject:
    kept: JsonObject = {}
    prefix = f"{path}." if path else ""
    for key, item in value.items():
        if embedded and key in META_FIELDS:
            kept[key] = copy(item)
            continue
        known = None if node is None else node.properties.get(key)
        if known is not None:
            kept[key] = _value(item, known, prefix + key, unknown) if isinstance(item, dict | list) else item
        elif node is not None and node.additional is not None:
            kept[key] = _additional(item, node, prefix + key, unknown)
        elif node is not None and node.preserve_unknown:
            kept[key] = copy(item)
        else:
            unknown.append(prefix + key)
    return kept


def _additional(item: Json, node: Node, path: str, unknown: list[str]) -> Json:
    """Further keys follow their schema; where only a boolean allows them, what lies in them is unknown."""
    return _value(item, node.additional_node, path, unknown)


def _items(value: list[Json], node: Node | None, path: str, unknown: list[str]) -> list[Json]:
    if node is not None and node.preserve_unknown:
        return [_preserved(item, node.items, f"{path}[{index}]", unknown) for index, item in enumerate(value)]
    below = None if node is None else node.items
    return [
        _value(item, below, f"{path}[{index}]", unknown) if isinstance(item, dict | list) else item
        for index, item in enumerate(value)
    ]


def _preserved(item: Json, node: Node | None, path: str, unknown: list[str]) -> Json:
    """Items of a list that preserves unknown fields keep theirs as well; what their schema names is still pruned."""
    if node is None:
        return copy(item)
    if isinstance(item, list):
        return [_preserved(each, node.items, f"{path}[{index}]", unknown) for index, each in enumerate(item)]
    if not isinstance(item, dict):
        return item
    prefix = f"{path}."
    kept: JsonObject = {}
    for key, each in item.items():
        named = node.properties.get(key)
        if node.embedded and key in META_FIELDS:
            kept[key] = copy(each)
        elif named is not None or node.additional is not None:
            kept[key] = _value(each, named or node.additional_node, prefix + key, unknown)
        else:
            kept[key] = copy(each)
    return kept


def copy(value: Json) -> Json:
    """Return a deep copy of a JSON value."""
    if isinstance(value, dict):
        return {key: copy(item) if isinstance(item, dict | list) else item for key, item in value.items()}
    if isinstance(value, list):
        return [copy(item) if isinstance(item, dict | list) else item for item in value]
    return value
