"""Invariants over the commands that only read: they write nothing, and what they say of a run is true."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from tests.faults.checking.evidence import Circumstances, RunEvidence
from tests.faults.checking.files import check_privacy
from tests.faults.checking.journal import open_attempts, read_journal
from tests.faults.checking.planned import Planned
from tests.faults.checking.requests import count_writes

_PLURALS = {
    "AIMProfile": "aimprofiles",
    "AIMProfileCache": "aimprofilecaches",
    "AIMArtifact": "aimartifacts",
    "AIMService": "aimservices",
}
_SETTLED = {True: frozenset({"AttemptStored"}), False: frozenset({"AttemptNotStored"})}


def check_inspection(
    looked: RunEvidence, run: RunEvidence, circumstances: Circumstances, secrets: Iterable[bytes]
) -> Iterator[str]:
    """Yield what is wrong with an inspection long after a run: every open attempt is settled, and rightly so.

    Args:
        looked: the inspection.
        run: the run that it looks at.
        circumstances: what was done to that run.
        secrets: what must be in no stream.
    """
    yield from _only_reads(looked, secrets)
    if looked.code not in (0, 3):
        yield f"inspect: the exit code is {looked.code}: {looked.err[-400:]}"
        return
    said = json.loads(looked.out)
    attempts = {
        (unit["id"], attempt["step"], attempt["object"]): attempt["code"]
        for unit in said["units"]
        for attempt in unit.get("attempts", [])
    }
    written = count_writes(run.audit)
    changed = circumstances.touched | circumstances.stored_otherwise
    for attempt in open_attempts(read_journal(run.journal or b"").entries):
        if attempt["facts"]["dryRun"]:
            continue
        kind, namespace, name = attempt["facts"]["object"].split("/")
        found = attempts.get((attempt["unit"], attempt["step"], attempt["facts"]["object"]))
        stored = written[_PLURALS[kind], namespace, name] > 0
        if found not in _SETTLED[stored] and (kind, namespace, name) not in changed:
            yield f"inspect: {attempt['facts']['object']} was {'' if stored else 'not '}stored, and it says {found}"
    if looked.code == 0 and attempts:
        yield f"inspect: the exit code is 0 although attempts were open: {attempts}"


def check_verification(looked: RunEvidence, plan: Planned, secrets: Iterable[bytes]) -> Iterator[str]:
    """Yield what is wrong with a verification after all units are done."""
    yield from _only_reads(looked, secrets)
    if looked.code != 0:
        yield f"verify: the exit code is {looked.code}: {looked.err[-400:]} {_not_holding(looked)}"
        return
    standings = {unit["id"]: unit["standing"] for unit in json.loads(looked.out)["units"]}
    for unit in plan.automatic:
        if standings.get(unit.id) != "holding":
            yield f"verify: {unit.id} is {standings.get(unit.id)}"


def _only_reads(looked: RunEvidence, secrets: Iterable[bytes]) -> Iterator[str]:
    for arrival in looked.arrivals:
        if arrival.mutating or "/secrets" in arrival.path:
            yield f"{looked.name}: it only reads, but sent {arrival}"
    yield from (f"{looked.name}: {what}" for what in check_privacy(looked, secrets))


def _not_holding(looked: RunEvidence) -> list[Any]:
    try:
        units = json.loads(looked.out)["units"]
    except ValueError:
        return []
    return [fact for unit in units for fact in unit.get("facts", []) if not fact.get("holds")][:4]
