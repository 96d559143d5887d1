"""Everything that can go wrong between this tool and a Kubernetes API server, as one hierarchy.

The question that matters after a write is whether the server may have stored it. The type of the exception answers it:

=================================================  ==============================  ===============================
what happened                                      of a write (create, patch)      of a read (see below: repeated)
=================================================  ==============================  ===============================
credentials could not be obtained                  CredentialsUnavailable          CredentialsUnavailable
no connection: refused, DNS, TLS, proxy, timeout   RequestNotSent                  RequestNotSent (repeated)
reset, timeout, truncated or malformed answer      OutcomeUnknown                  UnreadableAnswer (repeated)
2xx with the object asked for                      the answer                      the object
2xx with any other object                          OutcomeUnknown                  UnreadableAnswer (repeated)
3xx, never followed                                OutcomeUnknown                  UnreadableAnswer
401, with a Status or without                      Unauthorized                    Unauthorized after one re-login
429, with a Status or without                      TooManyRequests                 TooManyRequests (repeated)
404 without an object, or "404 page not found"     NotServed                       NotServed
other 4xx with a Kubernetes Status                 the class named by status       the class named by status
other 4xx without one, made by a gateway           OutcomeUnknown                  UnreadableAnswer
5xx with the Status of an admission webhook        the class named by status       the class named by status
any other 5xx with a Status                        OutcomeUnknown                  the class named by status
any other 5xx without a Status                     OutcomeUnknown                  UnreadableAnswer (repeated)
=================================================  ==============================  ===============================

Of a write, everything but OutcomeUnknown and the answer means that nothing was stored. Of reads, 429, 500, 503 and 504
are repeated, too; ``Pacing`` says how often.

429 needs no Status, because Kubernetes' own limits on requests in flight answer it in plain text, before any handler
runs. A 503 proves nothing: proxies answer it after they forwarded a request. A 500 is a refusal only where its message
is that of an admission webhook ("failed calling webhook", "denied the request"), because admission runs before storage.

``AlreadyExists`` and ``Conflict`` say that this request stored nothing. They do not say who stored what is there: a
gateway that sends a request twice makes the second answer a conflict with the first. Read before drawing conclusions.

No message holds a request's body, a token or a URL with credentials. Server messages can quote values of the object,
so they pass through the cluster's ``redact`` function first.
"""

from collections.abc import Mapping

from aim_api.tree import JsonObject
from aim_template_migration.kube.requests import Action


class ClusterError(Exception):
    """Any trouble with a cluster; ``str()`` is one sentence without secrets."""


class ConnectError(ClusterError):
    """No usable connection: the kubeconfig, the credentials, the certificates or the first contact failed."""


class RequestError(ClusterError):
    """One request failed.

    Attributes:
        action: what was asked of which object.
        text: what went wrong, without the action.
        transient: whether the same read may succeed a moment later; never a reason to repeat a write.
        retry_after: the seconds the server or a gateway asks to wait, None where neither asks.
    """

    transient: bool = False
    retry_after: float | None = None

    def __init__(self, action: Action, text: str) -> None:
        super().__init__(f"{action}: {text}")
        self.action = action
        self.text = text


class RequestNotSent(RequestError):  # noqa: N818 - named for what is certain, as callers read it
    """No byte of the request left: no connection could be made. The server stored nothing."""

    def __init__(self, action: Action, text: str, *, transient: bool = False) -> None:
        super().__init__(action, text)
        self.transient = transient


class CredentialsUnavailable(RequestNotSent):
    """The exec plugin or the token file gave no credentials, so the request was not sent."""


class OutcomeUnknown(RequestError):  # noqa: N818 - named for what is certain, as callers read it
    """A write was sent and its outcome cannot be told from the answer; it may or may not be stored. Read, never repeat.

    Attributes:
        status: the HTTP status of the answer, None where none arrived.
        answer: the server's own words, where the answer carried a Kubernetes Status.
    """

    def __init__(
        self, action: Action, text: str, *, status: int | None = None, answer: "ApiStatusError | None" = None
    ) -> None:
        super().__init__(action, f"{text}; whether the server stored it is unknown until it is read")
        self.status = status
        self.answer = answer


