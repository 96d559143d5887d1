"""Times as the API writes them, and ages as ``kubectl get`` shows them."""

from datetime import UTC, datetime

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_YEAR = 365 * _DAY


def now() -> datetime:
    """Return the present time in UTC."""
    return datetime.now(UTC)


def rfc3339(moment: datetime) -> str:
    """Return a time to the second, as metadata carries it: ``2026-11-30T02:39:00Z``."""
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def rfc3339_micro(moment: datetime) -> str:
    """Return a time to the microsecond, as the audit log carries it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: str) -> datetime | None:
    """Return the time that ``text`` names, or None if it names none."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def age(text: str, at: datetime | None = None) -> str:
    """Return how long ago ``text`` was, as ``kubectl get`` shows ages; ``<unknown>`` if it is no time."""
    moment = parse_time(text)
    return "<unknown>" if moment is None else human_duration(int(((at or now()) - moment).total_seconds()))


def human_duration(seconds: int) -> str:
    """Return a duration with two significant units at most: ``90s``, ``5m30s``, ``3h``, ``2d4h``, ``400d``."""
    if seconds < -1:
        return "<invalid>"
    seconds = max(seconds, 0)
    if seconds < 2 * _MINUTE:
        return f"{seconds}s"
    steps = (
        (10 * _MINUTE, _MINUTE, "m", 1, "s"),
        (3 * _HOUR, _MINUTE, "m", 0, ""),
        (8 * _HOUR, _HOUR, "h", _MINUTE, "m"),
        (2 * _DAY, _HOUR, "h", 0, ""),
        (8 * _DAY, _DAY, "d", _HOUR, "h"),
        (2 * _YEAR, _DAY, "d", 0, ""),
        (8 * _YEAR, _YEAR, "y", _DAY, "d"),
    )
    for limit, unit, letter, rest_unit, rest_letter in steps:
        if seconds < limit:
            whole, rest = divmod(seconds, unit)
            smaller = rest // rest_unit if rest_unit else 0
            return f"{whole}{letter}{smaller}{rest_letter}" if smaller else f"{whole}{letter}"
    return f"{seconds // _YEAR}y"
