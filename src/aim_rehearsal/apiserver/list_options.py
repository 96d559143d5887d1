"""The options of lists and watches."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aim_rehearsal.apiserver.errors import ApiError, bad_request, invalid, quoted
from aim_schema import FieldError

_EXACT, _NOT_OLDER = "Exact", "NotOlderThan"
_MATCH = "resourceVersionMatch"
_TRUE, _FALSE = ("1", "t", "true"), ("0", "f", "false", "")


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The options in the query of a list or watch.

    Attributes:
        revision: the resourceVersion; 0 if none is given.
        exact: whether exactly that revision is wanted.
        limit: the size of pages, or 0.
        token: the continue token, or empty.
        seconds: after how many seconds a watch ends, or None.
        bookmarks: whether a watch gets bookmarks.
        initial: whether a watch begins with all objects.
    """

    revision: int
    exact: bool
    limit: int
    token: str
    seconds: int | None
    bookmarks: bool
    initial: bool


def list_options(query: Mapping[str, str], *, watching: bool) -> ListOptions:
    """Return the options in a query.

    Raises:
        ApiError: an option cannot be read, or two do not go together.
    """
    problems = list(_watch_problems(query) if watching else _list_problems(query))
    if problems:
        raise invalid("meta.k8s.io", "ListOptions", "", problems)
    version, token = query.get("resourceVersion", ""), query.get("continue", "")
    if token and version not in ("", "0") and not watching:
        raise bad_request("specifying resource version is not allowed when using continue")
    seconds = query.get("timeoutSeconds", "")
    return ListOptions(
        revision=_version(version, watching=watching),
        exact=query.get(_MATCH) == _EXACT,
        limit=max(_integer(query.get("limit", "")), 0),
        token=token,
        seconds=_integer(seconds) if seconds else None,
        bookmarks=_boolean(query.get("allowWatchBookmarks", "")),
        initial=_boolean(query.get("sendInitialEvents", "")),
    )


def _list_problems(query: Mapping[str, str]) -> Iterator[FieldError]:
    match = query.get(_MATCH, "")
    if match:
        if not query.get("resourceVersion"):
            yield _forbidden(_MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided")
        if query.get("continue"):
            yield _forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided")
        if match not in (_EXACT, _NOT_OLDER):
            yield _unsupported(match, f'"{_EXACT}", "{_NOT_OLDER}", ""')
        if match == _EXACT and query.get("resourceVersion") == "0":
            yield _forbidden(_MATCH, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"')
    if "sendInitialEvents" in query:
        yield _forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list")


def _watch_problems(query: Mapping[str, str]) -> Iterator[FieldError]:
    match, initial = query.get(_MATCH, ""), "sendInitialEvents" in query
    if initial and match != _NOT_OLDER:
        yield _forbidden(_MATCH, f"sendInitialEvents requires setting resourceVersionMatch to {_NOT_OLDER}")
    if match:
        if not initial:
            yield _forbidden(_MATCH, "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
        if match != _NOT_OLDER:
            yield _unsupported(match, f'"{_NOT_OLDER}"')
        if query.get("continue"):
            yield _forbidden(_MATCH, "resourceVersionMatch is forbidden when continue is provided")


def _forbidden(field: str, why: str) -> FieldError:
    return FieldError("FieldValueForbidden", field, f"Forbidden: {why}")


def _unsupported(match: str, supported: str) -> FieldError:
    why = f"Unsupported value: {quoted(match)}: supported values: {supported}"
    return FieldError("FieldValueNotSupported", _MATCH, why)


def _version(text: str, *, watching: bool) -> int:
    if text and not (text.isascii() and text.isdigit()):
        why = f"resourceVersion: {unreadable_version(text)}"
        raise ApiError(500, "", why) if watching else bad_request(f"invalid resource version: {why}")
    return int(text or 0)


def unreadable_version(text: str) -> str:
    """Return the complaint about a resourceVersion that is no number."""
    return f"Invalid value: {quoted(text)}: strconv.ParseUint: parsing {quoted(text)}: invalid syntax"


def _integer(text: str) -> int:
    try:
        return int(text or 0)
    except ValueError:
        raise bad_request(f"strconv.ParseInt: parsing {quoted(text)}: invalid syntax") from None


def _boolean(text: str) -> bool:
    if text.lower() not in (*_TRUE, *_FALSE):
        raise bad_request(f"strconv.ParseBool: parsing {quoted(text)}: invalid syntax")
    return text.lower() in _TRUE
