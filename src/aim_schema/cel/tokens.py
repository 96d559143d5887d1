"""Splitting an expression into tokens."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from aim_schema.cel.failures import CompileError
from aim_schema.cel.values import UInt

RESERVED = frozenset(
    [
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop"),
        *("namespace", "null", "package", "return", "true", "var", "void", "while"),
    ]
)
"""Words that cannot name a variable or a field; the API server escapes fields of these names."""

_LITERALS: dict[str, object] = {"true": True, "false": False, "null": None}
_MAX_INT = 2**63 - 1
_MAX_UINT = 2**64 - 1

_PREFIX = r"(?P<prefix>[bB][rR]|[rR]|[bB])?"
_TOKEN = re.compile(
    rf"""
    (?P<space>[\t\x20\r\n\f]+|//[^\n]*)
    |(?P<float>(?:[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?))
    |(?P<int>0x[0-9a-fA-F]+|[0-9]+)(?P<unsigned>[uU])?
    |{_PREFIX}(?P<quote>'''|\"\"\"|'|\")
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<operator>&&|\|\||==|!=|<=|>=|[-+*/%<>!?:.,()\[\]{{}}])
    """,
    re.VERBOSE,
)
_ESCAPE = re.compile(
    r"""\\(?:(?P<simple>[abfnrtv\\'"`?])|[xX](?P<hex>[0-9a-fA-F]{2})|u(?P<short>[0-9a-fA-F]{4})"""
    r"""|U(?P<long>[0-9a-fA-F]{8})|(?P<octal>[0-3][0-7]{2})|(?P<bad>.|$))""",
    re.DOTALL,
)
_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes:
        kind: ``literal``, ``name``, ``end``, or the text of an operator or of the word ``in``.
        value: of a literal.
    """

    kind: str
    text: str
    position: int
    value: object = None


def tokenize(expression: str) -> list[Token]:
    """Return the tokens of an expression, the last of kind ``end``; :class:`CompileError` where it has none."""
    return [*_tokens(expression), Token("end", "<EOF>", len(expression))]


def _tokens(expression: str) -> Iterator[Token]:
    position = 0
    while position < len(expression):
        match = _TOKEN.match(expression, position)
        if match is None:
            raise CompileError(position, f"Syntax error: token recognition error at: '{expression[position]}'")
        end = match.end()
        if match["quote"]:
            value, end = _string(expression, match)
            yield Token("literal", expression[position:end], position, value)
        elif match["float"]:
            yield Token("literal", match[0], position, float(match[0]))
        elif match["int"]:
            yield Token("literal", match[0], position, _integer(match, position))
        elif match["name"]:
            yield _word(match[0], position)
        elif match["operator"]:
            yield Token(match[0], match[0], position)
        position = end


def _word(text: str, position: int) -> Token:
    if text in _LITERALS:
        return Token("literal", text, position, _LITERALS[text])
    return Token("in" if text == "in" else "name", text, position)


def _integer(match: re.Match[str], position: int) -> int:
    value = int(match["int"], 16 if match["int"].startswith("0x") else 10)
    if match["unsigned"]:
        if value > _MAX_UINT:
            raise CompileError(position, "invalid uint literal")
        return UInt(value)
    if value > _MAX_INT + 1:  # one more than the largest is an integer after a minus sign
        raise CompileError(position, "invalid int literal")
    return value


def _string(expression: str, match: re.Match[str]) -> tuple[str | bytes, int]:
    quote, prefix = match["quote"], (match["prefix"] or "").lower()
    start, raw = match.end(), "r" in prefix
    end = start
    while not expression.startswith(quote, end):
        if end >= len(expression) or (len(quote) == 1 and expression[end] in "\r\n"):
            raise CompileError(
                match.start(), f"Syntax error: token recognition error at: '{expression[match.start() : end]}'"
            )
        end += 2 if expression[end] == "\\" and not raw else 1
    body = expression[start:end].replace("\r\n", "\n").replace("\r", "\n")
    if "b" not in prefix:
        return (body if raw else _ESCAPE.sub(lambda found: _character(found, match.start()), body)), end + len(quote)
    return (body.encode() if raw else _bytes(body, match.start())), end + len(quote)


def _character(match: re.Match[str], position: int) -> str:
    if match["simple"]:
        return _SIMPLE.get(match["simple"], match["simple"])
    if match["bad"] is not None:
        raise CompileError(position, "invalid string literal: unable to unescape string")
    digits = match["hex"] or match["short"] or match["long"]
    code = int(digits, 16) if digits else int(match["octal"], 8)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise CompileError(position, "invalid string literal: invalid unicode code point")
    return chr(code)


def _bytes(body: str, position: int) -> bytes:
    r"""In bytes, ``\x`` and octal escapes are bytes and Unicode escapes are not allowed."""
    parts, last = [], 0
    for match in _ESCAPE.finditer(body):
        parts.append(body[last : match.start()].encode())
        last = match.end()
        if match["short"] or match["long"]:
            raise CompileError(position, "invalid bytes literal: unable to unescape string")
        if match["hex"] or match["octal"]:
            parts.append(bytes([int(match["hex"], 16) if match["hex"] else int(match["octal"], 8)]))
        else:
            parts.append(_character(match, position).encode())
    return b"".join([*parts, body[last:].encode()])
