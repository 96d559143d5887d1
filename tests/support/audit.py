"""Reads Kubernetes audit logs and says what each identity did, independently of every program under test.

The input is the JSON lines of ``audit.k8s.io/v1`` Events, as kube-apiserver's log backend writes them and as the local
API writes them too. One request may have several lines, one for each stage that the audit policy keeps; they are joined
by ``auditID``. A request counts even when no line says that it was answered, and even when it was refused: the
assertions are about what an identity *asked for*.

Only the standard library is used, and nothing of the packages under test, so that no mistake of theirs is shared.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

READ_VERBS = frozenset({"get", "list", "watch", "head", "options"})
"""Verbs that change nothing. Every other verb, known or not, is taken for a mutation."""

DELETE_VERBS = frozenset({"delete", "deletecollection"})

ACTING_SUBRESOURCES = frozenset({"attach", "exec", "portforward", "proxy"})
"""Subresources where even a GET acts on the object or on what runs behind it."""

REVIEWS = frozenset(
    {
        ("authorization.k8s.io", "localsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "selfsubjectrulesreviews"),
        ("authorization.k8s.io", "subjectaccessreviews"),
        ("authentication.k8s.io", "selfsubjectreviews"),
    }
)
"""Group and resource of questions that are asked by a create and stored nowhere."""

_STAGES = ("RequestReceived", "ResponseStarted", "ResponseComplete", "Panic")
_SHOWN = 20


class AuditLogError(Exception):
    """A line of the log is no audit event; the message names the file, the line and the fault."""


@dataclass(frozen=True, slots=True)
class ObjectReference:
    """What a request is about; empty strings where the event names nothing."""

    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""

    def __str__(self) -> str:
        """Return ``resource.group/subresource namespace/name``, as far as known."""
        kind = self.resource + (f".{self.group}" if self.group else "") + ("/" if self.subresource else "")
        place = "/".join(part for part in (self.namespace, self.name) if part)
        return f"{kind}{self.subresource} {place}".strip()


@dataclass(frozen=True, slots=True)
class AuditEvent:
    """One request, at the last stage that the log has of it."""

    audit_id: str
    stage: str
    verb: str
    user: str
    impersonated: str | None
    uri: str
    target: ObjectReference | None
    code: int | None
    received: datetime
    request_object: Json = field(default=None, repr=False)
    response_object: Json = field(default=None, repr=False)

    def is_by(self, identity: str) -> bool:
        """Return whether ``identity`` sent the request, or another user in its name."""
        return identity in (self.user, self.impersonated)

    @property
    def query(self) -> dict[str, list[str]]:
        """The query parameters of the request's URI, blank values included."""
        return parse_qs(urlsplit(self.uri).query, keep_blank_values=True)

    @property
    def is_review(self) -> bool:
        """Whether this only asks what an identity may do, or who it is."""
        target = self.target
        return self.verb == "create" and target is not None and (target.group, target.resource) in REVIEWS

    @property
    def is_mutation(self) -> bool:
        """Whether the request could change something, a dry run included; reviews are no mutations."""
        if self.is_review:
            return False
        acts = self.target is not None and self.target.subresource in ACTING_SUBRESOURCES
        return acts or self.verb not in READ_VERBS

    @property
    def is_delete(self) -> bool:
        """Whether the request asks for a deletion; an eviction does, and a dry run of a deletion counts."""
        evicts = self.target is not None and self.target.subresource == "eviction"
        return self.verb in DELETE_VERBS or (evicts and self.verb == "create")

    @property
    def is_dry_run(self) -> bool:
        """Whether the server was told, where it looks for it, to store nothing.

        A deletion with a body takes its options from the body alone: ``dryRun=All`` in the URI then has no effect.
        """
        if self.verb in DELETE_VERBS and isinstance(self.request_object, dict):
            asked = self.request_object.get("dryRun")
            values: Sequence[Json] = asked if isinstance(asked, list) else []
        else:
            values = self.query.get("dryRun", [])
        return bool(values) and all(value == "All" for value in values)

    @property
    def is_accepted(self) -> bool:
        """Whether the server answered with success; False while it has not answered."""
        return self.code is not None and 200 <= self.code < 300

    @property
    def touches_secrets(self) -> bool:
        """Whether the request is about Secrets; even the answer to a dry-run patch carries the data."""
        return self.target is not None and (self.target.group, self.target.resource) == ("", "secrets")

    def __str__(self) -> str:
        """Return the request on one line, as in ``create aimprofiles.aim.eai.amd.com ns/name (dry run) 201``."""
        what = str(self.target) if self.target is not None else self.uri
        dry_run = " (dry run)" if self.is_mutation and self.is_dry_run else ""
        return f"{self.verb} {what}{dry_run} {self.code if self.code is not None else 'unanswered'}"


