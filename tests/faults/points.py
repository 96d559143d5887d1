"""Every point of a run at which something can go wrong, and what can go wrong there."""

import functools
import random
import signal
from collections.abc import Iterable, Iterator

from aim_rehearsal.operator import Misbehaviour
from tests.faults.checking import expecting
from tests.faults.checking.evidence import Arrival
from tests.faults.checking.requests import count_writes
from tests.faults.child.disk import DiskFault
from tests.faults.injecting.answers import LIES, READ_ANSWERS, WRITE_ANSWERS, Answer, AtRequest, AtRequests, StoredLate
from tests.faults.injecting.ends import ClockJumps, DiskAt, KillAtRequest, SignalsAtRequest
from tests.faults.injecting.races import RACES, OperatorThat, PinRemovedInSoak, Race, RaceAtRequest, StatusWriter
from tests.faults.injecting.rivals import OtherHost, SecondApply, Suspended
from tests.faults.injecting.troubled import Troubled
from tests.faults.trial import Player, Point, Recording

_DAY = 86_400.0
_RUNS_OF_READS = 12
_SIGNALS = ((signal.SIGINT,), (signal.SIGTERM,), (signal.SIGINT, signal.SIGINT))
_KILLS = ("kill", "torn", "late")
ERRORS = {
    "open": ("EMFILE", "EACCES"),
    "fchmod": ("EPERM",),
    "write": ("ENOSPC", "EIO", "EDQUOT"),
    "fsync": ("EIO", "ENOSPC"),
    "fdatasync": ("EIO", "ENOSPC"),
    "replace": ("EIO", "EROFS"),
    "link": ("EIO",),
    "unlink": ("EIO",),
}
_HARMLESS = frozenset({"unlink"})
"""Calls that may fail without harm: a temporary name, or the lock of a run that is over, stays."""

MISBEHAVIOURS = {
    Misbehaviour.PROFILE_STUCK: (("ProfileNotReady",), "rerun"),
    Misbehaviour.CACHE_STUCK: (("ProfileCacheNotReady",), "rerun"),
    Misbehaviour.SERVICE_NOT_OBSERVED: (("CutoverNotObserved",), "rerun"),
    Misbehaviour.ADOPTS_WRONG_ARTIFACT: (("ProfileCacheNotReady",), "safe"),
    Misbehaviour.DOWNLOADS_AGAIN: (("DownloadStarted",), "safe"),
    Misbehaviour.ROLLS_DESPITE_PIN: (("RolloutDetected",), "safe"),
    Misbehaviour.NO_BRIDGE: (("RolloutDetected", "CutoverNotObserved"), "safe"),
}


def _at(world: str, arrival: Arrival, commit: bool) -> functools.partial[Point]:
    return functools.partial(Point, world, commit, f"request {arrival.number}, {arrival}")


def _writes(recording: Recording) -> list[Arrival]:
    return [arrival for arrival in recording.run.arrivals if arrival.mutating]


def _reads(recording: Recording) -> list[Arrival]:
    return [arrival for arrival in recording.run.arrivals if not arrival.mutating]


