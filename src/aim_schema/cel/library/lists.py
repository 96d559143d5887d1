"""Functions on lists and sets."""

import operator
from collections.abc import Callable
from functools import reduce
from itertools import pairwise

from aim_schema.cel import types, values
from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, Overload, function, member
from aim_schema.cel.library.operators import as_duration, as_int, as_uint
from aim_schema.cel.types import A, Type, list_of
from aim_schema.cel.values import UInt
from aim_schema.times import Duration

_Items = list[object]
_ANY_LIST = list_of(A)
_SUMMABLE: tuple[tuple[Type, object, Callable[..., object]], ...] = (
    (types.INT, 0, lambda a, b: as_int(a + b)),
    (types.UINT, UInt(0), lambda a, b: as_uint(int(a) + int(b))),
    (types.DOUBLE, 0.0, operator.add),
    (types.DURATION, Duration(0), lambda a, b: as_duration(a.nanoseconds + b.nanoseconds)),
)


def _of_comparables(result: Type | None, run: Callable[..., object]) -> tuple[Overload, ...]:
    """Return an overload per comparable element type; without a result type the element's own is returned."""
    return tuple(member((list_of(kind),), kind if result is None else result, run) for kind in types.COMPARABLE)


def _is_sorted(items: list[float]) -> bool:
    return all(not first > second for first, second in pairwise(items))


def _extreme(name: str, choose: Callable[..., object]) -> Callable[[_Items], object]:
    def run(items: _Items) -> object:
        if not items:
            raise CelError(f"{name} called on empty list")
        return choose(items)

    return run


def _sums() -> tuple[Overload, ...]:
    def summing(zero: object, add: Callable[..., object]) -> Callable[[_Items], object]:
        return lambda items: reduce(add, items, zero)

    return tuple(member((list_of(kind),), kind, summing(zero, add)) for kind, zero, add in _SUMMABLE)


def _index_of(items: _Items, wanted: object) -> int:
    return next((index for index, item in enumerate(items) if values.equal(item, wanted)), -1)


def _last_index_of(items: _Items, wanted: object) -> int:
    return next((index for index in reversed(range(len(items))) if values.equal(items[index], wanted)), -1)


def _slice(items: _Items, start: int, end: int) -> _Items:
    if start < 0 or end < 0:
        raise CelError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise CelError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise CelError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return items[start:end]


def _flatten(items: _Items, depth: int = 1) -> _Items:
    if depth < 0:
        raise CelError("level must be non-negative")
    flat: _Items = []
    for item in items:
        if isinstance(item, list) and depth > 0:
            flat.extend(_flatten(item, depth - 1))
        else:
            flat.append(item)
    return flat


def _distinct(items: _Items) -> _Items:
    found: _Items = []
    for item in items:
        if not values.contains(found, item):
            found.append(item)
    return found


def sort_by_keys(items: _Items, keys: list[float]) -> _Items:
    """Return items in the order of their keys; the keys are of one comparable type."""
    if len({values.type_name(key) for key in keys}) > 1:
        raise CelError("list elements must have the same type")
    return [items[index] for index in sorted(range(len(items)), key=keys.__getitem__)]


def _contains_all(items: _Items, wanted: _Items) -> bool:
    return all(values.contains(items, item) for item in wanted)


FUNCTIONS: Functions = {
    "isSorted": _of_comparables(types.BOOL, _is_sorted),
    "sum": _sums(),
    "min": _of_comparables(None, _extreme("min", min)),
    "max": _of_comparables(None, _extreme("max", max)),
    "indexOf": (member((_ANY_LIST, A), types.INT, _index_of),),
    "lastIndexOf": (member((_ANY_LIST, A), types.INT, _last_index_of),),
    "slice": (member((_ANY_LIST, types.INT, types.INT), _ANY_LIST, _slice),),
    "flatten": (
        member((list_of(_ANY_LIST),), _ANY_LIST, _flatten),
        member((list_of(types.DYN), types.INT), list_of(types.DYN), _flatten),
    ),
    "sort": tuple(
        member((list_of(kind),), list_of(kind), lambda items: sort_by_keys(items, items)) for kind in types.COMPARABLE
    ),
    "lists.range": (function((types.INT,), list_of(types.INT), lambda count: list(range(count))),),
    "reverse": (member((_ANY_LIST,), _ANY_LIST, lambda items: items[::-1]),),
    "distinct": (member((_ANY_LIST,), _ANY_LIST, _distinct),),
    "sets.contains": (function((_ANY_LIST, _ANY_LIST), types.BOOL, _contains_all),),
    "sets.equivalent": (
        function((_ANY_LIST, _ANY_LIST), types.BOOL, lambda a, b: _contains_all(a, b) and _contains_all(b, a)),
    ),
    "sets.intersects": (
        function((_ANY_LIST, _ANY_LIST), types.BOOL, lambda a, b: any(values.contains(b, item) for item in a)),
    ),
}
