"""The one place where requests leave: writes once, reads with bounded repeats, never too many at a time."""

import threading
from collections import Counter
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from aim_template_migration.kube.answers import Answer, RawAnswer, Redact, interpret, no_usable_answer
from aim_template_migration.kube.causes import why_lost, why_not_sent
from aim_template_migration.kube.credentials import Credentials
from aim_template_migration.kube.errors import (
    ConnectError,
    CredentialsUnavailable,
    OutcomeUnknown,
    RequestError,
    RequestNotSent,
    Unauthorized,
    UnreadableAnswer,
)
from aim_template_migration.kube.identity import Headers, Identity
from aim_template_migration.kube.pacing import Pacing
from aim_template_migration.kube.requests import PreparedRequest
from aim_template_migration.kube.transport import CONNECT_TIMEOUT, AnswerLostError, NothingSentError, Transport

T = TypeVar("T")

SLOT_TIMEOUT = 10.0
WRITE_LEAVES_WITHIN = SLOT_TIMEOUT + CONNECT_TIMEOUT
"""Seconds after which a write has left, or never will: what is on record of it before counts from here."""


class Sender:
    """Sends prepared requests to one API server; safe for use by many threads."""

    def __init__(
        self,
        server: str,
        transport: Transport,
        credentials: Credentials,
        *,
        headers: Headers,
        in_flight: int,
        pacing: Pacing,
        redact: Redact,
    ) -> None:
        """Keep the parts.

        Args:
            server: the URL of the API server, for messages.
            transport: sends one request once.
            credentials: whom requests are sent as.
            headers: what goes with every request: user agent, compression, impersonation.
            in_flight: how many requests may be under way at once.
            pacing: how reads are repeated.
            redact: removes what must not be shown from server messages.
        """
        self._server = server
        self._transport = transport
        self._credentials = credentials
        self._headers = headers
        self._slots: SimpleQueue[None] = SimpleQueue()  # a semaphore, which the standard library has in Python only
        for _ in range(in_flight):
            self._slots.put(None)
        self._pacing = pacing
        self._redact = redact
        self._lock = threading.Lock()
        self._sent: Counter[str] = Counter()
        self._answered = False

    @property
    def sent(self) -> dict[str, int]:
        """How many requests left, by verb; dry runs count apart, repeated reads each time."""
        with self._lock:
            return dict(self._sent)

    def monotonic(self) -> float:
        """Return the time by the clock that bounds reads, in seconds."""
        return self._pacing.monotonic()

    def redact(self, text: str) -> str:
        """Return ``text`` without the credentials in use and without what the owner of the connection hides."""
        return self._redact(self._credentials.scrub(text))

    def write(self, request: PreparedRequest) -> Answer:
        """Send a write exactly once, within ``WRITE_LEAVES_WITHIN`` seconds or not at all.

        Raises:
            RequestNotSent: nothing was stored, as nothing was sent.
            ApiStatusError: the server refused; nothing was stored.
            OutcomeUnknown: it may be stored or not.
        """
        until = self._pacing.monotonic() + SLOT_TIMEOUT
        identity = self._identity(request)
        try:
            return interpret(request, self._once(request, identity, request.timeout, until=until), self.redact)
        except Unauthorized:
            self._credentials.refuse(identity)  # the next request begins with new ones; this one is not repeated
            raise

    def read(self, request: PreparedRequest, understand: Callable[[RawAnswer], T], *, within: float | None = None) -> T:
        """Send a read, again where that may help, and return what ``understand`` makes of the answer.

        Args:
            request: the read.
            understand: turns the answer into a value or raises a RequestError, which counts as the read's failure.
            within: seconds after which no further attempt begins or goes on, None for no limit but the attempts'.

        Raises:
            RequestError: what the last attempt met.
        """
        began = self._pacing.monotonic()
        renewed = False
        identity = self._identity(request)
        attempt = 1
        while True:
            try:
                timeout = request.timeout if within is None else min(request.timeout, self._left(began, within))
                return understand(self._once(request, identity, timeout))
            except Unauthorized:
                if renewed:
                    raise
                renewed = True
                self._credentials.refuse(identity)
                identity = self._identity(request)
            except RequestError as error:
                wait = self._wait(attempt, error)
                if wait is None or (within is not None and wait >= self._left(began, within)):
                    raise
                self._pacing.sleep(wait)
                attempt += 1
                identity = self._identity(request)

    def close(self) -> None:
        """Close the idle connections."""
        self._transport.close()

    def _once(
        self, request: PreparedRequest, identity: Identity, timeout: float, *, until: float | None = None
    ) -> RawAnswer:
        """Send a request; with ``until``, only if its turn comes before that moment of the clock."""
        headers = (*request.headers, *self._headers, *identity.headers)
        method, target, body = request.method, request.target, request.body
        self._await_slot(request, until)
        try:
            raw = self._transport.send(
                method, target, headers, body, client=identity.client_certificate, timeout=timeout
            )
        except NothingSentError as error:
            cause = why_not_sent(error.__cause__, self._server)
            raise RequestNotSent(request.action, cause.text, transient=cause.transient) from error
        except AnswerLostError as error:
            self._count(request)
            raise self._lost(request, error, timeout) from error
        except ConnectError as error:
            raise CredentialsUnavailable(request.action, str(error)) from error
        finally:
            self._slots.put(None)
        self._count(request)
        self._answered = True
        return raw

    def _await_slot(self, request: PreparedRequest, until: float | None) -> None:
        left = None if until is None else until - self._pacing.monotonic()
        try:
            self._slots.get(timeout=None if left is None else max(0.0, left))
        except Empty:
            raise RequestNotSent(request.action, "its turn did not come in time, so that it was not sent") from None
        if left is not None and left < 0:
            self._slots.put(None)
            raise RequestNotSent(request.action, "its credentials came too late, so that it was not sent")

    def _count(self, request: PreparedRequest) -> None:
        with self._lock:
            self._sent[f"{request.verb} (dry run)" if request.dry_run else request.verb] += 1

    def _lost(
        self, request: PreparedRequest, error: AnswerLostError, timeout: float
    ) -> OutcomeUnknown | UnreadableAnswer:
        cause = why_lost(error.__cause__, timeout)
        lost = no_usable_answer(request, cause.text)
        lost.transient = cause.transient and isinstance(lost, UnreadableAnswer)
        return lost

    def _wait(self, attempt: int, error: RequestError) -> float | None:
        """Return the seconds until the next attempt, None where there is none."""
        if not error.transient or attempt >= self._pacing.attempts:
            return None
        if isinstance(error, RequestNotSent) and not self._answered:
            return None  # a server that never answered is more likely a wrong address than a short outage
        return self._pacing.wait_after(attempt, error)

    def _left(self, began: float, within: float) -> float:
        # A time-out of zero would mean none to the socket.
        return max(0.001, began + within - self._pacing.monotonic())

    def _identity(self, request: PreparedRequest) -> Identity:
        try:
            return self._credentials.current()
        except ConnectError as error:
            raise CredentialsUnavailable(request.action, str(error)) from error
