"""One connected cluster: reads, lists, prepared writes and their answers."""

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import msgspec

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get_bool
from aim_template_migration.kube.answers import Answer, RawAnswer, interpret, warnings_of
from aim_template_migration.kube.listing import PAGE_SIZE, ListReader, Page, PageSizes, objects_of, read_page
from aim_template_migration.kube.requests import (
    DEFAULT_TIMEOUT,
    LIST_TIMEOUT,
    Action,
    PreparedRequest,
    build_access_review,
    build_create,
    build_get,
    build_json_patch,
    build_list,
    build_version,
)
from aim_template_migration.kube.sending import Sender

T = TypeVar("T")
Objects = list[JsonObject]

_KEPT_WARNINGS = 100


class Cluster:
    """A connection to one API server; safe for use by many threads. ``connect`` makes it.

    Every method raises the exceptions of ``errors`` as its table says, and ValueError for a name or namespace that is
    no path segment. ``within`` limits a read, its repeats included, in seconds.

    Attributes:
        server: the URL of the API server, without credentials.
        origin: where the connection was configured, for messages: context and kubeconfig, or the pod's account.
    """

    def __init__(self, server: str, origin: str, sender: Sender, *, request_timeout: float | None = None) -> None:
        self.server = server
        self.origin = origin
        self._sender = sender
        self._timeout = request_timeout or DEFAULT_TIMEOUT
        self._list_timeout = request_timeout or LIST_TIMEOUT
        self._page_sizes = PageSizes()
        self._lock = threading.Lock()
        self._warnings: dict[str, None] = {}

    @property
    def requests_sent(self) -> dict[str, int]:
        """Requests by verb: ``get``, ``list``, ``create``, ``patch``, ``review``, and ``create (dry run)`` and so on.

        Reads that were repeated count each time.
        """
        return self._sender.sent

    @property
    def read_warnings(self) -> tuple[str, ...]:
        """The distinct texts of Warning headers of reads so far, at most 100; writes carry theirs in the answer."""
        with self._lock:
            return tuple(self._warnings)

    def server_version(self, *, within: float | None = None) -> JsonObject:
        """Return what ``/version`` says, for example ``{"gitVersion": "v1.36.2", …}``."""
        request = build_version(timeout=self._timeout)
        return self._sender.read(request, lambda raw: self._object(request, raw), within=within)

    def get(self, kind: Kind, name: str, namespace: str | None = None, *, within: float | None = None) -> JsonObject:
        """Return one object.

        Raises:
            NotFound: there is none of this name.
            NotServed: the server does not serve the kind at this version.
        """
        request = build_get(kind, name, namespace, timeout=self._timeout)
        return self._sender.read(request, lambda raw: self._object(request, raw), within=within)

    def list_reduced(
        self,
        kind: Kind,
        namespace: str | None,
        reduce: Callable[[JsonObject], T],
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        page_size: int = PAGE_SIZE,
        within: float | None = None,
        decode: Callable[[msgspec.Raw], Json] = msgspec.json.decode,
    ) -> list[T]:
        """Return what ``reduce`` keeps of every object of a list, without ever holding all objects.

        ``reduce`` must have no effect but its result: when the snapshot expires the list starts again, and objects
        are reduced anew. Items carry ``apiVersion`` and ``kind`` even where the server leaves them out. ``decode`` may
        leave out of an object what ``reduce`` does not look at.

        Raises:
            IncompleteList: the list ended early or was no consistent snapshot.
            NotServed: the server does not serve the kind at this version.
        """

        def keep(action: Action, items: list[msgspec.Raw]) -> list[T]:
            return [reduce(item) for item in objects_of(action, kind, items, decode)]

        pages = self.list_pages(
            kind,
            namespace,
            keep,
            label_selector=label_selector,
            field_selector=field_selector,
            page_size=page_size,
            within=within,
        )
        return [kept for page in pages for kept in page]

    def list_pages(
        self,
        kind: Kind,
        namespace: str | None,
        keep: Callable[[Action, list[msgspec.Raw]], T],
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        page_size: int = PAGE_SIZE,
        within: float | None = None,
    ) -> list[T]:
        """Return what ``keep`` gave for each page of a list, whose objects nobody has looked at yet.

        ``keep`` gets the list's action, for messages, and the objects as JSON, for ``listing.objects_of``. When the
        snapshot expires the list starts again, and what ``keep`` gave before is dropped.

        Raises:
            IncompleteList: the list ended early or was no consistent snapshot.
            NotServed: the server does not serve the kind at this version.
        """

        def build(limit: int, token: str | None) -> PreparedRequest:
            return build_list(
                kind,
                namespace,
                limit=limit,
                continue_token=token,
                label_selector=label_selector,
                field_selector=field_selector,
                timeout=self._list_timeout,
            )

        until = None if within is None else self._sender.monotonic() + within
        return ListReader(partial(self._page, until), build, keep, kind, self._page_sizes, page_size).read()

    def prepare_create(self, kind: Kind, body: JsonObject, namespace: str | None, *, dry_run: bool) -> PreparedRequest:
        """Build the creation of ``body`` without sending it."""
        return build_create(kind, body, namespace, dry_run=dry_run, timeout=self._timeout)

    def prepare_json_patch(
        self, kind: Kind, name: str, namespace: str | None, operations: Sequence[JsonObject], *, dry_run: bool
    ) -> PreparedRequest:
        """Build a JSON Patch without sending it."""
        return build_json_patch(kind, name, namespace, operations, dry_run=dry_run, timeout=self._timeout)

    def send(self, prepared: PreparedRequest) -> Answer:
        """Send a prepared write exactly once.

        Raises:
            RequestNotSent: nothing was stored, as nothing was sent.
            ApiStatusError: the server refused; nothing was stored.
            OutcomeUnknown: it may be stored or not.
            ValueError: the request is no write.
        """
        if not prepared.is_write:
            raise ValueError(f"{prepared.action} is no write")
        return self._sender.write(prepared)

    def access_review(
        self, verb: str, kind: Kind, namespace: str | None, *, name: str | None = None, subresource: str | None = None
    ) -> bool:
        """Return whether the identity of this connection may ``verb`` objects of the kind (SelfSubjectAccessReview)."""
        request = build_access_review(verb, kind, namespace, name=name, subresource=subresource, timeout=self._timeout)
        review = self._sender.read(request, lambda raw: self._object(request, raw))
        return get_bool(review, "status", "allowed") is True

    def close(self) -> None:
        """Close the idle connections."""
        self._sender.close()

    def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        label_selector: str | None = None,
        field_selector: str | None = None,
        page_size: int = PAGE_SIZE,
        within: float | None = None,
    ) -> Objects:
        """Return every object of a list, from one consistent snapshot; ``list_reduced`` needs less memory.

        Raises:
            IncompleteList: the list ended early or was no consistent snapshot.
            NotServed: the server does not serve the kind at this version.
        """
        return self.list_reduced(
            kind,
            namespace,
            lambda item: item,
            label_selector=label_selector,
            field_selector=field_selector,
            page_size=page_size,
            within=within,
        )

    def _page(self, until: float | None, request: PreparedRequest) -> Page:
        """Read a page, before a moment of the sender's clock where one is given."""

        def understand(raw: RawAnswer) -> Page:
            page = read_page(request, raw, self._sender.redact)
            self._keep(warnings_of(raw, self._sender.redact))
            return page

        within = None if until is None else max(0.0, until - self._sender.monotonic())
        return self._sender.read(request, understand, within=within)

    def _object(self, request: PreparedRequest, raw: RawAnswer) -> JsonObject:
        answer = interpret(request, raw, self._sender.redact)
        self._keep(answer.warnings)
        return answer.body

    def _keep(self, warnings: tuple[str, ...]) -> None:
        if warnings:
            with self._lock:
                for warning in warnings:
                    if len(self._warnings) < _KEPT_WARNINGS:
                        self._warnings[warning] = None
