"""Value validation of strings and numbers."""

import struct
from collections.abc import Callable

from aim_api.tree import Json
from aim_schema import formats, gotext, problems
from aim_schema.nodes import Limits, Node
from aim_schema.paths import Path, value_name
from aim_schema.problems import Problem
from aim_schema.re2 import compile_pattern

Part = Callable[[Json, Path, list[Problem]], int]
"""Checks one aspect of a value, appends what it finds and returns how many checks took place."""

_INT_BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}


def string_part(node: Node) -> Part | int:
    """Return the check of a string's length, pattern and format, or the number of checks where nothing can fail."""
    limits, demand = node.limits, f"match '{node.pattern}'"
    pattern = compile_pattern(node.pattern) if node.pattern else None
    longest, shortest = limits.max_length, limits.min_length
    name = formats.checked(node.format, node.types[0] if len(node.types) == 1 else "")
    has_format = formats.CHECKS.get(name.replace("-", "")) if name else None
    count = 2 if has_format else 1
    if pattern is None and longest is None and not shortest and has_format is None:
        return count

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        assert isinstance(value, str)
        if longest is not None and len(value) > longest:
            found.append(problems.too_long(path, longest))
        elif shortest is not None and len(value) < shortest:
            found.append(problems.unfit(path, value, f"be at least {shortest} chars long"))
        elif pattern is not None and pattern.search(value) is None:
            found.append(problems.unfit(path, value, demand))
        if has_format is not None and not has_format(value):
            found.append(problems.wrong_type(path, name, value))
        return count

    return check


def number_part(node: Node) -> Part | int:
    """Return the check of a number's range and bounds, or the number of checks where nothing can fail."""
    limits = node.limits
    bounds = [_multiple_of(limits), _minimum(limits), _maximum(limits)]
    present = [bound for bound in bounds if bound is not None]
    factor = limits.multiple_of
    type_name = node.types[0] if len(node.types) == 1 else ""
    in_range = _range_check(type_name, node.format)
    if not present and in_range is None:
        return 2

    def check(value: Json, path: Path, found: list[Problem]) -> int:
        assert isinstance(value, int | float)
        if in_range is not None and not in_range(value):
            found.append(problems.whole(path, _out_of_range(type_name, node.format, path)))
        if factor is not None and _bound(factor, value) <= 0:
            found.append(problems.bad_factor(path, _bound(factor, value)))
        for bound in present:
            demand = bound(value)
            if demand:
                found.append(problems.unfit(path, value, demand))
        return 2

    return check


def _range_check(type_name: str, format_name: str) -> Callable[[float], bool] | None:
    if type_name == "integer":
        low, high = _INT_BOUNDS.get(format_name, _INT_BOUNDS["int64"])
        return lambda value: low <= value <= high and (isinstance(value, int) or value.is_integer())
    if type_name == "number" and format_name == "float":
        return _fits_float32
    return None


def _fits_float32(value: float) -> bool:
    try:
        struct.pack("<f", value)
    except OverflowError:
        return False
    return True


def _out_of_range(type_name: str, format_name: str, path: Path) -> str:
    known = formats.checked(format_name, type_name)
    kind = f"{type_name} with format {known}" if known else f"{type_name} (default format)"
    return f"Checked value must be of type {kind} in {value_name(path)}"


def _bound(limit: float, value: float) -> float:
    """Integers are compared with the integral part of a bound, as the API server does."""
    return int(limit) if isinstance(value, int) else limit


def _maximum(limits: Limits) -> Callable[[float], str] | None:
    maximum = limits.maximum
    if maximum is None:
        return None
    words = "be less than" if limits.exclusive_maximum else "be less than or equal to"

    def check(value: float) -> str:
        bound = _bound(maximum, value)
        exceeds = value >= bound if limits.exclusive_maximum else value > bound
        return f"{words} {gotext.number(bound)}" if exceeds else ""

    return check


def _minimum(limits: Limits) -> Callable[[float], str] | None:
    minimum = limits.minimum
    if minimum is None:
        return None
    words = "be greater than" if limits.exclusive_minimum else "be greater than or equal to"

    def check(value: float) -> str:
        bound = _bound(minimum, value)
        exceeds = value <= bound if limits.exclusive_minimum else value < bound
        return f"{words} {gotext.number(bound)}" if exceeds else ""

    return check


def _multiple_of(limits: Limits) -> Callable[[float], str] | None:
    factor = limits.multiple_of
    if factor is None:
        return None

    def check(value: float) -> str:
        step = _bound(factor, value)
        if step <= 0:
            return ""
        whole = (
            value % step == 0 if isinstance(value, int) else is_whole(1 / step * value if step < 1 else value / step)
        )
        return "" if whole else f"be a multiple of {gotext.number(step)}"

    return check


_MAX_SAFE_INTEGER = 2.0**53 - 1


def is_whole(value: float) -> bool:
    """Return whether a float counts as an integer: no more than rounding away from one that JSON carries exactly."""
    if not abs(value) <= _MAX_SAFE_INTEGER:
        return False
    return abs(value - round(value)) <= 1e-9 * abs(value)
