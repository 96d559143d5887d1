"""Building requests as values, before anything is sent.

A write is built here and nowhere else. A dry run and a real write of the same thing differ in the query parameter
``dryRun=All`` alone (R, "Dry-run and commit"), which the tests of this module look at.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from urllib.parse import quote, urlencode

import msgspec

from aim_api.kinds import SELF_SUBJECT_ACCESS_REVIEW, Kind
from aim_api.labels import FIELD_MANAGER
from aim_api.tree import Json, JsonObject, get_str

DEFAULT_TIMEOUT = 30.0
"""Seconds for one request, where the caller names none."""
LIST_TIMEOUT = 60.0
"""Seconds for one page of a list: the longest that a Kubernetes API server works on one by default."""

JSON = "application/json"
JSON_PATCH = "application/json-patch+json"

VERSION_INFORMATION = Kind("version information", "", "v1", "version", namespaced=False)

_GO_ESCAPES = tuple((character.encode(), f"\\u{ord(character):04x}".encode()) for character in "&<>\u2028\u2029")
_METHODS = {"get": "GET", "list": "GET", "create": "POST", "patch": "PATCH", "review": "POST"}


@dataclass(frozen=True, slots=True)
class Action:
    """What a request does to which object, in the words of messages.

    Attributes:
        verb: ``get``, ``list``, ``create``, ``patch`` or ``review``.
        kind: the kind in CamelCase.
        namespace: None for cluster-scoped kinds, and for lists over all namespaces.
        name: None for lists.
        dry_run: whether a write asks for a dry run.
    """

    verb: str
    kind: str
    namespace: str | None = None
    name: str | None = None
    dry_run: bool = False

    def __str__(self) -> str:
        verb = f"{self.verb} (dry run)" if self.dry_run else self.verb
        if self.name:
            return f"{verb} {self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}"
        return f"{verb} {self.kind}{f' in namespace {self.namespace}' if self.namespace else ''}"


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """One request, complete but for the credentials, which are added when it is sent.

    Attributes:
        method: the HTTP method.
        path: the path below the server's URL, percent-encoded.
        query: the query parameters in order.
        headers: the headers in order, without credentials.
        body: the bytes that are sent, None for none.
        verb: the verb as in ``Action``.
        kind: the kind that is read or written.
        namespace: None for cluster-scoped kinds, and for lists over all namespaces.
        name: None for lists.
        timeout: seconds until this client gives up.
        server_timeout: seconds after which the server itself gives up on a write, as the query asks it to; None for
            reads. A write whose answer was lost is settled only after this time and a margin.
    """

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: tuple[tuple[str, str], ...]
    body: bytes | None = field(repr=False)  # it can hold values of the object
    verb: str
    kind: Kind
    namespace: str | None
    name: str | None
    timeout: float
    server_timeout: float | None = None

    @property
    def target(self) -> str:
        """The path and the query, as they go on the wire."""
        return f"{self.path}?{urlencode(self.query)}" if self.query else self.path

    @property
    def dry_run(self) -> bool:
        """Whether the server is asked to store nothing."""
        return ("dryRun", "All") in self.query

    @property
    def is_write(self) -> bool:
        """Whether the request can change the cluster; an access review is a POST that stores nothing."""
        return self.verb in ("create", "patch")

    @property
    def action(self) -> Action:
        """What the request does, for messages."""
        return Action(self.verb, self.kind.name, self.namespace, self.name, self.dry_run)

    @property
    def body_sha256(self) -> str:
        """The SHA-256 of the body in hexadecimal, for a journal that must not hold the body."""
        return hashlib.sha256(self.body or b"").hexdigest()


def build_write(
    verb: str,
    kind: Kind,
    *,
    namespace: str | None,
    name: str,
    content: JsonObject | Sequence[JsonObject],
    dry_run: bool,
    timeout: float = DEFAULT_TIMEOUT,
) -> PreparedRequest:
    """Build a create (of an object) or a JSON Patch (of operations).

    Every write names the field manager, asks for strict field validation, and tells the server how long it may work
    on it, so that the time after which a lost write can no longer be stored is known.

    Args:
        verb: ``create`` or ``patch``.
        kind: the kind, at the version to write.
        namespace: required for namespaced kinds, refused for others.
        name: the object's name.
        content: the object to create, or the operations of the patch.
        dry_run: whether to add ``dryRun=All``, the only difference it makes.
        timeout: seconds that the server may work on it.

    Raises:
        ValueError: a name or namespace that is no path segment, a scope that does not fit the kind, another verb.
    """
    if verb not in ("create", "patch"):
        raise ValueError(f"{verb} is no write of this tool")
    if not namespace and kind.namespaced:
        raise ValueError(f"{kind.name} {name} needs a namespace")
    query = [("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict"), ("timeout", f"{timeout:g}s")]
    if dry_run:
        query.append(("dryRun", "All"))
    return PreparedRequest(
        method=_METHODS[verb],
        path=_path(kind, namespace, name, in_path=verb == "patch"),
        query=tuple(query),
        headers=(("Accept", JSON), ("Content-Type", JSON_PATCH if verb == "patch" else JSON)),
        body=_as_go_writes(content),
        verb=verb,
        kind=kind,
        namespace=namespace,
        name=name,
        timeout=timeout + min(5.0, timeout),  # the server gives up first, so that its own words arrive
        server_timeout=timeout,
    )


def build_create(
    kind: Kind, body: JsonObject, namespace: str | None, *, dry_run: bool, timeout: float = DEFAULT_TIMEOUT
) -> PreparedRequest:
    """Build the creation of ``body``.

    Raises:
        ValueError: the body names no object, or another kind, version or namespace than the arguments.
    """
    name = get_str(body, "metadata", "name")
    if not name:
        raise ValueError(f"a {kind.name} to create needs metadata.name")
    said = (get_str(body, "apiVersion"), get_str(body, "kind"))
    if said != (kind.api_version, kind.name):
        raise ValueError(f"{kind.name} {name} must say {kind.api_version} {kind.name}, not {said[0]} {said[1]}")
    if get_str(body, "metadata", "namespace") not in (None, namespace):
        raise ValueError(f"{kind.name} {name} names another namespace than {namespace}")
    return build_write("create", kind, namespace=namespace, name=name, content=body, dry_run=dry_run, timeout=timeout)


def build_json_patch(
    kind: Kind,
    name: str,
    namespace: str | None,
    operations: Sequence[JsonObject],
    *,
    dry_run: bool,
    timeout: float = DEFAULT_TIMEOUT,
) -> PreparedRequest:
    """Build a JSON Patch (RFC 6902) of one object.

    Raises:
        ValueError: no operations, or a name or namespace that is no path segment.
    """
    if not operations:
        raise ValueError(f"a patch of {kind.name} {name} needs operations")
    return build_write(
        "patch", kind, namespace=namespace, name=name, content=list(operations), dry_run=dry_run, timeout=timeout
    )


@lru_cache(maxsize=4096)  # a unit's objects are read again and again
def build_get(
    kind: Kind, name: str, namespace: str | None = None, *, timeout: float = DEFAULT_TIMEOUT
) -> PreparedRequest:
    """Build the read of one object.

    Raises:
        ValueError: a name or namespace that is no path segment, or a scope that does not fit the kind.
    """
    if kind.namespaced and not namespace:
        raise ValueError(f"{kind.name} {name} needs a namespace")
    return _read("get", kind, path=_path(kind, namespace, name), namespace=namespace, name=name, timeout=timeout)


def build_list(
    kind: Kind,
    namespace: str | None = None,
    *,
    limit: int,
    continue_token: str | None = None,
    label_selector: str | None = None,
    field_selector: str | None = None,
    timeout: float = LIST_TIMEOUT,
) -> PreparedRequest:
    """Build the read of one page of a list.

    Raises:
        ValueError: a namespace that is no path segment, or one for a cluster-scoped kind.
    """
    query = [("limit", str(limit))]
    if label_selector:
        query.append(("labelSelector", label_selector))
    if field_selector:
        query.append(("fieldSelector", field_selector))
    if continue_token:
        query.append(("continue", continue_token))
    path = _path(kind, namespace, None)
    return _read("list", kind, path=path, query=tuple(query), namespace=namespace, timeout=timeout)


def build_access_review(
    verb: str,
    kind: Kind,
    namespace: str | None,
    *,
    name: str | None = None,
    subresource: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> PreparedRequest:
    """Build the question whether the caller may ``verb`` objects of ``kind``; it stores nothing."""
    wanted = {
        "verb": verb,
        "group": kind.group,
        "version": kind.version,
        "resource": kind.plural,
        "subresource": subresource,
        "namespace": namespace,
        "name": name,
    }
    attributes: dict[str, Json] = {key: value for key, value in wanted.items() if value}
    body: JsonObject = {
        "apiVersion": SELF_SUBJECT_ACCESS_REVIEW.api_version,
        "kind": SELF_SUBJECT_ACCESS_REVIEW.name,
        "spec": {"resourceAttributes": attributes},
    }
    path = SELF_SUBJECT_ACCESS_REVIEW.path()
    return _read("review", SELF_SUBJECT_ACCESS_REVIEW, path=path, content=body, timeout=timeout)


def build_version(*, timeout: float = DEFAULT_TIMEOUT) -> PreparedRequest:
    """Build the read of the server's version."""
    return _read("get", VERSION_INFORMATION, path="/version", timeout=timeout)


