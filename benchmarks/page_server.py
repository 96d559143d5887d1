"""A Kubernetes API that serves huge fleets from little memory: pages are made when they are asked for.

One generated namespace stands in a real local API, with the simulated operator's conditions on it. Its objects are kept
as cut-up JSON, and a list of any namespace is put together from the pieces, with that namespace's name and UIDs in
them: the wire format is the local API's, ``limit`` and ``continue`` included, and lists over all namespaces work too.
Everything that is no list of these kinds is answered by the local API itself.

``python -m benchmarks.page_server --namespaces 100 --services 100 FOLDER`` writes ``FOLDER/kubeconfig`` and serves
until its standard input ends. ``GET /benchmark/served`` says what was asked since it was last asked.
"""

import argparse
import base64
import gzip
import re
import ssl
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import msgspec
import trustme

from aim_api.kinds import DEPLOYMENT, Kind
from aim_api.tree import Json, JsonObject, get_map
from aim_rehearsal.apiserver.kubeconfig import write_kubeconfig
from aim_rehearsal.apiserver.messages import Request, Response, json_response
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import fleet
from aim_template_migration.kube.permissions import LISTED_KINDS

IDENTITY = "admin"
SERVED = "/benchmark/served"

_LIST = re.compile(
    r"/(?:api|apis/(?P<group>[^/]+))/(?P<version>[^/]+)(?:/namespaces/(?P<space>[^/]+))?/(?P<plural>[^/]+)"
)
_NAMESPACE = re.compile(r"/api/v1/namespaces/(?P<space>fleet-\d+)")
_UID = rb"[0-9a-f]{8}(?=-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"
_RESOURCE_VERSION = "4711"
_BUILT_IN_GROUPS = ("", "apps")
_GZIP_FROM, _GZIP_LEVEL = 128 * 1024, 4  # as kube-apiserver does it


def space_name(number: int) -> str:
    """Return the name of a namespace of the fleet; all names are equally long."""
    return f"fleet-{number:06d}"


@dataclass(frozen=True, slots=True)
class _Cut:
    """An object as JSON, cut where the namespace's name and the heads of UIDs stand."""

    pieces: tuple[bytes, ...]
    heads: tuple[int | None, ...]

    def joined(self, number: int) -> bytes:
        """Return the object as it stands in a namespace."""
        name, mask = space_name(number).encode(), (number * 0x9E3779B1) & 0xFFFFFFFF
        parts = [self.pieces[0]]
        for head, piece in zip(self.heads, self.pieces[1:], strict=True):
            parts.append(name if head is None else b"%08x" % (head ^ mask))
            parts.append(piece)
        return b"".join(parts)


def cut(item: JsonObject, name: str) -> _Cut:
    """Cut an object of the namespace ``name``."""
    parts = re.split(b"(%s|%s)" % (re.escape(name.encode()), _UID), msgspec.json.encode(item))
    heads = tuple(None if part == name.encode() else int(part, 16) for part in parts[1::2])
    return _Cut(tuple(parts[::2]), heads)


@dataclass(slots=True)
class Served:
    """What was asked since the last report."""

    lists: list[str] = field(default_factory=list)
    others: int = 0
    bytes: int = 0
    sent: int = 0
    in_flight: int = 0
    most_in_flight: int = 0


