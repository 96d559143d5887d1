"""From the options of a command line to a cluster that has answered once."""

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from aim_api.tree import JsonObject
from aim_template_migration.kube import official
from aim_template_migration.kube.answers import Redact
from aim_template_migration.kube.cluster import Cluster
from aim_template_migration.kube.credentials import Credentials
from aim_template_migration.kube.errors import ApiStatusError, ConnectError, RequestError, Unauthorized
from aim_template_migration.kube.identity import (
    Identity,
    Impersonation,
    impersonation_of,
    read_file,
    token_file_identity,
)
from aim_template_migration.kube.kubeconfig import endpoint_of, identity_in, kubeconfig_files, select
from aim_template_migration.kube.pacing import Pacing
from aim_template_migration.kube.proxies import proxy_for
from aim_template_migration.kube.sending import Sender
from aim_template_migration.kube.tls import TlsSettings
from aim_template_migration.kube.transport import Endpoint, Transport
from aim_template_migration.version import __version__

IN_FLIGHT = 16
"""Requests under way at once at most: a small share of the 600 that an API server allows by default."""

USER_AGENT = f"aim-template-migration/{__version__}"


@dataclass(frozen=True, slots=True)
class ConnectionOptions:
    """What a user can say about the connection; the names are kubectl's.

    Attributes:
        kubeconfig: a file, None for ``KUBECONFIG`` or ``~/.kube/config`` or the pod's service account.
        context: a context's name, None for the current one.
        impersonate: the user to act as (``--as``), None for what the kubeconfig says.
        request_timeout: seconds for one request, None or 0 for 30, and 60 for a page of a list.
        impersonate_groups: the groups to act as (``--as-group``), empty for what the kubeconfig says.
        impersonate_uid: the UID to act as (``--as-uid``), None for what the kubeconfig says.
    """

    kubeconfig: str | None = None
    context: str | None = None
    impersonate: str | None = None
    request_timeout: float | None = None
    impersonate_groups: tuple[str, ...] = ()
    impersonate_uid: str | None = None


def connect(
    options: ConnectionOptions,
    *,
    redact: Redact = str,
    pacing: Pacing | None = None,
    in_flight: int = IN_FLIGHT,
    environ: Mapping[str, str] = os.environ,
    wall_clock: Callable[[], float] = time.time,
) -> Cluster:
    """Connect to the cluster that kubectl would talk to with the same options, and read its version once.

    The namespace of the kubeconfig's context is never used.

    Args:
        options: what the user says.
        redact: applied to every server message and warning, which can quote values of objects.
        pacing: how reads are repeated, None for the default; its sleep may raise to interrupt.
        in_flight: requests under way at once at most.
        environ: ``KUBECONFIG``, the proxy variables, and a pod's server.
        wall_clock: seconds since 1970, to know when credentials expire.

    Raises:
        ConnectError: one sentence that names the file, context or server, the reason and the next step.
    """
    if options.request_timeout is not None and options.request_timeout < 0:
        raise ConnectError("the request timeout must not be negative")
    target = _target(options, environ, wall_clock)
    pacing = pacing or Pacing()
    credentials = Credentials(target.obtain, target.reread, wall_clock=wall_clock)
    sender = Sender(
        target.endpoint.server,
        Transport(target.endpoint, connections=in_flight, monotonic=pacing.monotonic),
        credentials,
        headers=(
            ("User-Agent", USER_AGENT),
            ("Accept-Encoding", "gzip"),
            *impersonation_of(target.user, _asked(options)).headers(),
        ),
        in_flight=in_flight,
        pacing=pacing,
        redact=redact,
    )
    cluster = Cluster(target.endpoint.server, target.origin, sender, request_timeout=options.request_timeout)
    _first_contact(cluster, credentials)
    return cluster


@dataclass(frozen=True, slots=True)
class _Target:
    """The cluster to talk to and how to obtain credentials for it, at first and after they were refused."""

    endpoint: Endpoint
    origin: str
    user: JsonObject
    obtain: Callable[[], Identity]
    reread: Callable[[], Identity]


def _target(options: ConnectionOptions, environ: Mapping[str, str], wall_clock: Callable[[], float]) -> _Target:
    files = kubeconfig_files(options.kubeconfig, environ)
    if files:
        return _from_kubeconfig(files, options.context, environ, wall_clock)
    if environ.get("KUBERNETES_SERVICE_HOST") and not options.context:
        return _from_pod(environ, wall_clock)
    raise ConnectError(
        "there is no kubeconfig: ~/.kube/config does not exist and KUBECONFIG is not set; name a file with --kubeconfig"
    )


def _from_kubeconfig(
    files: list[str], context: str | None, environ: Mapping[str, str], wall_clock: Callable[[], float]
) -> _Target:
    selection = select(files, context)
    endpoint = endpoint_of(selection, environ)

    def reread() -> Identity:
        again = select(files, selection.context)
        if endpoint_of(again, environ) != endpoint:
            # The new credentials may be meant for that other server alone.
            raise ConnectError(f"{selection.origin} leads to another server now; start again")
        return identity_in(again, endpoint, wall_clock())

    return _Target(
        endpoint=endpoint,
        origin=selection.origin,
        user=selection.user.content,
        obtain=lambda: identity_in(selection, endpoint, wall_clock()),
        reread=reread,
    )


def _from_pod(environ: Mapping[str, str], wall_clock: Callable[[], float]) -> _Target:
    pod = official.in_cluster(environ)
    authorities = read_file(Path(pod.authorities_file), "the certificate authority of the service account")
    endpoint = Endpoint(pod.server, TlsSettings(authorities), proxy_for(pod.server, None, environ))

    def obtain() -> Identity:
        return token_file_identity(Path(pod.token_file), now=wall_clock())

    return _Target(endpoint, "the pod's service account", {}, obtain, obtain)


def _asked(options: ConnectionOptions) -> Impersonation:
    return Impersonation(options.impersonate or "", options.impersonate_groups, options.impersonate_uid or "")


def _first_contact(cluster: Cluster, credentials: Credentials) -> None:
    """Find out now, and not in the middle of the work, whether the server answers and accepts the credentials."""
    try:
        cluster.server_version()
    except Unauthorized as error:
        identity = credentials.current()
        raise ConnectError(
            f"{cluster.origin}: {cluster.server} does not accept {identity.source}; {identity.next_step}"
        ) from error
    except ApiStatusError as error:
        if error.transient:
            raise ConnectError(f"{cluster.origin}: {error.text}; try again later") from error
        # Permission to read /version is not needed for anything else.
    except RequestError as error:
        raise ConnectError(f"{cluster.origin}: {error.text}") from error
