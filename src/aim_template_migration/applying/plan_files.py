"""The plan directory as apply, check and show read it: the plan once, its digest, and the copy that plan wrote."""

from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.plan import GENERATED_NAME, PLAN_NAME, Plan, PlanError, decode_plan
from aim_template_migration.documents.private_files import PrivateFileError, read

RESULT_NAME = "apply-result.json"
JOURNAL_SUFFIX = ".journal.jsonl"


class PlanRejected(Exception):  # noqa: N818 - what happened to the plan, as callers read it
    """Nothing was started: the message says what is wrong with the plan or its surroundings, and what to do."""


@dataclass(frozen=True, slots=True)
class PlanFiles:
    """A plan as it was read, once.

    Attributes:
        path: the plan file.
        plan: its content.
        sha256: SHA-256 of its bytes, which an approval can be bound to.
    """

    path: Path
    plan: Plan
    sha256: str

    @property
    def directory(self) -> Path:
        """The plan directory."""
        return self.path.parent


def plan_path(location: Path) -> Path:
    """Return the plan file for a plan directory or a plan file."""
    return location / PLAN_NAME if location.is_dir() else location


def read_plan(location: Path) -> PlanFiles:
    """Read the plan of a directory, or a plan file.

    Raises:
        PlanRejected: it can't be read, or is no plan.
    """
    path = plan_path(location)
    data = _read(path)
    try:
        return PlanFiles(path, decode_plan(data), digest_bytes(data))
    except PlanError as error:
        raise PlanRejected(f"{path} is no plan: {error}; make a new plan") from error


def read_generated(files: PlanFiles) -> Plan:
    """Read the copy of the plan as it was generated.

    Raises:
        PlanRejected: it is missing or no plan; without it hand edits can't be judged.
    """
    path = files.directory / GENERATED_NAME
    if not path.exists():
        raise PlanRejected(f"{path} is missing, so hand edits of the plan can't be judged; restore it or plan again")
    data = _read(path)
    if digest_bytes(data) == files.sha256:
        return files.plan  # unedited, so that a large plan need not be decoded twice
    try:
        return decode_plan(data)
    except PlanError as error:
        raise PlanRejected(f"{path} is no plan: {error}; restore it or plan again") from error


def journal_path(result: Path) -> Path:
    """Return the journal's path for a result's path."""
    return result.with_name(result.name + JOURNAL_SUFFIX)


def _read(path: Path) -> bytes:
    try:
        return read(path)
    except PrivateFileError as error:
        raise PlanRejected(f"{error}; name a plan directory or its {PLAN_NAME} with --plan") from error
