"""The string formats that the API server checks; every other format is ignored.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from functools import cache

from aim_schema import times

_CREDIT_CARD = re.compile(
    r"(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}"
    r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})"
)
_ATOM_CHARACTERS = r"A-Za-z0-9!#$%&'*+/=?^_`{|}~\u0080-\U0010ffff-"
_ATOM = f"[{_ATOM_CHARACTERS}]+"
_QUOTED = r'"(?:[^"\\\r\n]|\\.)*"'
_ADDRESS = rf"(?:{_ATOM}(?:\.{_ATOM})*|{_QUOTED})@{_ATOM}(?:\.{_ATOM})*"
_EMAIL = rf"[ \t]*(?:{_ADDRESS}|(?:[{_ATOM_CHARACTERS}. \t]|{_QUOTED})*<{_ADDRESS}>)[ \t]*"
_BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})")
_RGB_PART = r"\s*(?:0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*"
_RGB = re.compile(rf"rgb\({_RGB_PART},{_RGB_PART},{_RGB_PART}\)", re.ASCII)
_HEX_COLOR = re.compile(r"#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")
_SSN = re.compile(r"[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}")
_TIME = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(?:.[0-9]+)?(?:z|[+-][0-9]{2}:[0-9]{2})", re.DOTALL)
_SHORT_NAME = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_LABEL = re.compile(_SHORT_NAME)
_SUBDOMAIN = re.compile(rf"{_SHORT_NAME}(?:\.{_SHORT_NAME})*")
_MAC = re.compile(
    r"(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\1){4}[0-9a-fA-F]{2}"
    r"|(?:[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\2){6}|[0-9a-fA-F]{2}([:-])(?:[0-9a-fA-F]{2}\3){18})[0-9a-fA-F]{2}"
    r"|(?:[0-9a-fA-F]{4}\.){2}[0-9a-fA-F]{4}|(?:[0-9a-fA-F]{4}\.){3}[0-9a-fA-F]{4}"
    r"|(?:[0-9a-fA-F]{4}\.){9}[0-9a-fA-F]{4})"
)


def _is_datetime(text: str) -> bool:
    date, separator, rest = text.lower().partition("t")
    if not separator or times.parse_date(date) is None:
        return False
    match = _TIME.fullmatch(rest.split("t")[0])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _is_uuid(version: str, variant: str) -> Callable[[str], bool]:
    digit = "[0-9a-fA-F]"
    pattern = re.compile(rf"{digit}{{8}}-?{digit}{{4}}-?{version}{digit}{{3}}-?{variant}{digit}{{3}}-?{digit}{{12}}")
    return lambda text: pattern.fullmatch(text) is not None


def _is_hostname(text: str) -> bool:
    """One label, with a dash after its first character at most, or several that end in a domain of letters."""
    *labels, last = text.split(".")
    if len(text.encode()) > 255 or any(len(label.encode()) > 63 for label in (*labels, last)):
        return False
    if not labels:
        return last != "" and _is_host_text(last[0] + last[1:].removeprefix("-"))
    if len(last) < 2 or not all(_is_letter(character) for character in last):
        return False
    return all(label and "-" not in (label[0], label[-1]) and _is_host_text(label.replace("-", "")) for label in labels)


def _is_letter(character: str) -> bool:
    return unicodedata.category(character).startswith("L")


def _is_host_text(text: str) -> bool:
    return all(
        (character.isascii() and character.isalnum()) or unicodedata.category(character)[0] in "LS"
        for character in text
    )


def _without_leading_zeros(address: str) -> str:
    return ".".join(part.lstrip("0") or "0" if part.isdigit() else part for part in address.split("."))


def _is_ipv4(text: str) -> bool:
    """Leading zeros are tolerated, and so is an IPv6 address that ends in an IPv4 one."""
    if "." not in text:
        return False
    head, colon, tail = text.rpartition(":")
    try:
        ipaddress.ip_address(head + colon + _without_leading_zeros(tail))
    except ValueError:
        return False
    return "%" not in text


def _is_ipv6(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return ":" in text and "%" not in text


def _is_cidr(text: str) -> bool:
    address, slash, bits = text.partition("/")
    if not slash or not bits.isascii() or not bits.isdigit():
        return False
    if not (_is_ipv6(address) or _is_ipv4(address)):
        return False
    return int(bits) <= (128 if ":" in address else 32)


def is_request_uri(text: str) -> bool:
    """Return whether a text is an absolute URI or a path, as Go's ParseRequestURI reads it."""
    if not text or any(ord(character) < 0x20 or character == "\x7f" for character in text):
        return False
    scheme, colon, rest = text.partition(":")
    if colon and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*", scheme):
        if not rest.startswith("/"):
            return True
        remainder = rest
    elif text.startswith("/"):
        remainder = text
    else:
        return text == "*"
    if re.search(r"%(?![0-9A-Fa-f]{2})", remainder.partition("?")[0]):
        return False
    return not remainder.startswith("//") or _is_authority(remainder[2:])


