"""What the tool's own exceptions mean on the command line: nothing was started, and why."""

import contextlib
import threading
from collections.abc import Iterator

from aim_template_migration.applying.plan_files import PlanRejected
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.failures import not_started, not_started_by
from aim_template_migration.cli.options.shared import ConnectionArguments
from aim_template_migration.documents.private_files import PrivateFileError
from aim_template_migration.kube import Cluster, ConnectionOptions, Pacing, connect
from aim_template_migration.kube.connecting import IN_FLIGHT
from aim_template_migration.kube.errors import (
    ClusterError,
    ConnectError,
    Forbidden,
    NotServed,
    RequestError,
    Unauthorized,
)
from aim_template_migration.planning.inventory import PlanningError
from aim_template_migration.planning.secret_scan import redact

_HINTS: tuple[tuple[type[RequestError], str, str], ...] = (
    (Forbidden, "grant exactly the permission that the message names, and try again", "Forbidden"),
    (Unauthorized, "log in again, and try again", "CredentialsRejected"),
    (NotServed, "install the CRDs and the operator of one bridge build first", "CrdVersionsUnsuitable"),
)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn what can go wrong before anything is started into an ending of the command.

    Raises:
        CommandStopped: in place of the tool's own exceptions.
    """
    try:
        yield
    except (PlanRejected, PlanningError, PrivateFileError, ConnectError) as error:
        raise not_started_by(error) from error
    except RequestError as error:
        hint, code = next(((hint, code) for kind, hint, code in _HINTS if isinstance(error, kind)), ("", ""))
        raise not_started(str(error), hint=hint, code=code) from error
    except ClusterError as error:
        raise not_started(str(error)) from error


def open_cluster(
    arguments: ConnectionArguments,
    console: Console,
    *,
    stop: threading.Event | None = None,
    in_flight: int = IN_FLIGHT,
) -> Cluster:
    """Connect; server messages are redacted, since they can quote values of objects.

    Args:
        arguments: how to reach the cluster.
        console: where Warning headers of reads are shown in the end; those of writes stand in the result.
        stop: once set, no wait before a repeated read lasts longer than a second; None where a signal raises instead.
        in_flight: requests under way at once at most; never more than the default, whatever is asked.

    Raises:
        ConnectError: there is no usable connection.
    """
    options = ConnectionOptions(
        kubeconfig=arguments.kubeconfig,
        context=arguments.context,
        impersonate=arguments.impersonate,
        request_timeout=arguments.request_timeout,
    )
    pacing = Pacing.stopped_by(stop) if stop else None
    cluster = connect(options, redact=redact, pacing=pacing, in_flight=min(in_flight, IN_FLIGHT))
    console.warn_at_end(lambda: (f"the API server says: {text}" for text in cluster.read_warnings))
    return cluster
