"""Which objects a list, watch or collection delete is about: label and field selectors together."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, get, get_strings
from aim_rehearsal.apiserver.errors import bad_request, quoted
from aim_rehearsal.apiserver.label_selectors import Requirement, parse_label_selector

_FIELD = re.compile(r"^(?P<key>[^=!]+)(?P<operator>!=|==|=)(?P<value>.*)$", re.DOTALL)
_FIELD_COMMA = re.compile(r"(?<!\\),")
_ALWAYS_SELECTABLE = ("metadata.name", "metadata.namespace")

Test = Callable[[JsonObject], bool]


@dataclass(frozen=True, slots=True)
class Selector:
    """Tells whether an object is selected: all requirements and tests must hold."""

    labels: Sequence[Requirement] = ()
    fields: Sequence[Test] = ()

    @property
    def selects_all(self) -> bool:
        """Whether nothing is asked."""
        return not self.labels and not self.fields

    def matches(self, value: JsonObject) -> bool:
        """Return whether ``value`` is selected."""
        if self.labels:
            labels = get_strings(value, "metadata", "labels")
            if not all(requirement.holds(labels) for requirement in self.labels):
                return False
        return all(test(value) for test in self.fields)


def parse_selectors(query: Mapping[str, str], selectable: Sequence[str], *, custom: bool) -> Selector:
    """Return the selector of a list, watch or collection delete.

    Args:
        query: the request's parameters.
        selectable: the field paths that may be used beside name and namespace.
        custom: whether the resource is a custom one, which words its refusals differently.

    Raises:
        ApiError: a selector cannot be read, or uses a field that is not selectable.
    """
    tests: list[Test] = []
    text = query.get("fieldSelector", "")
    for part in filter(None, (part.strip() for part in _FIELD_COMMA.split(text))):
        match = _FIELD.match(part)
        if match is None:
            raise bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        key, operator, value = match["key"], match["operator"], re.sub(r"\\(.)", r"\1", match["value"])
        if key not in (*_ALWAYS_SELECTABLE, *selectable):
            raise bad_request(_unknown_field(key, known=bool(selectable) or custom))
        tests.append(_field_test(key, value, equal=operator != "!="))
    return Selector(parse_label_selector(query.get("labelSelector", "")), tests)


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
