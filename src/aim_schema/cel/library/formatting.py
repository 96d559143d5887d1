"""``"%s of %d".format([a, b])``: values put into a text."""

import math
import re
from collections.abc import Sequence

from aim_schema import gotext
from aim_schema.cel.failures import CelError
from aim_schema.cel.values import TypeValue, type_name
from aim_schema.times import Duration, Timestamp

_CLAUSE = re.compile(r"%(?:%|(?:\.([0-9]+))?(.)?)", re.DOTALL)
_DEFAULT_PRECISION = 6
_INFINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_WORDS = {
    "d": "decimal clause can only be used on integers",
    "f": "fixed-point clause can only be used on doubles",
    "e": "scientific clause can only be used on doubles",
    "b": "only integers and bools can be formatted as binary",
    "o": "octal clause can only be used on integers",
    "x": "only integers, byte buffers, and strings can be formatted as hex",
    "s": "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and "
    "timestamps",
}


def format_text(template: str, values: list[object]) -> str:
    """Return a template with its clauses replaced by values."""
    used = 0

    def replace(match: re.Match[str]) -> str:
        nonlocal used
        if match[0] == "%%":
            return "%"
        if used >= len(values):
            raise CelError(f"index {used} out of range")
        if match[2] is None:
            raise CelError("unexpected end of string")
        used += 1
        precision = _DEFAULT_PRECISION if match[1] is None else int(match[1])
        return _formatted(match[2], precision, values[used - 1])

    return _CLAUSE.sub(replace, template)


_ACCEPTED = {
    "s": "list map int uint double bool string bytes null_type type google.protobuf.Timestamp google.protobuf.Duration",
    "d": "int uint",
    "f": "double string",
    "e": "double string",
    "b": "int uint bool",
    "x": "int uint string bytes",
    "o": "int uint",
}


def static_problem(template: str, kinds: Sequence[str]) -> tuple[int | None, str] | None:
    """Return what is wrong with a template for values of the given types, and the index of the value it is about."""
    clauses = [match for match in _CLAUSE.finditer(template) if match[0] != "%%"]
    for index, match in enumerate(clauses):
        if match[2] is None:
            return None, "unexpected end of string"
        if index >= len(kinds):
            return None, f"index {index} out of range"
        accepted = _ACCEPTED.get(match[2].lower() if match[2] == "X" else match[2])
        if accepted is None:
            return None, f'could not parse formatting clause: unrecognized formatting clause "{match[2]}"'
        if kinds[index] not in ("dyn", *accepted.split()):
            return index, f"error during formatting: {_WORDS[match[2].lower()]}, was given {kinds[index]}"
    if len(kinds) > len(clauses):
        given = f"(expected {len(clauses)}, got {len(kinds)})"
        return None, f"too many arguments supplied to string.format {given}"
    return None


def _formatted(clause: str, precision: int, value: object) -> str:
    if clause == "s":
        return _text(value)
    if clause in "fe":
        return _double(clause, precision, value)
    if clause == "d" and isinstance(value, int) and not isinstance(value, bool):
        return str(int(value))
    if clause in "ob" and isinstance(value, int) and (clause == "b" or not isinstance(value, bool)):
        return format(int(value), clause)
    if clause in "xX":
        return _hexadecimal(clause, value)
    if clause not in _WORDS:
        raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{clause}"')
    raise _unfit(clause, value)


def _unfit(clause: str, value: object) -> CelError:
    return CelError(f"error during formatting: {_WORDS[clause.lower()]}, was given {type_name(value)}")


def _double(clause: str, precision: int, value: object) -> str:
    number = _INFINITE.get(value) if isinstance(value, str) else value
    if not isinstance(number, float):
        raise _unfit(clause, value)
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    if clause == "f":
        return f"{number:,.{precision}f}"
    mantissa, _, exponent = f"{number:.{precision}e}".partition("e")
    return f"{mantissa}\u202f\u00d7\u202f10{exponent.replace('+', '').translate(_SUPERSCRIPTS)}"


_SUPERSCRIPTS = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")


def _hexadecimal(clause: str, value: object) -> str:
    if isinstance(value, str | bytes):
        data = value.encode() if isinstance(value, str) else value
        return data.hex().upper() if clause == "X" else data.hex()
    if isinstance(value, int) and not isinstance(value, bool):
        return format(int(value), clause)
    raise _unfit(clause, value)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | dict):
        return _literal(value)
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float):
        return gotext.number(value)
    if value is None:
        return "null"
    if isinstance(value, str | int | Duration | Timestamp | TypeValue):
        return str(value)
    raise _unfit("s", value)


def _literal(value: object) -> str:
    """Return a value as it would stand in an expression."""
    match value:
        case list():
            text = "[" + ", ".join(_literal(item) for item in value) + "]"
        case dict():
            text = "{" + ", ".join(sorted(f"{_literal(key)}:{_literal(item)}" for key, item in value.items())) + "}"
        case str():
            text = gotext.quote(value)
        case bytes():
            text = "b" + gotext.quote(value.decode(errors="replace"))
        case Timestamp():
            text = f"timestamp({gotext.quote(str(value))})"
        case Duration():
            text = f"duration({gotext.quote(str(value))})"
        case float():
            text = f"{value:.6f}" if math.isfinite(value) else gotext.quote(gotext.number(value))
        case _:
            text = _text(value)
    return text