@dataclass(frozen=True, slots=True)
class AuditTrail:
    """Requests in the order in which the server received them."""

    events: tuple[AuditEvent, ...]

    @classmethod
    def read(cls, path: Path, start: int = 0) -> "AuditTrail":
        """Read the log from byte ``start``; a last line that is still being written is left out.

        Raises:
            AuditLogError: a complete line is no ``audit.k8s.io/v1`` Event.
        """
        with path.open("rb") as log:
            log.seek(start)
            content = log.read()
        lines = content[: content.rfind(b"\n") + 1].split(b"\n")
        return cls.of(
            _parse(line, f"{path}, line {number}{f' after byte {start}' if start else ''}")
            for number, line in enumerate(lines, start=1)
            if line.strip()
        )

    @classmethod
    def of(cls, events: Iterable[AuditEvent]) -> "AuditTrail":
        """Join the stages of each request and order the requests by their arrival."""
        joined: dict[str, AuditEvent] = {}
        for position, event in enumerate(events):
            key = event.audit_id or f"line {position}"
            known = joined.get(key)
            if known is None or _STAGES.index(known.stage) <= _STAGES.index(event.stage):
                joined[key] = event
        return cls(tuple(sorted(joined.values(), key=lambda event: event.received)))

    @property
    def identities(self) -> list[str]:
        """The names of all users that sent a request, or in whose name one was sent, sorted."""
        names = {event.user for event in self.events} | {event.impersonated or "" for event in self.events}
        return sorted(names - {""})

    def requests(self, identity: str) -> list[AuditEvent]:
        """Return everything that ``identity`` asked for."""
        return [event for event in self.events if event.is_by(identity)]

    def mutations(self, identity: str) -> list[AuditEvent]:
        """Return the mutating requests of ``identity``, dry runs and refused ones included, reviews excepted."""
        return [event for event in self.requests(identity) if event.is_mutation]

    def writes(self, identity: str) -> list[AuditEvent]:
        """Return the mutating requests of ``identity`` that the server accepted and that were no dry run."""
        return [event for event in self.mutations(identity) if event.is_accepted and not event.is_dry_run]

    def deletes(self, identity: str) -> list[AuditEvent]:
        """Return the deletions and evictions that ``identity`` asked for, dry runs included."""
        return [event for event in self.requests(identity) if event.is_delete]

    def secret_requests(self, identity: str) -> list[AuditEvent]:
        """Return the requests of ``identity`` about Secrets."""
        return [event for event in self.requests(identity) if event.touches_secrets]

    def writers(self, resource: str, group: str = "") -> list[str]:
        """Return the users whose writes to ``resource`` were accepted, in the order of their first such write."""
        targets = [(event, event.target) for event in self.events if event.target is not None]
        return list(
            dict.fromkeys(
                event.impersonated or event.user
                for event, target in targets
                if (target.group, target.resource) == (group, resource)
                and event.is_mutation
                and event.is_accepted
                and not event.is_dry_run
            )
        )

    def assert_only_dry_runs(self, identity: str) -> None:
        """Fail unless every mutating request of ``identity`` is a dry run."""
        self._assert_none(identity, "mutating requests without dryRun=All", self.mutations(identity), dry_run=False)

    def assert_no_mutations(self, identity: str) -> None:
        """Fail if ``identity`` sent any mutating request, even as a dry run."""
        self._assert_none(identity, "mutating requests", self.mutations(identity))

    def assert_no_deletes(self, identity: str) -> None:
        """Fail if ``identity`` asked for any deletion or eviction, even as a dry run."""
        self._assert_none(identity, "deletes", self.deletes(identity))

    def assert_no_secret_reads(self, identity: str) -> None:
        """Fail if ``identity`` sent any request about Secrets: every one of them can answer with the data."""
        self._assert_none(identity, "requests about Secrets", self.secret_requests(identity))

    def _assert_none(
        self, identity: str, what: str, found: Sequence[AuditEvent], *, dry_run: bool | None = None
    ) -> None:
        # A misspelt identity must not pass for a well-behaved one.
        if not self.requests(identity):
            names = ", ".join(self.identities) or "nobody"
            raise AssertionError(f"the audit log has no request of {identity!r}; it has requests of {names}")
        bad = [event for event in found if dry_run is None or event.is_dry_run == dry_run]
        if bad:
            lines = [f"  {event}" for event in bad[:_SHOWN]]
            if len(bad) > _SHOWN:
                lines.append(f"  and {len(bad) - _SHOWN} more")
            raise AssertionError("\n".join([f"{identity!r} sent {len(bad)} {what}:", *lines]))


