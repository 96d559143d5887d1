"""Trouble that befalls a migration once, at one of its requests, on the local API.

A fault has a moment, which requests of the client under test it fits, and a trouble, what happens then. It is told by
requests alone and so works for a client in another process, too. Dry runs never count: they go as they would.
"""

import enum
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import msgspec

from aim_api.tree import JsonObject, get_map, get_objects
from aim_rehearsal.apiserver import DropConnectionError, Request, Response
from aim_rehearsal.apiserver.errors import ApiError, conflict, expired, internal
from aim_rehearsal.apiserver.messages import encode, json_response
from aim_rehearsal.apiserver.routing import RequestInfo, parse_request

SLOW_SECONDS = 3.0
_RETRY_AFTER = 1
_TOKEN = "expired-in-the-rehearsal"  # noqa: S105 - a continue token, no credential
_WRITES = frozenset({"create", "patch", "update"})


class Trouble(enum.StrEnum):
    """What happens to one request."""

    CONFLICT = "conflict"
    GONE = "gone"
    TOO_MANY_REQUESTS = "too-many-requests"
    SERVER_ERROR = "server-error"
    LOST_ANSWER_BEFORE = "lost-answer-before"
    LOST_ANSWER_AFTER = "lost-answer-after"
    SLOW = "slow"
    TRUNCATED = "truncated"
    KILL = "kill"


_AFTER = frozenset({Trouble.GONE, Trouble.LOST_ANSWER_AFTER, Trouble.TRUNCATED, Trouble.KILL})


@dataclass(frozen=True, slots=True)
class Moment:
    """Which request of the client a fault befalls: the first that fits.

    Attributes:
        verbs: its verb is one of these, as authorisation names them.
        resources: it is for one of these, by plural.
        after: the client has stored a write to this resource, in the same namespace, before; empty for no condition.
        skip: how many requests that fit pass unharmed first.
    """

    verbs: frozenset[str]
    resources: frozenset[str]
    after: str = ""
    skip: int = 0

    def fits(self, info: RequestInfo) -> bool:
        """Return whether a request is of this kind; what came before is not looked at."""
        return info.verb in self.verbs and info.resource in self.resources and not info.subresource


class Fault:
    """A fault hook for one trouble at one moment.

    Args:
        trouble: what happens.
        moment: when.
        user_agent: how the client's requests begin their User-Agent header.
        kill: ends the client's process, for ``Trouble.KILL``.
    """

    def __init__(
        self, trouble: Trouble, moment: Moment, *, user_agent: str, kill: Callable[[], None] = lambda: None
    ) -> None:
        self.trouble = trouble
        self._moment = moment
        self._user_agent = user_agent
        self._kill = kill
        self._lock = threading.Lock()
        self._written: set[tuple[str, str]] = set()
        self._passed = 0
        self._chosen: Request | None = None
        self._happened = threading.Event()
        self._armed = False

    @property
    def happened(self) -> bool:
        """Whether the trouble has come up."""
        return self._happened.is_set()

    def arm(self) -> None:
        """Let it happen from now on."""
        self._armed = True

    def __call__(self, request: Request, response: Response | None) -> Response | None:
        """Look at a request before it is carried out, and at its answer.

        Raises:
            DropConnectionError: the answer is lost.
        """
        if not request.headers.get("user-agent", "").startswith(self._user_agent):
            return None
        if response is None:
            return self._before(request)
        answer = self._after(request, response)
        self._note(request, response)
        return answer

    def _before(self, request: Request) -> Response | None:
        info = parse_request(request)
        if self.trouble is Trouble.GONE and info.query.get("continue") == _TOKEN:
            self._happened.set()
            return _refusal(expired("The provided continue parameter is too old to display a consistent list result."))
        with self._lock:
            if not self._takes(info):
                return None
            self._chosen = request
        if self.trouble in _AFTER:
            return None
        self._happened.set()
        return _instead(self.trouble, info)

    def _takes(self, info: RequestInfo) -> bool:
        """Return whether this is the request; counts those that pass."""
        if not self._armed or self._chosen is not None or _is_dry_run(info) or not self._moment.fits(info):
            return False
        if self._moment.after and (info.namespace, self._moment.after) not in self._written:
            return False
        self._passed += 1
        return self._passed > self._moment.skip

    def _after(self, request: Request, response: Response) -> Response | None:
        if request is not self._chosen or self.trouble not in _AFTER:
            return None
        if self.trouble is Trouble.GONE:
            return _first_half(response)
        self._happened.set()
        if self.trouble is Trouble.TRUNCATED:
            return replace(response, body=response.body[: len(response.body) // 2], declared_length=len(response.body))
        if self.trouble is Trouble.KILL:
            self._kill()
        raise DropConnectionError

    def _note(self, request: Request, response: Response) -> None:
        """Remember what the client has stored."""
        info = parse_request(request)
        if info.verb in _WRITES and not _is_dry_run(info) and response.status < 300:
            with self._lock:
                self._written.add((info.namespace, info.resource))


def _instead(trouble: Trouble, info: RequestInfo) -> Response | None:
    """Return the answer in place of the request; a slow one is carried out all the same.

    Raises:
        DropConnectionError: there is none.
    """
    if trouble is Trouble.LOST_ANSWER_BEFORE:
        raise DropConnectionError
    if trouble is Trouble.CONFLICT:
        return _refusal(conflict(info.group, info.resource, info.name))
    if trouble is Trouble.TOO_MANY_REQUESTS:
        text = "Too many requests, please try again later."
        return _refusal(ApiError(429, "TooManyRequests", text, retry_after=_RETRY_AFTER))
    if trouble is Trouble.SERVER_ERROR:
        return _refusal(internal("etcdserver: request timed out"))
    time.sleep(SLOW_SECONDS)
    return None


def _refusal(error: ApiError) -> Response:
    response = json_response(error.code, error.status)
    return response.with_headers(("Retry-After", str(error.retry_after))) if error.retry_after else response


def _first_half(response: Response) -> Response:
    """Return a list's answer as its first page, with a token that will have expired when it is used."""
    whole: JsonObject = msgspec.json.decode(response.body)
    items = get_objects(whole, "items")
    metadata = get_map(whole, "metadata") | {"continue": _TOKEN, "remainingItemCount": len(items) - len(items) // 2}
    return replace(response, body=encode(whole | {"metadata": metadata, "items": [*items[: len(items) // 2]]}))


def _is_dry_run(info: RequestInfo) -> bool:
    return info.query.get("dryRun") == "All"
