"""One handoff check: evidence, record and live state compared at one phase; the record is the only file written."""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.evidence import DedicatedEvidence, EvidenceError, decode_evidence
from aim_template_migration.documents.handoff import (
    KIND,
    HandoffCheck,
    HandoffDifference,
    RecordError,
    TargetIdentity,
    decode_record,
    encode_check,
    sealed,
)
from aim_template_migration.documents.plan import API_VERSION, PLAN_NAME, PlanError, decode_plan
from aim_template_migration.documents.private_files import PrivateFileError, open_private, read, write_all
from aim_template_migration.handoff.compare import desired_state, detect_phase, differences
from aim_template_migration.handoff.course import TARGET_FROM, course_differences, furthest
from aim_template_migration.handoff.ownership import staged_flags
from aim_template_migration.handoff.phases import phase
from aim_template_migration.handoff.reading import look
from aim_template_migration.handoff.sighting import Sighting
from aim_template_migration.kube import Cluster
from aim_template_migration.planning.inventory import read_identity


class HandoffRefused(Exception):  # noqa: N818 - what happened to the check, as callers read it
    """Nothing was checked: the message says what is wrong with the evidence or the record, and what to do."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """An evidence file as it was read; ``plan_checked`` says whether the plan beside it names it."""

    path: Path
    content: DedicatedEvidence
    plan_checked: bool


def read_evidence(path: Path) -> Evidence:
    """Read an evidence file, and check it against its own digest and against plan.json beside it.

    Raises:
        HandoffRefused: it can't be read, was edited, or is not the one that the plan names.
    """
    try:
        data = read(path)
        content = decode_evidence(data)
    except (PrivateFileError, EvidenceError) as error:
        raise HandoffRefused(f"{path} can't be used: {error}; restore it or plan again") from error
    plan_path = path.parent / PLAN_NAME
    if not plan_path.exists():
        return Evidence(path, content, plan_checked=False)
    try:
        plan = decode_plan(read(plan_path))
    except (PrivateFileError, PlanError) as error:
        raise HandoffRefused(f"{plan_path} can't be used: {error}; restore it or plan again") from error
    unit = next((unit for unit in plan.units if unit.id == content.unit), None)
    if unit is None or unit.evidence is None or unit.evidence.sha256 != digest_bytes(data):
        raise HandoffRefused(f"{plan_path} does not name this evidence for {content.unit}; restore it or plan again")
    return Evidence(path, content, plan_checked=True)


def read_record(path: Path | None, evidence: Evidence) -> tuple[HandoffCheck, ...] | None:
    """Read the record so far; None where none is kept, and empty where it does not exist yet.

    Raises:
        HandoffRefused: it can't be read, was edited, or belongs to other evidence.
    """
    if path is None:
        return None
    if not os.path.lexists(path):
        return ()
    try:
        checks = decode_record(read(path))
    except (PrivateFileError, RecordError) as error:
        raise HandoffRefused(f"{path} can't be used: {error}; keep it and begin a new record") from error
    if any(check.evidence_digest != evidence.content.own_digest for check in checks):
        raise HandoffRefused(f"{path} is the record of other evidence; name this unit's own record with --record")
    return checks


def check_handoff(
    cluster: Cluster, evidence: Evidence, record: tuple[HandoffCheck, ...] | None, number: int | None, *, at: str
) -> HandoffCheck:
    """Compare live state with the evidence and the record at one phase.

    Args:
        cluster: the connection.
        evidence: the evidence.
        record: the checks so far, None where none is kept.
        number: the phase, 1 to 10; None to detect it.
        at: the time, UTC, for the record.

    Raises:
        HandoffRefused: the cluster is not the evidence's.
        RequestError: something can't be read.
    """
    _require_same_cluster(cluster, evidence)
    seen = look(cluster, evidence.content)
    if number is None:
        chosen, found = detect_phase(seen, furthest(record or ()))
    else:
        chosen = phase(number)
        found = differences(seen, chosen)
    target = _target(seen) if chosen.number >= TARGET_FROM else None
    if record is not None:
        found = (*found, *course_differences(evidence.content.unit, record, chosen, target, now=at))
    return HandoffCheck(
        api_version=API_VERSION,
        kind=KIND,
        unit=evidence.content.unit,
        evidence_digest=evidence.content.own_digest,
        plan_checked=evidence.plan_checked,
        at=at,
        phase=chosen.number,
        title=chosen.title,
        detected=number is None,
        verdict="stop" if found else "go if",
        differences=tuple(HandoffDifference(item.object, item.message) for item in found),
        confirmations=(*chosen.confirmations, *staged_flags(seen, chosen)),
        target=target,
    )


def append_record(path: Path, record: tuple[HandoffCheck, ...], check: HandoffCheck) -> HandoffCheck:
    """Append a check to a private record, sync it, and return the check as it stands there.

    Args:
        path: the record.
        record: what was read of it; another check may have been appended since.
        check: the check.

    Raises:
        HandoffRefused: it can't be written, or is no longer what was read.
    """
    line = sealed(check, record)
    try:
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.pread(descriptor, os.fstat(descriptor).st_size, 0) != b"".join(map(encode_check, record)):
                raise HandoffRefused(f"{path} was changed while the check ran; look at it, then check again")
            write_all(descriptor, encode_check(line))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise HandoffRefused(
            f"{path} can't be written: {(error.strerror or str(error)).lower()}; free or mend it"
        ) from error
    return line


def _require_same_cluster(cluster: Cluster, evidence: Evidence) -> None:
    live = read_identity(cluster).kube_system_uid
    known = evidence.content.kube_system_uid
    if known and live and known != live:
        raise HandoffRefused(
            f"the evidence was taken on another cluster: kube-system has UID {live} at {cluster.server}, the evidence "
            f"names {known}; choose the right --context"
        )


def _target(seen: Sighting) -> TargetIdentity | None:
    profile, cache = seen.profile, seen.target_cache
    if profile is None or cache is None:
        return None
    return TargetIdentity(
        profile=profile.id,
        profile_uid=profile.uid,
        profile_digest=desired_state(profile, "targetProfile"),
        cache=cache.id,
        cache_uid=cache.uid,
        cache_digest=desired_state(cache, "targetCache"),
    )
