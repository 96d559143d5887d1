"""How a step or a run ends early, and what the API server's refusals mean for a unit (pure)."""

import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from aim_template_migration.documents.codes import CODES
from aim_template_migration.kube.errors import (
    AlreadyExists,
    ApiStatusError,
    Conflict,
    CredentialsUnavailable,
    Forbidden,
    IncompleteList,
    NotFound,
    RequestError,
    RequestNotSent,
    Unauthorized,
)

_READS = frozenset({"get", "list", "review"})


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a unit stops.

    Attributes:
        code: a step failure of the closed set.
        message: one sentence.
        status: the unit's final status.
        http_status: of the answer that decided it, if one did.
        server_message: the server's own words, redacted.
        halts: whether it halts further cutovers of the run: a fault of what all units share.
        not_stored: whether it is certain that the write it is about stored nothing.
    """

    code: str
    message: str
    status: Literal["failed", "unknown", "skipped", "interrupted"] = "failed"
    http_status: int | None = None
    server_message: str = ""
    halts: bool = False
    not_stored: bool = False

    @property
    def next_step(self) -> str:
        """What an administrator does now, from the table of codes."""
        return CODES[self.code].advice


class UnitStopped(Exception):  # noqa: N818 - not an error of the program: the unit's own ending
    """One unit stops; the others go on."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(frozen=True, slots=True)
class RunFault:
    """Why the whole run stops before its next request: credentials, disk or lock.

    Attributes:
        code: a run failure of the closed set.
        message: one sentence.
    """

    code: str
    message: str


class RunStopped(Exception):  # noqa: N818 - likewise for the run
    """The run stops: no further request leaves."""

    def __init__(self, fault: RunFault) -> None:
        super().__init__(fault.message)
        self.fault = fault


def stop_unit(code: str, message: str, *, halts: bool = False) -> UnitStopped:
    """Return the exception that stops a unit with a plain failure."""
    return UnitStopped(Failure(code, message, halts=halts))


def refusal(error: RequestError, *, verb: str, object_id: str, dry_run: bool) -> Exception:
    """Return what a refused or unsent request means: a stop of the unit, or of the run for bad credentials.

    Args:
        error: what the client raised; outcomes that are unknown are settled elsewhere.
        verb: what was asked, for the message.
        object_id: of which object.
        dry_run: whether the request was a dry run.
    """
    if isinstance(error, Unauthorized | CredentialsUnavailable):
        return RunStopped(RunFault("CredentialsRejected", f"the credentials are no longer accepted: {error.text}"))
    if isinstance(error, RequestNotSent):
        return UnitStopped(Failure("Unreachable", f"{verb} of {object_id} was not sent: {error}"))
    if isinstance(error, IncompleteList):
        return UnitStopped(Failure("IncompleteList", f"{error}"))
    if not isinstance(error, ApiStatusError):
        return UnitStopped(Failure("UnreadableAnswer", f"{verb} of {object_id} got no usable answer: {error}"))
    failure = Failure(
        _refusal_code(error, dry_run=dry_run),
        f"{verb} of {object_id} was refused",
        http_status=error.status,
        server_message=error.message,
    )
    return UnitStopped(replace(failure, message=f"{failure.message} (HTTP {error.status}: {error.message})"))


def _refusal_code(error: ApiStatusError, *, dry_run: bool) -> str:
    if dry_run and "does not support dry run" in error.message:
        return "WebhookCannotDryRun"
    if error.status in (429, 503):
        return "ServerBusy"
    if error.status >= 500 and error.action.verb in _READS:
        return "ServerError"
    table: tuple[tuple[type[ApiStatusError], str], ...] = (
        (Forbidden, "Forbidden"),
        (NotFound, "ObjectGone"),
        (AlreadyExists, "WriteConflict"),
        (Conflict, "WriteConflict"),
    )
    return next((code for kind, code in table if isinstance(error, kind)), "RefusedByServer")


def unexpected(error: Exception) -> str:
    """Return a sentence on an exception that nobody foresaw: its type and place, never its text.

    The text may quote values of an object, and these may be secret.
    """
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"an unexpected {type(error).__name__}{place} stopped it; this is a fault of the tool, not of the cluster"
