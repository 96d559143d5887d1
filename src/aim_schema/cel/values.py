"""Values of expressions.

Plain Python values carry most types: bool, int, float, str, bytes, None, list and dict. The others have classes here,
or, for the Kubernetes libraries, classes with a ``cel_type``.
"""

from dataclasses import dataclass

from aim_schema.times import Duration, Timestamp


class UInt(int):
    """An unsigned integer."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent."""

    value: object = None
    present: bool = False


NONE = Optional()


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type used as a value, as in ``type(self.port) == string``."""

    name: str

    def __str__(self) -> str:
        """Return the type's name."""
        return self.name


class Opaque:
    """A value of a Kubernetes library; subclasses name their type and define equality."""

    __slots__ = ()
    cel_type = ""


_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    UInt: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    dict: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    TypeValue: "type",
}
_NUMBERS = frozenset({int, UInt, float})


def type_name(value: object) -> str:
    """Return the name of a value's type."""
    name = _TYPE_NAMES.get(type(value))
    if name is None:
        assert isinstance(value, Opaque)
        return value.cel_type
    return name


def equal(left: object, right: object) -> bool:
    """Return whether two values are equal: numbers across their types, everything else within one type."""
    kind, other = type(left), type(right)
    if kind in _NUMBERS and other in _NUMBERS:
        return left == right
    if kind is not other:
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(key in right and equal(left[key], right[key]) for key in left)
    if isinstance(left, Optional) and isinstance(right, Optional):
        return left.present == right.present and equal(left.value, right.value)
    return left == right


def contains(values: object, value: object) -> bool:
    """Return whether a list has an equal element."""
    assert isinstance(values, list)
    return any(equal(each, value) for each in values)


def is_zero(value: object) -> bool:
    """Return whether a value is its type's zero: null, false, 0, or empty."""
    if isinstance(value, Duration):
        return value.nanoseconds == 0
    if isinstance(value, Opaque | TypeValue | Timestamp):
        return False
    return not value
