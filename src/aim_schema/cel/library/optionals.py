"""Functions on optional values; ``or``, ``orValue`` and the macros are the compiler's."""

from aim_schema.cel import types
from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, function, member
from aim_schema.cel.types import A, list_of, optional_of
from aim_schema.cel.values import NONE, Optional, is_zero

_OPTIONAL = optional_of(A)
_LIST = list_of(A)


def _value(optional: Optional) -> object:
    if not optional.present:
        raise CelError("optional.none() dereference")
    return optional.value


def _of(value: object) -> Optional:
    return Optional(value, present=True)


def _of_non_zero(value: object) -> Optional:
    return NONE if is_zero(value) else _of(value)


def _unwrap(optionals: list[Optional]) -> list[object]:
    return [optional.value for optional in optionals if optional.present]


FUNCTIONS: Functions = {
    "optional.of": (function((A,), _OPTIONAL, _of),),
    "optional.ofNonZeroValue": (function((A,), _OPTIONAL, _of_non_zero),),
    "optional.none": (function((), _OPTIONAL, lambda: NONE),),
    "value": (member((_OPTIONAL,), A, _value),),
    "hasValue": (member((_OPTIONAL,), types.BOOL, lambda optional: optional.present),),
    "first": (member((_LIST,), _OPTIONAL, lambda items: _of(items[0]) if items else NONE),),
    "last": (member((_LIST,), _OPTIONAL, lambda items: _of(items[-1]) if items else NONE),),
    "optional.unwrap": (function((list_of(_OPTIONAL),), _LIST, _unwrap),),
    "unwrapOpt": (member((list_of(_OPTIONAL),), _LIST, _unwrap),),
}
