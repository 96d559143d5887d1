"""HTTPS on a loopback port: sockets, TLS, threads and framing around the API core.

The standard library's ``ThreadingHTTPServer`` carries it. Measured beside uvicorn (with and without uvloop) and aiohttp
with eight connections it is faster than plain uvicorn, needs no package, and fits a core that is an ordinary function;
it passes the hostile-request tests (``tests/aim_rehearsal/apiserver/test_hostile.py``) with what this module adds:
Status objects instead of HTML errors, bounded and checked bodies, chunked request bodies, TLS handshakes outside the
accepting thread, and an end for connections whose client has gone. Hundreds of watches would ask for another choice.
"""

import gzip
import http.client
import select
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

from aim_rehearsal.apiserver.core import MAX_BODY, ApiCore
from aim_rehearsal.apiserver.errors import ApiError, bad_request, too_large
from aim_rehearsal.apiserver.faults import DropConnectionError
from aim_rehearsal.apiserver.messages import Request, Response, json_response

_IDLE_SECONDS = 120
_HANDSHAKE_SECONDS = 10
_GZIP_FROM = 128 * 1024
_GZIP_LEVEL = 1
_DRAIN_LIMIT = 64 * 1024 * 1024
_CHUNK_LINE = 1024
_STREAM_END_SECONDS = 2.0
_HTTP_REASONS = {
    400: "BadRequest",
    405: "MethodNotAllowed",
    408: "Timeout",
    413: "RequestEntityTooLarge",
    414: "RequestURITooLong",
    431: "RequestHeaderFieldsTooLarge",
}