def answers_to_writes(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """Every wrong answer at every write."""
    for arrival in _writes(player.record(commit=commit)):
        for answer in WRITE_ANSWERS:
            expects = expecting.one_unit_at_most if answer.proves else expecting.unit_fails
            yield _at(world, arrival, commit)(
                functools.partial(AtRequest, arrival.number, answer), expects, _recovery_of(answer, commit=commit)
            )
        yield _at(world, arrival, commit)(
            functools.partial(StoredLate, arrival.number), expecting.one_unit_at_most, "rerun" if commit else "none"
        )


def answers_to_reads(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """Every wrong answer at every read."""
    for arrival in _reads(player.record(commit=commit)):
        for answer in READ_ANSWERS:
            yield _read(world, arrival, answer, commit=commit)


def one_answer_to_each_read(player: Player, world: str, *, commit: bool, seed: int) -> Iterator[Point]:
    """One wrong answer at every read, chosen by a seed; several in one run where the tool gets over them."""
    chooser = random.Random(seed)
    quick = [answer for answer in READ_ANSWERS if not answer.slow]
    together: dict[int, dict[int, Answer]] = {}
    for place, arrival in enumerate(_reads(player.record(commit=commit))):
        answer = chooser.choice(quick)
        if _is_asked_again(arrival, answer):
            together.setdefault(place % _RUNS_OF_READS, {})[arrival.number] = answer
        else:
            yield _read(world, arrival, answer, commit=commit)
    for answers in together.values():
        places = f"requests {', '.join(map(str, answers))}"
        yield Point(
            world, commit, places, functools.partial(AtRequests, answers), expecting.all_succeed, _after_read(commit)
        )


def _read(world: str, arrival: Arrival, answer: Answer, *, commit: bool) -> Point:
    return _at(world, arrival, commit)(
        functools.partial(AtRequest, arrival.number, answer),
        expecting.all_succeed if _is_asked_again(arrival, answer) else expecting.one_unit_at_most,
        _after_read(commit),
    )


def _after_read(commit: bool) -> str:
    return "rerun" if commit else "none"


def kills_at_requests(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """A kill when each request arrives, and when each write was carried out."""
    for arrival in player.record(commit=commit).run.arrivals:
        for stored in (False, True) if arrival.mutating else (False,):
            yield _at(world, arrival, commit)(
                functools.partial(KillAtRequest, arrival.number, stored=stored), expecting.killed
            )


def kills_at_changes(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """A kill at every request, but for those at which files and cluster are exactly as at an earlier one."""
    moments = player.record(commit=commit).moments
    first = {moments.index(moment) + 1 for moment in moments}
    for point in kills_at_requests(player, world, commit=commit):
        fault = point.fault()
        if isinstance(fault, KillAtRequest) and (fault.number in first or fault.stored):
            yield point


def signals_at_writes(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """SIGINT, SIGTERM, and SIGINT twice, at each write."""
    for arrival in _writes(player.record(commit=commit)):
        for signals in _SIGNALS:
            yield _at(world, arrival, commit)(
                functools.partial(SignalsAtRequest, arrival.number, signals), expecting.stopped_by_signal
            )


def signals_at_reads(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """SIGINT at each read."""
    for arrival in _reads(player.record(commit=commit)):
        yield _at(world, arrival, commit)(
            functools.partial(SignalsAtRequest, arrival.number, _SIGNALS[0]), expecting.stopped_by_signal
        )


def kills_at_disk_calls(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """A kill at every disk call: before it, in the middle of a write, and after a write."""
    for number, call in enumerate(player.record(commit=commit).disk_calls, start=1):
        for how in _KILLS if call.startswith("write ") else _KILLS[:1]:
            yield _disk(world, commit, number, call, DiskFault(number, how), expecting.killed)


def disk_errors(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """Every error at every disk call; a full disk stays full."""
    for number, call in enumerate(player.record(commit=commit).disk_calls, start=1):
        name = call.partition(" ")[0]
        expects = expecting.all_succeed if name in _HARMLESS else expecting.no_further_write
        for how in ERRORS[name]:
            fault = DiskFault(number, how, lasting=how in ("ENOSPC", "EDQUOT", "EROFS"))
            yield _disk(world, commit, number, call, fault, expects)
        if name == "write":
            yield _disk(world, commit, number, call, DiskFault(number, "short"), expecting.all_succeed)


def races_at_writes(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """Every race at every write that it is one for."""
    for arrival in _writes(player.record(commit=commit)):
        for race in RACES:
            if race.fits(arrival):
                yield _at(world, arrival, commit)(
                    functools.partial(RaceAtRequest, arrival.number, race),
                    expecting.unit_fails,
                    _recovery_after(race),
                )


def rivals_at_writes(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """A second run on this host and on another, and a process that is stopped for a while, at each write."""
    for arrival in _writes(player.record(commit=commit)):
        at = _at(world, arrival, commit)
        yield at(functools.partial(SecondApply, arrival.number), expecting.all_succeed)
        yield at(functools.partial(Suspended, arrival.number), expecting.all_succeed)
        if commit:
            yield at(functools.partial(OtherHost, arrival.number))


def operators(player: Player, world: str) -> Iterator[Point]:
    """Every misbehaviour of the operator, a busy status writer, jumping clocks, and a pin that is taken off."""
    everywhere = functools.partial(Point, world, True, "every moment")
    creates = {target[0] for target in count_writes(player.record(commit=True).run.audit)}
    for misbehaviour, (expected, recovery) in MISBEHAVIOURS.items():
        harmless = misbehaviour is Misbehaviour.PROFILE_STUCK and "aimprofiles" not in creates
        expects = expecting.all_succeed if harmless else expecting.one_of(*expected)
        yield everywhere(functools.partial(OperatorThat, misbehaviour), expects, recovery)
    for misbehaviour in (Misbehaviour.SLOW, Misbehaviour.FOREIGN_OBSERVED_GENERATION):
        yield everywhere(functools.partial(OperatorThat, misbehaviour), expecting.all_succeed)
    yield everywhere(StatusWriter, expecting.all_succeed)
    yield everywhere(PinRemovedInSoak, expecting.one_of("RolloutDetected", "CutoverNotObserved", "PinExpired"), "safe")
    for name, jump in (("clock-forward", _DAY), ("clock-back", -_DAY)):
        jumps = dict.fromkeys(range(2, 40, 3), jump)
        yield everywhere(functools.partial(ClockJumps, name, jumps), expecting.all_succeed)


def troubled(world: str, seeds: Iterable[int]) -> Iterator[Point]:
    """Runs with several faults, one for each seed; some commit, some with units side by side."""
    for seed in seeds:
        chance = random.Random(seed)
        side_by_side = chance.choice((1, 1, 2, 4))
        yield Point(
            world,
            chance.random() < 0.85,
            f"random requests, {side_by_side} side by side",
            functools.partial(Troubled, seed),
            expecting.no_false_success,
            "told",
            ("--parallel", str(side_by_side)),
        )


def seeded(points: Iterator[Point], seed: int) -> Iterator[Point]:
    """Return one point of each place, chosen by a seed."""
    chooser = random.Random(seed)
    by_place: dict[str, list[Point]] = {}
    for point in points:
        by_place.setdefault(point.place, []).append(point)
    return iter([chooser.choice(found) for found in by_place.values()])


def _disk(world: str, commit: bool, number: int, call: str, fault: DiskFault, expects: expecting.Expectation) -> Point:
    return Point(world, commit, f"disk call {number}, {call}", lambda: DiskAt(fault, call), expects)


def _is_asked_again(arrival: Arrival, answer: Answer) -> bool:
    """Return whether the tool gets over it; a refusal that a gateway has damaged is not asked for again."""
    return answer.transient and (answer.before is not None or arrival.accepted)


def _recovery_of(answer: Answer, *, commit: bool) -> str:
    if not commit:
        return "none"
    return "safe" if answer in LIES[1:] else "rerun"


def _recovery_after(race: Race) -> str:
    if race.spoils:
        return "safe"
    return "replan" if race.lasting else "rerun"
