"""What a checker is given: plain facts about one run, gathered by others. Nothing of the tool is used here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.support.audit import AuditTrail

Objects = Mapping[tuple[str, str, str], Any]
"""Live objects by kind, namespace and name."""

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_REVIEWS = "/apis/authorization.k8s.io/"


@dataclass(slots=True)
class Arrival:
    """One request of the tool, as the server saw it arrive.

    Attributes:
        number: its place among the requests of the run, from 1.
        received: when it arrived.
        method: the HTTP method.
        target: path and query.
        body: the body.
        journal: the journal on disk at that moment; of mutating requests only.
        synced: how many bytes of the journal had been synced by then.
        result: the result file on disk at that moment; of mutating requests only.
        status: what the server answered, None where it was not asked or has not answered.
    """

    number: int
    received: datetime
    method: str
    target: str
    body: bytes = b""
    journal: bytes = b""
    synced: int = 0
    result: bytes = b""
    status: int | None = None

    @property
    def mutating(self) -> bool:
        """Whether the request could change something, a dry run included."""
        return self.method not in _READING and not self.target.startswith(_REVIEWS)

    @property
    def dry_run(self) -> bool:
        """Whether the server is asked to store nothing."""
        return "dryRun=All" in self.target

    @property
    def path(self) -> str:
        """The path without the query."""
        return self.target.partition("?")[0]

    @property
    def accepted(self) -> bool:
        """Whether the server carried it out."""
        return self.status is not None and self.status < 300

    def __str__(self) -> str:
        what = self.path.removeprefix("/apis/").removeprefix("/api/")
        return f"{self.method} {what}{' (dry run)' if self.mutating and self.dry_run else ''}"


@dataclass(frozen=True, slots=True)
class File:
    """A file that a run left."""

    mode: int
    content: bytes


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """One run of the tool.

    Attributes:
        name: what it is called in violations.
        commit: whether it was asked to write.
        code: its exit code, negative for the signal that ended it, None where it did not end.
        out: stdout.
        err: stderr.
        arrivals: its requests.
        files: what is in the plan directory after it, by path.
        audit: what the server's audit log has of it.
    """

    name: str
    commit: bool
    code: int | None
    out: str
    err: str
    arrivals: tuple[Arrival, ...]
    files: Mapping[str, File]
    audit: AuditTrail

    @property
    def result(self) -> bytes | None:
        """The result file."""
        return self._content("apply-result.json")

    @property
    def journal(self) -> bytes | None:
        """The journal."""
        return self._content("apply-result.json.journal.jsonl")

    def _content(self, name: str) -> bytes | None:
        file = self.files.get(name)
        return None if file is None else file.content


@dataclass(slots=True)
class Circumstances:
    """What was done to a run, as far as it excuses what is otherwise a violation.

    Attributes:
        killed: a SIGKILL was sent.
        stops_run: the fault is one for which the tool stops the whole run.
        shared: the fault is one of what all units share.
        rolls: what was done replaces pods, or may.
        jumps: the wall clock jumped.
        falsified: numbers of requests whose answer was made up, so that nothing is proved by it.
        touched: objects that somebody else changed.
        stored_otherwise: objects that the server stored otherwise than it was asked.
        finished: units that had ended when the fault acted.
        disk: the disk failed.
        disk_failed_at: when, in seconds since 1970; 0 while it has not.
        asked_to_stop: number of the request at whose arrival a signal came, 0 if none did.
    """

    killed: bool = False
    stops_run: bool = False
    shared: bool = False
    rolls: bool = False
    jumps: bool = False
    disk: bool = False
    disk_failed_at: float = 0.0
    asked_to_stop: int = 0
    falsified: set[int] = field(default_factory=set)
    finished: set[str] = field(default_factory=set)
    touched: set[tuple[str, str, str]] = field(default_factory=set)
    stored_otherwise: set[tuple[str, str, str]] = field(default_factory=set)
