r"""Patterns of Go's RE2 syntax, translated for :mod:`re`.

The languages differ: RE2 has no look-around and no back-references, its ``\d``, ``\w``, ``\s`` and ``\b`` are ASCII,
``$`` is the very end, flags may change in the middle, ``\z``, ``\Q…\E``, ``\pL`` and ``[[:alpha:]]`` exist.

Two things are refused that RE2 accepts: Unicode scripts (``\p{Greek}``), of which Python has no table, and a repetition
right after a change of flags (``a(?i)*``), which RE2 applies to what stands before.

Source of the rules: the syntax that Go's ``regexp`` documents, seen on a real API server (Kubernetes 1.36).
"""

import functools
import re
import sys
import unicodedata

_PERL = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\f\r "}
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_ANCHORS = {"A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?a:\b)", "B": r"(?!(?a:\b))"}
"""In groups, so that they can be repeated; Python's own ``\\B`` does not match an empty text."""
_CONTROL = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_REPEAT = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>")
_MAX_REPEAT = 1000


class PatternError(ValueError):
    """A pattern that Go refuses, in Go's words."""

    def __init__(self, problem: str, text: str) -> None:
        super().__init__(f"error parsing regexp: {problem}: `{text}`")


@functools.lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> re.Pattern[str]:
    """Return the compiled translation of an RE2 pattern; :class:`PatternError` where RE2 refuses it."""
    translated = _Translator(pattern).translate()
    try:
        return re.compile(translated)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"cannot be carried ({error})", pattern) from error


