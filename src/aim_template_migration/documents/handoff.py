"""The record of a handoff: one JSON line per check, kept by the administrator; and the answer of one check."""

from typing import Literal

import msgspec

from aim_template_migration.documents.plan import Document

KIND = "HandoffCheck"
Verdict = Literal["go if", "stop"]


class TargetIdentity(Document, frozen=True):
    """The target side as it was first recorded: from then on it must stay the same.

    Attributes:
        profile: id of the target profile.
        profile_uid: its UID.
        cache: id of the target cache.
        cache_uid: its UID.
    """

    profile: str
    profile_uid: str
    cache: str
    cache_uid: str


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


class RecordError(Exception):
    """A record can't be used; the message says where and why."""


_DECODER = msgspec.json.Decoder(HandoffCheck)


def encode_check(check: HandoffCheck) -> bytes:
    """Return a check as one line of a record."""
    return msgspec.json.encode(check) + b"\n"


def decode_record(data: bytes) -> tuple[HandoffCheck, ...]:
    """Read a record.

    Raises:
        RecordError: a line is no check, or the last one is unfinished.
    """
    *lines, tail = data.split(b"\n")
    if tail:
        raise RecordError("its last line is unfinished, so a check was interrupted while it was written")
    checks: list[HandoffCheck] = []
    for number, line in enumerate(lines, start=1):
        try:
            checks.append(_DECODER.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise RecordError(f"line {number} is no handoff check: {error}") from error
    return tuple(checks)