def _text(value: Json, *keys: str) -> str:
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def _target(reference: Json) -> ObjectReference | None:
    if not isinstance(reference, dict):
        return None
    return ObjectReference(
        group=_text(reference, "apiGroup"),
        version=_text(reference, "apiVersion"),
        resource=_text(reference, "resource"),
        subresource=_text(reference, "subresource"),
        namespace=_text(reference, "namespace"),
        name=_text(reference, "name"),
    )


def _parse(line: bytes, place: str) -> AuditEvent:
    try:
        entry: Json = json.loads(line)
    except ValueError as error:
        raise AuditLogError(f"{place}: no JSON ({error})") from error
    if not isinstance(entry, dict) or (entry.get("apiVersion"), entry.get("kind")) != ("audit.k8s.io/v1", "Event"):
        raise AuditLogError(f"{place}: no audit.k8s.io/v1 Event")
    stage, verb, uri = _text(entry, "stage"), _text(entry, "verb"), _text(entry, "requestURI")
    if stage not in _STAGES:
        raise AuditLogError(f"{place}: the stage {stage!r} is none of {', '.join(_STAGES)}")
    # A request that failed authentication has no user.
    for name, value in (("verb", verb), ("requestURI", uri)):
        if not value:
            raise AuditLogError(f"{place}: {name} is missing")
    try:
        received = datetime.fromisoformat(_text(entry, "requestReceivedTimestamp"))
    except ValueError as error:
        raise AuditLogError(f"{place}: requestReceivedTimestamp is no time ({error})") from error
    if received.tzinfo is None:
        raise AuditLogError(f"{place}: requestReceivedTimestamp has no time zone")
    status = entry.get("responseStatus")
    code = status.get("code") if isinstance(status, dict) else None
    return AuditEvent(
        audit_id=_text(entry, "auditID"),
        stage=stage,
        verb=verb,
        user=_text(entry, "user", "username"),
        impersonated=_text(entry, "impersonatedUser", "username") or None,
        uri=uri,
        target=_target(entry.get("objectRef")),
        code=code if isinstance(code, int) else None,
        received=received,
        request_object=entry.get("requestObject"),
        response_object=entry.get("responseObject"),
    )
