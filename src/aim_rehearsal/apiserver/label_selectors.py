"""Label selectors: their grammar, and the complaints about what does not follow it.

Source: Kubernetes documentation, "Labels and Selectors", and the answers of a kube-apiserver 1.36.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from aim_rehearsal.apiserver.errors import ApiError, bad_request, quoted
from aim_schema.metadata_rules import key_problems, label_value_problems

_TOKEN = re.compile(r"\s*(?P<symbol>[=!<>]+|[(),])|\s*(?P<word>[^\s=!<>(),]+)")
_OPERATORS = frozenset({"=", "==", "!=", "<", ">"})
_BINARY = "in, notin, =, ==, !=, gt, lt"
_END = ""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One part of a selector: a label and what is asked of it.

    Attributes:
        key: the label.
        operator: ``in``, ``notin``, ``exists``, ``absent``, ``<`` or ``>``.
        values: the values that the operator needs.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Return whether labels are as required."""
        value = labels.get(self.key)
        match self.operator:
            case "exists":
                return value is not None
            case "absent":
                return value is None
            case "in":
                return value in self.values
            case "notin":
                return value is None or value not in self.values
            case _:
                return value is not None and _compare(value, self.operator, int(self.values[0]))


def _compare(text: str, operator: str, bound: int) -> bool:
    if not re.fullmatch(r"[+-]?\d+", text):
        return False
    return int(text) > bound if operator == ">" else int(text) < bound


def parse_label_selector(text: str) -> list[Requirement]:
    """Return the requirements of a label selector.

    Raises:
        ApiError: it cannot be read.
    """
    return list(_Parser(text).requirements())


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = [*_tokens(text), _END]

    def requirements(self) -> Iterator[Requirement]:
        while self._tokens[0] != _END:
            if not (_is_word(self._tokens[0]) or self._tokens[0] == "!"):
                raise bad_request(f"found '{self._tokens[0]}', expected: !, identifier, or 'end of string'")
            yield self._requirement()
            after = self._next()
            if after == _END:
                return
            if after != ",":
                raise bad_request(f"found '{after}', expected: ',' or 'end of string'")
            if not (_is_word(self._tokens[0]) or self._tokens[0] == "!"):
                raise bad_request(f"found '{self._tokens[0]}', expected: identifier after ','")

    def _next(self) -> str:
        return self._tokens.pop(0)

    def _requirement(self) -> Requirement:
        absent = self._tokens[0] == "!"
        if absent:
            self._next()
        key = self._next()
        if not _is_word(key):
            raise _unreadable(f"found '{key}', expected: identifier")
        _check(f"<nil>: Invalid value: {quoted(key)}: ", key_problems(key))
        if absent:
            return Requirement(key, "absent")
        if self._tokens[0] in (_END, ","):
            return Requirement(key, "exists")
        operator = self._next()
        if operator in ("in", "notin"):
            values = tuple(sorted(set(self._list())))
        elif operator in _OPERATORS:
            values = (self._value(),)
        else:
            raise _unreadable(f"found '{operator}', expected: {_BINARY}")
        return _required(key, operator, values)

    def _value(self) -> str:
        if self._tokens[0] in (_END, ","):
            return ""
        value = self._next()
        if not _is_word(value):
            raise _unreadable(f"found '{value}', expected: identifier")
        return value

    def _list(self) -> Iterator[str]:
        opening = self._next()
        if opening != "(":
            raise _unreadable(f"found '{opening}' expected: '('")
        if not (_is_word(self._tokens[0]) or self._tokens[0] in (",", ")")):
            raise _unreadable(f"found '{self._tokens[0]}', expected: ',', ')' or identifier")
        while True:
            yield self._next() if _is_word(self._tokens[0]) else ""
            after = self._next()
            if after == ")":
                return
            if after != ",":
                raise _unreadable(f"found '{after}', expected: ',' or ')'")


def _tokens(text: str) -> Iterator[str]:
    for match in _TOKEN.finditer(text):
        symbol, word = match.group("symbol", "word")
        while symbol:
            # Runs of symbols are cut into the longest known ones.
            length = 2 if symbol[:2] in ("==", "!=") else 1
            yield symbol[:length]
            symbol = symbol[length:]
        if word:
            yield word


def _is_word(token: str) -> bool:
    return bool(token) and token[0] not in "=!<>(),"


def _required(key: str, operator: str, values: tuple[str, ...]) -> Requirement:
    if operator in ("<", ">") and not re.fullmatch(r"[+-]?\d+", values[0]):
        why = "for 'Gt', 'Lt' operators, the value must be an integer"
        raise _unreadable(f"values[0]: Invalid value: {quoted(values[0])}: {why}")
    for index, value in enumerate(values):
        _check(f"values[{index}][{key}]: Invalid value: {quoted(value)}: ", label_value_problems(value))
    names = {"=": "in", "==": "in", "!=": "notin"}
    return Requirement(key, names.get(operator, operator), values)


def _check(head: str, problems: Sequence[str]) -> None:
    if problems:
        raise _unreadable(head + "; ".join(problems))


def _unreadable(why: str) -> ApiError:
    return bad_request(f"unable to parse requirement: {why}")
