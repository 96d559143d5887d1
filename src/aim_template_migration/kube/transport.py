"""One request, sent exactly once, over pooled connections.

urllib3 does the HTTP. It is told never to retry and never to follow a redirect, and it is watched for the one fact
that its exceptions do not tell: whether any byte of the request may have left.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ssl import SSLContext, SSLSocket
from typing import TypedDict

from urllib3 import BaseHTTPResponse, HTTPHeaderDict, PoolManager, ProxyManager, disable_warnings
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.contrib.socks import SOCKSProxyManager
from urllib3.exceptions import HTTPError, InsecureRequestWarning
from urllib3.util.timeout import Timeout

from aim_template_migration.kube.answers import RawAnswer
from aim_template_migration.kube.proxies import proxy_credentials
from aim_template_migration.kube.tls import ClientCertificate, TlsSettings, tls_context

CONNECT_TIMEOUT = 10.0
"""Seconds to establish a connection, TLS included."""
LONGEST_IDLE = 45.0
"""Seconds after which an unused connection is not trusted any more: load balancers drop them silently after 60."""

_CHUNK = 1 << 18


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
        self._connections = connections
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._client: ClientCertificate | None = None
        self._manager: PoolManager | None = None

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
        manager = self._manager_for(client)
        _progress.started = False
        try:
            response = manager.urlopen(
                method,
                self._endpoint.server + target,
                body=body,
                headers=_header_dict(headers),
                retries=False,
                redirect=False,
                preload_content=False,
                timeout=Timeout(connect=min(CONNECT_TIMEOUT, timeout), read=timeout),
            )
        except (HTTPError, OSError, ValueError) as error:
            raise (AnswerLostError() if _progress.started else NothingSentError()) from error
        try:
            content = self._read(response, deadline)
        except (HTTPError, OSError, ValueError) as error:
            raise AnswerLostError from error
        finally:
            response.close()
        return RawAnswer(response.status, _grouped(response.headers), content)

    def close(self) -> None:
        """Close the idle connections; those in use close when their request ends."""
        with self._lock:
            if self._manager is not None:
                self._manager.clear()
                self._manager = None

    def _manager_for(self, client: ClientCertificate | None) -> PoolManager:
        """Return the pool whose connections present ``client``; a new certificate means new connections."""
        with self._lock:
            if self._manager is None or client != self._client:
                previous, self._manager = self._manager, _open_pools(self._endpoint, client, self._connections)
                self._client = client
                if previous is not None:
                    previous.clear()
            return self._manager

    def _read(self, response: BaseHTTPResponse, deadline: float) -> bytearray:
        content = bytearray()  # grows in place; joining pieces would hold a large page twice
        while chunk := response.read1(_CHUNK):
            if self._monotonic() > deadline:
                raise AnswerLostError  # an answer that drips in is as lost as one that does not come
            content += chunk
        return content


class _Options(TypedDict):
    maxsize: int
    ssl_context: SSLContext
    server_hostname: str | None


class _Progress(threading.local):
    """Whether the request that this thread is sending has begun to leave."""

    started = False


_progress = _Progress()


class _Watched(HTTPConnection):
    """A connection that notes when a request begins to leave, and distrusts itself after a long idle time."""

    last_used = 0.0

    @property
    def is_connected(self) -> bool:
        """Whether the pool may use the connection again; it opens a new one otherwise.

        Bytes that came after an answer would be read as the next one. Those that OpenSSL has decrypted already cannot
        be seen by looking at the socket, which is all that urllib3 does.
        """
        left_over = isinstance(self.sock, SSLSocket) and self.sock.pending() > 0
        return super().is_connected and not left_over and time.monotonic() - self.last_used < LONGEST_IDLE

    def request(  # type: ignore[override]  # narrower than urllib3's: what the pool passes on from Transport.send
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        **options: bool,
    ) -> None:
        """Note that the request begins to leave, and send it."""
        if self.is_closed:
            self.connect()
        self.last_used = time.monotonic()
        _progress.started = True
        super().request(method, url, body, headers, **options)


def _watched(pool: type[HTTPConnectionPool]) -> type[HTTPConnectionPool]:
    """Return the pool class with connections that are watched."""
    connection = type("WatchedConnection", (_Watched, pool.ConnectionCls), {})
    return type("WatchedPool", (pool,), {"ConnectionCls": connection})


def _open_pools(endpoint: Endpoint, client: ClientCertificate | None, connections: int) -> PoolManager:
    if not endpoint.tls.verify:
        disable_warnings(InsecureRequestWarning)  # the kubeconfig asked for it; kubectl is silent, too
    options: _Options = {
        "maxsize": connections,
        "ssl_context": tls_context(endpoint.tls, client),
        "server_hostname": endpoint.tls.server_name,
    }
    if endpoint.proxy is None:
        manager = PoolManager(**options)
    elif endpoint.proxy.startswith("socks"):
        # The proxy resolves the server's name, as it does for kubectl.
        manager = SOCKSProxyManager(endpoint.proxy.replace("socks5://", "socks5h://"), **options)
    else:
        url, headers = proxy_credentials(endpoint.proxy)
        manager = ProxyManager(url, proxy_headers=headers, **options)
    manager.pool_classes_by_scheme = {scheme: _watched(pool) for scheme, pool in manager.pool_classes_by_scheme.items()}
    return manager


def _header_dict(headers: Iterable[tuple[str, str]]) -> HTTPHeaderDict:
    """Return the headers for urllib3; values go on the wire as UTF-8, as kubectl sends them."""
    result = HTTPHeaderDict()
    for name, value in headers:
        result.add(name, value.encode().decode("latin-1"))
    return result


def _grouped(headers: HTTPHeaderDict) -> Mapping[str, tuple[str, ...]]:
    return {name.lower(): tuple(headers.getlist(name)) for name in headers}
