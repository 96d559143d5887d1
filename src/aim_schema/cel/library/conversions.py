"""Conversions between types, and parts of times and durations."""

import datetime as dt
import re
import zoneinfo
from collections.abc import Callable

from aim_schema import gotext, times
from aim_schema.cel import types
from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, Overload, function, member
from aim_schema.cel.library.operators import as_int, as_timestamp, as_uint
from aim_schema.cel.types import Type
from aim_schema.cel.values import TypeValue, type_name
from aim_schema.times import NANOSECONDS, Duration, Timestamp

_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*(?:e[+-]?[0-9]+)?|\.[0-9]+(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
_BOOLEANS = {"1": True, "t": True, "T": True, "TRUE": True, "true": True, "True": True}
_BOOLEANS |= {"0": False, "f": False, "F": False, "FALSE": False, "false": False, "False": False}


def _refuse(target: str) -> CelError:
    return CelError(f"type conversion error from 'string' to '{target}'")


def _int_of_text(text: str) -> int:
    if _INTEGER.fullmatch(text) is None or not -(2**63) <= int(text) < 2**63:
        raise _refuse("int")
    return int(text)


def _uint_of_text(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text) >= 2**64:
        raise _refuse("uint")
    return as_uint(int(text))


def _double_of_text(text: str) -> float:
    if _FLOAT.fullmatch(text) is None:
        raise _refuse("double")
    return float(text)


def _bool_of_text(text: str) -> bool:
    if text not in _BOOLEANS:
        raise _refuse("bool")
    return _BOOLEANS[text]


def _duration_of_text(text: str) -> Duration:
    duration = times.parse_duration(text)
    if duration is None:
        raise _refuse("google.protobuf.Duration")
    return duration


def _timestamp_of_text(text: str) -> Timestamp:
    moment = times.parse_timestamp(text)
    if moment is None:
        raise _refuse("google.protobuf.Timestamp")
    return as_timestamp(moment.nanoseconds, moment.offset)


def _int_of_double(value: float) -> int:
    if value != value or abs(value) >= 2.0**63:  # noqa: PLR0124 - only NaN differs from itself
        raise CelError("integer overflow")
    return int(value)


def _uint_of_double(value: float) -> int:
    if value != value or value < 0 or value >= 2.0**64:  # noqa: PLR0124 - only NaN differs from itself
        raise CelError("unsigned integer overflow")
    return as_uint(int(value))


def _text_of_bytes(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise CelError("invalid UTF-8 in bytes, cannot convert to string") from None


def _same(value: object) -> object:
    return value


def _conversions(
    target: Type, sources: dict[Type, Callable[..., object]], *, identity: bool = True
) -> tuple[Overload, ...]:
    same = [function((target,), target, _same)] if identity else []
    return (*same, *(function((source,), target, convert) for source, convert in sources.items()))


def text_of_bool(value: bool) -> str:  # noqa: FBT001 - the value to convert
    """Return ``true`` or ``false``."""
    return "true" if value else "false"


_CONVERSIONS: Functions = {
    "bool": _conversions(types.BOOL, {types.STRING: _bool_of_text}),
    "bytes": _conversions(types.BYTES, {types.STRING: lambda text: text.encode()}),
    "double": _conversions(types.DOUBLE, {types.INT: float, types.UINT: float, types.STRING: _double_of_text}),
    "duration": _conversions(types.DURATION, {types.INT: Duration, types.STRING: _duration_of_text}),
    "dyn": (function((types.A,), types.DYN, _same),),
    "int": _conversions(
        types.INT,
        {
            types.DOUBLE: _int_of_double,
            types.DURATION: lambda span: span.nanoseconds,
            types.STRING: _int_of_text,
            types.TIMESTAMP: lambda moment: moment.nanoseconds // NANOSECONDS,
            types.UINT: lambda value: as_int(int(value)),
        },
    ),
    "string": _conversions(
        types.STRING,
        {
            types.BOOL: text_of_bool,
            types.BYTES: _text_of_bytes,
            types.DOUBLE: gotext.number,
            types.DURATION: str,
            types.INT: str,
            types.TIMESTAMP: str,
            types.UINT: lambda value: str(int(value)),
        },
    ),
    "timestamp": _conversions(
        types.TIMESTAMP,
        {types.INT: lambda seconds: as_timestamp(seconds * NANOSECONDS), types.STRING: _timestamp_of_text},
    ),
    "type": (function((types.A,), types.type_of(types.A), lambda value: TypeValue(type_name(value))),),
    "uint": _conversions(types.UINT, {types.DOUBLE: _uint_of_double, types.INT: as_uint, types.STRING: _uint_of_text}),
}


def _zoned(moment: Timestamp, zone: str) -> dt.datetime:
    if ":" not in zone:
        try:
            name = zone if zone not in ("", "Local") else "UTC"
            offset = moment.at_offset(0).astimezone(zoneinfo.ZoneInfo(name)).utcoffset()
        except (zoneinfo.ZoneInfoNotFoundError, ValueError):
            raise CelError(f"unknown time zone {zone}") from None
        assert offset is not None
        return moment.at_offset(int(offset.total_seconds()))
    hours, _, minutes = zone.partition(":")
    for part in (hours, minutes):
        if _INTEGER.fullmatch(part) is None:
            raise CelError(f"strconv.Atoi: parsing {gotext.quote(part)}: invalid syntax")
    shift = int(hours) * 60 + (-int(minutes) if zone.startswith("-") else int(minutes))
    return moment.at_offset(shift * 60)


def _accessor(read: Callable[[dt.datetime], int], span_unit: int = 0) -> tuple[Overload, ...]:
    overloads = [
        member((types.TIMESTAMP,), types.INT, lambda moment: read(moment.at_offset(0))),
        member((types.TIMESTAMP, types.STRING), types.INT, lambda moment, zone: read(_zoned(moment, zone))),
    ]
    if span_unit:
        overloads.append(member((types.DURATION,), types.INT, lambda span: int(span.nanoseconds / span_unit)))
    return tuple(overloads)


_ACCESSORS: Functions = {
    "getFullYear": _accessor(lambda moment: moment.year),
    "getMonth": _accessor(lambda moment: moment.month - 1),
    "getDayOfYear": _accessor(lambda moment: moment.timetuple().tm_yday - 1),
    "getDayOfMonth": _accessor(lambda moment: moment.day - 1),
    "getDate": _accessor(lambda moment: moment.day),
    "getDayOfWeek": _accessor(lambda moment: moment.isoweekday() % 7),
    "getHours": _accessor(lambda moment: moment.hour, 3600 * NANOSECONDS),
    "getMinutes": _accessor(lambda moment: moment.minute, 60 * NANOSECONDS),
    "getSeconds": _accessor(lambda moment: moment.second, NANOSECONDS),
    "getMilliseconds": _accessor(lambda moment: moment.microsecond // 1000, 1_000_000),
}

FUNCTIONS: Functions = {**_CONVERSIONS, **_ACCESSORS}
