"""Whether a check follows from those on record (pure): in order, on the same target, not before its time."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from aim_template_migration.documents.handoff import HandoffCheck, TargetIdentity
from aim_template_migration.handoff.difference import Difference
from aim_template_migration.handoff.phases import PHASES, Phase

TARGET_FROM = 4
_CLOCKS_APART = timedelta(minutes=5)


def furthest(record: tuple[HandoffCheck, ...]) -> int:
    """Return the last phase that the record has a GO for, 0 where it has none."""
    return max(_gone_through(record), default=0)


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
    gone_through, passed = _gone_through(record), furthest(record)
    if at.number < passed:
        yield Difference(unit, f"the record has passed phase {passed} already; going back needs a new plan")
    # Also where a read can't tell a phase from the next one: what people did there is the very thing to be on record.
    missing = [str(item.number) for item in PHASES if item.number < at.number and item.number not in gone_through]
    if missing:
        yield Difference(
            unit, f"the record has no GO for phase {', '.join(missing)}, which comes before phase {at.number}"
        )
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


def _gone_through(record: tuple[HandoffCheck, ...]) -> frozenset[int]:
    return frozenset(check.phase for check in record if check.verdict == "go if")


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)
