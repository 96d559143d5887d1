"""Invariants over what a run leaves: journal, result, streams, exit code, modes and secrets."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from tests.faults.checking.evidence import Circumstances, RunEvidence
from tests.faults.checking.journal import open_attempts, read_journal
from tests.faults.checking.planned import Planned

STATUSES = ("succeeded", "failed", "manual", "skipped", "unknown", "interrupted")
_NOT_STARTED, _INTERRUPTED = 4, 130
_STATUS_LINE = re.compile(r"^(succeeded|failed|manual|skipped|unknown|interrupted|total) +(\d+)$", re.MULTILINE)
_PRIVATE = 0o600
_EXIT_CODES_AFTER_DISK_FAULTS = frozenset({3, 5, _INTERRUPTED})


def check_files(
    run: RunEvidence, plan: Planned, circumstances: Circumstances, secrets: Iterable[bytes]
) -> Iterator[str]:
    """Yield what is wrong with the files and streams of one run."""
    yield from check_privacy(run, secrets)
    yield from _journal(run)
    if run.code is None:
        yield "the run did not end"
        return
    if run.code < 0:
        if not circumstances.killed:
            yield f"the run was ended by signal {-run.code}"
        yield from _after_a_kill(run)
        return
    yield from _ended(run, plan, circumstances)


def check_privacy(run: RunEvidence, secrets: Iterable[bytes]) -> Iterator[str]:
    """Yield what a run shows that nobody may see: tracebacks, planted secrets, files that others can read."""
    yield from _no_traceback(run)
    yield from _private(run)
    yield from _no_secret(run, secrets)


def result_of(run: RunEvidence) -> dict[str, Any] | None:
    """Return the result of a run, None where there is none or it can't be read."""
    if run.result is None:
        return None
    try:
        found = json.loads(run.result)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def units_of(run: RunEvidence) -> dict[str, dict[str, Any]]:
    """Return the endings of the units in a result, by id; a run that was not started has none."""
    result = (result_of(run) or {}) if run.code != _NOT_STARTED else {}
    return {unit["id"]: unit for unit in result.get("units", [])}


def _no_traceback(run: RunEvidence) -> Iterator[str]:
    for name, text in (("stdout", run.out), ("stderr", run.err)):
        if "Traceback" in text or "unexpected" in text.lower():
            yield f"{name} shows a fault of the tool: {text[-1500:]}"
    for path, file in run.files.items():
        if b"Traceback" in file.content:
            yield f"{path} holds a traceback"
    for unit in units_of(run).values():
        if unit.get("code") == "UnexpectedError":
            yield f"{unit['id']} ended with UnexpectedError: {unit.get('message')}"


def _private(run: RunEvidence) -> Iterator[str]:
    for path, file in run.files.items():
        if file.mode != _PRIVATE:
            yield f"{path} has mode {file.mode:04o}"


def _no_secret(run: RunEvidence, secrets: Iterable[bytes]) -> Iterator[str]:
    for secret in secrets:
        places = [path for path, file in run.files.items() if secret in file.content]
        places += [name for name, text in (("stdout", run.out), ("stderr", run.err)) if secret in text.encode()]
        if places:
            yield f"a planted secret is in {', '.join(places)}"


def _journal(run: RunEvidence) -> Iterator[str]:
    if run.journal is None:
        return
    reading = read_journal(run.journal)
    if reading.damage:
        yield f"the journal is damaged: {reading.damage}"
    if reading.torn and run.code is not None and run.code >= 0 and run.code != _NOT_STARTED:
        last = run.journal.rpartition(b"\n")[2][:80]
        if (result_of(run) or {}).get("stopped", "") == "":
            yield f"the journal ends with a torn line although the run ended by itself: {last!r}"


def _after_a_kill(run: RunEvidence) -> Iterator[str]:
    """Whatever was sent is in the files, and the result can be read."""
    if run.result is not None and result_of(run) is None:
        yield "the result can't be read"
    reading = read_journal(run.journal or b"")
    attempts = Counter(entry["facts"]["bodySha256"] for entry in reading.entries if entry["event"] == "attempt")
    mutating = [arrival for arrival in run.arrivals if arrival.mutating]
    if sum(attempts.values()) < len(mutating):
        yield f"{len(mutating)} requests were sent, but the journal has {sum(attempts.values())} attempts"
    result = result_of(run)
    if result is not None and result["state"] == "incomplete" and mutating:
        shown = {(item["unit"], item["step"]) for item in result.get("inFlight", [])}
        for attempt in open_attempts(reading.entries):
            if (attempt["unit"], attempt["step"]) not in shown:
                yield f"the result does not show the open attempt of {attempt['unit']} {attempt['step']}"


def _ended(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    mutating = [arrival for arrival in run.arrivals if arrival.mutating]
    if run.result is None:
        if mutating:
            yield f"there is no result although {len(mutating)} requests were sent"
        if run.code not in (_NOT_STARTED, _INTERRUPTED):
            yield f"nothing was started, but the exit code is {run.code}"
        if run.code == _NOT_STARTED and run.err.count("error:") != 1:
            yield f"nothing was started, and stderr has not one error: {run.err}"
        return
    result = result_of(run)
    if result is None:
        yield "the result can't be read"
        return
    if run.code == _NOT_STARTED:
        return  # an earlier run's result is in the way, or the run's own was not to be left
    if result["state"] == "incomplete" and circumstances.disk:
        if run.code not in _EXIT_CODES_AFTER_DISK_FAULTS:
            yield f"the result could not be completed, but the exit code is {run.code}"
        return
    yield from _complete(result, run, plan, circumstances)


def _complete(result: dict[str, Any], run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """Each unit has exactly one final status, the totals add up, and the exit code says the same."""
    if result["state"] != "complete":
        yield f"the run ended, but its result is {result['state']}"
        return
    ids = [unit["id"] for unit in result["units"]]
    if tuple(ids) != plan.ids:
        yield f"the result has the units {ids}, the plan {list(plan.ids)}"
    counted = Counter(unit["status"] for unit in result["units"])
    if {status: counted[status] for status in STATUSES} != result["counts"]:
        yield f"the totals {result['counts']} are not those of the units {dict(counted)}"
    for unit in result["units"]:
        if unit["status"] not in STATUSES:
            yield f"{unit['id']} has the status {unit['status']}"
        if unit["status"] in ("failed", "unknown") and not (unit.get("code") and unit.get("nextStep")):
            yield f"{unit['id']} {unit['status']} without a code or a next step"
    printed = {status: int(count) for status, count in _STATUS_LINE.findall(run.out)}
    if printed and printed != {**result["counts"], "total": len(ids)}:
        yield f"stdout says {printed}, the result {result['counts']}"
    wanted = _exit_code(result)
    if run.code != wanted and not (circumstances.disk and run.code in _EXIT_CODES_AFTER_DISK_FAULTS):
        yield f"the exit code is {run.code}, but the result asks for {wanted} ({result['counts']})"


def _exit_code(result: dict[str, Any]) -> int:
    counts, stopped = result["counts"], result.get("stopped", "")
    if stopped == "interrupted":
        return _INTERRUPTED
    if counts["unknown"]:
        return 5
    return 3 if stopped or counts["failed"] or counts["interrupted"] else 0
