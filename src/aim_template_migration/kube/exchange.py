"""One HTTP/1.1 request and its answer as bytes on an open connection (RFC 9112); no connection is opened here.

A unit's migration is some eighty small requests, so what an HTTP library spends on each beside the bytes (an e-mail
message for every head, a response around a response) would be most of this tool's CPU time. In turn nothing is
tolerated here: an answer that does not keep to the standard counts as lost, and a lost answer is settled by reading.
"""

import contextlib
import gzip
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from http.client import RemoteDisconnected
from typing import Protocol

from urllib3.exceptions import DecodeError, IncompleteRead, ProtocolError

from aim_template_migration.kube.answers import RawAnswer

Headers = Mapping[str, tuple[str, ...]]

_CHUNK = 1 << 16
_LONGEST_HEAD = 1 << 18
_LONGEST_LINE = 1 << 12
_TARGET = re.compile(r"/[!-~]*|https?://[!-~]+")
_FORBIDDEN = re.compile(r"[\0\r\n]")
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-5][0-9]{2})(?: .*)?", re.DOTALL)
_FIELD = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*", re.DOTALL)
_LENGTH = re.compile(r"[0-9]{1,15}")
_CHUNK_SIZE = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]*(?:;.*)?", re.DOTALL)
_WITHOUT_BODY = frozenset({204, 304})


class Stream(Protocol):
    """What is needed of a socket, with or without TLS."""

    def sendall(self, data: bytes, /) -> None:
        """Send everything."""

    def recv(self, size: int, /) -> bytes:
        """Return what has come, at most ``size`` bytes; nothing at the end of the connection."""


def encode_request(
    method: str, target: str, host: str, headers: Iterable[tuple[str, str]], body: bytes | None
) -> bytes:
    """Return the bytes of a request; values of headers go on the wire as UTF-8, as kubectl sends them.

    Args:
        method: the HTTP method.
        target: path and query; or, for a proxy that forwards, the whole URL.
        host: host and port of the server.
        headers: the other headers; a name may occur more than once.
        body: the bytes to send, or None.

    Raises:
        ValueError: the target or a header would be read as something else.
    """
    if not _TARGET.fullmatch(target) or _FORBIDDEN.search(method):
        raise ValueError("the target of a request holds a character that may not stand there")
    first, fields = f"{method} {target} HTTP/1.1\r\n".encode(), _encode_fields(host, tuple(headers))
    if body is None:
        return b"%b%b\r\n" % (first, fields)
    return b"%b%bContent-Length: %d\r\n\r\n%b" % (first, fields, len(body), body)


@lru_cache(maxsize=8)  # all requests of a run have the same few
def _encode_fields(host: str, headers: tuple[tuple[str, str], ...]) -> bytes:
    lines = [f"Host: {host}", *(f"{name}: {value}" for name, value in headers)]
    if _FORBIDDEN.search("".join(lines)):
        raise ValueError("a header of a request holds a character that may not stand there")
    return "".join(f"{line}\r\n" for line in lines).encode()


def exchange(stream: Stream, request: bytes, in_time: Callable[[], None]) -> tuple[RawAnswer, bool]:
    """Send a request and return the whole answer, decompressed, and whether the connection can carry another.

    Args:
        stream: the connection.
        request: what ``encode_request`` returned.
        in_time: called whenever something has come; raises where that is too late.

    Raises:
        RemoteDisconnected: the connection ended before an answer came.
        IncompleteRead: it ended before the answer was complete.
        ProtocolError: what came is no answer by the standard.
        DecodeError: it is compressed wrongly.
        OSError: the connection broke.
    """
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before it read everything
        stream.sendall(request)
    received = _Received(stream, in_time)
    status = 100
    while status < 200:  # what comes before the answer says nothing
        minor, status, headers = _parse_head(received.until(b"\r\n\r\n", _LONGEST_HEAD))
        if status == 101:
            raise ProtocolError("the server changed the protocol")
    body, ends_itself = _read_body(status, headers, received)
    closes = minor == "0" or any("close" in value.lower() for value in headers.get("connection", ()))
    reusable = ends_itself and not closes and not received.more
    return RawAnswer(status, headers, _decompressed(headers, body)), reusable


