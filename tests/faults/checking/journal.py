"""Reads the journal as its documentation describes it: one checksummed JSON line per event."""

import functools
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

_HEAD, _PREVIOUS, _SUM = b'{"entry":', b',"prev":"', b'","sum":"'
_ENDINGS = frozenset({"accepted", "rejected", "settled"})


@dataclass(frozen=True, slots=True)
class Reading:
    """What a journal says.

    Attributes:
        entries: the intact entries.
        torn: length of an unfinished last line.
        damage: what is wrong with it otherwise, empty if nothing is.
    """

    entries: tuple[dict[str, Any], ...]
    torn: int = 0
    damage: str = ""


@functools.lru_cache(maxsize=512)
def read_journal(data: bytes) -> Reading:
    """Read a journal."""
    *lines, tail = data.split(b"\n")
    entries: list[dict[str, Any]] = []
    previous = b""
    for number, line in enumerate(lines, start=1):
        body, said_previous, said_sum = _parts(line)
        found = hashlib.sha256(previous + body).hexdigest()[:32].encode()
        if said_previous != previous or said_sum != found:
            return Reading(tuple(entries), damage=f"line {number} does not fit its checksum or the line before it")
        try:
            entry = json.loads(body)
        except ValueError:
            return Reading(tuple(entries), damage=f"line {number} is no JSON")
        if entry["seq"] != number:
            return Reading(tuple(entries), damage=f"line {number} says that it is line {entry['seq']}")
        entries.append(entry)
        previous = said_sum
    return Reading(tuple(entries), torn=len(tail))


def open_attempts(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the attempts that no later entry answers."""
    waiting: dict[tuple[str, str, str], dict[str, Any]] = {}
    for entry in entries:
        key = (entry.get("unit", ""), entry.get("step", ""), entry.get("facts", {}).get("object", ""))
        if entry["event"] == "attempt":
            waiting[key] = entry
        elif entry["event"] in _ENDINGS:
            waiting.pop(key, None)
    return list(waiting.values())


def ended_units(journal: bytes) -> set[str]:
    """Return the units that have their ending in a journal."""
    return {entry["unit"] for entry in read_journal(journal).entries if entry["event"] == "unitFinished"}


def _parts(line: bytes) -> tuple[bytes, bytes, bytes]:
    body, _, rest = line.rpartition(_PREVIOUS)
    previous, _, total = rest.partition(_SUM)
    return body.removeprefix(_HEAD), previous, total.removesuffix(b'"}')
