"""Why a request got no answer, in one clause with the next step, from what urllib3 and OpenSSL report; pure."""

import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import RemoteDisconnected

from urllib3.exceptions import (
    DecodeError,
    IncompleteRead,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
)
from urllib3.exceptions import TimeoutError as HttpTimeoutError


@dataclass(frozen=True, slots=True)
class Cause:
    """What stood in the way.

    Attributes:
        text: one clause, with the next step where one is known.
        transient: whether it may be gone a moment later.
    """

    text: str
    transient: bool


def why_not_sent(error: BaseException | None, server: str) -> Cause:
    """Explain why no connection to ``server`` could be made."""
    chain = list(_chain(error))
    for link in chain:
        if isinstance(link, ssl.SSLCertVerificationError):
            return Cause(
                f"the certificate of {server} is not accepted: {link.verify_message}; check certificate-authority, "
                "tls-server-name and the server's address in the kubeconfig, or fetch the kubeconfig anew",
                transient=False,
            )
        if isinstance(link, ssl.SSLError) and not isinstance(link, ssl.SSLEOFError):
            return Cause(f"the TLS handshake with {server} failed: {_reason(link)}", transient=False)
        if isinstance(link, NameResolutionError):
            return Cause(f"the host name of {server} cannot be resolved; check the address and DNS", transient=True)
    if any(isinstance(link, ProxyError) for link in chain):
        refused = any("Tunnel connection failed" in str(link) for link in chain)
        return Cause(
            f"the proxy to {server} gives no connection: {_innermost(chain)}; check proxy-url or HTTPS_PROXY",
            transient=not refused,
        )
    if _timed_out(chain):
        return Cause(f"no connection to {server} in time; check the address and the network", transient=True)
    return Cause(
        f"no connection to {server}: {_innermost(chain)}; check that the API server runs and can be reached from here",
        transient=True,
    )


def why_lost(error: BaseException | None, timeout: float) -> Cause:
    """Explain why a request that left got no complete answer within ``timeout`` seconds."""
    chain = list(_chain(error))
    if not chain or _timed_out(chain):
        return Cause(f"no complete answer within {timeout:g} seconds", transient=True)
    for link in chain:
        if isinstance(link, IncompleteRead):
            return Cause("the answer was cut off", transient=True)
        if isinstance(link, RemoteDisconnected):
            return Cause("the connection was closed before an answer came", transient=True)
        if isinstance(link, DecodeError):
            return Cause("the answer is compressed wrongly", transient=True)
        if isinstance(link, ssl.SSLError) and "alert" in str(link).lower():
            # TLS 1.3: the server's verdict on a client certificate arrives after the request has left.
            return Cause(
                f"the server ended the TLS connection: {_reason(link)}; check the client certificate", transient=False
            )
    return Cause(f"the connection broke before the answer was complete: {_innermost(chain)}", transient=True)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and what caused it, outermost first: causes, contexts and exceptions carried as arguments."""
    seen: set[int] = set()
    waiting = [error] if error is not None else []
    while waiting:
        link = waiting.pop(0)
        if id(link) in seen:
            continue
        seen.add(id(link))
        yield link
        carried = [argument for argument in link.args if isinstance(argument, BaseException)]
        named = [getattr(link, "reason", None), getattr(link, "original_error", None), link.__cause__, link.__context__]
        waiting.extend(item for item in [*carried, *named] if isinstance(item, BaseException))


def _timed_out(chain: list[BaseException]) -> bool:
    # To urllib3 every failure to connect is a kind of timeout.
    return any(
        isinstance(link, (HttpTimeoutError, TimeoutError)) and not isinstance(link, NewConnectionError)
        for link in chain
    )


def _reason(error: ssl.SSLError) -> str:
    reason = getattr(error, "reason", None)  # OpenSSL's errors have it; those that Python code raises may not
    return str(reason or error.strerror or "no reason given").replace("_", " ").lower()


def _innermost(chain: list[BaseException]) -> str:
    """Return the operating system's words where there are any, else the kind of the last error.

    The text of other errors is left out: it can quote what was sent or received.
    """
    for link in reversed(chain):
        if isinstance(link, OSError) and not isinstance(link, socket.gaierror):
            return (link.strerror or str(link)).lower()
    return type(chain[-1]).__name__ if chain else "no reason given"
