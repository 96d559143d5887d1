"""Named formats: ``format.dns1123Label().validate(self.name)``."""

import re
from collections.abc import Callable

from aim_schema import formats, gotext
from aim_schema.cel.functions import Functions, Overload, function, member
from aim_schema.cel.types import STRING, Type, list_of, optional_of
from aim_schema.cel.values import NONE, Opaque, Optional

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    f"(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '{_KEY}')"
)
_ENDS = "must start and end with an alphanumeric character"


def _length(text: str, limit: int) -> list[str]:
    return [f"must be no more than {limit} bytes"] if len(text.encode()) > limit else []


def _unfit(rule: str, pattern: str, *examples: str) -> str:
    shown = "".join(f"{' or ' if index else ''}'{example}', " for index, example in enumerate(examples))
    return f"{rule} (e.g. {shown}regex used for validation is '{pattern}')"


def _label(text: str) -> list[str]:
    found = _length(text, 63)
    if re.fullmatch(_LABEL, text) is None:
        rule = f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and {_ENDS}"
        dotted = re.fullmatch(_SUBDOMAIN, text) is not None
        found.append("must not contain dots" if dotted else _unfit(rule, _LABEL, "my-name", "123-abc"))
    return found


def _subdomain(text: str) -> list[str]:
    found = _length(text, 253)
    if re.fullmatch(_SUBDOMAIN, text) is None:
        rule = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and "
            f"{_ENDS}"
        )
        found.append(_unfit(rule, _SUBDOMAIN, "example.com"))
    return found


def _label_1035(text: str) -> list[str]:
    found = _length(text, 63)
    if re.fullmatch(_LABEL_1035, text) is None:
        rule = (
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
            "character, and end with an alphanumeric character"
        )
        found.append(_unfit(rule, _LABEL_1035, "my-name", "abc-123"))
    return found


def _qualified(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {_KEY_RULE} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ]
    found: list[str] = []
    if slash:
        found += (
            ["prefix part must be non-empty"] if not prefix else [f"prefix part {each}" for each in _subdomain(prefix)]
        )
    if not name:
        found.append("name part must be non-empty")
    found += [f"name part {each}" for each in _length(name, 63)]
    if re.fullmatch(_KEY, name) is None:
        found.append(f"name part {_KEY_RULE}")
    return found


def _label_value(text: str) -> list[str]:
    found = _length(text, 63)
    if re.fullmatch(f"({_KEY})?", text) is None:
        rule = (
            f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and {_ENDS}"
        )
        found.append(_unfit(rule, f"({_KEY})?", "MyValue", "my_value", "12345"))
    return found


def _prefix_of(check: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
    """A prefix may end in a dash, which the generated rest hides."""
    return lambda text: check(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)


def _format(name: str, problem: str) -> Callable[[str], list[str]]:
    return lambda text: [] if formats.CHECKS[name](text) else [problem]


def _uri(text: str) -> list[str]:
    if formats.is_request_uri(text):
        return []
    return [f"parse {gotext.quote(text)}: {'invalid URI for request' if text else 'empty url'}"]


_CHECKS: dict[str, Callable[[str], list[str]]] = {
    "dns1123Label": _label,
    "dns1123Subdomain": _subdomain,
    "dns1035Label": _label_1035,
    "qualifiedName": _qualified,
    "dns1123LabelPrefix": _prefix_of(_label),
    "dns1123SubdomainPrefix": _prefix_of(_subdomain),
    "dns1035LabelPrefix": _prefix_of(_label_1035),
    "labelValue": _label_value,
    "uri": _uri,
    "uuid": _format("uuid", "does not match the UUID format"),
    "byte": _format("byte", "invalid base64"),
    "date": _format("date", "invalid date"),
    "datetime": _format("datetime", "invalid datetime"),
}


class NamedFormat(Opaque):
    """One of the named formats."""

    __slots__ = ("name",)
    cel_type = "kubernetes.NamedFormat"

    def __init__(self, name: str) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedFormat) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


_FORMAT = Type(NamedFormat.cel_type)


def _named(name: str) -> Optional:
    return Optional(NamedFormat(name), present=True) if name in _CHECKS else NONE


def _validate(named: NamedFormat, text: str) -> Optional:
    problems = _CHECKS[named.name](text)
    return Optional(problems, present=True) if problems else NONE


def _constant(name: str) -> tuple[Overload, ...]:
    return (function((), _FORMAT, lambda: NamedFormat(name)),)


FUNCTIONS: Functions = {
    "format.named": (function((STRING,), optional_of(_FORMAT), _named),),
    "validate": (member((_FORMAT, STRING), optional_of(list_of(STRING)), _validate),),
    **{f"format.{name}": _constant(name) for name in _CHECKS},
}
