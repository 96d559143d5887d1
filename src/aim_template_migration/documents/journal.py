"""The journal's entries: one checksummed JSON line per event, readable after a kill at any byte.

Each line carries the SHA-256 of its entry and of the line before it, so that a torn, edited or missing line is seen.
An *attempt* stands on disk before its request leaves (R, "Dry-run and commit").
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.plan import Document

if TYPE_CHECKING:
    from aim_api.tree import JsonObject
else:
    JsonObject = dict[str, Any]  # msgspec knows no recursive types

Event = Literal[
    "runStarted",
    "unitStarted",
    "stepStarted",
    "facts",
    "attempt",
    "accepted",
    "rejected",
    "unknown",
    "settled",
    "verified",
    "stepCompleted",
    "failed",
    "unitFinished",
    "runFinished",
]


class Entry(Document, frozen=True):
    """One event.

    Attributes:
        seq: number of the line, from 1.
        time: when, UTC, RFC 3339.
        event: what.
        unit: the unit concerned, if one is.
        step: the step concerned, if one is.
        facts: what was seen or sent; request bodies only as digests.
    """

    seq: int
    time: str
    event: Event
    unit: str = ""
    step: str = ""
    facts: JsonObject = msgspec.field(default_factory=dict)


class _Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    entry: msgspec.Raw
    prev: str
    sum: str


@dataclass(frozen=True, slots=True)
class JournalReading:
    """What a journal says.

    Attributes:
        entries: the intact entries, in order.
        torn_bytes: length of an unfinished last line, 0 if there is none.
        damage: a sentence naming the first line that is damaged in another way, empty if none is.
    """

    entries: tuple[Entry, ...]
    torn_bytes: int
    damage: str


_ENTRY = msgspec.json.Decoder(Entry)
_LINE = msgspec.json.Decoder(_Line)


def encode_line(entry: Entry, previous_sum: str) -> tuple[bytes, str]:
    """Return the line for ``entry`` (with its newline) and its checksum, which the next line repeats."""
    body = msgspec.json.encode(entry)
    checksum = _checksum(body, previous_sum)
    return b'{"entry":%b,"prev":"%b","sum":"%b"}\n' % (body, previous_sum.encode(), checksum.encode()), checksum


def read_journal(data: bytes) -> JournalReading:
    """Read a journal; an unfinished last line is recognised and left out, other damage ends the reading there."""
    *lines, tail = data.split(b"\n")
    entries: list[Entry] = []
    previous = ""
    for number, line in enumerate(lines, start=1):
        try:
            parsed = _LINE.decode(line)
            entry = _ENTRY.decode(parsed.entry)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            return JournalReading(tuple(entries), 0, f"line {number} can't be read: {error}")
        if parsed.prev != previous or parsed.sum != _checksum(bytes(parsed.entry), previous) or entry.seq != number:
            return JournalReading(tuple(entries), 0, f"line {number} does not fit its checksum or the line before it")
        entries.append(entry)
        previous = parsed.sum
    return JournalReading(tuple(entries), len(tail), "")


def open_attempts(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Return the attempts whose outcome no later entry states, in order."""
    waiting: dict[tuple[str, str, str], Entry] = {}
    for entry in entries:
        key = (entry.unit, entry.step, str(entry.facts.get("object", "")))
        if entry.event == "attempt":
            waiting[key] = entry
        elif entry.event in ("accepted", "rejected", "settled"):
            waiting.pop(key, None)
    return tuple(sorted(waiting.values(), key=lambda entry: entry.seq))


def _checksum(body: bytes, previous_sum: str) -> str:
    return digest_bytes(previous_sum.encode() + body)[:32]