class HttpsShell:
    """Serves one core on a free loopback port.

    Args:
        core: answers the requests.
        context: the TLS context with the server's certificate.
        port: the port, or 0 for a free one.
    """

    def __init__(self, core: ApiCore, context: ssl.SSLContext, port: int = 0) -> None:
        self._server = _Server(("127.0.0.1", port), core, context)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="apiserver", daemon=True)

    @property
    def port(self) -> int:
        """The port."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to accept connections."""
        self._thread.start()

    def stop(self) -> None:
        """Stop accepting and end all connections."""
        self._server.shutdown()
        self._thread.join()
        self._server.wait_for_streams(_STREAM_END_SECONDS)
        self._server.server_close()
        self._server.end_connections()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], core: ApiCore, context: ssl.SSLContext) -> None:
        self.core = core
        self._context = context
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        self._streams = 0
        self._streams_changed = threading.Condition()
        super().__init__(address, _Handler)

    def finish_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Do the TLS handshake in the connection's own thread, then serve it."""
        assert isinstance(request, socket.socket)  # a TCP server
        request.settimeout(_HANDSHAKE_SECONDS)
        try:
            secured = self._context.wrap_socket(request, server_side=True)
        except (OSError, ssl.SSLError):
            return
        with self._open_lock:
            self._open.add(secured)
        try:
            _Handler(secured, client_address, self)
        finally:
            with self._open_lock:
                self._open.discard(secured)
            secured.close()

    def stream_begins(self) -> None:
        """Count a watch that is being answered."""
        with self._streams_changed:
            self._streams += 1

    def stream_ends(self) -> None:
        """Count a watch that was answered."""
        with self._streams_changed:
            self._streams -= 1
            self._streams_changed.notify_all()

    def wait_for_streams(self, timeout: float) -> None:
        """Let watches say that they end, up to ``timeout`` seconds; the store must be closed."""
        with self._streams_changed:
            self._streams_changed.wait_for(lambda: self._streams == 0, timeout)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients may go at any time."""

    def end_connections(self) -> None:
        """Close every open connection; their threads end with it."""
        with self._open_lock:
            connections = list(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = _IDLE_SECONDS
    server: _Server
    server_version = "aim-rehearsal"
    sys_version = ""
    _hop_headers: ClassVar[frozenset[str]] = frozenset({"connection", "transfer-encoding", "content-length"})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the overridden method's name)
        """Say nothing: the audit log tells what was asked."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what the HTTP parser refuses with a Status object, and end the connection."""
        text = message or explain or http.client.responses.get(code, "")
        reason = _HTTP_REASONS.get(code, "BadRequest" if code < 500 else "InternalError")
        self.close_connection = True
        if not hasattr(self, "request_version") or self.request_version == "HTTP/0.9":
            self.request_version = "HTTP/1.1"
        error = ApiError(code, reason, text)
        self._send(json_response(code, error.status))

    def do_GET(self) -> None:
        """Serve one request of any method."""
        try:
            body = self._body()
        except ApiError as error:
            self.close_connection = True
            self._send(json_response(error.code, error.status))
            return
        headers: dict[str, str] = {}
        for name, value in self.headers.items():
            key = name.lower()
            headers[key] = f"{headers[key]}, {value}" if key in headers else value
        # The parser makes one slash of leading ones; the core wants what the client sent.
        target = self.requestline.split()[1]
        request = Request(self.command, target, headers, body, str(self.client_address[0]))
        try:
            response = self.server.core.handle(request)
        except DropConnectionError:
            self.close_connection = True
            return
        self._send(response)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Let every method be served: the core knows which ones a path has."""
        if name.startswith("do_"):
            return self.do_GET
        raise AttributeError(name)

    def _body(self) -> bytes:
        encoding, length = self.headers.get_all("transfer-encoding", []), self.headers.get_all("content-length", [])
        if encoding:
            if length or [item.strip().lower() for item in encoding] != ["chunked"]:
                raise bad_request("unsupported transfer encoding")
            return self._chunks()
        if not length:
            return b""
        if len(set(length)) > 1 or not (length[0].isascii() and length[0].strip().isdigit()):
            raise bad_request("bad Content-Length")
        wanted = int(length[0])
        if wanted > MAX_BODY:
            self._drain(wanted)
            raise too_large(MAX_BODY)
        body = self.rfile.read(wanted)
        if len(body) < wanted:
            raise bad_request("unexpected EOF")
        return body

    def _chunks(self) -> bytes:
        parts: list[bytes] = []
        total = 0
        while True:
            size = self._chunk_size()
            if size == 0:
                break
            total += size
            if total > MAX_BODY:
                raise too_large(MAX_BODY)
            part = self.rfile.read(size)
            if len(part) < size or self.rfile.readline(_CHUNK_LINE) not in (b"\r\n", b"\n"):
                raise bad_request("malformed chunked encoding")
            parts.append(part)
        while self.rfile.readline(_CHUNK_LINE) not in (b"\r\n", b"\n", b""):
            continue
        return b"".join(parts)

    def _chunk_size(self) -> int:
        line = self.rfile.readline(_CHUNK_LINE).split(b";")[0].strip()
        try:
            if not line.isalnum():
                raise ValueError
            return int(line, 16)
        except ValueError:
            raise bad_request("malformed chunked encoding") from None

    def _drain(self, length: int) -> None:
        """Read on for a while, so that the client sees the answer and not a reset."""
        left = min(length, _DRAIN_LIMIT)
        while left > 0:
            part = self.rfile.read(min(left, 1 << 16))
            if not part:
                return
            left -= len(part)

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        for name, value in response.headers:
            if name.lower() not in self._hop_headers:
                self.send_header(name, value)
        self.send_header("Cache-Control", "no-cache, private")
        if response.stream is not None:
            self._send_stream(response)
            return
        body = response.body
        if len(body) > _GZIP_FROM and "gzip" in self.headers.get("accept-encoding", ""):
            body = gzip.compress(body, _GZIP_LEVEL, mtime=0)
            self.send_header("Content-Encoding", "gzip")
        length = len(body) if response.declared_length is None else response.declared_length
        self.send_header("Content-Length", str(length))
        if length != len(body) or self.close_connection:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def _send_stream(self, response: Response) -> None:
        assert response.stream is not None  # asked by the caller
        self.server.stream_begins()
        try:
            self._send_chunks(response.stream)
        finally:
            self.server.stream_ends()

    def _send_chunks(self, parts: Iterator[bytes]) -> None:
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        for part in parts:
            if part:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                self.wfile.flush()
            elif self._client_gone():
                self.close_connection = True
                return
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _client_gone(self) -> bool:
        """Return whether the client of a watch sent something: it has nothing to say but good-bye."""
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable)
