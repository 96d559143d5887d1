"""Arithmetic and comparison."""

import operator
from collections.abc import Callable

from aim_schema.cel import types
from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, Implementation, Overload, function
from aim_schema.cel.values import UInt
from aim_schema.times import MAX_NANOSECONDS, Duration, Timestamp

MIN_INT, MAX_INT, MAX_UINT = -(2**63), 2**63 - 1, 2**64 - 1
MIN_UNIX_SECONDS, MAX_UNIX_SECONDS = -62135596800, 253402300799
_NANOSECONDS = 1_000_000_000


def as_int(value: int) -> int:
    """Return an integer that fits 64 bits; an error otherwise."""
    if MIN_INT <= value <= MAX_INT:
        return value
    raise CelError("integer overflow")


def as_uint(value: int) -> UInt:
    """Return an unsigned integer that fits 64 bits; an error otherwise."""
    if 0 <= value <= MAX_UINT:
        return UInt(value)
    raise CelError("unsigned integer overflow")


def as_duration(nanoseconds: int) -> Duration:
    """Return a duration that fits 64 bits; an error otherwise."""
    if -MAX_NANOSECONDS - 1 <= nanoseconds <= MAX_NANOSECONDS:
        return Duration(nanoseconds)
    raise CelError("duration overflow")


def as_timestamp(nanoseconds: int, offset: int = 0) -> Timestamp:
    """Return a time within the years 1 to 9999; an error otherwise."""
    if MIN_UNIX_SECONDS <= nanoseconds // _NANOSECONDS <= MAX_UNIX_SECONDS:
        return Timestamp(nanoseconds, offset)
    raise CelError("timestamp overflow")


def _quotient(left: int, right: int) -> int:
    if right == 0:
        raise CelError("division by zero")
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: int, right: int) -> int:
    if right == 0:
        raise CelError("modulus by zero")
    return left - right * _quotient(left, right)


def _divide(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or left != left:  # noqa: PLR0124 - only NaN differs from itself
        return float("nan")
    negative = (left < 0) != str(right).startswith("-")
    return float("-inf") if negative else float("inf")


def _numbers(
    integers: Callable[[int, int], int], doubles: Callable[[float, float], float] | None
) -> tuple[Overload, ...]:
    overloads = [
        function((types.INT, types.INT), types.INT, lambda a, b: as_int(integers(a, b))),
        function((types.UINT, types.UINT), types.UINT, lambda a, b: as_uint(integers(int(a), int(b)))),
    ]
    if doubles is not None:
        overloads.append(function((types.DOUBLE, types.DOUBLE), types.DOUBLE, doubles))
    return tuple(overloads)


def _append(left: list[object], right: list[object]) -> list[object]:
    return left + right


def _plus(moment: Timestamp, span: Duration) -> Timestamp:
    return as_timestamp(moment.nanoseconds + span.nanoseconds, moment.offset)


_ADD = (
    *_numbers(operator.add, operator.add),
    function((types.STRING, types.STRING), types.STRING, operator.add),
    function((types.BYTES, types.BYTES), types.BYTES, operator.add),
    function((types.list_of(types.A), types.list_of(types.A)), types.list_of(types.A), _append),
    function(
        (types.DURATION, types.DURATION),
        types.DURATION,
        lambda a, b: as_duration(a.nanoseconds + b.nanoseconds),
    ),
    function((types.TIMESTAMP, types.DURATION), types.TIMESTAMP, _plus),
    function((types.DURATION, types.TIMESTAMP), types.TIMESTAMP, lambda span, moment: _plus(moment, span)),
)
_SUBTRACT = (
    *_numbers(operator.sub, operator.sub),
    function(
        (types.DURATION, types.DURATION),
        types.DURATION,
        lambda a, b: as_duration(a.nanoseconds - b.nanoseconds),
    ),
    function(
        (types.TIMESTAMP, types.DURATION),
        types.TIMESTAMP,
        lambda moment, span: as_timestamp(moment.nanoseconds - span.nanoseconds, moment.offset),
    ),
    function(
        (types.TIMESTAMP, types.TIMESTAMP),
        types.DURATION,
        lambda a, b: as_duration(a.nanoseconds - b.nanoseconds),
    ),
)


def _ordered(left: float, right: float) -> bool:
    if left != left or right != right:  # noqa: PLR0124 - only NaN differs from itself
        raise CelError("NaN values cannot be ordered")
    return True


def _comparison(compare: Implementation) -> tuple[Overload, ...]:
    def numbers(left: float, right: float) -> object:
        return _ordered(left, right) and compare(left, right)

    kinds = (types.INT, types.UINT, types.DOUBLE)
    mixed = [
        function((left, right), types.BOOL, numbers if types.DOUBLE in (left, right) else compare)
        for left in kinds
        for right in kinds
    ]
    others = (types.STRING, types.BOOL, types.BYTES, types.TIMESTAMP, types.DURATION)
    return (*mixed, *(function((kind, kind), types.BOOL, compare) for kind in others))


def _sizes() -> tuple[Overload, ...]:
    sized = (types.STRING, types.BYTES, types.list_of(types.A), types.map_of(types.A, types.B))
    free = (function((kind,), types.INT, len) for kind in sized)
    members = (Overload((kind,), types.INT, len, is_member=True) for kind in sized)
    return (*free, *members)


FUNCTIONS: Functions = {
    "_+_": _ADD,
    "_-_": _SUBTRACT,
    "_*_": _numbers(operator.mul, operator.mul),
    "_/_": _numbers(_quotient, _divide),
    "_%_": _numbers(_remainder, None),
    "-_": (
        function((types.INT,), types.INT, lambda value: as_int(-value)),
        function((types.DOUBLE,), types.DOUBLE, operator.neg),
    ),
    "!_": (function((types.BOOL,), types.BOOL, operator.not_),),
    "_<_": _comparison(operator.lt),
    "_<=_": _comparison(operator.le),
    "_>_": _comparison(operator.gt),
    "_>=_": _comparison(operator.ge),
    "size": _sizes(),
}