class UnreadableAnswer(RequestError):  # noqa: N818 - named for what is certain, as callers read it
    """A read was sent and no usable answer came back: lost, late, truncated, malformed, or of something else.

    Attributes:
        status: the HTTP status of the answer, None where none arrived.
    """

    def __init__(
        self,
        action: Action,
        text: str,
        *,
        status: int | None = None,
        transient: bool = False,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(action, text)
        self.status = status
        self.transient = transient
        self.retry_after = retry_after


class IncompleteList(RequestError):  # noqa: N818 - named for what is certain, as callers read it
    """A list ended early or was no consistent snapshot; it is never taken for an empty or a short one."""


class ApiStatusError(RequestError):
    """The server answered with an error, in words of its own.

    Attributes:
        status: the HTTP status, for example 409.
        reason: the Status reason, for example ``Conflict``; empty where the server gave none.
        message: the server's message, redacted.
        details: the Status details (group, kind, name, causes), redacted; empty where the server gave none.
    """

    def __init__(
        self,
        action: Action,
        *,
        status: int,
        reason: str,
        message: str,
        details: JsonObject | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(action, f"the server answered {f'{status} {reason}'.strip()}: {message or 'no message'}")
        self.status = status
        self.reason = reason
        self.message = message
        self.details = details or {}
        self.retry_after = retry_after


class BadRequest(ApiStatusError):  # noqa: N818 - named by status
    """400."""


class Unauthorized(ApiStatusError):  # noqa: N818 - named by status
    """401: the credentials are not accepted, also not after they were obtained anew (reads)."""


class Forbidden(ApiStatusError):  # noqa: N818 - named by status
    """403: the identity lacks a permission, or admission refused."""


class NotFound(ApiStatusError):  # noqa: N818 - named by status
    """404 for one named object: of a read the object asked for, of a create possibly its namespace."""


class NotServed(ApiStatusError):  # noqa: N818 - named by what a 404 without an object means
    """404 for the resource type: the server does not serve this group, version and plural."""


class AlreadyExists(ApiStatusError):  # noqa: N818 - named by status
    """409 of a create: an object of this name is there."""


class Conflict(ApiStatusError):  # noqa: N818 - named by status
    """409: the object is not as the request expected."""


class Gone(ApiStatusError):  # noqa: N818 - named by status
    """410: the continue token of a list has expired."""


class Invalid(ApiStatusError):  # noqa: N818 - named by status
    """422: validation refused, or a ``test`` of a JSON Patch did not hold."""


class TooManyRequests(ApiStatusError):  # noqa: N818 - named by status
    """429."""

    transient = True


class InternalError(ApiStatusError):
    """500."""

    transient = True


class ServiceUnavailable(ApiStatusError):  # noqa: N818 - named by status
    """503."""

    transient = True


class ServerTimeout(ApiStatusError):  # noqa: N818 - named by status
    """504, or 500 with the reason ``ServerTimeout``."""

    transient = True


BY_REASON: Mapping[tuple[int, str], type[ApiStatusError]] = {
    (409, "AlreadyExists"): AlreadyExists,
    (500, "ServerTimeout"): ServerTimeout,
}
BY_STATUS: Mapping[int, type[ApiStatusError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    409: Conflict,
    410: Gone,
    422: Invalid,
    429: TooManyRequests,
    500: InternalError,
    503: ServiceUnavailable,
    504: ServerTimeout,
}


def error_class(status: int, reason: str) -> type[ApiStatusError]:
    """Return the class for an HTTP status and a Status reason; unlisted ones are plain ``ApiStatusError``."""
    return BY_REASON.get((status, reason)) or BY_STATUS.get(status, ApiStatusError)
