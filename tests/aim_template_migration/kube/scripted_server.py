"""A TLS server that answers what a test scripts, well or badly, and that counts how often each request arrives."""

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import trustme


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    query: dict[str, str]
    headers: tuple[tuple[str, str], ...]
    body: bytes
    connection: int
    client_name: str | None

    def header(self, name: str) -> str | None:
        return next(iter(self.values(name)), None)

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key == name.lower()]

    @property
    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """An answer. ``raw`` replaces status line, headers and body.

    ``end`` is what happens after the bytes: ``keep`` the connection, ``close`` it, ``reset`` it, or ``stall`` until the
    test is over.
    """

    status: int = 200
    body: object = None
    headers: tuple[tuple[str, str], ...] = ()
    raw: bytes | None = None
    end: str = "keep"

    def encoded(self) -> bytes:
        if self.raw is not None:
            return self.raw
        content = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        headers = {"content-type": "application/json", "content-length": str(len(content))}
        lines = [f"{name}: {value}" for name, value in headers.items() if name not in dict(self.headers)]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([f"HTTP/1.1 {self.status} Scripted", *lines, "", ""]).encode() + content


def status(code: int, reason: str, message: str = "as scripted", **details) -> dict:
    """A Kubernetes Status."""
    body = {"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure", "code": code}
    return body | {"reason": reason, "message": message, "details": details}


def refusal(code: int, reason: str, message: str = "as scripted", headers=(), **details) -> Reply:
    return Reply(code, status(code, reason, message, **details), headers=tuple(headers))


LOST = Reply(raw=b"", end="reset")
CLOSED = Reply(raw=b"", end="close")
STALLED = Reply(raw=b"", end="stall")


@dataclass
class ScriptedServer:
    """Answers each request with the next of ``replies``, or with what ``answer`` returns; ``/version`` by itself."""

    authority: trustme.CA
    names: tuple[str, ...] = ("127.0.0.1", "localhost")
    replies: list[Reply] = field(default_factory=list)
    answer: Callable[[Received], Reply] | None = None
    answer_version: bool = True
    drop_connections: int = 0
    require_client_certificate: bool = False
    received: list[Received] = field(default_factory=list)
    server_names: list[str | None] = field(default_factory=list)

    def __post_init__(self):
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._connections = 0
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert(*self.names).configure_cert(context)
        self.authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED if self.require_client_certificate else ssl.CERT_OPTIONAL
        context.sni_callback = lambda sock, name, context: self.server_names.append(name)
        self._context = context
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._accept, daemon=True)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    @property
    def authority_pem(self) -> bytes:
        return self.authority.cert_pem.bytes()

    def requests(self, method: str | None = None) -> list[Received]:
        """What arrived, without the reads of ``/version``."""
        with self._lock:
            return [each for each in self.received if each.path != "/version" and method in (None, each.method)]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._over.set()
        # A closed listener does not wake its accept; a last connection does.
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._thread.join()
        self._listener.close()

    def _accept(self):
        while not self._over.is_set():
            plain, _ = self._listener.accept()
            if self._over.is_set() or self.drop_connections:
                self.drop_connections -= 1
                plain.close()
                continue
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connections += 1
            threading.Thread(target=self._serve, args=(plain, self._connections), daemon=True).start()

    def _serve(self, plain: socket.socket, number: int) -> None:
        try:
            with self._context.wrap_socket(plain, server_side=True) as connection:
                certificate = connection.getpeercert()
                while received := _read_request(connection, number, certificate):
                    reply = self._reply(received)
                    connection.sendall(reply.encoded())
                    if not self._goes_on(connection, reply.end):
                        return
        except (OSError, ValueError):
            plain.close()

    def _reply(self, received: Received) -> Reply:
        with self._lock:
            self.received.append(received)
            if received.path == "/version" and self.answer_version:
                return Reply(body={"gitVersion": "v1.36.2"})
            if self.replies:
                return self.replies.pop(0)
        return self.answer(received) if self.answer else refusal(418, "Teapot", "nothing is scripted")

    def _goes_on(self, connection: ssl.SSLSocket, end: str) -> bool:
        if end == "stall":
            self._over.wait(30)
        elif end == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return end == "keep"


def _read_request(connection: ssl.SSLSocket, number: int, certificate) -> Received | None:
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(65536)
        if not chunk:
            return None
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = tuple((name.lower(), value.strip()) for name, _, value in (line.partition(":") for line in lines))
    missing = int(dict(headers).get("content-length", 0)) - len(body)
    while missing > 0:
        chunk = connection.recv(65536)
        body += chunk
        missing -= len(chunk)
    method, target, _ = first.split(" ")
    parts = urlsplit(target)
    subject = dict(entry[0] for entry in (certificate or {}).get("subject", ()))
    name = subject.get("commonName") or subject.get("organizationalUnitName")
    return Received(method, parts.path, dict(parse_qsl(parts.query)), headers, body, number, name)
