"""TLS settings as kubectl has them, without ever leaving a private key on a disk."""

import contextlib
import os
import ssl
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Self

from aim_template_migration.kube.errors import ConnectError


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """A certificate chain and its private key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class TlsSettings:
    """How the server proves its identity.

    Attributes:
        authorities: PEM certificates to trust, None for those of the system.
        verify: False only for ``insecure-skip-tls-verify``.
        server_name: the name to expect in the certificate, None for that of the URL.
    """

    authorities: bytes | None = None
    verify: bool = True
    server_name: str | None = None


class _SharedContext(ssl.SSLContext):
    """A context from which many threads open connections at the same time; it offers HTTP/1.1, which is all we speak.

    urllib3 states what is offered anew for each connection. OpenSSL then frees memory that it may be copying for a
    connection of another thread: the handshake fails with "decode error", or the process crashes (python/cpython issue
    141012).
    """

    def __new__(cls) -> Self:
        """Return a context for clients; what it offers is stated while no other thread knows it."""
        context = super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)
        ssl.SSLContext.set_alpn_protocols(context, ["http/1.1"])
        return context

    def set_alpn_protocols(self, alpn_protocols: Iterable[str]) -> None:
        """Leave it at what was stated."""


def tls_context(settings: TlsSettings, client: ClientCertificate | None) -> ssl.SSLContext:
    """Return the context for connections to the API server.

    ``VERIFY_X509_STRICT``, which Python 3.13 sets, is cleared: the certificate authorities of widespread clusters lack
    an authority key identifier, and kubectl accepts them. As with kubectl, any trusted certificate ends a chain, also
    an intermediate one.

    Raises:
        ConnectError: the authorities or the client's certificate and key are not usable PEM.
    """
    try:
        context = _trusting(settings.authorities)
    except (ssl.SSLError, ValueError) as error:
        raise ConnectError(
            "certificate-authority-data, or the certificate-authority file, holds no PEM certificate"
        ) from error
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    if not settings.verify:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if client is not None:
        try:
            with _readable_path(client.certificate.rstrip() + b"\n" + client.key) as path:
                context.load_cert_chain(path, password=_refuse_password)
        except (ssl.SSLError, ValueError, OSError) as error:
            raise ConnectError(
                "the client certificate and key are no matching PEM pair (an encrypted key is not supported)"
            ) from error
    return context


def _trusting(authorities: bytes | None) -> ssl.SSLContext:
    context = _SharedContext()
    if authorities is None:
        context.load_default_certs()
    else:
        context.load_verify_locations(cadata=authorities.decode("ascii", "ignore"))
    return context


def _refuse_password() -> str:
    raise ValueError("the private key is encrypted")  # OpenSSL would ask on the terminal


@contextlib.contextmanager
def _readable_path(content: bytes) -> Iterator[str]:
    """Yield a path that holds ``content`` and is gone afterwards; on Linux it is memory and never on a disk."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("client-certificate")
        path = f"/proc/self/fd/{descriptor}"
    else:  # macOS: the file is private (0600) and lives for one call of OpenSSL
        descriptor, path = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            yield path
    finally:
        if not path.startswith("/proc/self/fd/"):
            os.unlink(path)  # noqa: PTH108 - the path came from mkstemp as text
