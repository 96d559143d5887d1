"""The record of a handoff: one JSON line per check, kept by the administrator; and the answer of one check."""

from datetime import datetime
from typing import Literal

import msgspec

from aim_template_migration.documents.canonical import document_digest
from aim_template_migration.documents.plan import Document

KIND = "HandoffCheck"
Verdict = Literal["go if", "stop"]


class TargetIdentity(Document, frozen=True):
    """The target side as it was first recorded: from then on it must stay the same.

    Attributes:
        profile: id of the target profile.
        profile_uid: its UID.
        profile_digest: digest of its desired state.
        cache: id of the target cache.
        cache_uid: its UID.
        cache_digest: digest of its desired state, whether paused or not.
    """

    profile: str
    profile_uid: str
    profile_digest: str
    cache: str
    cache_uid: str
    cache_digest: str


class HandoffDifference(Document, frozen=True):
    """One fact that is not as it must be."""

    object: str
    message: str


class HandoffCheck(Document, frozen=True):
    """One check.

    Attributes:
        unit: the unit of the evidence.
        evidence_digest: the evidence's own digest.
        plan_checked: whether plan.json beside the evidence named this file with this digest.
        at: when, UTC.
        phase: the phase that was checked.
        title: its name.
        detected: whether the phase was found by reading, as none was asked for.
        verdict: ``go if`` the confirmations hold, or ``stop``.
        differences: why to stop.
        confirmations: what people must confirm; never empty, so that no check is an unconditional go.
        target: the target side, from phase 4 on.
        previous_digest: in a record, ``ownDigest`` of the line before; empty in its first line.
        own_digest: in a record, digest of this line without this field, so that an edit by hand is noticed.
    """

    api_version: str
    kind: str
    unit: str
    evidence_digest: str
    plan_checked: bool
    at: str
    phase: int
    title: str
    detected: bool
    verdict: Verdict
    differences: tuple[HandoffDifference, ...]
    confirmations: tuple[str, ...]
    target: TargetIdentity | None = None
    previous_digest: str = ""
    own_digest: str = ""


class RecordError(Exception):
    """A record can't be used; the message says where and why."""


_DECODER = msgspec.json.Decoder(HandoffCheck)


def sealed(check: HandoffCheck, record: tuple[HandoffCheck, ...]) -> HandoffCheck:
    """Return a check as the next one of a record: bound to the line before it, with its own digest."""
    bound = msgspec.structs.replace(check, previous_digest=record[-1].own_digest if record else "", own_digest="")
    return msgspec.structs.replace(bound, own_digest=document_digest(bound))


def encode_check(check: HandoffCheck) -> bytes:
    """Return a check as one line of a record."""
    return msgspec.json.encode(check) + b"\n"


def decode_record(data: bytes) -> tuple[HandoffCheck, ...]:
    """Read a record, and check that each line is as it was written and follows the one before.

    Raises:
        RecordError: a line is no check, was edited, is missing or has moved, or the last one is unfinished.
    """
    *lines, tail = data.split(b"\n")
    if tail:
        raise RecordError("its last line is unfinished, so a check was interrupted while it was written")
    checks: list[HandoffCheck] = []
    for number, line in enumerate(lines, start=1):
        try:
            check = _DECODER.decode(line)
            datetime.fromisoformat(check.at)
        except (msgspec.MsgspecError, ValueError) as error:
            raise RecordError(f"line {number} is no handoff check: {error}") from error
        if sealed(check, tuple(checks)) != check:
            raise RecordError(f"line {number} is not as it was written, or the line before it is another one")
        checks.append(check)
    return tuple(checks)
