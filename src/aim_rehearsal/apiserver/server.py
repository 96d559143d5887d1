"""The local API server: a store, its core and its HTTPS shell, with a certificate authority of its own."""

import contextlib
import ssl
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import trustme

from aim_api.tree import JsonObject
from aim_rehearsal.apiserver.audit import AuditLog
from aim_rehearsal.apiserver.authentication import ADMIN, Authenticator
from aim_rehearsal.apiserver.controllers import Controllers
from aim_rehearsal.apiserver.core import ApiCore
from aim_rehearsal.apiserver.faults import FaultHook
from aim_rehearsal.apiserver.kubeconfig import write_kubeconfig
from aim_rehearsal.apiserver.messages import Request, Response
from aim_rehearsal.apiserver.registry import Registry
from aim_rehearsal.apiserver.seeding import Seeder
from aim_rehearsal.apiserver.shell import HttpsShell
from aim_rehearsal.apiserver.store import DEFAULT_HISTORY, Store

_AUDIT_LIMIT = 250_000


class LocalApiServer:
    """A Kubernetes-compatible API in memory, on a loopback port while it is entered.

    Args:
        identities: the groups of each identity; ``admin`` in ``system:masters`` always exists.
        audit_path: a file that gets one audit event per line, or None.
        faults: injects trouble, or None.
        controllers: whether owner references, namespaces, definitions and claims are cleaned up after deletes.
        history: how many writes watches and pages can look back on.
        audit_limit: how many audit events are kept in memory.
        on_audit: sees every audit event, one at a time and in order.
        port: the port, or 0 for a free one.
    """

    def __init__(
        self,
        *,
        identities: Mapping[str, Sequence[str]] | None = None,
        audit_path: Path | None = None,
        faults: FaultHook | None = None,
        controllers: bool = True,
        history: int = DEFAULT_HISTORY,
        audit_limit: int = _AUDIT_LIMIT,
        on_audit: Callable[[JsonObject], None] = lambda _event: None,
        port: int = 0,
    ) -> None:
        self.store = Store(history)
        self._registry = Registry(self.store)
        self._authenticator = Authenticator(identities or {})
        self._audit = AuditLog(audit_path, audit_limit, on_audit)
        self._core = ApiCore(self.store, self._registry, self._authenticator, self._audit, faults)
        self._seeder = Seeder(self.store, self._registry)
        self._seeder.start_cluster()
        self._controllers = Controllers(self.store, self._registry) if controllers else None
        self._port = port
        self._shell: HttpsShell | None = None
        self._authority = trustme.CA(organization_name="aim-rehearsal")

    def __enter__(self) -> Self:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        self._authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
        self._shell = HttpsShell(self._core, context, self._port)
        self._shell.start()
        if self._controllers is not None:
            self._controllers.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.store.close()
        with contextlib.ExitStack() as stack:
            stack.callback(self._audit.close)
            if self._shell is not None:
                stack.callback(self._shell.stop)
            if self._controllers is not None:
                stack.callback(self._controllers.stop)

    @property
    def url(self) -> str:
        """The address of the server, ``https://127.0.0.1:<port>``.

        Raises:
            RuntimeError: the server is not entered.
        """
        if self._shell is None:
            raise RuntimeError("the local API server has not been started")
        return f"https://127.0.0.1:{self._shell.port}"

    @property
    def ca_pem(self) -> str:
        """The certificate authority that clients must trust."""
        return bytes(self._authority.cert_pem.bytes()).decode()

    def token(self, identity: str = ADMIN) -> str:
        """Return the bearer token of an identity.

        Raises:
            KeyError: the server has no such identity.
        """
        return self._authenticator.token(identity)

    def write_kubeconfig(self, path: Path, identity: str = ADMIN, namespace: str | None = None) -> Path:
        """Write a kubeconfig of an identity, readable by its owner alone, and return its path.

        Raises:
            KeyError: the server has no such identity.
            OSError: the file cannot be written.
        """
        return write_kubeconfig(
            path, url=self.url, ca_pem=self.ca_pem, identity=identity, token=self.token(identity), namespace=namespace
        )

    def handle(self, request: Request) -> Response:
        """Answer a request without a socket.

        Raises:
            DropConnectionError: the fault hook ends the connection without an answer.
        """
        return self._core.handle(request)

    def audit_events(self) -> list[JsonObject]:
        """Return the audit events in memory, oldest first."""
        return self._audit.events()

    def install_crds(self, crds: Iterable[JsonObject]) -> None:
        """Install or replace CustomResourceDefinitions; they are served at once.

        Raises:
            ValueError: a definition is not acceptable; the message names it and says why.
        """
        self._seeder.install_crds(crds)

    def seed(self, objects: Iterable[JsonObject]) -> None:
        """Store objects as they are: UID, generation, status, owner references and managedFields intact.

        What an object lacks (UID, creation time) is filled in; its kind must be known.

        Raises:
            ValueError: an object's kind is not served, or it has no name.
        """
        with self.store:  # nobody may miss an owner before it is known that it was not copied
            absent = self._seeder.seed(objects)
            if self._controllers is not None:
                self._controllers.assume_owners(absent)
