"""Functions on texts: searching, cutting, joining, patterns."""

import re

from aim_schema import gotext
from aim_schema.cel import types
from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, function, member
from aim_schema.cel.library.formatting import format_text
from aim_schema.cel.types import BOOL, INT, STRING, list_of
from aim_schema.re2 import PatternError, compile_pattern

_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}
_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))


def _pattern(pattern: str) -> re.Pattern[str]:
    try:
        return compile_pattern(pattern)
    except PatternError as error:
        raise CelError(str(error)) from None


def _matches(text: str, pattern: str) -> bool:
    return _pattern(pattern).search(text) is not None


def _find(text: str, pattern: str) -> str:
    found = _pattern(pattern).search(text)
    return found[0] if found else ""


def _find_all(text: str, pattern: str, limit: int = -1) -> list[str]:
    found = [match[0] for match in _pattern(pattern).finditer(text)]
    return found if limit < 0 else found[:limit]


def _out_of_range(index: int) -> CelError:
    return CelError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise _out_of_range(start)
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if not part:
        return len(text) if start is None else start
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise _out_of_range(start)
    return -1 if start >= len(text) else text.rfind(part, 0, start + len(part))


def _substring(text: str, start: int, end: int | None = None) -> str:
    last = len(text) if end is None else end
    if end is not None and start > end:
        raise CelError(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, last):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:last]


def _split(text: str, separator: str, limit: int = -1) -> list[str]:
    if limit == 0:
        return []
    if not separator:
        letters = list(text)
        return letters if limit < 0 or len(letters) <= limit else [*letters[: limit - 1], "".join(letters[limit - 1 :])]
    return text.split(separator, limit - 1 if limit > 0 else -1)


def _join(texts: list[object], separator: str = "") -> str:
    parts: list[str] = []
    for text in texts:
        if not isinstance(text, str):
            raise CelError(f"join: invalid input: {0 if text is None else text}")
        parts.append(text)
    return separator.join(parts)


def _quote(text: str) -> str:
    return '"' + "".join(_ESCAPES.get(character, character) for character in text) + '"'


_ESCAPES = {character: gotext.quote(character)[1:-1] for character in '\a\b\f\n\r\t\v\\"'}

FUNCTIONS: Functions = {
    "contains": (member((STRING, STRING), BOOL, lambda text, part: part in text),),
    "startsWith": (member((STRING, STRING), BOOL, str.startswith),),
    "endsWith": (member((STRING, STRING), BOOL, str.endswith),),
    "matches": (member((STRING, STRING), BOOL, _matches), function((STRING, STRING), BOOL, _matches)),
    "find": (member((STRING, STRING), STRING, _find),),
    "findAll": (
        member((STRING, STRING), list_of(STRING), _find_all),
        member((STRING, STRING, INT), list_of(STRING), _find_all),
    ),
    "charAt": (member((STRING, INT), STRING, _char_at),),
    "lowerAscii": (member((STRING,), STRING, lambda text: text.translate(_LOWER)),),
    "upperAscii": (member((STRING,), STRING, lambda text: text.translate(_UPPER)),),
    "replace": (
        member((STRING, STRING, STRING), STRING, str.replace),
        member((STRING, STRING, STRING, INT), STRING, str.replace),
    ),
    "split": (
        member((STRING, STRING), list_of(STRING), _split),
        member((STRING, STRING, INT), list_of(STRING), _split),
    ),
    "substring": (member((STRING, INT), STRING, _substring), member((STRING, INT, INT), STRING, _substring)),
    "trim": (member((STRING,), STRING, lambda text: text.strip(_SPACE)),),
    "format": (member((STRING, list_of(types.DYN)), STRING, format_text),),
    "strings.quote": (function((STRING,), STRING, _quote),),
    "join": (member((list_of(STRING),), STRING, _join), member((list_of(STRING), STRING), STRING, _join)),
    "indexOf": (
        member((STRING, STRING), INT, _index_of),
        member((STRING, STRING, INT), INT, _index_of),
    ),
    "lastIndexOf": (
        member((STRING, STRING), INT, _last_index_of),
        member((STRING, STRING, INT), INT, _last_index_of),
    ),
}
