"""What a YAML scalar means to kubectl.

kubectl reads YAML 1.1 with exceptions of its own: ``y`` and ``on`` are booleans, ``0755`` is octal, ``1e3`` a number,
but ``12:30`` and dates are text. Whoever reads manifests has to agree with it, or a value would change its type between
what was checked and what is applied. Only whole numbers beyond 64 bits stay exact here, where kubectl rounds them.
"""

import base64
import binascii
import math
import re
from functools import lru_cache

from aim_api.tree import Json

_TRUE = frozenset({"y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE"})
_FALSE = frozenset({"n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE"})
_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_NOT_FINITE = frozenset(
    {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"}
)
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO]?[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MOST_DIGITS = 400
_KNOWN = 8192  # most scalars of a fleet come again and again
_LOOSE_UNDERSCORE = re.compile(r"(?<![0-9])_|_(?![0-9])")
_MOST = 2**64 - 1
_PREFIX = "tag:yaml.org,2002:"
_WHOLE_BELOW = 1e21
"""Go writes whole floats below this without an exponent, so that they reach the server as integers."""


class ScalarError(ValueError):
    """A scalar that kubectl refuses; the message says why."""


def resolve(text: str, tag: str | None, *, plain: bool) -> Json:
    """Return the value of a scalar.

    Args:
        text: its text without quotes.
        tag: its explicit tag, None where it has none.
        plain: whether it stands without quotes.

    Raises:
        ScalarError: kubectl refuses it.
    """
    if tag is None or tag == "!":
        return plain_value(text) if plain and tag is None else text
    if not tag.startswith(_PREFIX):
        return text
    return _tagged(text, tag.removeprefix(_PREFIX))


@lru_cache(maxsize=_KNOWN)
def plain_value(text: str) -> Json:
    """Return the value of a scalar without quotes and tag.

    Raises:
        ScalarError: it is not a finite number, which JSON cannot express.
    """
    if text in _NULL:
        return None
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    if text in _NOT_FINITE:
        raise ScalarError(f"{text} is no value that JSON can express")
    if text[0] in "+-.0123456789":
        number = _number(text)
        if number is not None:
            return number
    return text


def key_text(value: Json) -> str:
    """Return the value of a key as kubectl writes it: keys of JSON are text.

    Raises:
        ScalarError: the key is empty or a collection.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    raise ScalarError("a key must be text, a number or a boolean")


def _number(text: str) -> int | float | None:
    if text[0] == "." and _LOOSE_UNDERSCORE.search(text):
        return None
    digits = text.replace("_", "")
    if _INTEGER.fullmatch(digits):
        whole = _integer(digits)
        if whole is not None:
            return whole
    return _from_float(digits) if _FLOAT.fullmatch(digits) else None


def _integer(digits: str) -> int | None:
    """Return an integer; one of another base than ten that needs more than 64 bits is none to kubectl either."""
    negative, magnitude = digits.startswith("-"), digits.lstrip("+-")
    if len(magnitude) > _MOST_DIGITS:
        return None
    decimal = not magnitude.startswith("0") or magnitude == "0"
    prefixed = magnitude[:2].lower() in ("0x", "0b", "0o")
    value = int(magnitude, 0) if prefixed or decimal else int(magnitude, 8)
    if not decimal and value > _MOST:
        return None
    return -value if negative else value


def _from_float(digits: str) -> int | float | None:
    value = float(digits)
    if math.isinf(value):
        return None
    return int(value) if value.is_integer() and abs(value) < _WHOLE_BELOW else value


def _tagged(text: str, name: str) -> Json:
    if name in ("str", "timestamp"):
        return text
    if name == "binary":
        return _binary(text)
    value = plain_value(text)
    fits = {
        "null": value is None,
        "bool": isinstance(value, bool),
        "int": isinstance(value, int) and not isinstance(value, bool) and _is_integer_text(text),
        "float": isinstance(value, (int, float)) and not isinstance(value, bool),
    }
    if fits.get(name) is False:
        raise ScalarError(f"the value is no {name}, as its tag says")
    return value if name in fits else text


def _is_integer_text(text: str) -> bool:
    return _INTEGER.fullmatch(text.replace("_", "")) is not None


def _binary(text: str) -> str:
    try:
        return base64.b64decode("".join(text.split()), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        raise ScalarError("the text below the tag !!binary is no base64 of UTF-8 text") from None
