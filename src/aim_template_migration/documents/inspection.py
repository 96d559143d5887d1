"""What ``inspect`` found: result, journal, plan, backup and live state of every unit, side by side.

Nothing in it is a decision: after a partial failure people decide (R, "Partial recovery").
"""

from typing import Literal

import msgspec

from aim_template_migration.documents.plan import Disposition, Document, Reference
from aim_template_migration.documents.result import Identity

KIND = "MigrationInspection"
SCHEMA_URI = "https://aim-template-migration.example/schemas/inspection-v1.json"

Condition = Literal[
    "asPlanned", "asCutOver", "absent", "equal", "edited", "replaced", "appeared", "gone", "terminating", "other"
]
BackupComparison = Literal["", "equal", "differs", "notInBackup"]


class InspectedRun(Document, frozen=True):
    """What is on disk of the run that is looked into.

    Attributes:
        result: path of the result file, whether or not it exists.
        journal: path of its journal, whether or not it exists.
        run_id: the run, empty where nothing was started.
        mode: ``dry-run`` or ``commit``, empty where nothing was started.
        state: ``complete`` after an orderly end, ``incomplete`` after a crash or while it lasts, ``none`` where there
            is neither result nor journal.
        started_at: when it started.
        finished_at: when it ended, empty after a crash.
        stopped: why the run stopped early, as the result says it.
        journal_entries: how many intact lines the journal has.
        torn_bytes: length of an unfinished last line, whose request had not left; 0 if there is none.
        problems: what is missing, damaged, unreadable or of another plan, each a sentence.
        lock: who holds the lock beside the plan and whether that process lives, empty where there is no lock.
        may_live: whether a process of the run may still be at work.
        archive: the command that archives what is there of the run; empty where nothing is, or the run may still live.
    """

    result: str
    journal: str
    run_id: str = ""
    mode: str = ""
    state: Literal["complete", "incomplete", "none"] = "none"
    started_at: str = ""
    finished_at: str = ""
    stopped: str = ""
    journal_entries: int = 0
    torn_bytes: int = 0
    problems: tuple[str, ...] = ()
    lock: str = ""
    may_live: bool = False
    archive: str = ""


class InspectedAttempt(Document, frozen=True):
    """A request whose outcome is on no record, and what reading says of it.

    Attributes:
        step: the step that sent it.
        object: id of the object that it writes.
        at: when it was about to leave.
        code: ``AttemptStored``, ``AttemptNotStored``, ``AttemptDiffers`` or ``AttemptOpen``.
        message: one sentence.
        look_again_in_seconds: for an open one, when a look can settle it, where time alone will.
    """

    step: str
    object: str
    at: str
    code: str
    message: str
    look_again_in_seconds: int | None = None


class InspectedObject(Document, frozen=True):
    """One object of the closure, or one target, as it is now.

    Attributes:
        role: what it is to the unit.
        reference: which object.
        condition: how it compares with the plan.
        message: one sentence, where it is not as planned or protected from eviction.
        identity: who it is now, None where it does not exist.
        backup: how its desired state compares with backup.yaml; empty for what no backup holds.
        backup_differences: the fields that differ from backup.yaml.
    """

    role: str
    reference: Reference
    condition: Condition
    message: str = ""
    identity: Identity | None = None
    backup: BackupComparison = ""
    backup_differences: tuple[str, ...] = ()


class InspectedUnit(Document, frozen=True):
    """One unit.

    Attributes:
        id: the unit.
        disposition: as in the plan.
        outcome: as in the plan.
        finding: where the unit stands, as a code of the closed set.
        message: one sentence.
        attention: whether an administrator must look at it.
        status: its final status on record, empty where it has none.
        code: why, as recorded.
        recorded_message: the sentence on record.
        http_status: of the answer that decided it, if one did.
        server_message: the API server's own words, if any.
        attempted_steps: steps begun, in order.
        completed_steps: steps that completed, in order.
        last_attempted_step: the last step begun.
        last_completed_step: the last step completed.
        attempts: requests whose outcome is on no record.
        objects: pinned objects and targets as they are now.
        next_steps: what an administrator does now.
    """

    id: str
    disposition: Disposition
    outcome: str
    finding: str
    message: str
    attention: bool
    status: str = ""
    code: str = ""
    recorded_message: str = ""
    http_status: int | None = None
    server_message: str = ""
    attempted_steps: tuple[str, ...] = ()
    completed_steps: tuple[str, ...] = ()
    last_attempted_step: str = ""
    last_completed_step: str = ""
    attempts: tuple[InspectedAttempt, ...] = ()
    objects: tuple[InspectedObject, ...] = ()
    next_steps: tuple[str, ...] = ()


class Inspection(Document, frozen=True):
    """The whole inspection.

    Attributes:
        inspected_at: when, UTC, RFC 3339.
        server: the API server that was read.
        plan: path of the plan file.
        plan_id: the plan.
        plan_sha256: SHA-256 of the plan file.
        run: what is on disk of the run.
        counts: units by finding.
        units: every selected unit, in plan order.
        backup: why no backup could be compared, empty where one was.
        recovery: what the runbook says to do with a failed unit, in order; empty where none needs attention.
    """

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    tool_version: str
    inspected_at: str
    server: str
    plan: str
    plan_id: str
    plan_sha256: str
    run: InspectedRun
    counts: dict[str, int]
    units: tuple[InspectedUnit, ...]
    backup: str = ""
    recovery: tuple[str, ...] = ()
