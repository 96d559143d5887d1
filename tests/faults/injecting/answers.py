"""What a server, or something before it, answers instead of the truth: refusals, losses and lies.

Each fault acts at one request. Its message carries a secret-looking word, which must not come out anywhere.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from aim_rehearsal.apiserver import Request, Response
from tests.faults.checking.evidence import Arrival
from tests.faults.injecting.scene import Fault, Scene

LEAKED = "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"
REQUEST_TIMEOUT_SECONDS = 1.0
_ROLLING = frozenset({"AIMService", "AIMProfileCache"})
"""Kinds where another content than was asked for may replace pods or download weights."""
_HTML = b"<html><body>Please log in</body></html>\n"

Instead = Callable[[Scene, Arrival, Request], Response | None]
Changed = Callable[[Scene, Arrival, Request, Response], Response | None]


@dataclass(frozen=True, slots=True)
class Answer:
    """One way in which a request can be answered wrongly.

    Attributes:
        name: what it is called.
        before: makes the answer instead of carrying the request out.
        after: makes the answer after the request was carried out.
        proves: whether a unit may succeed on what the request led to, because it was carried out as it was sent.
        stops_run: whether the tool stops the whole run for it.
        transient: of a read: whether the tool asks again, so that the run goes on.
        slow: whether it takes real time, so that the client's own patience must be short.
    """

    name: str
    before: Instead | None = None
    after: Changed | None = None
    proves: bool = False
    stops_run: bool = False
    transient: bool = False
    slow: bool = False


class AtRequest(Fault):
    """One wrong answer at one request."""

    def __init__(self, number: int, answer: Answer, place: int = 0) -> None:
        self.name = answer.name
        self.place = place
        self._number = number
        self._answer = answer
        self.options = ("--request-timeout", f"{REQUEST_TIMEOUT_SECONDS:g}s") if answer.slow else ()

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number != self._number:
            return None
        scene.circumstances.stops_run |= self._answer.stops_run
        if not self._answer.proves:
            scene.circumstances.falsified.add(arrival.number)
        return self._answer.before(scene, arrival, request) if self._answer.before else None

    def after(self, scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
        scene.first_answers.setdefault(arrival.target, response)
        if arrival.number != self._number or self._answer.after is None:
            return None
        return self._answer.after(scene, arrival, request, response)


class AtRequests(Fault):
    """Wrong answers at several reads, each of which the tool asks for once more.

    Reads are numbered as in a run without faults: those that are asked for again do not count twice.
    """

    def __init__(self, answers: Mapping[int, Answer]) -> None:
        self.name = ", ".join(f"{answer.name} at {number}" for number, answer in answers.items())
        self._answers = answers
        self._acted: dict[int, AtRequest] = {}

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        number = arrival.number - len(self._acted)
        if arrival.mutating or number not in self._answers or number in {item.place for item in self._acted.values()}:
            return None
        self._acted[arrival.number] = fault = AtRequest(arrival.number, self._answers[number], number)
        return fault.before(scene, arrival, request)

    def after(self, scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
        fault = self._acted.get(arrival.number)
        return fault.after(scene, arrival, request, response) if fault else None


class StoredLate(Fault):
    """A write that is carried out only when the client has given up and has looked once: nothing is there yet."""

    name = "stored-late"
    options = ("--request-timeout", f"{REQUEST_TIMEOUT_SECONDS:g}s")

    def __init__(self, number: int) -> None:
        self._number = number
        self._stored = threading.Event()

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number == self._number:
            scene.wait_for_request(arrival.number + 2, 4 * REQUEST_TIMEOUT_SECONDS)
        elif arrival.number > self._number + 1:
            self._stored.wait(4 * REQUEST_TIMEOUT_SECONDS)
        return None

    def after(self, scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
        if arrival.number == self._number:
            self._stored.set()
        return None


def refusal(code: int, reason: str, message: str, *headers: tuple[str, str]) -> Instead:
    """Return an answer with a Status."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"{message} (token: {LEAKED})",
        "reason": reason,
        "code": code,
    }
    response = Response(code, body=json.dumps(status).encode()).with_headers(*headers)
    return lambda scene, arrival, request: response


def plain(code: int, text: bytes, *headers: tuple[str, str]) -> Instead:
    """Return an answer without a Status, as gateways and limiters give it."""
    response = Response(code, (("Content-Type", "text/html"),), text).with_headers(*headers)
    return lambda scene, arrival, request: response


def _after(made: Instead) -> Changed:
    """Return the same answer, given after the request was carried out."""
    return lambda scene, arrival, request, response: made(scene, arrival, request)


def _reset(scene: Scene, arrival: Arrival, request: Request) -> Response | None:
    return scene.drop()


