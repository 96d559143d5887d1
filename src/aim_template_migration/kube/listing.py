"""Lists: page by page from one consistent snapshot, whole or not at all.

A list that ends early looks like a cluster with fewer objects, so every page is checked, and what is missing is an
error that names the kind and the namespace. When the snapshot is lost (410, or a page of another snapshot), the list
starts again from its first page; the continue token that Kubernetes offers for an inconsistent rest is not used.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

import msgspec

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get_str
from aim_template_migration.kube.answers import RawAnswer, Redact, check_status, no_usable_answer
from aim_template_migration.kube.errors import Gone, IncompleteList
from aim_template_migration.kube.requests import Action, PreparedRequest

PAGE_SIZE = 500
"""Objects asked for at once, as kubectl does."""
FIRST_PAGE_SIZE = 100
"""Objects asked for at once while it is not known how large objects of their kind are here."""
PAGE_BYTES = 8 << 20
"""Pages of large objects shrink to about this many bytes, so that a list of any size fits into little memory."""
RESTARTS = 3
"""How often a list starts again before it counts as incomplete."""

_SMALLEST_PAGE = 20

T = TypeVar("T")
Text = TypeVar("Text", msgspec.Raw, memoryview)


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list, its objects not yet decoded.

    Attributes:
        items: the objects as JSON.
        size: the bytes of the page.
        resource_version: the snapshot it belongs to.
        continue_token: for the next page, empty after the last.
        remaining: how many objects the server says are left, None where it does not say.
    """

    items: list[msgspec.Raw]
    size: int
    resource_version: str
    continue_token: str
    remaining: int | None


class _ListMetadata(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_: str | None = msgspec.field(default=None, name="continue")
    remaining_item_count: int | None = None


class _List(msgspec.Struct, rename="camel"):
    api_version: str
    kind: str
    items: list[msgspec.Raw]
    metadata: _ListMetadata = msgspec.field(default_factory=_ListMetadata)


_decoder = msgspec.json.Decoder(_List)


def read_page(request: PreparedRequest, raw: RawAnswer, redact: Redact) -> Page:
    """Return the page that an answer holds.

    Raises:
        RequestError: as the table in ``errors`` says; IncompleteList for JSON that is no such list.
    """
    check_status(request, raw, redact)
    try:
        answer = _decoder.decode(raw.body)
    except msgspec.ValidationError as error:
        raise _incomplete(request.action, "the answer is no list with items") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise no_usable_answer(request, f"the answer ({raw.status}) is not JSON, or was cut off", raw.status) from error
    if (answer.api_version, answer.kind) != (request.kind.api_version, f"{request.kind.name}List"):
        raise _incomplete(request.action, f"the answer is a {answer.api_version} {answer.kind}, another kind of list")
    metadata = answer.metadata
    return Page(
        items=answer.items,
        size=len(raw.body),
        resource_version=metadata.resource_version,
        continue_token=metadata.continue_ or "",
        remaining=metadata.remaining_item_count,
    )


class PageSizes:
    """How many objects of a kind fit into a page, learnt from the pages so far; safe for use by many threads."""

    def __init__(self) -> None:
        self._object_bytes: dict[Kind, int] = {}

    def learn(self, kind: Kind, page: Page) -> None:
        """Note the mean size of the objects of a page."""
        if page.items:
            self._object_bytes[kind] = max(1, page.size // len(page.items))

    def limit(self, kind: Kind, most: int) -> int:
        """Return how many objects to ask for, ``most`` at most."""
        known = self._object_bytes.get(kind)
        fitting = FIRST_PAGE_SIZE if known is None else max(_SMALLEST_PAGE, PAGE_BYTES // known)
        return min(most, fitting)


class _SnapshotLostError(Exception):
    """The rest of the list can no longer be had from the snapshot that it began with."""


@dataclass(slots=True)
class ListReader(Generic[T]):
    """Reads one list to its end.

    Attributes:
        fetch: sends the request for one page and returns the page, repeating it as a read.
        build: makes the request for the page of at most so many objects, after a continue token.
        keep: what to keep of a page, whose objects are not decoded yet and are dropped afterwards. It runs again for
            pages that were read before a restart, so what it gave for those must do no harm.
        kind: the kind that is listed.
        sizes: how many objects of a kind fit into a page.
        page_size: objects to ask for at once at most.
    """

    fetch: Callable[[PreparedRequest], Page]
    build: Callable[[int, str | None], PreparedRequest]
    keep: Callable[[Action, list[msgspec.Raw]], T]
    kind: Kind
    sizes: PageSizes
    page_size: int = PAGE_SIZE
    _tokens: set[str] = field(default_factory=set)

    def read(self) -> list[T]:
        """Return what ``keep`` made of each page, in the server's order.

        Raises:
            IncompleteList: the list ended early, was inconsistent, or its snapshot was lost again and again.
            RequestError: a page could not be read.
        """
        for _ in range(RESTARTS + 1):
            try:
                return self._read_snapshot()
            except _SnapshotLostError:
                continue
        text = f"its snapshot expired before the end, {RESTARTS + 1} times over; try again when the server is quieter"
        raise _incomplete(self.build(self.page_size, None).action, text)

    def _read_snapshot(self) -> list[T]:
        results: list[T] = []
        self._tokens.clear()
        token, snapshot = None, None
        while True:
            request = self.build(self.sizes.limit(self.kind, self.page_size), token)
            try:
                page = self.fetch(request)
            except Gone as error:
                raise _SnapshotLostError from error
            if snapshot not in (None, page.resource_version):
                raise _SnapshotLostError
            snapshot = page.resource_version
            self.sizes.learn(self.kind, page)
            self._check_end(request, page)
            results.append(self.keep(request.action, page.items))
            token = page.continue_token
            if not token:
                return results

    def _check_end(self, request: PreparedRequest, page: Page) -> None:
        if not page.continue_token and page.remaining:
            raise _incomplete(request.action, f"the server ended it although {page.remaining} objects remain")
        if page.continue_token and page.continue_token in self._tokens:
            raise _incomplete(request.action, "the server gave the same continue token twice")
        self._tokens.add(page.continue_token)


def objects_of(
    action: Action, kind: Kind, texts: Iterable[Text], decode: Callable[[Text], Json] = msgspec.json.decode
) -> Iterator[JsonObject]:
    """Yield the objects of a page one after the other, so that a page never exists decoded as a whole.

    Args:
        action: the list that the page belongs to.
        kind: the kind that is listed; built-in lists leave apiVersion and kind out of their items.
        texts: the objects as JSON.
        decode: turns an object's JSON into a value; it may leave out what is not looked at.

    Raises:
        IncompleteList: an item is not JSON, or no such object.
    """
    name, api_version, namespace = kind.name, kind.api_version, action.namespace
    for text in texts:
        try:
            item = decode(text)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise _incomplete(action, "an item is not valid JSON") from error
        metadata = item.get("metadata") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(metadata, dict) or not get_str(metadata, "name"):
            raise _incomplete(action, "an item is no object with a name")
        if item.setdefault("kind", name) != name or item.setdefault("apiVersion", api_version) != api_version:
            raise _incomplete(action, "an item is of another kind or version")
        if namespace is not None and metadata.get("namespace") != namespace:
            raise _incomplete(action, "an item is of another namespace")
        yield item


def _incomplete(action: Action, text: str) -> IncompleteList:
    return IncompleteList(action, f"the list cannot be relied on: {text}")
