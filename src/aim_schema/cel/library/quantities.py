"""Kubernetes quantities, such as ``1500m`` and ``2Gi``."""

import re
from collections.abc import Callable
from fractions import Fraction

from aim_schema.cel import types
from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, function, member
from aim_schema.cel.library.operators import MAX_INT, MIN_INT
from aim_schema.cel.types import BOOL, DOUBLE, INT, STRING, Type
from aim_schema.cel.values import Opaque

_QUANTITY = re.compile(r"([+-]?)([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_EXPONENT = re.compile(r"[eE][+-]?[0-9]+")
_NANO = Fraction(1, 10**9)

_WRONG_FORMAT = r"quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_WRONG_NUMBER = "unable to parse numeric part of quantity"
_WRONG_SUFFIX = "unable to parse quantity's suffix"


class Quantity(Opaque):
    """A parsed quantity.

    Attributes:
        amount: the exact number.
        whole: whether it was written without a fraction, so that it can be read as an integer.
    """

    __slots__ = ("amount", "whole")
    cel_type = "kubernetes.Quantity"

    def __init__(self, amount: Fraction, *, whole: bool) -> None:
        self.amount = amount
        self.whole = whole

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.amount == other.amount

    def __hash__(self) -> int:
        return hash(self.amount)


QUANTITY = Type(Quantity.cel_type)


def parse_quantity(text: str) -> Quantity:
    """Return a quantity; :class:`CelError` where Kubernetes refuses the text."""
    match = _QUANTITY.fullmatch(text)
    if match is None or not text:
        raise CelError(_WRONG_FORMAT)
    sign, digits, _, decimals, suffix = match.groups(default="")
    if not digits and not decimals:
        raise CelError(_WRONG_FORMAT if not suffix else _WRONG_NUMBER)
    number = Fraction(int((digits + decimals) or "0"), 10 ** len(decimals))
    if suffix in _BINARY:
        amount, whole = number * 2 ** _BINARY[suffix], not decimals
    elif suffix in _DECIMAL or _EXPONENT.fullmatch(suffix):
        exponent = _DECIMAL[suffix] if suffix in _DECIMAL else int(suffix[1:])
        amount, whole = number * Fraction(10) ** exponent, exponent >= len(decimals)
    else:
        raise CelError(_WRONG_SUFFIX)
    rounded = -(-amount // _NANO) * _NANO
    return Quantity(-rounded if sign == "-" else rounded, whole=whole)


def _is_quantity(text: str) -> bool:
    try:
        parse_quantity(text)
    except CelError:
        return False
    return True


def _is_integer(quantity: Quantity) -> bool:
    return quantity.whole and MIN_INT <= quantity.amount <= MAX_INT


def _as_integer(quantity: Quantity) -> int:
    if not _is_integer(quantity):
        raise CelError("cannot convert value to integer")
    return int(quantity.amount)


def compare(left: Fraction, right: Fraction) -> int:
    """Return -1, 0 or 1."""
    return (left > right) - (left < right)


def _combined(combine: Callable[[Fraction, Fraction], Fraction]) -> Callable[[Quantity, Quantity | int], Quantity]:
    def run(left: Quantity, right: Quantity | int) -> Quantity:
        if isinstance(right, int):
            return Quantity(combine(left.amount, Fraction(right)), whole=left.whole)
        return Quantity(combine(left.amount, right.amount), whole=left.whole and right.whole)

    return run


_add = _combined(lambda left, right: left + right)
_subtract = _combined(lambda left, right: left - right)

FUNCTIONS: Functions = {
    "quantity": (function((STRING,), QUANTITY, parse_quantity),),
    "isQuantity": (function((STRING,), BOOL, _is_quantity),),
    "sign": (function((QUANTITY,), INT, lambda quantity: compare(quantity.amount, Fraction(0))),),
    "isGreaterThan": (member((QUANTITY, QUANTITY), BOOL, lambda a, b: a.amount > b.amount),),
    "isLessThan": (member((QUANTITY, QUANTITY), BOOL, lambda a, b: a.amount < b.amount),),
    "compareTo": (member((QUANTITY, QUANTITY), INT, lambda a, b: compare(a.amount, b.amount)),),
    "asApproximateFloat": (member((QUANTITY,), DOUBLE, lambda quantity: float(quantity.amount)),),
    "asInteger": (member((QUANTITY,), INT, _as_integer),),
    "isInteger": (member((QUANTITY,), BOOL, _is_integer),),
    "add": (member((QUANTITY, QUANTITY), QUANTITY, _add), member((QUANTITY, types.INT), QUANTITY, _add)),
    "sub": (member((QUANTITY, QUANTITY), QUANTITY, _subtract), member((QUANTITY, types.INT), QUANTITY, _subtract)),
}
