"""The one place from which a write leaves: journal, send once, journal the outcome, and read what is stored."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from aim_api.labels import FIELD_MANAGER
from aim_api.tree import JsonObject, get_int, get_objects, get_str
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.failures import Failure, RunFault, RunStopped, UnitStopped, refusal
from aim_template_migration.applying.journal import Journal
from aim_template_migration.applying.patching import fields_not_stored
from aim_template_migration.applying.running_result import RunningResult
from aim_template_migration.applying.stopping import StopSignal
from aim_template_migration.documents.result import OpenAttempt
from aim_template_migration.kube import Answer, Cluster, PreparedRequest
from aim_template_migration.kube.errors import ApiStatusError, OutcomeUnknown, RequestError, Unauthorized

Found = Literal["stored", "notStored", "other"]
_Outcome = Literal["accepted", "rejected", "unknown", "settled", "verified"]

SETTLE_MARGIN_SECONDS = 5.0
_SETTLE_INTERVAL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Write:
    """One write of one step.

    Attributes:
        unit: id of the unit.
        step: name of the step.
        object_id: id of the object written.
        prepared: the request, built.
        must_hold: labels, annotations and spec that the answer must carry, so that a pruned or mutated field is seen.
        read_back: reads what is stored and returns whether it is what this write leads to, with the object itself;
            raises RequestError where it can't be read.
        before_leaving: called last before the request leaves; a UnitStopped that it raises keeps it from leaving.
        doubt_refusals: whether a 409 or 422 is taken for a refusal only once reading shows that nothing was stored:
            what stands between may have sent the request twice, and the second time its tests fail on what the first
            stored.
    """

    unit: str
    step: str
    object_id: str
    prepared: PreparedRequest
    must_hold: JsonObject
    read_back: Callable[[], tuple[Found, JsonObject]]
    before_leaving: Callable[[], None] = lambda: None
    doubt_refusals: bool = False


@dataclass(frozen=True, slots=True)
class Sent:
    """A write that was stored, or accepted as a dry run.

    Attributes:
        body: the object: as the server answered, or as it was read where the answer was lost.
        warnings: the texts of the answer's Warning headers.
        settled: whether the answer was lost, so that ``body`` may hold what others wrote since.
    """

    body: JsonObject
    warnings: tuple[str, ...] = ()
    settled: bool = False


class Writer:
    """Sends writes; each exactly once, each with an attempt on record before it."""

    def __init__(
        self,
        cluster: Cluster,
        journal: Journal,
        running: RunningResult,
        clock: Clock,
        *,
        signal: StopSignal,
        holds_lock: Callable[[], bool],
    ) -> None:
        """Take what all writes of the run share; ``holds_lock`` tells whether the lock file is still this run's."""
        self._cluster = cluster
        self._journal = journal
        self._running = running
        self._clock = clock
        self._signal = signal
        self._holds_lock = holds_lock

    def send(self, write: Write) -> Sent:
        """Send one write, and read back what it stored.

        Raises:
            UnitStopped: it was refused, not sent, not stored, its outcome can't be told, the answer lacks a field, or
                the run is stopping.
            RunStopped: the credentials were rejected, the lock is lost, or the journal or the result can't be written.
        """
        self._require_allowed()
        attempt = OpenAttempt(
            unit=write.unit,
            step=write.step,
            object=write.object_id,
            at=self._clock.now(),
            dry_run=write.prepared.dry_run,
        )
        self._begin(attempt, write)
        self._require_leave(attempt, write)
        try:
            answer = self._cluster.send(write.prepared)
        except OutcomeUnknown as error:
            return self._settle(write, attempt, error)
        except RequestError as error:
            return self._refused(write, attempt, error)
        self._append("accepted", write, {"httpStatus": answer.status, **_object_facts(answer.body)})
        self._running.close_attempt(attempt)
        self._require_fields(write, answer)
        self._verify(write)
        return Sent(answer.body, answer.warnings)

    def _require_allowed(self) -> None:
        self._signal.require_running()
        if not self._holds_lock():
            message = "the lock file of the plan is gone or no longer this run's, so another apply may be running"
            raise RunStopped(RunFault("LockLost", message))

    def _begin(self, attempt: OpenAttempt, write: Write) -> None:
        """Show the attempt in the result and write it to the journal; only then may the request leave."""
        self._running.attempt(attempt)
        try:
            self._journal.append("attempt", unit=write.unit, step=write.step, facts=_request_facts(write))
        except RunStopped:
            self._running.close_attempt(attempt)
            raise

    def _require_leave(self, attempt: OpenAttempt, write: Write) -> None:
        try:
            write.before_leaving()
        except UnitStopped as stopped:
            self._append("rejected", write, {"error": f"not sent: {stopped.failure.message}"})
            self._running.close_attempt(attempt)
            raise

    def _refused(self, write: Write, attempt: OpenAttempt, error: RequestError) -> Sent:
        """Stop for a refusal, unless the write is stored all the same."""
        doubted = write.doubt_refusals and isinstance(error, ApiStatusError) and error.status in (409, 422)
        found, obj = self._look(write) if doubted else (None, {})
        if found == "stored":
            self._append("unknown", write, {"error": str(error)})
            self._close_settled(write, attempt, {"outcome": "stored", **_object_facts(obj)})
            return Sent(obj, settled=True)
        self._append("rejected", write, {"error": str(error)})
        self._running.close_attempt(attempt)
        refused = refusal(error, verb=write.step, object_id=write.object_id, dry_run=write.prepared.dry_run)
        if isinstance(refused, UnitStopped):
            refused = UnitStopped(replace(refused.failure, not_stored=not doubted or found is not None))
        raise refused from error

    def _settle(self, write: Write, attempt: OpenAttempt, error: OutcomeUnknown) -> Sent:
        """Decide a lost answer by reading, never by repeating the request.

        Until the server's own time limit and a margin have passed it may still be working on the request; a stop of the
        run does not wait for that and leaves the attempt open, for ``inspect``.
        """
        self._append("unknown", write, {"error": str(error)})
        if write.prepared.dry_run:
            self._close_settled(write, attempt, {"outcome": "notStored", "because": "a dry run stores nothing"})
            message = f"the answer to the dry run of {write.step} on {write.object_id} was lost: {error.text}"
            raise UnitStopped(Failure("AnswerLost", message, http_status=error.status)) from error
        deadline = (
            self._clock.monotonic() + (write.prepared.server_timeout or write.prepared.timeout) + SETTLE_MARGIN_SECONDS
        )
        while True:
            late = self._clock.monotonic() >= deadline  # before the read, which may see what was there before it
            found, obj = self._look(write)
            if found == "stored":
                self._close_settled(write, attempt, {"outcome": "stored", **_object_facts(obj)})
                return Sent(obj, settled=True)
            if late and found is not None:
                self._close_settled(write, attempt, {"outcome": found})
                raise _not_stored(write, found) from error
            if late or self._signal.is_set():
                message = (
                    f"the answer to {write.step} on {write.object_id} was lost, and whether it was stored can't be told"
                )
                raise UnitStopped(
                    Failure("OutcomeUnknown", f"{message}: {error.text}", status="unknown", http_status=error.status)
                ) from error
            self._clock.sleep(_SETTLE_INTERVAL_SECONDS)

    def _look(self, write: Write) -> tuple[Found | None, JsonObject]:
        try:
            return write.read_back()
        except Unauthorized as error:
            self._signal.stop_for(
                RunFault("CredentialsRejected", f"the credentials are no longer accepted: {error.text}")
            )
        except RequestError:
            pass  # not readable now; the next look may be
        return None, {}

    def _require_fields(self, write: Write, answer: Answer) -> None:
        missing = fields_not_stored(write.must_hold, answer.body)
        if missing:
            names = ", ".join(missing[:5])
            message = (
                f"the server's answer to {write.step} on {write.object_id} lacks or changed what was sent: {names}"
            )
            raise UnitStopped(Failure("AnswerDiffers", message, http_status=answer.status))

    def _verify(self, write: Write) -> None:
        """Read back what an accepted write stored: an answer alone proves nothing."""
        if write.prepared.dry_run:
            return
        try:
            found, obj = write.read_back()
        except RequestError as error:
            raise refusal(error, verb="reading back", object_id=write.object_id, dry_run=False) from error
        if found != "stored":
            what = "nothing of it is stored" if found == "notStored" else "something else is stored"
            raise UnitStopped(
                Failure(
                    "ReadBackDiffers", f"{write.step} on {write.object_id} was accepted, but on reading back {what}"
                )
            )
        self._append("verified", write, _object_facts(obj))

    def _close_settled(self, write: Write, attempt: OpenAttempt, facts: JsonObject) -> None:
        self._append("settled", write, facts)
        self._running.close_attempt(attempt)

    def _append(self, event: _Outcome, write: Write, facts: JsonObject) -> None:
        self._journal.append(
            event,
            unit=write.unit,
            step=write.step,
            facts={"object": write.object_id, "dryRun": write.prepared.dry_run, **facts},
        )


