"""Semantic versions."""

import re

from aim_schema.cel.failures import CelError
from aim_schema.cel.functions import Functions, function, member
from aim_schema.cel.types import BOOL, INT, STRING, Type
from aim_schema.cel.values import Opaque

_NUMBER = r"(0|[1-9][0-9]*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}(?:-([0-9A-Za-z.-]+))?(?:\+([0-9A-Za-z.-]+))?")

_Precedence = tuple[int, int, int, bool, tuple[tuple[bool, int, str], ...]]


class Semver(Opaque):
    """A semantic version; build metadata does not count in comparisons."""

    __slots__ = ("numbers", "precedence")
    cel_type = "kubernetes.Semver"

    def __init__(self, numbers: tuple[int, int, int], prerelease: tuple[str, ...]) -> None:
        self.numbers = numbers
        identifiers = tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in prerelease)
        self.precedence: _Precedence = (*numbers, not prerelease, identifiers)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Semver) and self.precedence == other.precedence

    def __hash__(self) -> int:
        return hash(self.precedence)


_SEMVER = Type(Semver.cel_type)


def _parse(text: str, normalize: bool = False) -> Semver:  # noqa: FBT001, FBT002 - a positional parameter in CEL
    match = _VERSION.fullmatch(_normalized(text) if normalize else text)
    if match is None:
        raise CelError(_problem(text))
    prerelease = tuple(match[4].split(".")) if match[4] else ()
    build = match[5].split(".") if match[5] else []
    leading_zero = any(part.isdigit() and len(part) > 1 and part.startswith("0") for part in prerelease)
    if leading_zero or not all((*prerelease, *build)):
        raise CelError(
            "Prerelease is empty"
            if not all(prerelease)
            else "Numeric PreRelease version must not contain leading zeroes"
        )
    return Semver((int(match[1]), int(match[2]), int(match[3])), prerelease)


def _problem(text: str) -> str:
    if not text:
        return "Version string empty"
    if text.count(".") < 2:
        return "No Major.Minor.Patch elements found"
    return f"Invalid character(s) found in version {text!r}"


def _normalized(text: str) -> str:
    parts = [re.sub(r"^0+(?=[0-9])", "", part) for part in text.removeprefix("v").split(".", 2)]
    if len(parts) < 3 and re.search(r"[+-]", parts[-1]):
        raise CelError("short version cannot contain PreRelease/Build meta data")
    return ".".join([*parts, "0", "0"][: max(3, len(parts))])


def _is_semver(text: str, normalize: bool = False) -> bool:  # noqa: FBT001, FBT002 - a positional parameter in CEL
    try:
        _parse(text, normalize)
    except CelError:
        return False
    return True


def _compare(left: Semver, right: Semver) -> int:
    return (left.precedence > right.precedence) - (left.precedence < right.precedence)


FUNCTIONS: Functions = {
    "semver": (function((STRING,), _SEMVER, _parse), function((STRING, BOOL), _SEMVER, _parse)),
    "isSemver": (function((STRING,), BOOL, _is_semver), function((STRING, BOOL), BOOL, _is_semver)),
    "isGreaterThan": (member((_SEMVER, _SEMVER), BOOL, lambda a, b: _compare(a, b) > 0),),
    "isLessThan": (member((_SEMVER, _SEMVER), BOOL, lambda a, b: _compare(a, b) < 0),),
    "compareTo": (member((_SEMVER, _SEMVER), INT, _compare),),
    "major": (member((_SEMVER,), INT, lambda version: version.numbers[0]),),
    "minor": (member((_SEMVER,), INT, lambda version: version.numbers[1]),),
    "patch": (member((_SEMVER,), INT, lambda version: version.numbers[2]),),
}