def _as_go_writes(content: JsonObject | Sequence[JsonObject]) -> bytes:
    """Return JSON with the escapes of Go's encoder.

    The ``test`` of a JSON Patch compares strings as they are written, and the server writes its own side so.
    """
    encoded = msgspec.json.encode(content)
    for character, escape in _GO_ESCAPES:
        encoded = encoded.replace(character, escape)
    return encoded


def _read(
    verb: str,
    kind: Kind,
    *,
    path: str,
    timeout: float,
    query: tuple[tuple[str, str], ...] = (),
    namespace: str | None = None,
    name: str | None = None,
    content: JsonObject | None = None,
) -> PreparedRequest:
    headers: tuple[tuple[str, str], ...] = (("Accept", JSON),)
    if content is not None:
        headers = (*headers, ("Content-Type", JSON))
    return PreparedRequest(
        method=_METHODS[verb],
        path=path,
        query=query,
        headers=headers,
        body=None if content is None else msgspec.json.encode(content),
        verb=verb,
        kind=kind,
        namespace=namespace,
        name=name,
        timeout=timeout,
    )


def _path(kind: Kind, namespace: str | None, name: str | None, *, in_path: bool = True) -> str:
    """Return the URL path; ``in_path`` is False for a create, whose URL is that of the collection."""
    if namespace and not kind.namespaced:
        raise ValueError(f"{kind.name} is cluster-scoped and has no namespace")
    segments = [
        None if part is None else _segment(part, field_name, kind.name)
        for field_name, part in (("namespace", namespace), ("name", name))
    ]
    return kind.path(segments[0], segments[1] if in_path else None)


@lru_cache(maxsize=4096)
def _segment(part: str, field_name: str, kind_name: str) -> str:
    """Return a part of a URL's path, percent-encoded."""
    # The rule of Kubernetes for path segments; it keeps a hand-edited name from reaching another URL.
    if part in ("", ".", "..") or "/" in part or "%" in part:
        raise ValueError(f"{part!r} is no valid {field_name} of {kind_name}")
    return quote(part, safe="")