def _not_stored(write: Write, found: Found) -> UnitStopped:
    lost = f"the answer to {write.step} on {write.object_id} was lost"
    if found == "notStored":
        return UnitStopped(Failure("NotStored", f"{lost}; reading shows that nothing was stored", not_stored=True))
    return UnitStopped(Failure("WriteConflict", f"{lost}, and reading shows that something else is stored there"))


def _request_facts(write: Write) -> JsonObject:
    """What is recorded of a request: bodies only by digest, since they may hold what no file may hold."""
    return {
        "object": write.object_id,
        "method": write.prepared.method,
        "path": write.prepared.path,
        "dryRun": write.prepared.dry_run,
        "bodySha256": write.prepared.body_sha256,
        # Until then, and a margin, the server may still store it although nobody hears of it.
        "serverTimeoutSeconds": write.prepared.server_timeout,
    }


def _object_facts(obj: JsonObject) -> JsonObject:
    managers = {get_str(entry, "manager") for entry in get_objects(obj, "metadata", "managedFields")}
    return {
        "uid": get_str(obj, "metadata", "uid") or "",
        "generation": get_int(obj, "metadata", "generation"),
        "resourceVersion": get_str(obj, "metadata", "resourceVersion") or "",
        "managedByUs": FIELD_MANAGER in managers,
    }
