"""One request, sent exactly once, over connections that are kept open.

urllib3 opens the connections: TLS, proxies and their tunnels. What goes over them is written and read in ``exchange``,
once, so that it is always known whether any byte of a request may have left.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http.client import HTTPException
from ssl import SSLContext, SSLSocket
from typing import TypedDict

from urllib3 import PoolManager, ProxyManager
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.contrib.socks import SOCKSProxyManager
from urllib3.exceptions import HTTPError, ProxyError
from urllib3.util import parse_url

from aim_template_migration.kube.answers import RawAnswer
from aim_template_migration.kube.exchange import Stream, encode_request, exchange
from aim_template_migration.kube.proxies import proxy_credentials
from aim_template_migration.kube.tls import ClientCertificate, TlsSettings, tls_context

CONNECT_TIMEOUT = 10.0
"""Seconds to establish a connection, TLS included."""
LONGEST_IDLE = 45.0
"""Seconds after which an unused connection is not trusted any more: load balancers drop them silently after 60."""

_TROUBLE = (HTTPError, HTTPException, OSError, ValueError)


class NothingSentError(Exception):
    """No connection; ``__cause__`` is what urllib3 met."""


class AnswerLostError(Exception):
    """The request left, or part of it, and no complete answer came; ``__cause__`` says why, None for the deadline."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where the API server is and how it is reached.

    Attributes:
        server: the URL, without a slash at its end, without credentials.
        tls: how the server proves its identity.
        proxy: the URL of a proxy, with its credentials, or None.
    """

    server: str
    tls: TlsSettings
    proxy: str | None = None


class Transport:
    """Connections to one API server; safe for use by many threads."""

    def __init__(
        self, endpoint: Endpoint, *, connections: int, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._endpoint = endpoint
        self._most = connections
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._client: ClientCertificate | None = None
        self._connections: _Connections | None = None

    def send(
        self,
        method: str,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes | None,
        *,
        client: ClientCertificate | None,
        timeout: float,
    ) -> RawAnswer:
        """Send one request once and return the whole answer.

        Args:
            method: the HTTP method.
            target: path and query below the server's URL.
            headers: all headers; a name may occur more than once.
            body: the bytes to send, or None.
            client: the certificate to present, or None.
            timeout: seconds until the answer must be complete.

        Raises:
            NothingSentError: certainly nothing of the request left.
            AnswerLostError: something may have left, and the answer is lost, late or incomplete.
            ConnectError: the certificate to present cannot be used.
        """
        deadline = self._monotonic() + timeout
        connections = self._connections_for(client)
        try:
            request = connections.request(method, target, headers, body)
            connection = connections.take(min(CONNECT_TIMEOUT, timeout))
        except _TROUBLE as error:
            raise NothingSentError from error
        reusable = False
        try:
            connection.settimeout(timeout)
            answer, reusable = exchange(connection.stream, request, lambda: self._require_in_time(deadline))
        except _TROUBLE as error:
            raise AnswerLostError from error
        finally:
            connections.give_back(connection, reusable=reusable)
        return answer

    def close(self) -> None:
        """Close the idle connections; those in use close when their request ends."""
        with self._lock:
            if self._connections is not None:
                self._connections.close()
                self._connections = None

    def _connections_for(self, client: ClientCertificate | None) -> "_Connections":
        """Return the connections that present ``client``; a new certificate means new connections."""
        with self._lock:
            if self._connections is None or client != self._client:
                previous, self._connections = self._connections, _Connections(self._endpoint, client, self._most)
                self._client = client
                if previous is not None:
                    previous.close()
            return self._connections

    def _require_in_time(self, deadline: float) -> None:
        if self._monotonic() > deadline:
            raise AnswerLostError  # an answer that drips in is as lost as one that does not come


class _Connection:
    """An open connection, with the time of its last use."""

    __slots__ = ("_opened", "_timeout", "last_used", "stream")

    def __init__(self, opened: HTTPConnection) -> None:
        self._opened = opened
        self.stream: Stream = opened.sock
        self._timeout: float | None = None
        self.last_used = time.monotonic()

    @property
    def usable(self) -> bool:
        """Whether another request may go over it.

        Bytes that came after an answer would be read as the next one. Those that OpenSSL has decrypted already cannot
        be seen by looking at the socket, which is all that urllib3 does.
        """
        left_over = isinstance(self.stream, SSLSocket) and self.stream.pending() > 0
        return not left_over and time.monotonic() - self.last_used < LONGEST_IDLE and self._opened.is_connected

    def settimeout(self, seconds: float) -> None:
        """Limit how long each wait for the server may take."""
        if seconds != self._timeout:
            self._opened.sock.settimeout(seconds)
            self._timeout = seconds

    def close(self) -> None:
        """Close it."""
        self._opened.close()


class _Connections:
    """Connections to one server with one certificate; the idle ones are used again, the last used first."""

    def __init__(self, endpoint: Endpoint, client: ClientCertificate | None, most: int) -> None:
        self._most = most
        self._pool = _pool_manager(endpoint, client).connection_from_url(endpoint.server)
        url = parse_url(endpoint.server)
        self._host = url.netloc or ""
        # A proxy that forwards, which only happens without TLS, is told the whole URL.
        self._forwarded = self._pool.proxy is not None and self._pool.scheme == "http"
        self._prefix = endpoint.server if self._forwarded else (url.path or "").rstrip("/")
        self._lock = threading.Lock()
        self._idle: list[_Connection] = []
        self._closed = False
        weakref.finalize(self, _close_all, self._idle)  # for owners that forget to close

    def request(self, method: str, target: str, headers: Iterable[tuple[str, str]], body: bytes | None) -> bytes:
        """Return the bytes of a request as this server, or the proxy before it, is to see them."""
        if self._forwarded:
            headers = (*headers, *self._pool.proxy_headers.items())
        return encode_request(method, self._prefix + target, self._host, headers, body)

    def take(self, timeout: float) -> _Connection:
        """Return a connection that is open: one that was used before, or a new one."""
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return _Connection(_open(self._pool, timeout))
            if connection.usable:
                return connection
            connection.close()

    def give_back(self, connection: _Connection, *, reusable: bool) -> None:
        """Keep a connection for the next request, or close it."""
        connection.last_used = time.monotonic()
        if reusable:
            with self._lock:
                if not self._closed and len(self._idle) < self._most:
                    self._idle.append(connection)
                    return
        connection.close()

    def close(self) -> None:
        """Close the idle connections, and from now on each one that is given back."""
        with self._lock:
            self._closed = True
            _close_all(self._idle)


def _close_all(connections: list[_Connection]) -> None:
    while connections:
        connections.pop().close()


def _open(pool: HTTPConnectionPool, timeout: float) -> HTTPConnection:
    """Open a connection, its tunnel through a proxy and TLS included, in the way that the pool itself does."""
    connection = pool._new_conn()  # noqa: SLF001 - urllib3 opens connections only together with a request
    assert isinstance(connection, HTTPConnection)
    connection.timeout = timeout
    try:
        if pool.proxy is not None:
            pool._prepare_proxy(connection)  # noqa: SLF001
        if connection.is_closed:
            connection.connect()
    except _TROUBLE as error:
        connection.close()
        if connection.proxy is not None and not connection.has_connected_to_proxy:
            raise ProxyError("no connection to the proxy, or beyond it", error) from error
        raise
    return connection


class _Options(TypedDict):
    ssl_context: SSLContext
    server_hostname: str | None


def _pool_manager(endpoint: Endpoint, client: ClientCertificate | None) -> PoolManager:
    options: _Options = {
        "ssl_context": tls_context(endpoint.tls, client),
        "server_hostname": endpoint.tls.server_name,
    }
    if endpoint.proxy is None:
        return PoolManager(**options)
    if endpoint.proxy.startswith("socks"):
        # The proxy resolves the server's name, as it does for kubectl.
        return SOCKSProxyManager(endpoint.proxy.replace("socks5://", "socks5h://"), **options)
    url, headers = proxy_credentials(endpoint.proxy)
    return ProxyManager(url, proxy_headers=headers, **options)
