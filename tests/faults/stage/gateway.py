"""The place before a real kube-apiserver at which faults act: whatever anybody but the planner asks goes through it.

It looks like the local API to a stage: it answers requests with and without a socket, shows each to the witness before
and after it is carried out, and knows what has been changed through it.
"""

import base64
import contextlib
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec
import trustme
import urllib3

from aim_rehearsal.apiserver import Request, Response
from aim_rehearsal.apiserver.kubeconfig import write_kubeconfig
from aim_rehearsal.apiserver.shell import HttpsShell
from tests.faults.stage.witness import Witness
from tests.support.controlplane.server import ControlPlane

_SENT = ("authorization", "content-type", "accept", "user-agent")
_SHOWN = frozenset({"content-type", "warning", "audit-id", "retry-after"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True)
class Change:
    """One object that was changed.

    Attributes:
        revision: its place among all changes.
        collection: plural and group.
        key: namespace and name.
        after: the object as the server answered it, None where it is gone.
        removed: what is known of an object that is gone.
    """

    revision: int
    collection: str
    key: str
    after: dict[str, Any] | None
    removed: dict[str, Any] | None = None


class Changes:
    """What was changed, in order; the local API's store tells a stage the same."""

    def __init__(self) -> None:
        self._all: list[Change] = []

    @property
    def revision(self) -> int:
        """How many changes there were."""
        return len(self._all)

    def changes_since(self, revision: int) -> list[Change]:
        """Return the changes after a revision."""
        return self._all[revision:]

    def add(self, collection: str, key: str, after: dict[str, Any] | None, uid: str = "") -> None:
        """Note a change."""
        namespace, _, name = key.partition("/")
        removed = {"metadata": {"namespace": namespace, "name": name, "uid": uid}} if after is None else None
        self._all.append(Change(self.revision + 1, collection, key, after, removed))


class Gateway:
    """Stands before one real API server while entered.

    Args:
        plane: the control plane.
        witness: sees every request, and may answer in the server's place.
    """

    def __init__(self, plane: ControlPlane, witness: Witness) -> None:
        self.store = Changes()
        self._plane = plane
        self._witness = witness
        self._server = urllib3.PoolManager(ca_certs=str(plane.ca_file), retries=False, maxsize=16, timeout=60)
        self._authority = trustme.CA()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
        self._shell = HttpsShell(self, context)
        self._shell.start()
        self._stack.callback(self._shell.stop)
        self._stack.callback(self._server.clear)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"https://127.0.0.1:{self._shell.port}"

    @property
    def ca_pem(self) -> str:
        """The authority of its certificate."""
        return self._authority.cert_pem.bytes().decode()

    def token(self, identity: str) -> str:
        """Return the token of an identity of the real server."""
        return self._plane.token(identity)

    def write_kubeconfig(self, path: Path, identity: str) -> Path:
        """Write a kubeconfig that leads here."""
        return write_kubeconfig(
            path, url=self.url, ca_pem=self.ca_pem, identity=identity, token=self.token(identity), namespace=None
        )

    def handle(self, request: Request) -> Response:
        """Answer a request: the real server's answer, or what a fault makes of it.

        Raises:
            DropConnectionError: a fault ends the connection without an answer.
        """
        response = self._witness(request, None)
        if response is None:
            response = self._forward(request)
            if request.method not in _READING and "dryRun=All" not in request.target and response.status < 300:
                self._note(request, response)
        return self._witness(request, response) or response

    def _forward(self, request: Request) -> Response:
        headers = {name: request.headers[name] for name in _SENT if name in request.headers}
        answer = self._server.request(
            request.method, self._plane.url + request.target, body=request.body or None, headers=headers
        )
        shown = tuple((name, value) for name, value in answer.headers.items() if name.lower() in _SHOWN)
        return Response(answer.status, shown, answer.data)

    def _note(self, request: Request, response: Response) -> None:
        """Note the change that an accepted write made."""
        place = place_of(urlsplit(request.target).path)
        body = msgspec.json.decode(response.body)
        if place is None or not isinstance(body, dict):
            return
        collection, namespace, name = place
        gone = request.method == "DELETE" and (body.get("kind") == "Status" or not body["metadata"].get("finalizers"))
        if gone:
            known = body.get("details", {}).get("uid") or body.get("metadata", {}).get("uid", "")
            self.store.add(collection, f"{namespace}/{name}", None, known)
        else:
            self.store.add(collection, f"{namespace}/{body['metadata']['name']}", body)


def place_of(path: str) -> tuple[str, str, str] | None:
    """Return plural and group, namespace and name of a path to objects; None for any other path."""
    parts = path.strip("/").split("/")
    group, rest = (parts[1], parts[3:]) if parts[0] == "apis" else ("", parts[2:])
    namespace = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        namespace, rest = rest[1], rest[2:]
    if not rest:
        return None
    name = rest[1] if len(rest) > 1 else ""
    return (f"{rest[0]}.{group}" if group else rest[0]), namespace, name


class Backup:
    """What etcd holds of some collections, so that objects can be put back just as they were, UID and all.

    Args:
        plane: the control plane.
        collections: plurals and groups.
    """

    def __init__(self, plane: ControlPlane, collections: Iterable[str]) -> None:
        self._plane = plane
        self._values: Mapping[str, str] = {
            item["key"]: item["value"] for name in collections for item in self._read(f"{_storage(name)}/")
        }

    def put_back(self, collection: str, key: str) -> bool:
        """Put one object back; return whether there was any at the time of the backup."""
        place = _base64(f"{_storage(collection)}/{key.strip('/')}")
        value = self._values.get(place)
        if value is None:
            self._plane.etcd("deleterange", {"key": place})
        else:
            self._plane.etcd("put", {"key": place, "value": value})
        return value is not None

    def _read(self, prefix: str) -> list[dict[str, str]]:
        end = prefix[:-1] + chr(ord(prefix[-1]) + 1)
        return self._plane.etcd("range", {"key": _base64(prefix), "range_end": _base64(end)}).get("kvs", [])


def _storage(collection: str) -> str:
    """Return the prefix below which kube-apiserver keeps a collection."""
    plural, _, group = collection.partition(".")
    return f"/registry/{group}/{plural}" if "." in group else f"/registry/{plural}"


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
