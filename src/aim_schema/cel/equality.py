"""Comparing two values of a known type.

Lists of type ``set`` and ``map`` are equal in any order. Of an object, fields that the schema does not name are
compared only where both objects have them.
"""

import operator
from collections.abc import Callable, Hashable

from aim_api.tree import Json
from aim_schema.cel import values
from aim_schema.cel.types import Field, Type
from aim_schema.correlation import items_by_key, list_map_key
from aim_schema.listtypes import identity

Compare = Callable[[object, object], bool]


def comparison(kind: Type) -> Compare:
    """Return the comparison of two values of a type; values are decoded already."""
    if kind.exact:
        return operator.eq
    if kind.name == "list":
        return _list_comparison(kind)
    if kind.name == "map":
        return _map_comparison(comparison(kind.parameters[1]))
    if kind.fields is not None:
        return _object_comparison({field.key: field for field in kind.fields.values()})
    return values.equal


def _list_comparison(kind: Type) -> Compare:
    same = comparison(kind.parameters[0])

    def compare(left: object, right: object) -> bool:
        if not (isinstance(left, list) and isinstance(right, list)) or len(left) != len(right):
            return False
        if kind.list_type == "set":
            found = {identity(item) for item in left}
            return all(identity(item) in found for item in right)
        if kind.list_type == "map":
            return _same_items(left, right, kind.list_map_keys, same)
        return all(map(same, left, right))

    return compare


def _same_items(left: list[Json], right: list[Json], keys: tuple[str, ...], same: Compare) -> bool:
    by_key: dict[Hashable, Json] = items_by_key(left, keys)
    for item in right:
        key = list_map_key(item, keys)
        if key not in by_key or not same(by_key[key], item):
            return False
    return True


def _map_comparison(same: Compare) -> Compare:
    def compare(left: object, right: object) -> bool:
        if not (isinstance(left, dict) and isinstance(right, dict)) or len(left) != len(right):
            return False
        return all(key in right and same(value, right[key]) for key, value in left.items())

    return compare


def _object_comparison(fields: dict[str, Field]) -> Compare:
    comparisons = {key: comparison(field.type) for key, field in fields.items()}

    def compare(left: object, right: object) -> bool:
        if not (isinstance(left, dict) and isinstance(right, dict)) or len(left) != len(right):
            return False
        for key, value in left.items():
            other = right.get(key)
            same = comparisons.get(key)
            if same is None:
                if key in right and not values.equal(value, other):
                    return False
            elif (value is None) != (other is None) or (value is not None and not same(value, other)):
                return False
        return True

    return compare
