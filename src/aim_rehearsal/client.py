"""A small Kubernetes client for the rehearsal's own parts: the operator, the worlds and the session.

It speaks to the local API and to a real API server alike. It shares no code with the tool's client, so that a mistake
in one cannot hide a mistake in the other. Every request is sent exactly once; nothing is retried here.
"""

import base64
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import msgspec
import urllib3
import yaml

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get_int, get_map, get_objects, get_str
from aim_rehearsal.sharing import Sharing

PAGE_SIZE = 500
REQUEST_TIMEOUT_SECONDS = 60.0
MERGE_PATCH = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
_JSON = "application/json"


class ApiError(Exception):
    """An answer of the API server that is no success.

    Attributes:
        status: the HTTP status code; 0 where the server gave no answer.
        reason: the reason of the Status object, for example ``Conflict``.
        body: the Status object, or an empty object.
    """

    def __init__(self, status: int, reason: str, message: str, body: JsonObject | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.body: JsonObject = body or {}


class WatchExpiredError(Exception):
    """The server no longer has the history that a watch asked for (410 Gone); list again."""


@dataclass(frozen=True, slots=True)
class Listing:
    """Every object of a collection at one resource version."""

    items: list[JsonObject]
    resource_version: str


@dataclass(frozen=True, slots=True)
class Change:
    """One event of a watch; ``type`` is ADDED, MODIFIED or DELETED."""

    type: str
    object: JsonObject


class Client:
    """One identity at one API server.

    Args:
        url: the server's address, for example ``https://127.0.0.1:6443``.
        token: bearer token; empty for none.
        ca_pem: certificate authority of the server in PEM; empty for the system's store.
        user_agent: what the server's audit log shows.
    """

    def __init__(self, url: str, *, token: str = "", ca_pem: str = "", user_agent: str = "aim-rehearsal") -> None:
        self._base = url.rstrip("/")
        self._headers = {"Accept": _JSON, "User-Agent": user_agent}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        context = ssl.create_default_context(cadata=ca_pem or None)
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # many cluster CAs lack key identifiers
        self._pool = urllib3.PoolManager(num_pools=2, maxsize=64, ssl_context=context, retries=False)

    @classmethod
    def from_kubeconfig(cls, path: Path, *, user_agent: str = "aim-rehearsal") -> "Client":
        """Read server, authority and token of the current context; other ways to authenticate are not supported.

        Raises:
            ValueError: the file has no such context, or its user has no token.
        """
        config: JsonObject = yaml.safe_load(path.read_text())
        context = _named(config, "contexts", get_str(config, "current-context") or "")
        cluster = get_map(_named(config, "clusters", get_str(context, "context", "cluster") or ""), "cluster")
        user = get_map(_named(config, "users", get_str(context, "context", "user") or ""), "user")
        token = get_str(user, "token")
        if not token:
            raise ValueError(f"{path}: the user of the current context has no token")
        authority = get_str(cluster, "certificate-authority-data")
        if authority:
            ca_pem = base64.b64decode(authority).decode()
        else:
            file = get_str(cluster, "certificate-authority")
            ca_pem = (path.parent / file).read_text() if file else ""
        return cls(get_str(cluster, "server") or "", token=token, ca_pem=ca_pem, user_agent=user_agent)

    def get(self, kind: Kind, namespace: str | None, name: str) -> JsonObject:
        """Return one object.

        Raises:
            ApiError: the server refused, or there is no such object (404).
        """
        return self._request("GET", kind.path(namespace, name))

    def list_all(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        page_size: int = PAGE_SIZE,
        sharing: Sharing | None = None,
    ) -> Listing:
        """Return all objects of a collection, read in pages; a continue token that expired starts the list again.

        Args:
            kind: what to list.
            namespace: where; None for everywhere.
            label_selector: which objects.
            page_size: objects in one page at most.
            sharing: what the objects share their equal parts with, for who keeps many; None for who does not.
        """
        while True:
            try:
                return self._list_once(kind, namespace, label_selector, page_size, sharing)
            except ApiError as error:
                if error.status != 410:
                    raise

    def watch(self, kind: Kind, namespace: str | None = None, *, label_selector: str = "", since: str = "") -> "Watch":
        """Return a watch over a collection; nothing is sent before it is iterated.

        Args:
            kind: what to watch.
            namespace: where; None for everywhere.
            label_selector: which objects.
            since: resource version of a listing that the caller has already; empty to begin with a listing.
        """
        return Watch(self, kind, namespace, label_selector, since)

    def create(self, kind: Kind, manifest: JsonObject, *, manager: str = "") -> JsonObject:
        """Create an object in the namespace that its metadata names."""
        namespace = get_str(manifest, "metadata", "namespace")
        return self._request("POST", kind.path(namespace), manifest, query=_manager(manager))

    def replace(
        self, kind: Kind, manifest: JsonObject, *, manager: str = "", subresource: str | None = None
    ) -> JsonObject:
        """Replace an object, or one of its subresources, whole."""
        path = kind.path(get_str(manifest, "metadata", "namespace"), get_str(manifest, "metadata", "name"), subresource)
        return self._request("PUT", path, manifest, query=_manager(manager))

    def merge_patch(
        self,
        kind: Kind,
        namespace: str | None,
        name: str,
        patch: JsonObject,
        *,
        manager: str = "",
        subresource: str | None = None,
    ) -> JsonObject:
        """Patch an object with a JSON merge patch: null removes a field, a list replaces the whole list."""
        path = kind.path(namespace, name, subresource)
        return self._request("PATCH", path, patch, query=_manager(manager), content_type=MERGE_PATCH)

    def json_patch(
        self,
        kind: Kind,
        namespace: str | None,
        name: str,
        operations: list[Json],
        *,
        manager: str = "",
        dry_run: bool = False,
    ) -> JsonObject:
        """Patch an object with the operations of a JSON Patch."""
        query = _manager(manager) | ({"dryRun": "All"} if dry_run else {})
        return self._request("PATCH", kind.path(namespace, name), operations, query=query, content_type=JSON_PATCH)

    def apply(self, kind: Kind, manifest: JsonObject, *, manager: str, subresource: str | None = None) -> JsonObject:
        """Apply an object server-side, taking over fields that another manager holds."""
        path = kind.path(get_str(manifest, "metadata", "namespace"), get_str(manifest, "metadata", "name"), subresource)
        query = _manager(manager) | {"force": "true"}
        return self._request("PATCH", path, manifest, query=query, content_type=APPLY_PATCH)

    def delete(self, kind: Kind, namespace: str | None, name: str, *, uid: str = "") -> None:
        """Delete an object at once, without grace; with ``uid`` only if it is still that object.

        Raises:
            ApiError: the server refused; 404 where the object is gone already.
        """
        options: JsonObject = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if kind.name == "Pod":
            options["gracePeriodSeconds"] = 0
        if uid:
            options["preconditions"] = {"uid": uid}
        self._request("DELETE", kind.path(namespace, name), options)

    def open_stream(self, path: str, query: Mapping[str, str]) -> urllib3.BaseHTTPResponse:
        """Open a streaming GET, for a watch.

        Raises:
            ApiError: the server refused.
        """
        response = self._send("GET", path, query=query, stream=True)
        if response.status >= 400:
            raise _error(response.status, response.data)
        return response

    def _list_once(
        self, kind: Kind, namespace: str | None, label_selector: str, page_size: int, sharing: Sharing | None
    ) -> Listing:
        items: list[JsonObject] = []
        query = {"limit": str(page_size)} | ({"labelSelector": label_selector} if label_selector else {})
        while True:
            page = self._request("GET", kind.path(namespace), query=query)
            found = (typed(kind, item) for item in get_objects(page, "items"))
            items += found if sharing is None else map(sharing.of, found)
            token = get_str(page, "metadata", "continue")
            if not token:
                return Listing(items, get_str(page, "metadata", "resourceVersion") or "")
            query["continue"] = token

    def _request(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = _JSON,
    ) -> JsonObject:
        response = self._send(method, path, body, query=query, content_type=content_type)
        data = response.data
        if response.status >= 400:
            raise _error(response.status, data)
        return _decode(data)

    def _send(
        self,
        method: str,
        path: str,
        body: Json = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = _JSON,
        stream: bool = False,
    ) -> urllib3.BaseHTTPResponse:
        url = f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = self._headers
        data = None
        if body is not None:
            headers = headers | {"Content-Type": content_type}
            data = msgspec.json.encode(body)
        timeout = urllib3.Timeout(connect=REQUEST_TIMEOUT_SECONDS, read=None if stream else REQUEST_TIMEOUT_SECONDS)
        try:
            return self._pool.request(
                method, url, body=data, headers=headers, timeout=timeout, preload_content=not stream, retries=False
            )
        except urllib3.exceptions.HTTPError as error:
            host = urlsplit(self._base).netloc
            raise ApiError(0, "Unreachable", f"{method} {path}: no answer from {host}: {error}") from error


class Watch:
    """A collection's state and then its changes, for as long as it is iterated.

    Yields a :class:`Listing` first (unless the caller has one) and again whenever the server has forgotten the history:
    then objects that are not in it are gone. Yields a :class:`Change` for every event. Resumes after the last event
    when the server ends the stream.
    """

    def __init__(self, client: Client, kind: Kind, namespace: str | None, label_selector: str, since: str) -> None:
        self._client = client
        self._kind = kind
        self._namespace = namespace
        self._label_selector = label_selector
        self._version = since
        self._closed = threading.Event()
        self._response: urllib3.BaseHTTPResponse | None = None

    def __iter__(self) -> Iterator[Listing | Change]:
        while not self._closed.is_set():
            if not self._version:
                listing = self._client.list_all(self._kind, self._namespace, label_selector=self._label_selector)
                self._version = listing.resource_version
                yield listing
            try:
                for change in self._stream(self._version):
                    self._version = get_str(change.object, "metadata", "resourceVersion") or self._version
                    if change.type != "BOOKMARK":
                        yield change
            except WatchExpiredError:
                self._version = ""

    def close(self) -> None:
        """End the iteration, also from another thread while it waits for an event."""
        self._closed.set()
        connection = getattr(self._response, "connection", None)
        _wake(getattr(connection, "sock", None))

    def _stream(self, version: str) -> Iterator[Change]:
        query = {"watch": "1", "resourceVersion": version, "allowWatchBookmarks": "true"}
        if self._label_selector:
            query["labelSelector"] = self._label_selector
        try:
            self._response = self._client.open_stream(self._kind.path(self._namespace), query)
        except ApiError as error:
            if error.status == 410:
                raise WatchExpiredError from error
            if not self._closed.is_set():
                raise
            return
        try:
            yield from self._changes(self._response)
        except (urllib3.exceptions.HTTPError, OSError):
            return  # the connection broke: resume from the last event
        finally:
            self._response.close()

    def _changes(self, response: urllib3.BaseHTTPResponse) -> Iterator[Change]:
        rest = b""
        while not self._closed.is_set():
            chunk = response.read1()
            if not chunk:
                return
            *lines, rest = (rest + chunk).split(b"\n")
            for line in filter(None, lines):
                event = _decode(line)
                found = get_map(event, "object")
                if event.get("type") == "ERROR":
                    if get_int(found, "code") == 410:
                        raise WatchExpiredError
                    return
                yield Change(get_str(event, "type") or "", found)


def _wake(sock: object) -> None:
    """Shut a socket down so that a thread which reads from it returns.

    The TLS layer is passed by, since its own shutdown would pull the state away from under the reading thread.
    """
    if isinstance(sock, ssl.SSLSocket):
        descriptor = sock.fileno()
        if descriptor >= 0:
            with socket.socket(fileno=os.dup(descriptor)) as plain:
                try:
                    plain.shutdown(socket.SHUT_RDWR)
                except OSError:
                    return


def typed(kind: Kind, obj: JsonObject) -> JsonObject:
    """Return an object with its apiVersion and kind, which servers leave out of list items."""
    result: JsonObject = {"apiVersion": kind.api_version, "kind": kind.name}
    return result | obj


def _named(config: JsonObject, section: str, name: str) -> JsonObject:
    for item in get_objects(config, section):
        if item.get("name") == name:
            return item
    raise ValueError(f"kubeconfig: {section} has no entry named {name!r}")


def _manager(manager: str) -> dict[str, str]:
    return {"fieldManager": manager} if manager else {}


def _decode(data: bytes) -> JsonObject:
    value: Json = msgspec.json.decode(data)
    return value if isinstance(value, dict) else {}


def _error(status: int, data: bytes) -> ApiError:
    try:
        body = _decode(data)
    except msgspec.DecodeError:
        body = {}
    message = get_str(body, "message") or data[:200].decode(errors="replace")
    return ApiError(status, get_str(body, "reason") or "", message, body)
