"""Durations and points in time, read and written as Go's ``time`` package does.

Source of the rules: seen on a real API server (Kubernetes 1.36).
"""

import calendar
import datetime as dt
import re
from dataclasses import dataclass, field
from fractions import Fraction

from aim_schema.gotext import quote

NANOSECONDS = 1_000_000_000
MAX_NANOSECONDS = 2**63 - 1

_UNITS = {
    "ns": 1,
    "us": 1_000,
    "µs": 1_000,
    "μs": 1_000,
    "ms": 1_000_000,
    "s": NANOSECONDS,
    "m": 60 * NANOSECONDS,
    "h": 3600 * NANOSECONDS,
}
_TERM = re.compile(r"([0-9]*\.?[0-9]*)(ns|us|µs|μs|ms|s|m|h)")
_WORDY_TERM = re.compile(r"([0-9]+)[ \t\n\f\r]*([A-Za-zµ]+)")
_WORDY_UNITS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (1, ("ns", "nano")),
    (1_000, ("us", "µs", "micro")),
    (1_000_000, ("ms", "milli")),
    (NANOSECONDS, ("s", "sec")),
    (60 * NANOSECONDS, ("m", "min")),
    (3600 * NANOSECONDS, ("h", "hr", "hour")),
    (86_400 * NANOSECONDS, ("d", "day")),
    (7 * 86_400 * NANOSECONDS, ("w", "wk", "week")),
)
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(Z|[+-][0-9]{2}:[0-9]{2})?"
)
_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_LAYOUT = "2006-01-02T15:04:05Z07:00"
_TWO_DIGITS = re.compile(r"[0-9]{2}")
_DASH, _COLON = re.compile("-"), re.compile(":")
_ELEMENTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("2006", re.compile(r"[0-9]{4}")),
    ("-", _DASH),
    ("01", _TWO_DIGITS),
    ("-", _DASH),
    ("02", _TWO_DIGITS),
    ("T", re.compile("T")),
    ("15", re.compile(r"[0-9]{1,2}")),
    (":", _COLON),
    ("04", _TWO_DIGITS),
    (":", _COLON),
    ("05", re.compile(r"[0-9]{2}(?:[.,][0-9]+)?")),
    ("Z07:00", re.compile(r"Z|[+-][0-9]{2}:[0-9]{2}")),
)
_RANGES = {"01": ("month", 1, 12), "15": ("hour", 0, 23), "04": ("minute", 0, 59), "05": ("second", 0, 59)}


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds, within 64 bits."""

    nanoseconds: int

    def __str__(self) -> str:
        """Return the seconds as a decimal with the unit ``s``, as CEL writes durations."""
        seconds, rest = divmod(abs(self.nanoseconds), NANOSECONDS)
        digits = f"{seconds}.{rest:09d}".rstrip("0").rstrip(".")
        return f"{'-' if self.nanoseconds < 0 else ''}{digits}s"


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time: nanoseconds since 1970, and the offset in which it was written, in seconds east of UTC."""

    nanoseconds: int
    offset: int = field(default=0, compare=False)

    def at_offset(self, seconds: int) -> dt.datetime:
        """Return the calendar time at an offset, without its nanoseconds below a microsecond."""
        zone = dt.timezone(dt.timedelta(seconds=seconds))
        epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return (epoch + dt.timedelta(microseconds=self.nanoseconds // 1_000)).astimezone(zone)

    def __str__(self) -> str:
        """Return the time as RFC 3339 with as many decimals as it has."""
        moment = self.at_offset(self.offset)
        text = f"{moment:%Y-%m-%dT%H:%M:%S}".rjust(19, "0")
        rest = self.nanoseconds % NANOSECONDS
        if rest:
            text += f".{rest:09d}".rstrip("0")
        if not self.offset:
            return text + "Z"
        minutes = abs(self.offset) // 60
        return f"{text}{'+' if self.offset > 0 else '-'}{minutes // 60:02d}:{minutes % 60:02d}"


def parse_duration(text: str) -> Duration | None:
    """Return a duration such as ``1h30m``, or None where Go's ParseDuration refuses the text."""
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in ("-", "+") else text
    if rest == "0":
        return Duration(0)
    if not rest:
        return None
    total, position = Fraction(0), 0
    while position < len(rest):
        term = _TERM.match(rest, position)
        if term is None or term[1] in ("", "."):
            return None
        total += int(Fraction(term[1].rstrip(".") if term[1].endswith(".") else "0" + term[1]) * _UNITS[term[2]])
        position = term.end()
    nanoseconds = sign * int(total)
    return Duration(nanoseconds) if -MAX_NANOSECONDS - 1 <= nanoseconds <= MAX_NANOSECONDS else None


def parse_format_duration(text: str) -> Duration | None:
    """Return a value of the format ``duration``: Go's form, or words such as ``3 days``."""
    duration = parse_duration(text)
    if duration is not None:
        return duration
    total, found = 0, False
    for amount, word in _WORDY_TERM.findall(text):
        unit = word.lower()
        for nanoseconds, names in _WORDY_UNITS:
            for name in names:
                if unit == name or (name == names[-1] and unit.startswith(name)):
                    found = True
                    total += int(amount) * nanoseconds
    return Duration(total) if found else None


def parse_timestamp(text: str, *, zone_required: bool = True) -> Timestamp | None:
    """Return a time in RFC 3339 form, or None; without a zone it is UTC where ``zone_required`` is false."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None or (match[8] is None and zone_required):
        return None
    day = _days(int(match[1]), int(match[2]), int(match[3]))
    hour, minute, second = int(match[4]), int(match[5]), int(match[6])
    offset = _offset(match[8] or "Z")
    if day is None or hour > 23 or minute > 59 or second > 59 or offset is None:
        return None
    seconds = day * 86_400 + hour * 3600 + minute * 60 + second - offset
    return Timestamp(seconds * NANOSECONDS + int((match[7] or "0")[:9].ljust(9, "0")), offset)


def layout_complaint(text: str) -> str:
    """Return what Go's parser of RFC 3339 says about a text that it refuses, else an empty text.

    It reads the times in metadata. Other than the format ``date-time`` it takes hours of one digit, and the year 0.
    """
    if parse_timestamp(text) is not None:
        return ""
    rest, found = text, dict[str, str]()
    for element, pattern in _ELEMENTS:
        match = pattern.match(rest)
        if match is None:
            return f"parsing time {quote(text)} as {quote(_LAYOUT)}: cannot parse {quote(rest)} as {quote(element)}"
        found[element] = match[0]
        wrong = _out_of_range(element, match[0])
        if wrong:
            return f"parsing time {quote(text)}: {wrong} out of range"
        rest = rest[match.end() :]
    if rest:
        return f"parsing time {quote(text)}: extra text: {quote(rest)}"
    days = calendar.monthrange(int(found["2006"]), int(found["01"]))[1]
    return "" if 1 <= int(found["02"]) <= days else f"parsing time {quote(text)}: day out of range"


def _out_of_range(element: str, digits: str) -> str:
    if element in _RANGES:
        name, least, most = _RANGES[element]
        return "" if least <= int(digits[:2]) <= most else name
    if element == "Z07:00" and digits != "Z":
        if int(digits[1:3]) > 24:
            return "time zone offset hour"
        return "time zone offset minute" if int(digits[4:]) > 60 else ""
    return ""


def parse_date(text: str) -> Timestamp | None:
    """Return midnight UTC of a date such as ``2026-11-30``, or None."""
    match = _DATE.fullmatch(text)
    day = _days(int(match[1]), int(match[2]), int(match[3])) if match else None
    return None if day is None else Timestamp(day * 86_400 * NANOSECONDS)


def _days(year: int, month: int, day: int) -> int | None:
    if not (1 <= month <= 12 and day >= 1) or year < 1 or day > calendar.monthrange(year, month)[1]:
        return None
    return dt.date(year, month, day).toordinal() - dt.date(1970, 1, 1).toordinal()


def _offset(zone: str) -> int | None:
    if zone == "Z":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if hours > 24 or minutes > 60:
        return None
    return (hours * 3600 + minutes * 60) * (-1 if zone[0] == "-" else 1)