class _Received:
    """What came over a connection and was not taken yet."""

    __slots__ = ("_buffer", "_in_time", "_stream")

    def __init__(self, stream: Stream, in_time: Callable[[], None]) -> None:
        self._stream = stream
        self._in_time = in_time
        self._buffer = bytearray()

    @property
    def more(self) -> bool:
        """Whether something came that nobody took."""
        return bool(self._buffer)

    def until(self, mark: bytes, longest: int) -> bytes:
        """Take what comes before ``mark``, and the mark with it."""
        looked = 0
        while (end := self._buffer.find(mark, looked)) < 0:
            looked = max(0, len(self._buffer) - len(mark) + 1)
            if looked > longest:
                raise ProtocolError("a line or the head of an answer is too long")
            if not self._fill(_CHUNK):
                raise IncompleteRead(len(self._buffer), longest) if self._buffer else RemoteDisconnected("")
        taken = bytes(self._buffer[:end])
        del self._buffer[: end + len(mark)]
        return taken

    def exactly(self, size: int) -> bytearray:
        """Take so many bytes."""
        while len(self._buffer) < size:
            if not self._fill(size - len(self._buffer)):
                raise IncompleteRead(len(self._buffer), size - len(self._buffer))
        if len(self._buffer) == size:
            taken, self._buffer = self._buffer, bytearray()  # a large page is never there twice
            return taken
        taken = self._buffer[:size]
        del self._buffer[:size]
        return taken

    def rest(self) -> bytearray:
        """Take everything until the connection ends."""
        while self._fill(_CHUNK):
            pass
        taken, self._buffer = self._buffer, bytearray()
        return taken

    def _fill(self, most: int) -> bool:
        came = self._stream.recv(min(most, _CHUNK))
        self._in_time()
        self._buffer += came
        return bool(came)


def _parse_head(head: bytes) -> tuple[str, int, Headers]:
    """Return the minor version, the status and the headers, names in lower case."""
    first, *lines = head.decode("latin-1").split("\r\n")
    status_line = _STATUS_LINE.fullmatch(first)
    if status_line is None:
        raise ProtocolError("what came is no HTTP answer")
    headers: dict[str, tuple[str, ...]] = {}
    for line in lines:
        name, value = _parse_field(line)
        headers[name] = (*headers[name], value) if name in headers else (value,)
    return status_line[1], int(status_line[2]), headers


@lru_cache(maxsize=1024)  # most headers are the same in every answer
def _parse_field(line: str) -> tuple[str, str]:
    field = _FIELD.fullmatch(line)
    if field is None:
        raise ProtocolError("a header of the answer is none")
    return field[1].lower(), field[2]


def _read_body(status: int, headers: Headers, received: _Received) -> tuple[bytearray, bool]:
    """Return the body, and whether its end could be told without the end of the connection."""
    if status in _WITHOUT_BODY:
        return bytearray(), True
    codings = ",".join(headers.get("transfer-encoding", ())).lower()
    if codings:
        if codings != "chunked":
            raise ProtocolError("the answer has a transfer coding that nobody asked for")
        return _read_chunks(received), "content-length" not in headers
    lengths = {part.strip() for value in headers.get("content-length", ()) for part in value.split(",")}
    if not lengths:
        return received.rest(), False
    length = lengths.pop()
    if lengths or not _LENGTH.fullmatch(length):
        raise ProtocolError("the answer does not say how long it is")
    return received.exactly(int(length)), True


def _read_chunks(received: _Received) -> bytearray:
    body = bytearray()
    while True:
        size = _CHUNK_SIZE.fullmatch(received.until(b"\r\n", _LONGEST_LINE))
        if size is None:
            raise ProtocolError("a chunk of the answer has no size")
        length = int(size[1], 16)
        if length == 0:
            break
        body += received.exactly(length)
        if received.exactly(2) != b"\r\n":
            raise ProtocolError("a chunk of the answer has another size than it says")
    while received.until(b"\r\n", _LONGEST_LINE):
        pass  # trailers say nothing that is used
    return body


def _decompressed(headers: Headers, body: bytearray) -> bytes | bytearray:
    coding = ",".join(headers.get("content-encoding", ())).lower()
    if coding in ("", "identity") or not body:
        return body
    if coding != "gzip":
        raise DecodeError("the answer is compressed in a way that nobody asked for")
    try:
        return gzip.decompress(body)
    except (OSError, EOFError, zlib.error) as error:
        raise DecodeError("the answer is compressed wrongly") from error
