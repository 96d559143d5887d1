"""Values written as Go writes them, because the API server's messages are Go's renderings.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

from decimal import Decimal

from aim_api.tree import Json

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    '"': '\\"',
}
_JSON_ESCAPES: dict[str, str] = {
    **{chr(code): f"\\u{code:04x}" for code in range(0x20)},
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\\": "\\\\",
    '"': '\\"',
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}


def quote(text: str) -> str:
    """Return ``text`` in double quotes, escaped as ``%q`` does."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(_quoted(character) for character in text) + '"'


def _quoted(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 0x20 or code == 0x7F:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def number(value: float) -> str:
    """Return a number as ``%v`` does: shortest digits, an exponent below 1e-4 and from 1e6 on."""
    if isinstance(value, int):
        return str(value)
    return _float(value, small_exponent=-4, large_exponent=6)


def _float(value: float, *, small_exponent: int, large_exponent: int) -> str:
    if value != value:  # noqa: PLR0124 - only NaN differs from itself
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    scientific = len(digits) - 1 + exponent
    if value and (scientific < small_exponent or scientific >= large_exponent):
        mantissa = str(digits[0]) + ("." + "".join(map(str, digits[1:])) if len(digits) > 1 else "")
        return f"{'-' * sign}{mantissa}e{'-' if scientific < 0 else '+'}{abs(scientific):02d}"
    text = f"{Decimal(repr(value)):f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"


def json_text(value: Json) -> str:
    """Return compact JSON as Go's encoder writes it: sorted keys, ``<``, ``>`` and ``&`` escaped."""
    if isinstance(value, str):
        return f'"{value.translate(_JSON_TABLE)}"'
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float(value, small_exponent=-6, large_exponent=21).replace("e-0", "e-")
    if isinstance(value, list):
        return "[" + ",".join(json_text(item) for item in value) + "]"
    return "{" + ",".join(f"{json_text(key)}:{json_text(value[key])}" for key in sorted(value)) + "}"


_JSON_TABLE = str.maketrans(_JSON_ESCAPES)


def rejected(value: Json) -> str:
    """Return a rejected value as it stands in ``Invalid value: …`` and its relatives."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return number(value)
    return json_text(value)
