"""The one place from which a write leaves: journal, send once, journal the outcome, settle the unknown by reading."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from aim_api.tree import JsonObject, get, get_int, get_str
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.failures import Failure, UnitStopped, refusal
from aim_template_migration.applying.journal import Journal
from aim_template_migration.applying.patching import fields_not_stored
from aim_template_migration.applying.running_result import RunningResult
from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.result import OpenAttempt
from aim_template_migration.kube import Answer, Cluster, PreparedRequest
from aim_template_migration.kube.errors import OutcomeUnknown, RequestError

Found = Literal["stored", "notStored", "other"]

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
        read_back: reads what is stored and returns whether it is what this write leads to, with the object itself.
    """

    unit: str
    step: str
    object_id: str
    prepared: PreparedRequest
    must_hold: JsonObject
    read_back: Callable[[], tuple[Found, JsonObject]]


class Writer:
    """Sends writes; each exactly once, each with a durable attempt before it."""

    def __init__(self, cluster: Cluster, journal: Journal, running: RunningResult, clock: Clock) -> None:
        """Take what all writes of the run share."""
        self._cluster = cluster
        self._journal = journal
        self._running = running
        self._clock = clock

    def send(self, write: Write) -> Answer:
        """Send one write and return its answer.

        Raises:
            UnitStopped: it was refused, not sent, not stored, its outcome can't be told, or the answer lacks a field.
            RunStopped: the credentials were rejected, or the journal or the result can't be written.
        """
        attempt = OpenAttempt(unit=write.unit, step=write.step, object=write.object_id, at=self._clock.now())
        self._journal.append("attempt", unit=write.unit, step=write.step, facts=self._request_facts(write))
        self._running.attempt(attempt)
        try:
            answer = self._cluster.send(write.prepared)
        except OutcomeUnknown as error:
            answer = self._settle(write, error)
        except RequestError as error:
            self._append("rejected", write, {"error": str(error)})
            self._running.close_attempt(attempt)
            raise refusal(error, verb=write.step, object_id=write.object_id, dry_run=write.prepared.dry_run) from error
        else:
            self._append("accepted", write, _identity_facts(answer))
        self._running.close_attempt(attempt)
        self._require_stored(write, answer)
        return answer

    def _settle(self, write: Write, error: OutcomeUnknown) -> Answer:
        """Decide a lost answer by reading, never by repeating the request."""
        self._append("unknown", write, {"error": str(error)})
        if write.prepared.dry_run:
            self._append("settled", write, {"outcome": "notStored", "because": "a dry run stores nothing"})
            message = f"the answer to the dry run of {write.step} on {write.object_id} was lost: {error}"
            raise UnitStopped(Failure("AnswerLost", message)) from error
        # Until then the server may still be working on the lost request.
        deadline = (
            self._clock.monotonic() + (write.prepared.server_timeout or write.prepared.timeout) + SETTLE_MARGIN_SECONDS
        )
        found: Found | None = None
        while True:
            try:
                found, obj = write.read_back()
            except RequestError:
                found = None
            if found == "stored":
                self._append("settled", write, {"outcome": "stored", **_object_facts(obj)})
                return Answer(status=200, body=obj, warnings=())
            if self._clock.monotonic() >= deadline:
                break
            self._clock.sleep(_SETTLE_INTERVAL_SECONDS)
        raise self._unsettled(write, found) from error

    def _unsettled(self, write: Write, found: Found | None) -> UnitStopped:
        if found == "notStored":
            self._append("settled", write, {"outcome": "notStored"})
            return UnitStopped(
                Failure(
                    "NotStored",
                    f"the answer to {write.step} on {write.object_id} was lost; reading shows that nothing was stored",
                )
            )
        if found == "other":
            self._append("settled", write, {"outcome": "other"})
            return UnitStopped(
                Failure(
                    "WriteConflict",
                    f"the answer to {write.step} on {write.object_id} was lost, and something else is stored there",
                )
            )
        message = (
            f"the answer to {write.step} on {write.object_id} was lost, and it can't be read whether it was stored"
        )
        return UnitStopped(Failure("OutcomeUnknown", message, status="unknown"))

    def _require_stored(self, write: Write, answer: Answer) -> None:
        missing = fields_not_stored(write.must_hold, answer.body)
        if not missing:
            return
        names = ", ".join(missing[:5])
        message = f"the server's answer to {write.step} on {write.object_id} lacks or changed what was sent: {names}"
        raise UnitStopped(Failure("AnswerDiffers", message, http_status=answer.status))

    def _append(
        self, event: Literal["accepted", "rejected", "unknown", "settled"], write: Write, facts: JsonObject
    ) -> None:
        self._journal.append(
            event,
            unit=write.unit,
            step=write.step,
            facts={"object": write.object_id, "dryRun": write.prepared.dry_run, **facts},
        )

    def _request_facts(self, write: Write) -> JsonObject:
        """What is recorded of a request: bodies only by digest, since they may hold what no file may hold."""
        return {
            "object": write.object_id,
            "method": write.prepared.method,
            "path": write.prepared.path,
            "dryRun": write.prepared.dry_run,
            "bodySha256": digest_bytes(write.prepared.body or b""),
        }


def _identity_facts(answer: Answer) -> JsonObject:
    return {"httpStatus": answer.status, **_object_facts(answer.body)}


def _object_facts(obj: JsonObject) -> JsonObject:
    return {
        "uid": get_str(obj, "metadata", "uid") or "",
        "generation": get_int(obj, "metadata", "generation"),
        "resourceVersion": get(obj, "metadata", "resourceVersion"),
    }
