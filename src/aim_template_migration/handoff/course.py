"""Whether a check follows from those on record (pure): in order, on the same target, not before its time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from aim_template_migration.documents.handoff import HandoffCheck, TargetIdentity
from aim_template_migration.handoff.difference import Difference
from aim_template_migration.handoff.phases import INDISTINGUISHABLE, PHASES, Phase

TARGET_FROM = 4
_CLOCKS_APART = timedelta(minutes=5)


def course_differences(
    unit: str, record: tuple[HandoffCheck, ...], at: Phase, target: TargetIdentity | None, *, now: str
) -> Iterator[Difference]:
    """Yield why a check does not follow from the record: each phase is verified before the next (R).

    Args:
        unit: the unit.
        record: the checks so far.
        at: the phase of this check.
        target: the target as it is now, None before it exists.
        now: the time, RFC 3339.
    """
    gone_through = frozenset(check.phase for check in record if check.verdict == "go if")
    passed = max(gone_through, default=0)
    if at.number < passed:
        yield Difference(unit, f"the record has passed phase {passed} already; going back needs a new plan")
    missing = [first for first, second in _stages(at) if not {first, second} & gone_through]
    if missing:
        phases = ", ".join(str(number) for number in missing)
        yield Difference(unit, f"the record has no GO for phase {phases}, which comes before phase {at.number}")
    known = next((check.target for check in record if check.target is not None and check.verdict == "go if"), None)
    if known is not None and target is not None:
        yield from _same_target(known, target)
    if record and _time(now) < _time(record[-1].at) - _CLOCKS_APART:
        message = f"the record's last check is of {record[-1].at}, and it is {now} here; mend the clock that is wrong"
        yield Difference(unit, message)


def _same_target(known: TargetIdentity, target: TargetIdentity) -> Iterator[Difference]:
    if (known.profile, known.profile_uid, known.cache, known.cache_uid) != (
        target.profile,
        target.profile_uid,
        target.cache,
        target.cache_uid,
    ):
        message = (
            f"it is not the recorded target ({known.cache}, UID {known.cache_uid}; profile UID {known.profile_uid})"
        )
        yield Difference(target.cache, message)
        return
    for name, before, after in (
        (target.profile, known.profile_digest, target.profile_digest),
        (target.cache, known.cache_digest, target.cache_digest),
    ):
        if before != after:
            yield Difference(name, "its desired state is not the one that was recorded first")


def _stages(at: Phase) -> Iterator[tuple[int, int]]:
    """Yield the phases before one; those that reads can't tell apart count as one."""
    second_of = dict(INDISTINGUISHABLE)
    seconds = frozenset(second_of.values())
    for earlier in PHASES:
        stage = (earlier.number, second_of.get(earlier.number, earlier.number))
        if earlier.number not in seconds and at.number not in stage and earlier.number < at.number:
            yield stage


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