def _is_authority(text: str) -> bool:
    host = re.split(r"[/?]", text, maxsplit=1)[0].rpartition("@")[2]
    if any(character in host for character in ' "<>\\^`{|}') or (host.startswith("[") and "]" not in host):
        return False
    port = host.rpartition("]")[2].partition(":")
    return not port[1] or port[2] == "" or (port[2].isascii() and port[2].isdigit())


def _is_email(text: str) -> bool:
    return _email().fullmatch(text) is not None


@cache
def _email() -> re.Pattern[str]:
    """Return the pattern of an e-mail address, which takes long to compile and is seldom needed."""
    return re.compile(_EMAIL)


def _is_isbn10(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if re.fullmatch(r"[0-9]{9}[0-9X]", digits) is None:
        return False
    total = sum((index + 1) * int(digit) for index, digit in enumerate(digits[:9]))
    return (total + 10 * (10 if digits[9] == "X" else int(digits[9]))) % 11 == 0


def _is_isbn13(text: str) -> bool:
    digits = re.sub(r"[\s-]+", "", text)
    if re.fullmatch(r"[0-9]{13}", digits) is None:
        return False
    total = sum((1, 3)[index % 2] * int(digit) for index, digit in enumerate(digits[:12]))
    return int(digits[12]) == (10 - total % 10) % 10


def _is_credit_card(text: str) -> bool:
    digits = re.sub(r"[^0-9]+", "", text)
    if _CREDIT_CARD.fullmatch(digits) is None:
        return False
    doubled = (sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(int(digit) for digit in digits[-1::-2]) + sum(doubled)) % 10 == 0


CHECKS: dict[str, Callable[[str], bool]] = {
    "bsonobjectid": lambda text: re.fullmatch(r"[0-9a-fA-F]{24}", text) is not None,
    "uri": is_request_uri,
    "email": _is_email,
    "hostname": _is_hostname,
    "ipv4": _is_ipv4,
    "ipv6": _is_ipv6,
    "cidr": _is_cidr,
    "mac": lambda text: _MAC.fullmatch(text) is not None,
    "uuid": _is_uuid("[0-9a-fA-F]", "[0-9a-fA-F]"),
    "uuid3": _is_uuid("3", "[0-9a-fA-F]"),
    "uuid4": _is_uuid("4", "[89abAB]"),
    "uuid5": _is_uuid("5", "[89abAB]"),
    "isbn": lambda text: _is_isbn10(text) or _is_isbn13(text),
    "isbn10": _is_isbn10,
    "isbn13": _is_isbn13,
    "creditcard": _is_credit_card,
    "ssn": lambda text: len(text) == 11 and _SSN.fullmatch(text) is not None,
    "hexcolor": lambda text: _HEX_COLOR.fullmatch(text) is not None,
    "rgbcolor": lambda text: _RGB.fullmatch(text) is not None,
    "byte": lambda text: _BASE64.fullmatch(text) is not None,
    "password": lambda _text: True,
    "date": lambda text: times.parse_date(text) is not None,
    "duration": lambda text: times.parse_format_duration(text) is not None,
    "datetime": _is_datetime,
    "k8sshortname": lambda text: len(text) <= 63 and _LABEL.fullmatch(text) is not None,
    "k8slongname": lambda text: len(text) <= 253 and _SUBDOMAIN.fullmatch(text) is not None,
}
"""Checks by name; names are compared without dashes, as the API server does."""


def checked(format_name: str, type_name: str) -> str:
    """Return the format as far as the API server checks it for a type, else the empty string."""
    known = {
        "": format_name.replace("-", "") in CHECKS,
        "string": format_name.replace("-", "") in CHECKS,
        "integer": format_name in ("int32", "int64"),
        "number": format_name in ("float", "double"),
    }
    return format_name if known.get(type_name, False) else ""