class PageCore:
    """Answers requests: lists of the fleet from pieces, all else from the session's API.

    Args:
        session: the local API with the one namespace ``space_name(0)`` in it.
        namespaces: how many namespaces the fleet has.
        padding: bytes of managed fields to add to every object, as controllers that write long lists leave them.
    """

    def __init__(self, session: RehearsalSession, namespaces: int, *, padding: int = 0) -> None:
        self._session = session
        self._namespaces = namespaces
        self._padding = padding
        self._kinds = {(kind.group, kind.plural): kind for kind in LISTED_KINDS if kind.namespaced}
        self._cuts: dict[Kind, list[_Cut]] = {}
        self._lock = threading.Lock()
        self._served = Served()

    @property
    def token(self) -> str:
        """The token of an identity that may do everything."""
        return self._session.server.token(IDENTITY)

    def report(self) -> Served:
        """Return what was asked since this was last called, requests under way included."""
        with self._lock:
            served, self._served = self._served, Served(in_flight=self._served.in_flight)
        return served

    def handle(self, request: Request) -> Response:
        """Answer one request."""
        with self._lock:
            self._served.in_flight += 1
            self._served.most_in_flight = max(self._served.most_in_flight, self._served.in_flight)
        try:
            response = self._answer(request)
        finally:
            with self._lock:
                self._served.in_flight -= 1
        with self._lock:
            self._served.bytes += len(response.body)
        return response

    def count_sent(self, size: int) -> None:
        """Count the bytes of an answer as they are sent, compressed or not."""
        with self._lock:
            self._served.sent += size

    def _answer(self, request: Request) -> Response:
        url = urlsplit(request.target)
        if url.path == SERVED:
            return self._told()
        found = _LIST.fullmatch(url.path)
        kind = self._kinds.get((found["group"] or "", found["plural"])) if found else None
        query = dict(parse_qsl(url.query))
        if found and kind and "watch" not in query:
            with self._lock:
                self._served.lists.append(request.target)
            return self._page(kind.at(found["version"]), found["space"], query)
        with self._lock:
            self._served.others += 1
        return self._passed_on(request, _NAMESPACE.fullmatch(url.path))

    def _told(self) -> Response:
        served = self.report()
        lists: list[Json] = [*served.lists]
        return json_response(
            200,
            {
                "lists": lists,
                "others": served.others,
                "bytes": served.bytes,
                "sent": served.sent,
                "mostInFlight": served.most_in_flight,
            },
        )

    def _passed_on(self, request: Request, namespace: re.Match[str] | None) -> Response:
        if namespace is None or int(namespace["space"][-6:]) >= self._namespaces:
            return self._session.server.handle(request)
        name = namespace["space"]
        answer = self._session.server.handle(replace(request, target=request.target.replace(name, space_name(0))))
        return replace(answer, body=answer.body.replace(space_name(0).encode(), name.encode()))

    def _page(self, kind: Kind, space: str | None, query: Mapping[str, str]) -> Response:
        cuts = self._cuts_of(kind)
        numbers = range(self._namespaces) if space is None else self._numbers_of(space)
        total = len(numbers) * len(cuts)
        first = int(base64.b64decode(query["continue"])) if "continue" in query else 0
        last = min(total, first + int(query.get("limit") or total or 1))
        items = b",".join(cuts[index % len(cuts)].joined(numbers[index // len(cuts)]) for index in range(first, last))
        metadata: JsonObject = {"resourceVersion": _RESOURCE_VERSION}
        if last < total:
            metadata |= {"continue": base64.b64encode(b"%d" % last).decode(), "remainingItemCount": total - last}
        head = {"apiVersion": kind.api_version, "kind": f"{kind.name}List", "metadata": metadata}
        return Response(200, body=msgspec.json.encode(head)[:-1] + b',"items":[' + items + b"]}\n")

    def _numbers_of(self, space: str) -> range:
        known = re.fullmatch(r"fleet-(\d{6})", space)
        number = int(known[1]) if known else self._namespaces
        return range(number, min(number + 1, self._namespaces))

    def _cuts_of(self, kind: Kind) -> list[_Cut]:
        with self._lock:
            if kind not in self._cuts:
                listed = self._session.client.list_all(kind, space_name(0)).items
                self._cuts[kind] = [cut(_as_written(kind, item, self._padding), space_name(0)) for item in listed]
            return self._cuts[kind]


def _as_written(kind: Kind, item: JsonObject, padding: int) -> JsonObject:
    """Return an object with the managedFields that its writers would have left, which generated fleets lack."""
    manager = "manager" if kind.name == DEPLOYMENT.name else "aim-service-controller"
    desired: JsonObject = {"metadata": get_map(item, "metadata"), "spec": get_map(item, "spec")}
    observed: JsonObject = {"status": get_map(item, "status")}
    entries = [_entry(manager, kind, desired, ""), _entry(manager, kind, observed, "status")]
    if padding:
        long: JsonObject = {f"field-{index:06d}": 0 for index in range(padding // len('"f:field-000000":{},'))}
        entries.append(_entry(manager, kind, long, "status"))
    listed = {key: value for key, value in item.items() if key not in ("apiVersion", "kind")}
    if kind.group not in _BUILT_IN_GROUPS:  # whose lists leave the type out of their items
        listed = {"apiVersion": kind.api_version, "kind": kind.name, **listed}
    metadata: JsonObject = {**get_map(item, "metadata"), "managedFields": [*entries]}
    return {**listed, "metadata": metadata}


def _entry(manager: str, kind: Kind, written: JsonObject, subresource: str) -> JsonObject:
    entry: JsonObject = {
        "manager": manager,
        "operation": "Update",
        "apiVersion": kind.api_version,
        "time": "2026-06-01T08:00:00Z",
        "fieldsType": "FieldsV1",
        "fieldsV1": _fields(written),
    }
    return entry | ({"subresource": subresource} if subresource else {})


def _fields(value: Json) -> JsonObject:
    """Return the fields of a value as managedFields write them; lists count as atomic."""
    if not isinstance(value, dict):
        return {}
    skipped = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "generation")
    return {f"f:{key}": _fields(item) for key, item in value.items() if key not in skipped}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: "_Server"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the overridden method's name
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer a read."""
        length = int(self.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer = self.server.core.handle(Request(self.command, self.path, headers, self.rfile.read(length)))
        body = answer.body
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        if self.server.compress and len(body) > _GZIP_FROM and "gzip" in headers.get("accept-encoding", ""):
            body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        self.server.core.count_sent(len(body))
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - access reviews


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, core: PageCore, context: ssl.SSLContext, *, compress: bool) -> None:
        self.core = core
        self.compress = compress
        super().__init__(("127.0.0.1", 0), _Handler)
        self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients may go at any time."""


@contextmanager
def one_namespace(services: int) -> Iterator[RehearsalSession]:
    """Run a local API with the namespace that a fleet's others are made from."""
    world = fleet(1, services)
    world = replace(world, objects=tuple(_in_first_space(item, world.namespaces[0]) for item in world.objects))
    with tempfile.TemporaryDirectory() as work, RehearsalSession(world, work_dir=Path(work)) as session:
        yield session


@contextmanager
def serving(core: PageCore, folder: Path, *, compress: bool = False) -> Iterator[Path]:
    """Serve a fleet on a loopback port and yield its kubeconfig, which is in ``folder``."""
    authority = trustme.CA(organization_name="benchmarks")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    server = _Server(core, context, compress=compress)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield write_kubeconfig(
            folder / "kubeconfig",
            url=f"https://127.0.0.1:{server.server_address[1]}",
            ca_pem=authority.cert_pem.bytes().decode(),
            identity=IDENTITY,
            token=core.token,
            namespace=None,
        )
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _in_first_space(item: JsonObject, name: str) -> JsonObject:
    """Move a world's object to the namespace that the fleet's others are made from."""
    text = msgspec.json.encode(item).replace(f'"{name}"'.encode(), f'"{space_name(0)}"'.encode())
    moved: JsonObject = msgspec.json.decode(text)
    return moved


def main() -> None:
    """Serve what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--namespaces", type=int, default=100)
    parser.add_argument("--services", type=int, default=100)
    parser.add_argument("--padding", type=int, default=0, metavar="BYTES")
    parser.add_argument("--compress", action="store_true")
    options = parser.parse_args()
    with one_namespace(options.services) as session:
        core = PageCore(session, options.namespaces, padding=options.padding)
        with serving(core, options.folder, compress=options.compress):
            print("ready", flush=True)
            sys.stdin.read()


if __name__ == "__main__":
    main()