class _Translator:
    """One pass over a pattern; ``flags`` holds what is set now, ``scoped`` the group opened for a flag in mid-group."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.flags = frozenset[str]()
        self.out: list[str] = []
        self.groups: list[tuple[frozenset[str], str]] = []
        self.scoped = ""
        self.repeatable = False
        self.repeated = ""

    def translate(self) -> str:
        while self.position < len(self.pattern):
            self._step(self.pattern[self.position])
        if self.groups:
            raise PatternError("missing closing )", self.pattern)
        return "".join(self.out) + (")" if self.scoped else "")

    def _step(self, character: str) -> None:
        if character in "*+?":
            self._quantify(character)
        elif character == "{" and _REPEAT.match(self.pattern, self.position):
            self._quantify_counted()
        elif character == "(":
            self._open()
        elif character == ")":
            self._close()
        elif character == "|":
            self.position += 1
            self.out.append(f")|{self.scoped}" if self.scoped else "|")
            self.repeatable, self.repeated = False, ""
        else:
            self._atom(self._translate_atom(character))

    def _atom(self, text: str) -> None:
        self.out.append(text)
        self.repeatable, self.repeated = True, ""

    def _translate_atom(self, character: str) -> str:
        if character == "\\":
            return self._escape()
        self.position += 1
        if character == "[":
            return self._class()
        if character == ".":
            return r"[\s\S]" if "s" in self.flags else r"[^\n]"
        if character == "^":
            return "(?m:^)" if "m" in self.flags else _ANCHORS["A"]
        if character == "$":
            return "(?m:$)" if "m" in self.flags else _ANCHORS["z"]
        return re.escape(character)

    # Repetition

    def _quantify(self, operator: str) -> None:
        self._repeat(self.position + 1, operator)

    def _quantify_counted(self) -> None:
        match = _REPEAT.match(self.pattern, self.position)
        assert match is not None
        low, high = int(match[1]), int(match[3]) if match[3] else None
        if low > _MAX_REPEAT or (high is not None and (high > _MAX_REPEAT or high < low)):
            raise PatternError("invalid repeat count", match[0])
        self._repeat(match.end(), match[0])

    def _repeat(self, end: int, translated: str) -> None:
        lazy = self.pattern[end : end + 1] == "?"
        written = self.pattern[self.position : end + lazy]
        if self.repeated:
            raise PatternError("invalid nested repetition operator", self.repeated + written)
        if not self.repeatable:
            raise PatternError("missing argument to repetition operator", written)
        self.position = end + lazy
        self.out.append(translated + ("?" if lazy != ("U" in self.flags) else ""))
        self.repeated = written

    # Groups and flags

    def _open(self) -> None:
        named = _NAMED.match(self.pattern, self.position)
        flagged = _FLAGS.match(self.pattern, self.position)
        if named:
            self._push(f"(?P<{named[1]}>", named.end(), self.flags)
        elif flagged and (flagged[1] or flagged[2] or flagged[3] == ":"):
            wanted = (self.flags | set(flagged[1])) - set(flagged[2] or "")
            if flagged[3] == ":":
                self._push(_group_for(wanted), flagged.end(), wanted)
            else:
                self.position = flagged.end()
                self._set_flags(wanted)
        elif self.pattern.startswith("(?", self.position):
            offending = re.match(r"\(\?(?:P?.?|<[=!])", self.pattern[self.position :], re.DOTALL)
            raise PatternError("invalid or unsupported Perl syntax", offending[0] if offending else "(?")
        else:
            self._push("(", self.position + 1, self.flags)

    def _push(self, opening: str, end: int, flags: frozenset[str]) -> None:
        self.groups.append((self.flags, self.scoped))
        self.flags, self.scoped, self.position = flags, "", end
        self.out.append(opening)
        self.repeatable, self.repeated = False, ""

    def _set_flags(self, flags: frozenset[str]) -> None:
        if self.scoped:
            self.out.append(")")
        self.flags, self.scoped = flags, _group_for(flags)
        self.out.append(self.scoped)
        self.repeatable, self.repeated = False, ""

    def _close(self) -> None:
        if not self.groups:
            raise PatternError("unexpected )", self.pattern)
        if self.scoped:
            self.out.append(")")
        self.flags, self.scoped = self.groups.pop()
        self.position += 1
        self._atom(")")

    # Escapes and classes

    def _escape(self) -> str:
        following = self.pattern[self.position + 1 : self.position + 2]
        if following == "Q":
            literal, _, _ = self.pattern[self.position + 2 :].partition("\\E")
            self.position = min(self.position + 2 + len(literal) + 2, len(self.pattern))
            return "".join(re.escape(character) for character in literal) or "(?:)"
        if following in _ANCHORS:
            self.position += 2
            return _ANCHORS[following]
        members = self._class_escape()
        if members is not None:
            negated, ranges = members
            return f"[{'^' if negated else ''}{ranges}]"
        return re.escape(self._literal_escape())

    def _class_escape(self) -> tuple[bool, str] | None:
        """Read an escape that stands for a set of characters; return whether it is negated, and its ranges."""
        following = self.pattern[self.position + 1 : self.position + 2]
        if following and following.lower() in _PERL:
            self.position += 2
            return following.isupper(), _PERL[following.lower()]
        if following in ("p", "P"):
            match = re.compile(r"\\[pP](?:\{(\^?)([^}]*)\}|(.))", re.DOTALL).match(self.pattern, self.position)
            if match is None:
                raise PatternError("invalid character class range", self.pattern[self.position :])
            self.position = match.end()
            return (following == "P") != (match[1] == "^"), _category(match[2] or match[3] or "", match[0])
        return None

    def _literal_escape(self) -> str:
        rest = self.pattern[self.position + 1 :]
        if not rest:
            raise PatternError("trailing backslash at end of expression", "")
        hexadecimal = re.match(r"x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))", rest)
        octal = re.match(r"(?:0[0-7]{0,2}|[1-7][0-7]{1,2})", rest)
        if hexadecimal and int(hexadecimal[1] or hexadecimal[2], 16) <= sys.maxunicode:
            self.position += 1 + hexadecimal.end()
            return chr(int(hexadecimal[1] or hexadecimal[2], 16))
        if octal:
            self.position += 1 + octal.end()
            return chr(int(octal[0], 8))
        if rest[0] in _CONTROL or (rest[0].isascii() and not rest[0].isalnum()):
            self.position += 2
            return _CONTROL.get(rest[0], rest[0])
        raise PatternError("invalid escape sequence", f"\\{rest[0]}")

    def _class(self) -> str:
        start = self.position - 1
        negated = self.pattern.startswith("^", self.position)
        self.position += negated
        members: list[str] = []
        first = True
        while first or not self.pattern.startswith("]", self.position):
            if self.position >= len(self.pattern):
                raise PatternError("missing closing ]", self.pattern[start:])
            members.append(self._class_member())
            first = False
        self.position += 1
        return f"[{'^' if negated else ''}{''.join(members)}]"

    def _class_member(self) -> str:
        posix = re.compile(r"\[:(\^?)([a-z]+):\]").match(self.pattern, self.position)
        if posix:
            if posix[2] not in _POSIX:
                raise PatternError("invalid character class range", posix[0])
            self.position = posix.end()
            return _complement(_POSIX[posix[2]]) if posix[1] else _POSIX[posix[2]]
        if self.pattern.startswith("\\", self.position):
            members = self._class_escape()
            if members is not None:
                return _complement(members[1]) if members[0] else members[1]
        start = self.position
        low = self._class_character()
        if self.pattern.startswith("-", self.position) and self.pattern[self.position + 1 : self.position + 2] not in (
            "]",
            "",
        ):
            self.position += 1
            high = self._class_character()
            if high < low:
                raise PatternError("invalid character class range", self.pattern[start : self.position])
            return f"{_in_class(low)}-{_in_class(high)}"
        return _in_class(low)

    def _class_character(self) -> str:
        if self.pattern.startswith("\\", self.position):
            return self._literal_escape()
        self.position += 1
        return self.pattern[self.position - 1 : self.position]


def _group_for(flags: frozenset[str]) -> str:
    """Only ``i`` needs a group of its own; the other flags change how their atoms are written."""
    return "(?i:" if "i" in flags else "(?-i:"


def _in_class(character: str) -> str:
    return re.escape(character) if character not in "-&|~[" else f"\\{character}"


@functools.lru_cache(maxsize=64)
def _complement(ranges: str) -> str:
    """Return the ranges of every character that is not in ``ranges``."""
    return _ranges_where(re.compile(f"[^{ranges}]"))


@functools.lru_cache(maxsize=64)
def _category(name: str, written: str) -> str:
    """Return the ranges of a Unicode general category such as ``L`` or ``Lu``."""
    if name == "Any":
        return r"\x00-\U0010ffff"
    found: list[str] = []
    start: int | None = None
    for code in range(sys.maxunicode + 2):
        inside = code <= sys.maxunicode and unicodedata.category(chr(code)).startswith(name)
        if inside and start is None:
            start = code
        elif not inside and start is not None:
            found.append(_range(start, code - 1))
            start = None
    if not found or not name:
        raise PatternError("invalid character class range", written)
    return "".join(found)


def _ranges_where(pattern: re.Pattern[str]) -> str:
    matches = re.finditer(f"{pattern.pattern}+", _every_character())
    return "".join(_range(ord(match[0][0]), ord(match[0][-1])) for match in matches)


@functools.lru_cache(maxsize=1)
def _every_character() -> str:
    return "".join(map(chr, range(sys.maxunicode + 1)))


def _range(low: int, high: int) -> str:
    return f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}"