def _reset_after(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
    return scene.drop()


def _truncated(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response:
    body = response.body
    return replace(response, body=body[: len(body) // 2], declared_length=len(body))


def _malformed(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response:
    return replace(response, body=response.body.rstrip()[:-1] + b"\n")


def _too_short_a_length(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response:
    return replace(response, declared_length=len(response.body) // 2)


def _too_long_a_length(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response:
    return replace(response, declared_length=len(response.body) + 7)


def _empty(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response:
    return replace(response, body=b"")


def _late_answer(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
    time.sleep(REQUEST_TIMEOUT_SECONDS + 0.1)
    return None


def _unchanged(scene: Scene, arrival: Arrival, request: Request) -> Response:
    """Say that it is done, with what would be stored, and store nothing; of a dry run that is the truth."""
    if arrival.dry_run:
        scene.circumstances.falsified.discard(arrival.number)
    return scene.carry_out(_as_dry_run(request))


def _as_dry_run(request: Request) -> Request:
    asked = request.target if "dryRun=All" in request.target else f"{request.target}&dryRun=All"
    return replace(request, target=asked)


def _another(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response:
    """Answer with an object of another name."""
    body = msgspec.json.decode(response.body)
    if isinstance(body, dict) and isinstance(body.get("metadata"), dict):
        body["metadata"] = {**body["metadata"], "name": "another"}
    return replace(response, body=msgspec.json.encode(body))


def _stored_otherwise(change: Callable[[Any, Arrival], Any], *, hidden: bool) -> Instead:
    """Store something else than was asked; with ``hidden`` the answer looks as if it were right."""

    def answer(scene: Scene, arrival: Arrival, request: Request) -> Response:
        truth = scene.carry_out(_as_dry_run(request))
        body = msgspec.json.encode(change(msgspec.json.decode(request.body), arrival))
        response = scene.carry_out(replace(request, body=body))
        if response.status >= 300:
            return response
        if (hidden and arrival.dry_run) or _content(response) == _content(truth):
            scene.circumstances.falsified.discard(arrival.number)
        elif not arrival.dry_run:
            key = _key(response)
            scene.circumstances.stored_otherwise.add(key)
            scene.circumstances.rolls |= key[0] in _ROLLING
        return truth if hidden else response

    return answer


def _pruned(body: Any, arrival: Arrival) -> Any:
    """Leave out the last field of a spec, or the last operation of a patch."""
    if isinstance(body, list):
        return body[:-1]
    fields = dict(body["spec"])
    fields.pop(_optional(fields))
    return {**body, "spec": fields}


def _mutated(body: Any, arrival: Arrival) -> Any:
    """Add what nobody asked for, as a webhook does."""
    if isinstance(body, list):
        if "/aimartifacts/" in arrival.path:
            return [*body, {"op": "add", "path": "/spec/env", "value": [{"name": "WEBHOOK", "value": "seen"}]}]
        return [*body, {"op": "add", "path": "/metadata/labels/webhook.example.org~1seen", "value": "true"}]
    spec = body["spec"]
    extra = {"storageClassName": "webhook-class"} if "profileName" in spec else {"engineArgs": {"webhook": True}}
    return {**body, "spec": {**spec, **extra}}


def _content(response: Response) -> Any:
    """Return what an object says, without what every write changes."""
    obj = msgspec.json.decode(response.body)
    metadata = obj["metadata"]
    return obj["spec"], [metadata.get(name) for name in ("labels", "annotations", "ownerReferences", "finalizers")]


def _optional(fields: dict[str, Any]) -> str:
    return next((name for name in ("metric", "precision", "mode") if name in fields), next(reversed(fields)))


def _key(response: Response) -> tuple[str, str, str]:
    obj = msgspec.json.decode(response.body)
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _first_seen(scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
    """Answer what a stale cache holds: the first answer to this read."""
    return scene.first_answers[arrival.target]


REFUSALS = (
    Answer("409-conflict", refusal(409, "Conflict", "the object has been modified")),
    Answer("409-exists", refusal(409, "AlreadyExists", "the object already exists")),
    Answer("404", refusal(404, "NotFound", "the object is not found")),
    Answer("422", refusal(422, "Invalid", "the object is invalid")),
    Answer("403", refusal(403, "Forbidden", "the user cannot do this")),
    Answer("401", refusal(401, "Unauthorized", "Unauthorized"), stops_run=True),
    Answer("429-retry-after", refusal(429, "TooManyRequests", "slow down", ("Retry-After", "3")), transient=True),
    Answer("429", plain(429, b"Too many requests, please try again later.\n"), transient=True),
    Answer("500", refusal(500, "InternalError", "something broke"), transient=True),
    Answer("503", refusal(503, "ServiceUnavailable", "not now"), transient=True),
    Answer("504", refusal(504, "Timeout", "request did not complete within the allotted timeout"), transient=True),
    Answer("502-html", plain(502, _HTML), transient=True),
    Answer("200-html", plain(200, _HTML), transient=True),
    Answer("reset", _reset, transient=True),
)
LOSSES = (
    Answer("stored-500", after=_after(REFUSALS[8].before), proves=True),
    Answer("stored-503", after=_after(REFUSALS[9].before), proves=True),
    Answer("stored-504", after=_after(REFUSALS[10].before), proves=True),
    Answer("stored-reset", after=_reset_after, proves=True),
    Answer("truncated", after=_truncated, proves=True, transient=True),
    Answer("malformed", after=_malformed, proves=True, transient=True),
    Answer("length-too-short", after=_too_short_a_length, proves=True, transient=True),
    Answer("length-too-long", after=_too_long_a_length, proves=True, transient=True),
    Answer("empty", after=_empty, proves=True, transient=True),
    Answer("another-object", after=_another, proves=True),
    Answer("late-answer", after=_late_answer, proves=True, transient=True, slow=True),
)
LIES = (
    Answer("unchanged", _unchanged),
    Answer("pruned", _stored_otherwise(_pruned, hidden=False)),
    Answer("pruned-and-hidden", _stored_otherwise(_pruned, hidden=True)),
    Answer("mutated", _stored_otherwise(_mutated, hidden=False)),
    Answer("mutated-and-hidden", _stored_otherwise(_mutated, hidden=True)),
)
WRITE_ANSWERS = (*REFUSALS, *LOSSES, *LIES)
"""Every wrong answer to a write."""

READ_ANSWERS = (
    *(answer for answer in REFUSALS if answer.name not in ("409-exists", "422")),
    Answer("410", refusal(410, "Expired", "the resourceVersion is too old")),
    *(answer for answer in LOSSES if not answer.name.startswith("stored-")),
    Answer("stale", after=_first_seen, proves=True),
)
"""Every wrong answer to a read."""
