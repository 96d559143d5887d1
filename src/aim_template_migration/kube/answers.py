"""From the bytes of an answer to a value or to the exception that ``errors`` documents; pure.

An answer counts only if it is complete, is JSON, and is the object that was asked for. Integers stay exact.
"""

import email.utils
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import msgspec

from aim_api.kinds import SELF_SUBJECT_ACCESS_REVIEW
from aim_api.tree import Json, JsonObject, get, get_int, get_map, get_str
from aim_template_migration.kube.errors import (
    ApiStatusError,
    NotFound,
    NotServed,
    OutcomeUnknown,
    RequestError,
    TooManyRequests,
    Unauthorized,
    UnreadableAnswer,
    error_class,
)
from aim_template_migration.kube.requests import VERSION_INFORMATION, PreparedRequest

Redact = Callable[[str], str]

_PLAIN_TEXT_LIMIT = 200
_UNSERVED_PATH = b"404 page not found"  # what a Kubernetes API server says of a path that it does not know
_ADMISSION_REFUSAL = re.compile(r'failed calling webhook "|admission webhook "[^"]*" denied the request')
_WARNING = re.compile(r'\b\d{3} \S+ "((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer as it arrived, complete and decompressed.

    Attributes:
        status: the HTTP status.
        headers: the values of each header, the names in lower case.
        body: the bytes.
    """

    status: int
    headers: Mapping[str, tuple[str, ...]]
    body: bytes | bytearray

    def header(self, name: str) -> str | None:
        """Return the first value of a header, or None."""
        return next(iter(self.headers.get(name, ())), None)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server answered to a request that succeeded.

    Attributes:
        status: the HTTP status, for example 201.
        body: the object.
        warnings: the texts of the Warning headers, redacted.
    """

    status: int
    body: JsonObject
    warnings: tuple[str, ...] = ()


def interpret(request: PreparedRequest, raw: RawAnswer, redact: Redact) -> Answer:
    """Return the answer to a request for one object.

    Raises:
        RequestError: as the table in ``errors`` says.
    """
    check_status(request, raw, redact)
    body = decode_object(request, raw)
    _check_asked_for(request, raw.status, body)
    return Answer(raw.status, body, warnings_of(raw, redact))


def check_status(request: PreparedRequest, raw: RawAnswer, redact: Redact) -> None:
    """Raise the exception for any status but 2xx.

    Raises:
        RequestError: as the table in ``errors`` says.
    """
    if not 200 <= raw.status < 300:
        raise _failure(request, raw, redact)


def decode_object(request: PreparedRequest, raw: RawAnswer) -> JsonObject:
    """Return the body as a JSON object.

    Raises:
        OutcomeUnknown: of a write, where it is none.
        UnreadableAnswer: of a read, where it is none.
    """
    body = _decode(raw.body)
    if not isinstance(body, dict):
        raise no_usable_answer(request, f"the answer ({raw.status}) is {_describe(raw)}", raw.status)
    return body


def no_usable_answer(
    request: PreparedRequest, text: str, status: int | None = None, retry_after: float | None = None
) -> OutcomeUnknown | UnreadableAnswer:
    """Return the exception for an answer that decides nothing: by the kind of request, see ``errors``."""
    if request.is_write:
        return OutcomeUnknown(request.action, text, status=status)
    # Malformed, or a gateway's 5xx, can be better a moment later; a redirect or a gateway's 4xx will be the same again.
    transient = status is None or status >= 500 or status < 300
    return UnreadableAnswer(request.action, text, status=status, transient=transient, retry_after=retry_after)


def warnings_of(raw: RawAnswer, redact: Redact) -> tuple[str, ...]:
    """Return the texts of the Warning headers (RFC 7234, 299 - "text")."""
    if "warning" not in raw.headers:
        return ()
    texts = [match for value in raw.headers["warning"] for match in _WARNING.findall(value)]
    return tuple(redact(re.sub(r"\\(.)", r"\1", text)) for text in texts)


def _check_asked_for(request: PreparedRequest, status: int, body: JsonObject) -> None:
    if request.kind is VERSION_INFORMATION:
        return
    if (body.get("apiVersion"), body.get("kind")) != (request.kind.api_version, request.kind.name):
        raise no_usable_answer(request, f"the answer is no {request.kind.api_version} {request.kind.name}", status)
    if request.kind is not SELF_SUBJECT_ACCESS_REVIEW and _identity(body) != (request.namespace, request.name):
        raise no_usable_answer(request, "the answer is another object", status)


def _identity(body: JsonObject) -> tuple[str | None, str | None]:
    metadata = body.get("metadata")
    return get_str(metadata, "namespace") or None, get_str(metadata, "name")


def _failure(request: PreparedRequest, raw: RawAnswer, redact: Redact) -> RequestError:
    status = _kubernetes_status(raw)
    refusal = _refusal(request, raw, status, redact)
    if raw.status in (401, 429) or isinstance(refusal, NotServed):
        return refusal
    if status is None or raw.status < 400:
        return no_usable_answer(request, f"the answer is {refusal.message}", raw.status, refusal.retry_after)
    if raw.status >= 500 and request.is_write and not _ADMISSION_REFUSAL.search(get_str(status, "message") or ""):
        text = f"the server answered {raw.status} {refusal.reason}: {refusal.message}"
        return OutcomeUnknown(request.action, text, status=raw.status, answer=refusal)
    return refusal


def _refusal(request: PreparedRequest, raw: RawAnswer, status: JsonObject | None, redact: Redact) -> ApiStatusError:
    """Return the exception for an answer taken at its word, with or without a Status."""
    if status is None:
        chosen = {401: Unauthorized, 429: TooManyRequests}.get(raw.status, ApiStatusError)
        reason = chosen.__name__ if chosen is not ApiStatusError else ""
        if raw.status == 404 and raw.body.strip() == _UNSERVED_PATH:
            chosen, reason = NotServed, "NotFound"
        message, details = _describe(raw), {}
    else:
        reason, message = get_str(status, "reason") or "", get_str(status, "message") or ""
        details = get_map(status, "details")
        chosen = error_class(raw.status, reason)
        if raw.status == 404 and not get_str(details, "name"):
            chosen = NotServed
    if chosen is NotFound and (message, details) == _absence(request):
        redact = str  # it says nothing but what was asked for
    if chosen is NotServed:
        message = f"{message}; it does not serve {request.kind.plural} of {request.kind.api_version}".lstrip("; ")
    return chosen(
        request.action,
        status=raw.status,
        reason=reason,
        message=" ".join(redact(message).split()),
        details=_redacted(details, redact),
        retry_after=_retry_after(raw, details),
    )


def _absence(request: PreparedRequest) -> tuple[str, JsonObject]:
    """Return the message and the details with which an API server says that there is no object of a name."""
    kind, name = request.kind, request.name or ""
    details: JsonObject = {"name": name, "group": kind.group, "kind": kind.plural}
    if not kind.group:
        return f'{kind.plural} "{name}" not found', {"name": name, "kind": kind.plural}
    return f'{kind.plural}.{kind.group} "{name}" not found', details


def _redacted(value: JsonObject, redact: Redact) -> JsonObject:
    def walk(node: Json) -> Json:
        if isinstance(node, str):
            return redact(node)
        if isinstance(node, list):
            return [walk(item) for item in node]
        return {key: walk(item) for key, item in node.items()} if isinstance(node, dict) else node

    return {key: walk(item) for key, item in value.items()}


def _kubernetes_status(raw: RawAnswer) -> JsonObject | None:
    """Return the Status that the body holds, if it is one and speaks of this answer's HTTP status."""
    body = _decode(raw.body)
    if get(body, "kind") != "Status" or get(body, "apiVersion") != "v1" or get(body, "status") != "Failure":
        return None
    return body if isinstance(body, dict) and get_int(body, "code") in (raw.status, None) else None


def _retry_after(raw: RawAnswer, details: JsonObject) -> float | None:
    """Return the seconds to wait: the Retry-After header (seconds or a date), else the Status details."""
    header = (raw.header("retry-after") or "").strip()
    if header.isdecimal():
        return float(header)
    if header:
        try:
            return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
        except ValueError:
            return None  # a gateway's nonsense; the client's own backoff does
    seconds = get_int(details, "retryAfterSeconds")
    return float(seconds) if seconds and seconds > 0 else None


def _describe(raw: RawAnswer) -> str:
    """Say what a body without a Kubernetes object is; only short plain text is quoted, as it may be anything."""
    content_type = (raw.header("content-type") or "").split(";")[0].strip().lower()
    if 300 <= raw.status < 400:
        return f"a redirect ({raw.status}), which is never followed; it may be a login page or a wrong server URL"
    if not raw.body.strip():
        return f"empty ({raw.status})"
    if content_type == "text/html" or raw.body.lstrip()[:1] == b"<":
        return f"an HTML page ({raw.status}), probably of a proxy and not of a Kubernetes API server"
    text = raw.body[:_PLAIN_TEXT_LIMIT].decode("utf-8", "replace").strip()
    if content_type == "text/plain" and len(raw.body) <= _PLAIN_TEXT_LIMIT:
        return f"plain text ({raw.status}): {text}"
    return f"no Kubernetes object ({raw.status}, {content_type or 'no content type'})"


def _decode(body: bytes | bytearray) -> Json:
    """Return the JSON value, or None where the bytes are not JSON."""
    try:
        value: Json = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return value
