"""What reading says of a write whose outcome is on no record (pure).

The write is never repeated. What is stored settles it at once. What is not stored settles it only once nothing can
store it any more: its run is over, and the server's own time limit and a margin have passed since it left. It leaves
some seconds after its attempt is on record, once a place and a connection are free.
"""

import math
from datetime import UTC, datetime, timedelta

from aim_template_migration.applying.writer import SETTLE_MARGIN_SECONDS, Found
from aim_template_migration.documents.inspection import InspectedAttempt
from aim_template_migration.inspecting.records import Attempt
from aim_template_migration.kube.sending import WRITE_LEAVES_WITHIN


def settle(attempt: Attempt, found: Found | None, seen: str, *, now: datetime, may_live: bool) -> InspectedAttempt:
    """Return what is known of an attempt now.

    Args:
        attempt: the attempt.
        found: what reading the object shows, None where it can't be read.
        seen: one clause on what was seen, or why it can't be read.
        now: the time.
        may_live: whether a process of its run may still be at work.
    """
    what = f"{attempt.step} on {attempt.object}"
    if found is None:
        return _open(attempt, f"{what}: whether it was stored can't be told, since {seen}", None)
    if found == "stored":
        return _settled(attempt, "AttemptStored", f"{what} was stored: {seen}")
    if may_live:
        return _open(attempt, f"{what} is not stored yet, and its run may still be at work", None)
    wait = _seconds_left(attempt, now) if attempt.left else 0
    if wait > 0:
        return _open(
            attempt,
            f"{what} is not stored yet, and the server may still be working on it; look again in {wait} s",
            wait,
        )
    if found == "other":
        return _settled(attempt, "AttemptDiffers", f"{what} is not what is there now: {seen}")
    why = seen if attempt.left else f"its run ended before the request left ({seen})"
    return _settled(attempt, "AttemptNotStored", f"{what} was not stored: {why}")


def _seconds_left(attempt: Attempt, now: datetime) -> int:
    """Return how long the server may still work on an attempt; a clock that ran ahead gives no more than the whole."""
    limit = WRITE_LEAVES_WITHIN + attempt.server_seconds + SETTLE_MARGIN_SECONDS
    try:
        at = datetime.fromisoformat(attempt.at)
    except ValueError:
        return math.ceil(limit)  # no time that this tool wrote, so nothing can be concluded from it
    if at.tzinfo is None:
        at = at.replace(tzinfo=UTC)
    left = (at + timedelta(seconds=limit) - now).total_seconds()
    return max(0, math.ceil(min(left, limit)))


def _open(attempt: Attempt, message: str, wait: int | None) -> InspectedAttempt:
    return InspectedAttempt(attempt.step, attempt.object, attempt.at, "AttemptOpen", message, wait)


def _settled(attempt: Attempt, code: str, message: str) -> InspectedAttempt:
    return InspectedAttempt(attempt.step, attempt.object, attempt.at, code, message)
