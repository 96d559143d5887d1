"""Label and field selectors."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, get, get_strings
from aim_rehearsal.apiserver.errors import bad_request, quoted

_SET = re.compile(r"^(?P<key>[^\s!=<>,()]+)\s+(?P<operator>in|notin)\s*\((?P<values>[^()]*)\)$")
_PLAIN = re.compile(r"^(?P<key>[^\s!=<>,()]+)\s*(?P<operator>==|=|!=|<|>)\s*(?P<values>[^\s!=<>()]*)$")
_EXISTS = re.compile(r"^(?P<absent>!?)\s*(?P<key>[^\s!=<>,()]+)$")
_OUTER_COMMA = re.compile(r",(?![^(]*\))")
_FIELD = re.compile(r"^(?P<key>[^=!]+)(?P<operator>!=|==|=)(?P<value>.*)$", re.DOTALL)
_FIELD_COMMA = re.compile(r"(?<!\\),")
_ALWAYS_SELECTABLE = ("metadata.name", "metadata.namespace")

Test = Callable[[JsonObject], bool]


@dataclass(frozen=True, slots=True)
class Selector:
    """Tells whether an object is selected.

    Attributes:
        tests: all must hold.
        name: the name that a field selector asks for, if it does.
    """

    tests: Sequence[Test] = ()
    name: str = ""

    def matches(self, value: JsonObject) -> bool:
        """Return whether ``value`` is selected."""
        return all(test(value) for test in self.tests)


def parse_selectors(query: Mapping[str, str], selectable: Sequence[str], *, custom: bool) -> Selector:
    """Return the selector of a list, watch or collection delete.

    Args:
        query: the request's parameters.
        selectable: the field paths that may be used beside name and namespace.
        custom: whether the resource is a custom one, which words its refusals differently.

    Raises:
        ApiError: a selector cannot be read, or uses a field that is not selectable.
    """
    tests = [_label_test(part) for part in _split(_OUTER_COMMA, query.get("labelSelector", ""))]
    name = ""
    for part in _split(_FIELD_COMMA, query.get("fieldSelector", "")):
        match = _FIELD.match(part)
        if match is None:
            raise bad_request(f"invalid selector: {quoted(part)}; can't understand {quoted(part)}")
        key, operator, value = match["key"], match["operator"], re.sub(r"\\(.)", r"\1", match["value"])
        if key not in (*_ALWAYS_SELECTABLE, *selectable):
            raise bad_request(_unknown_field(key, known=bool(selectable) or custom))
        if key == "metadata.name" and operator != "!=":
            name = value
        tests.append(_field_test(key, value, equal=operator != "!="))
    return Selector(tests, name)


def labels_match(selector: str, labels: Mapping[str, str]) -> bool:
    """Return whether labels satisfy a label selector.

    Raises:
        ApiError: the selector cannot be read.
    """
    value: JsonObject = {"metadata": {"labels": dict(labels)}}
    return all(_label_test(part)(value) for part in _split(_OUTER_COMMA, selector))


def _split(comma: re.Pattern[str], text: str) -> list[str]:
    return [part.strip() for part in comma.split(text) if part.strip()]


def _unknown_field(key: str, *, known: bool) -> str:
    if known:
        return f"field label not supported: {key}"
    return f'{quoted(key)} is not a known field selector: only "metadata.name", "metadata.namespace"'


def _field_test(key: str, wanted: str, *, equal: bool) -> Test:
    path = key.split(".")
    return lambda value: (_text(get(value, *path)) == wanted) is equal


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None or isinstance(value, dict | list) else str(value)


def _label_test(part: str) -> Test:
    match = _SET.match(part) or _PLAIN.match(part)
    if match is not None:
        values = [item.strip() for item in match["values"].split(",")]
        return _comparison(match["key"], match["operator"], values)
    exists = _EXISTS.match(part)
    if exists is None:
        words = part.split()
        if len(words) > 1:
            raise bad_request(
                f"unable to parse requirement: found '{words[1]}', expected: in, notin, =, ==, !=, gt, lt"
            )
        raise bad_request(f"unable to parse requirement: found '{part}', expected: !, identifier, or 'end of string'")
    key, absent = exists["key"], bool(exists["absent"])
    return lambda value: (key in _labels(value)) is not absent


def _comparison(key: str, operator: str, values: list[str]) -> Test:
    if operator in ("=", "==", "in"):
        return lambda value: _labels(value).get(key) in values
    if operator in ("!=", "notin"):
        return lambda value: key not in _labels(value) or _labels(value)[key] not in values
    if len(values) != 1 or not re.fullmatch(r"-?\d+", values[0]):
        raise bad_request(f"unable to parse requirement: values: Invalid value: {quoted(','.join(values))}")
    bound = int(values[0])

    def ordered(value: JsonObject) -> bool:
        text = _labels(value).get(key, "")
        if not re.fullmatch(r"-?\d+", text):
            return False
        return int(text) > bound if operator == ">" else int(text) < bound

    return ordered


def _labels(value: JsonObject) -> Mapping[str, str]:
    return get_strings(value, "metadata", "labels")
