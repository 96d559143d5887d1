"""What is expected of the run in which a fault acted, beyond the invariants that always hold."""

import hashlib
from collections.abc import Callable, Iterator

from tests.faults.checking.evidence import Arrival, Circumstances, RunEvidence
from tests.faults.checking.files import result_of, units_of
from tests.faults.checking.journal import open_attempts, read_journal
from tests.faults.checking.planned import Planned

_HALTED = frozenset({"HaltedAfterRollout"})
_INTERRUPTED = 130

Expectation = Callable[[RunEvidence, Planned, Circumstances], Iterator[str]]


def nothing(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """Expect nothing beyond the invariants."""
    return iter(())


def killed(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """The process was killed, and has sent nothing since."""
    if run.code != -9:
        yield f"the process was to be killed, but ended with {run.code}"


def all_succeed(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """The fault is one that the tool gets over."""
    endings = units_of(run)
    for unit in plan.automatic:
        ending = endings.get(unit.id, {})
        if ending.get("status") != "succeeded":
            yield f"{unit.id} is {ending.get('status', 'absent')} ({ending.get('code')}: {ending.get('message')})"
    if run.code != 0:
        yield f"the exit code is {run.code}: {run.err[-600:]}"


def stopped_by_signal(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """The request in flight is the last write, and the run says that it was interrupted."""
    late = [arrival for arrival in run.arrivals if arrival.mutating and arrival.number > circumstances.asked_to_stop]
    if late:
        yield f"after the signal there were {len(late)} further writes, the first is {late[0]}"
    statuses = {ending["status"] for ending in units_of(run).values()}
    undone = bool(statuses & {"interrupted", "unknown"}) or not statuses
    wanted = _INTERRUPTED if undone else 0
    if run.code != wanted:
        yield f"the exit code after a signal is {run.code}, not {wanted}"


def no_further_write(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """After a fault of our own disk no request leaves."""
    failed_at = circumstances.disk_failed_at
    late = [item for item in run.arrivals if item.mutating and item.received.timestamp() > failed_at > 0]
    if late:
        yield f"after the disk had failed {len(late)} writes left, the first is {late[0]}"


def unit_fails(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """A unit whose write was not carried out as it was sent does not succeed; the others do."""
    yield from no_false_success(run, plan, circumstances)
    yield from _others_succeed(run, plan, circumstances, _hit(run, circumstances))


def no_false_success(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """A unit whose write was not carried out as it was sent does not succeed."""
    endings = units_of(run)
    for unit_id in sorted(_hit(run, circumstances)):
        if endings.get(unit_id, {}).get("status") == "succeeded":
            yield f"{unit_id} succeeded although its write was not carried out as sent"


def _hit(run: RunEvidence, circumstances: Circumstances) -> set[str]:
    return {unit for arrival in run.arrivals if arrival.number in circumstances.falsified for unit in unit_of(arrival)}


def one_unit_at_most(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
    """A fault of one read or of one lost answer stops one unit at most, or is met before anything starts."""
    if result_of(run) is None:
        return
    endings = units_of(run)
    undone = [unit.id for unit in plan.automatic if endings.get(unit.id, {}).get("status") != "succeeded"]
    yield from _others_succeed(run, plan, circumstances, set(undone[:1]))


def one_of(*codes: str) -> Expectation:
    """Return the expectation that the first automatic unit fails with one of these codes."""

    def check(run: RunEvidence, plan: Planned, circumstances: Circumstances) -> Iterator[str]:
        ending = units_of(run).get(plan.automatic[0].id, {})
        if ending.get("status") != "failed" or ending.get("code") not in codes:
            is_now = f"{ending.get('status')} ({ending.get('code')})"
            yield f"{plan.automatic[0].id} is {is_now}, not failed ({', '.join(codes)})"

    return check


def unit_of(arrival: Arrival) -> set[str]:
    """Return the unit that a write belongs to, as the attempt before it says."""
    if not arrival.mutating:
        return set()
    wanted = (arrival.path, arrival.dry_run, hashlib.sha256(arrival.body).hexdigest())
    attempts = open_attempts(read_journal(arrival.journal).entries)
    return {
        attempt["unit"]
        for attempt in attempts
        if tuple(attempt["facts"].get(name) for name in ("path", "dryRun", "bodySha256")) == wanted
    }


def _others_succeed(run: RunEvidence, plan: Planned, circumstances: Circumstances, hit: set[str]) -> Iterator[str]:
    if circumstances.stops_run or circumstances.killed or circumstances.shared:
        return
    endings = units_of(run)
    changed = circumstances.touched | circumstances.stored_otherwise
    for unit in plan.automatic:
        ending = endings.get(unit.id, {})
        if unit.id in hit or ending.get("status") == "succeeded" or unit.own & changed:
            continue
        if ending.get("code") in _HALTED:
            continue
        yield (
            f"{unit.id}, which the fault did not hit, is {ending.get('status')} "
            f"({ending.get('code')}: {ending.get('message')})"
        )
