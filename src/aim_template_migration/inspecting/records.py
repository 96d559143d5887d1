"""What result and journal say of each unit (pure).

The journal is the durable record; the result adds the sentences. Where a crash left only one of them, or half of one,
the other still says how far a unit came (R, "Dry-run and commit").
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from aim_api.tree import JsonObject, get_bool, get_int, get_map, get_objects, get_str
from aim_template_migration.documents.journal import Entry, JournalReading
from aim_template_migration.documents.result import ApplyResult, PodFacts, UnitResult, WorkloadFacts
from aim_template_migration.kube.requests import DEFAULT_TIMEOUT

_CLOSING = frozenset({"accepted", "rejected", "settled"})


@dataclass(frozen=True, slots=True)
class Attempt:
    """A write whose outcome is on no record.

    Attributes:
        unit: the unit.
        step: the step that sent it.
        object: id of the object that it writes.
        at: when it was about to leave, RFC 3339.
        left: whether it may have left; a request leaves only after its line in the journal is whole.
        server_seconds: how long the server may work on it.
    """

    unit: str
    step: str
    object: str
    at: str
    left: bool = True
    server_seconds: float = DEFAULT_TIMEOUT


@dataclass(frozen=True, slots=True)
class UnitRecord:
    """What is on record of one unit.

    Attributes:
        status: its final status, empty where it has none.
        code: why.
        message: one sentence.
        http_status: of the answer that decided it.
        server_message: the server's own words.
        attempted: steps begun, in order.
        completed: steps that completed, in order.
        attempts: writes whose outcome is on no record; dry runs store nothing and are left out.
        workload: the workload before the cutover, as the result has it.
        journaled_workload: the same as the journal has it, empty where it has none.
    """

    status: str = ""
    code: str = ""
    message: str = ""
    http_status: int | None = None
    server_message: str = ""
    attempted: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    workload: WorkloadFacts | None = None
    journaled_workload: JsonObject = field(default_factory=dict)

    @property
    def confirmed(self) -> bool:
        """Whether a confirmation of the unit's cutover is on record."""
        return self.code == "AlreadyCutOver" or "ConfirmNoRollout" in self.completed

    def workload_before(self, live: WorkloadFacts) -> WorkloadFacts | None:
        """Return the workload before the cutover, or None where no record has it.

        Args:
            live: the workload now; an InferenceService whose desired spec is unchanged is autoscaled as before.
        """
        if self.workload is not None or not self.journaled_workload:
            return self.workload
        return _workload(self.journaled_workload, live)


NOTHING = UnitRecord()


def unit_records(result: ApplyResult | None, journal: JournalReading | None) -> dict[str, UnitRecord]:
    """Return what is on record, by unit id; a unit without any record is left out."""
    histories: dict[str, _History] = {}
    for entry in journal.entries if journal else ():
        if entry.unit:
            histories.setdefault(entry.unit, _History()).add(entry)
    whole = journal is not None and not journal.damage
    for attempt in _in_flight(result):
        histories.setdefault(attempt.unit, _History()).know(attempt, whole_journal=whole)
    endings = {unit.id: unit for unit in result.units} if result else {}
    ids = dict.fromkeys([*endings, *histories])
    return {unit_id: _record(histories.get(unit_id), endings.get(unit_id)) for unit_id in ids}


def _in_flight(result: ApplyResult | None) -> Iterable[Attempt]:
    for shown in result.in_flight if result else ():
        if not shown.dry_run:
            yield Attempt(shown.unit, shown.step, shown.object, shown.at)


class _History:
    """One unit's lines of the journal, taken in one after the other."""

    def __init__(self) -> None:
        self.attempted: list[str] = []
        self.completed: list[str] = []
        self.status = self.code = self.message = ""
        self.workload: JsonObject = {}
        self.open: dict[tuple[str, str], Attempt] = {}
        self._sent: set[tuple[str, str]] = set()

    def add(self, entry: Entry) -> None:
        """Take in one line."""
        facts = entry.facts
        key = (entry.step, get_str(facts, "object") or "")
        match entry.event:
            case "stepStarted":
                self.attempted.append(entry.step)
            case "stepCompleted":
                self.completed.append(entry.step)
            case "failed":
                self.status, self.code = "failed", get_str(facts, "code") or ""
                self.message = get_str(facts, "message") or ""
            case "unitFinished":
                self.status, self.code = get_str(facts, "status") or "", get_str(facts, "code") or ""
            case "facts" if get_map(facts, "workload"):
                self.workload = get_map(facts, "workload")
            case "attempt" if not get_bool(facts, "dryRun"):
                self._sent.add(key)
                self.open[key] = _journaled(entry)
            case event if event in _CLOSING and not get_bool(facts, "dryRun"):
                self.open.pop(key, None)
            case _:
                pass

    def know(self, shown: Attempt, *, whole_journal: bool) -> None:
        """Take in an attempt that the result shows; the journal has the last word on those that it knows."""
        key = (shown.step, shown.object)
        if key not in self._sent:
            self.open[key] = Attempt(shown.unit, shown.step, shown.object, shown.at, left=not whole_journal)


def _journaled(entry: Entry) -> Attempt:
    seconds = entry.facts.get("serverTimeoutSeconds")
    return Attempt(
        unit=entry.unit,
        step=entry.step,
        object=get_str(entry.facts, "object") or "",
        at=entry.time,
        server_seconds=float(seconds) if isinstance(seconds, int | float) else DEFAULT_TIMEOUT,
    )


def _record(history: _History | None, ending: UnitResult | None) -> UnitRecord:
    known = history or _History()
    if ending is None:
        return UnitRecord(
            status=known.status,
            code=known.code,
            message=known.message,
            attempted=tuple(known.attempted),
            completed=tuple(known.completed),
            attempts=tuple(known.open.values()),
            journaled_workload=known.workload,
        )
    return UnitRecord(
        status=ending.status,
        code=ending.code,
        message=ending.message,
        http_status=ending.http_status,
        server_message=ending.server_message,
        attempted=tuple(known.attempted) or ending.attempted_steps,
        completed=tuple(known.completed) or ending.completed_steps,
        attempts=tuple(known.open.values()),
        workload=ending.workload_before,
        journaled_workload=known.workload,
    )


def _workload(facts: JsonObject, live: WorkloadFacts) -> WorkloadFacts:
    pods = (
        PodFacts(
            name=get_str(pod, "name") or "",
            uid=get_str(pod, "uid") or "",
            restarts=get_int(pod, "restarts") or 0,
            template_hash=get_str(pod, "templateHash") or "",
        )
        for pod in get_objects(facts, "pods")
    )
    return WorkloadFacts(
        inference_service=live.inference_service,
        uid=get_str(facts, "uid") or "",
        generation=get_int(facts, "generation") or 0,
        spec_digest=get_str(facts, "specDigest") or "",
        metadata_digest=get_str(facts, "metadataDigest") or "",
        ready=True,  # nothing is cut over while it is not
        template_hash=get_str(facts, "templateHash") or "",
        pods=tuple(pods),
        autoscaled=live.autoscaled,
    )
