"""Static types of expressions.

Values that come from an object stay plain JSON. Where the schema's type differs from JSON's (numbers that must be
doubles, times, durations, bytes), the type carries a ``decode`` function, applied when a value is taken out or handed
to a function. Decoding a decoded value changes nothing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aim_schema.nodes import Node

Decode = Callable[[object], object]


@dataclass(frozen=True, slots=True, eq=False)
class Type:
    """A type; scalars are the constants of this module, and types made from a schema are compared by name.

    Attributes:
        name: ``int``, ``list``, ``optional_type``, or the name of an object or opaque type.
        parameters: the element type of a list, key and value type of a map, the type inside an optional or a type.
        fields: of an object, by escaped name; None for every other type.
        list_type: ``set`` or ``map`` where order does not count in comparisons.
        list_map_keys: the keys of a list of type ``map``.
        decode: turns JSON into a value of this type; None where it is one already.
        exact: whether Python's ``==`` compares two values of this type as CEL does.
    """

    name: str
    parameters: "tuple[Type, ...]" = ()
    fields: "Mapping[str, Field] | None" = None
    list_type: str = ""
    list_map_keys: tuple[str, ...] = ()
    decode: Decode | None = None
    exact: bool = False

    @property
    def is_scalar(self) -> bool:
        """Whether values are taken out whole: no parameters and no fields."""
        return not self.parameters and self.fields is None


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object: its name in JSON, its type and its schema."""

    key: str
    type: Type
    node: Node


class TypeVariable(Type):
    """A type that is not known yet; compared by identity."""

    __slots__ = ()


BOOL = Type("bool", exact=True)
INT = Type("int", exact=True)
UINT = Type("uint", exact=True)
DOUBLE = Type("double", exact=True)
STRING = Type("string", exact=True)
BYTES = Type("bytes", exact=True)
NULL = Type("null_type")
DYN = Type("dyn")
DURATION = Type("google.protobuf.Duration", exact=True)
TIMESTAMP = Type("google.protobuf.Timestamp", exact=True)
ANY_TYPE = Type("type")

A = Type("A")
"""Stands for any type in the signature of a function; every call gets a variable of its own."""
B = Type("B")
PARAMETERS = (A, B)

COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)

_SHOWN = {"google.protobuf.Duration": "duration", "google.protobuf.Timestamp": "timestamp", "null_type": "null"}


def list_of(element: Type) -> Type:
    """Return the type of a list."""
    return Type("list", (element,), exact=element.exact)


def map_of(key: Type, value: Type) -> Type:
    """Return the type of a map."""
    return Type("map", (key, value), exact=value.exact)


def optional_of(inner: Type) -> Type:
    """Return the type of an optional value."""
    return Type("optional_type", (inner,))


def type_of(inner: Type) -> Type:
    """Return the type of a type."""
    return Type("type", (inner,))


def is_optional(candidate: Type) -> bool:
    """Return whether a type is optional."""
    return candidate.name == "optional_type"


def is_dynamic(candidate: Type) -> bool:
    """Return whether a type is only known at run time."""
    return candidate is DYN or isinstance(candidate, TypeVariable)


def shown(candidate: Type) -> str:
    """Return a type as messages write it."""
    if isinstance(candidate, TypeVariable):
        return DYN.name
    name = _SHOWN.get(candidate.name, candidate.name)
    if not candidate.parameters:
        return name
    return f"{name}({', '.join(shown(parameter) for parameter in candidate.parameters)})"
