"""The audit log: one event of ``audit.k8s.io/v1`` per answered request, in memory and, if wanted, in a file.

Source: Kubernetes documentation, "Auditing".
"""

import threading
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

import msgspec

from aim_api.tree import Json, JsonObject, get_str
from aim_rehearsal.apiserver.call import User
from aim_rehearsal.apiserver.messages import Request, Response, encode
from aim_rehearsal.apiserver.routing import RequestInfo
from aim_rehearsal.apiserver.times import now, rfc3339_micro

_READING_VERBS = frozenset({"get", "list", "watch"})


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what is known of it when it is answered.

    Attributes:
        request: the request.
        info: what its path means.
        user: who sent it, or None if that never became clear.
        acting_as: whom the sender acted as, or None.
        received: when it arrived.
    """

    request: Request
    info: RequestInfo
    user: User | None
    acting_as: User | None
    received: datetime


class AuditLog:
    """Keeps audit events.

    Args:
        path: a file that gets one JSON line per event, or None.
        limit: how many events are kept in memory; older ones are dropped and counted.
        observe: sees every event, one at a time and in order, also those that are dropped later.
    """

    def __init__(
        self, path: Path | None, limit: int, observe: Callable[[JsonObject], None] = lambda _event: None
    ) -> None:
        self._observe = observe
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque(maxlen=limit)
        self._file: BinaryIO | None = path.open("ab") if path is not None else None
        self.dropped = 0

    def record(self, exchange: Exchange, response: Response) -> None:
        """Add the event of an answered request."""
        event = _event(exchange, response)
        line = encode(event)
        with self._lock:
            self._observe(event)
            self.dropped += len(self._lines) == self._lines.maxlen
            self._lines.append(line)
            if self._file is not None:
                self._file.write(line)
                self._file.flush()

    def events(self) -> list[JsonObject]:
        """Return the events in memory, oldest first."""
        with self._lock:
            lines = list(self._lines)
        return [msgspec.json.decode(line) for line in lines]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._file is not None:
                self._file.close()
                self._file = None


def _event(exchange: Exchange, response: Response) -> JsonObject:
    request, info = exchange.request, exchange.info
    sent = _sent(exchange)
    event: JsonObject = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Request" if sent is not None else "Metadata",
        "auditID": str(uuid.uuid4()),
        "stage": "ResponseComplete",
        "requestURI": request.target,
        "verb": info.verb,
        "user": _user(exchange.user),
        "sourceIPs": [request.source],
        "userAgent": request.headers.get("user-agent", ""),
        "responseStatus": _status(response),
        "requestReceivedTimestamp": rfc3339_micro(exchange.received),
        "stageTimestamp": rfc3339_micro(now()),
    }
    if exchange.acting_as is not None:
        event["impersonatedUser"] = _user(exchange.acting_as)
    if info.is_resource:
        event["objectRef"] = _reference(info, sent)
    if sent is not None:
        event["requestObject"] = sent
    return event


def _sent(exchange: Exchange) -> Json:
    """Return the body of a write; those of Secrets are left out."""
    body = exchange.request.body
    if not body or exchange.info.verb in _READING_VERBS or exchange.info.resource == "secrets":
        return None
    try:
        decoded: Json = msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        return None
    return decoded


def _user(user: User | None) -> JsonObject:
    if user is None:
        return {}
    shown: JsonObject = {"username": user.name, "groups": [*user.groups]}
    if user.uid:
        shown["uid"] = user.uid
    return shown


def _reference(info: RequestInfo, sent: Json) -> JsonObject:
    parts: dict[str, str | None] = {
        "resource": info.resource,
        "namespace": info.namespace,
        "name": info.name or (get_str(sent, "metadata", "name") if info.verb == "create" else ""),
        "apiGroup": info.group,
        "apiVersion": info.version,
        "subresource": info.subresource,
    }
    return {key: value for key, value in parts.items() if value}


def _status(response: Response) -> JsonObject:
    status: JsonObject = {"metadata": {}, "code": response.status}
    if response.status >= 400 and response.body[:1] == b"{":
        try:
            answered: Json = msgspec.json.decode(response.body)
        except msgspec.DecodeError:
            return status
        if isinstance(answered, dict) and answered.get("kind") == "Status":
            status.update({key: answered[key] for key in ("status", "message", "reason", "details") if key in answered})
    return status
