"""Reads what a run left on disk (shell): result, journal, lock and backup; it changes none, and removes no lock."""

import os
from dataclasses import dataclass
from pathlib import Path

from aim_api.tree import get_str
from aim_template_migration.applying.lock import LOCK_NAME, LockReading, read_lock
from aim_template_migration.applying.plan_files import RESULT_NAME, PlanFiles, journal_path
from aim_template_migration.applying.preflight import archive_command
from aim_template_migration.documents.inspection import InspectedRun
from aim_template_migration.documents.journal import JournalReading, read_journal
from aim_template_migration.documents.private_files import PrivateFileError, read
from aim_template_migration.documents.result import ApplyResult, ResultError, decode_result
from aim_template_migration.inspecting.backup import Backup, index_backup
from aim_template_migration.inspecting.records import UnitRecord, unit_records
from aim_template_migration.planning.make import BACKUP_FILE


@dataclass(frozen=True, slots=True)
class RunFiles:
    """What was read of one run.

    Attributes:
        described: what is on disk, for the document.
        result: the result, None where it is absent or can't be read.
        journal: the journal, None where it is absent or can't be read.
        records: what is on record of each unit.
        sound: whether all that is there could be read whole and belongs to the plan.
    """

    described: InspectedRun
    result: ApplyResult | None
    journal: JournalReading | None
    records: dict[str, UnitRecord]
    sound: bool

    def of_plan(self, files: PlanFiles) -> bool:
        """Return whether the result is one of this plan; hand edits of the plan do not matter here."""
        return self.result is None or self.result.plan_id == files.plan.plan_id

    @property
    def commit(self) -> bool:
        """Whether the run wrote for real."""
        return self.described.mode == "commit"


def read_run(files: PlanFiles, result_path: Path | None) -> RunFiles:
    """Read result, journal and lock.

    Args:
        files: the plan.
        result_path: the result file, None for the default beside the plan.
    """
    path = result_path or files.directory / RESULT_NAME
    lock = _lock(files)  # first: a run that ends while its files are read still counts as one that may live
    problems: list[str] = []
    result = _result(path, problems)
    journal = _journal(journal_path(path), problems)
    if result is not None and journal is None and not problems:
        problems.append(f"{journal_path(path)} is missing, so that writes may be on no record")
    facts = _head(journal)
    mode = result.mode if result else facts.get("mode", "")
    sha256 = result.plan_sha256 if result else facts.get("planSha256", "")
    problems += _strangers(files, result, facts, sha256)
    run_id = result.run_id if result else facts.get("runId", "")
    may_live = lock is not None and not lock.gone
    described = InspectedRun(
        result=str(path),
        journal=str(journal_path(path)),
        run_id=run_id,
        mode=mode,
        state=result.state if result else "none" if journal is None else "incomplete",
        started_at=result.started_at if result else facts.get("startedAt", ""),
        finished_at=result.finished_at if result else "",
        stopped=result.stopped if result else "",
        journal_entries=len(journal.entries) if journal else 0,
        torn_bytes=journal.torn_bytes if journal else 0,
        problems=tuple(problems),
        lock=lock.sentence if lock else "",
        may_live=may_live,
        archive="" if may_live else _archive(path, run_id),
    )
    return RunFiles(described, result, journal, unit_records(result, journal), sound=not problems)


def read_backup(files: PlanFiles) -> tuple[Backup, str]:
    """Return the backup beside the plan, and why there is none, if so."""
    path = files.directory / BACKUP_FILE
    try:
        return index_backup(read(path).decode()), ""
    except (PrivateFileError, UnicodeDecodeError) as error:
        return {}, f"{path} can't be compared: {error}"


def _result(path: Path, problems: list[str]) -> ApplyResult | None:
    if not os.path.lexists(path):
        return None
    try:
        return decode_result(read(path))
    except (PrivateFileError, ResultError) as error:
        problems.append(f"{path} is no readable result: {error}")
        return None


def _journal(path: Path, problems: list[str]) -> JournalReading | None:
    if not os.path.lexists(path):
        return None
    try:
        reading = read_journal(read(path))
    except PrivateFileError as error:
        problems.append(f"the journal can't be read: {error}")
        return None
    if reading.damage:
        problems.append(f"{path} is damaged and was read up to there: {reading.damage}")
    return reading


def _lock(files: PlanFiles) -> LockReading | None:
    path = files.directory / LOCK_NAME
    return read_lock(path) if os.path.lexists(path) else None


def _archive(path: Path, run_id: str) -> str:
    present = tuple(file for file in (path, journal_path(path)) if os.path.lexists(file))
    return archive_command(present, run_id) if present else ""


def _head(journal: JournalReading | None) -> dict[str, str]:
    """Return what the journal's first line says of the run."""
    if journal is None or not journal.entries or journal.entries[0].event != "runStarted":
        return {}
    first = journal.entries[0]
    facts = {key: get_str(first.facts, key) or "" for key in ("runId", "mode", "planSha256")}
    return {**facts, "startedAt": first.time}


def _strangers(files: PlanFiles, result: ApplyResult | None, facts: dict[str, str], sha256: str) -> list[str]:
    """Return what does not belong together."""
    found = []
    if result and facts and result.run_id != facts["runId"]:
        found.append(
            f"the result is of run {result.run_id}, the journal of run {facts['runId']}; name files of one run"
        )
    if sha256 and sha256 != files.sha256:
        what = f"the run was of a plan file with SHA-256 {sha256}, and {files.path} has {files.sha256}"
        found.append(f"{what}; name that run's plan")
    return found
