"""Classes of points by name, and which of them each kind of campaign plays.

``full`` plays every fault at every point of every world, with whatever an administrator does after it. ``ci`` is for
every change and ends in minutes; ``quick`` is for everybody's hands. What ``ci`` leaves out stands in its functions.
"""

import functools
import itertools
import random
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass

from tests.faults import points
from tests.faults.injecting.races import RACES
from tests.faults.trial import Player, Point

MAIN_WORLDS = ("shared-happy-path", "shared-template")
OTHER_WORLDS = ("discovered-template", "cluster-template")
WORLDS = (*MAIN_WORLDS, *OTHER_WORLDS)
SEED = 20_260_602
_SHARES, _LONG_SHARES = 8, 60
_LONGEST = frozenset({"answers to reads", "answers to reads of a dry run"})
_FIRST = "team-a"
SERVER_ANSWERS = ("409-conflict", "422", "429-retry-after", "500", "reset", "stored-reset")
NOT_ON_SERVER = frozenset({"namespace-ending", "definition-narrowed"})
_JOURNAL = "write apply-result.json.journal.jsonl"

Listing = Callable[[Player, str], Iterator[Point]]


def _commit(listing: Callable[..., Iterator[Point]]) -> Listing:
    return functools.partial(listing, commit=True)


def _dry_run(listing: Callable[..., Iterator[Point]]) -> Listing:
    return functools.partial(listing, commit=False)


EVERYTHING: Mapping[str, Listing] = {
    "answers to writes": _commit(points.answers_to_writes),
    "answers to dry runs": _dry_run(points.answers_to_writes),
    "answers to reads": _commit(points.answers_to_reads),
    "answers to reads of a dry run": _dry_run(points.answers_to_reads),
    "kills at requests": _commit(points.kills_at_requests),
    "kills at requests of a dry run": _dry_run(points.kills_at_requests),
    "kills at disk calls": _commit(points.kills_at_disk_calls),
    "disk errors": _commit(points.disk_errors),
    "disk errors of a dry run": _dry_run(points.disk_errors),
    "races": _commit(points.races_at_writes),
    "races in a dry run": _dry_run(points.races_at_writes),
    "signals at writes": _commit(points.signals_at_writes),
    "signals at reads": _commit(points.signals_at_reads),
    "signals in a dry run": _dry_run(points.signals_at_writes),
    "second runs": _commit(points.rivals_at_writes),
    "operators and clocks": points.operators,
}
"""Every fault at every point, by class."""


def one_each(name: str, seed: int = SEED) -> Listing:
    """Return one fault of a class at every point, chosen by a seed."""

    def listing(player: Player, world: str) -> Iterator[Point]:
        return points.seeded(EVERYTHING[name](player, world), seed)

    return listing


def torn_lines(player: Player, world: str) -> Iterator[Point]:
    """Return a kill in the middle of every line of the journal."""
    listed = points.kills_at_disk_calls(player, world, commit=True)
    return (point for point in listed if point.place.endswith(_JOURNAL) and point.fault().name == "write-torn")


def thinned(name: str, full_in: str, every: int) -> Listing:
    """Return every fault at every write, but at those of other namespaces than one only every so-manieth of them."""

    def listing(player: Player, world: str) -> Iterator[Point]:
        for number, point in enumerate(EVERYTHING[name](player, world)):
            if f"/namespaces/{full_in}/" in point.place or number % every == 0:
                yield point

    return listing


def without_slow_ones(listing: Listing) -> Listing:
    """Return the points whose faults take no real time."""
    return lambda player, world: (point for point in listing(player, world) if not point.fault().options)


def each_read(player: Player, world: str, *, commit: bool) -> Iterator[Point]:
    """Return one answer to each read, chosen by a seed."""
    return points.one_answer_to_each_read(player, world, commit=commit, seed=SEED)


def troubled(player: Player, world: str, *, seeds: range) -> Iterator[Point]:
    """Return runs with several faults at once."""
    return points.troubled(world, seeds)


@dataclass(frozen=True, slots=True)
class Part:
    """A share of a class of points.

    Attributes:
        world: the world.
        name: what it is called.
        listing: lists the points of the class.
        number: which share, from 0.
        of: of how many.
    """

    world: str
    name: str
    listing: Listing
    number: int = 0
    of: int = 1

    def points(self, player: Player) -> Iterator[Point]:
        """Return the points of this share."""
        return itertools.islice(self.listing(player, self.world), self.number, None, self.of)

    def __str__(self) -> str:
        share = f" {self.number + 1} of {self.of}" if self.of > 1 else ""
        return f"{self.world}: {self.name}{share}"


def shares(world: str, name: str, listing: Listing, of: int) -> Iterator[Part]:
    """Return all shares of a class."""
    return (Part(world, name, listing, number, of) for number in range(of))


def full() -> list[Part]:
    """Return everything: what is short first, and the many answers to reads last.

    A share is every so-manieth point of its class, so that a campaign that is ended early has tried points all over.
    """
    chooser = random.Random(SEED)
    first, last = (
        [
            part
            for world in WORLDS
            for name, listing in EVERYTHING.items()
            if (name in _LONGEST) == late
            for part in shares(world, name, listing, _LONG_SHARES if late else _SHARES)
        ]
        for late in (False, True)
    )
    for parts in (first, last):
        chooser.shuffle(parts)  # so that the processes end together
    return [*first, *last]


def ci() -> list[Part]:
    """Return what every change is tried with."""
    return [part for world in MAIN_WORLDS for part in _main(world)] + [
        part for world in OTHER_WORLDS for part in _other(world)
    ]


def server() -> list[Part]:
    """Return what is played on a real API server: at every write kills, and the answers and races that differ there.

    A namespace that is ending needs controllers that are not there, and a narrowed definition takes effect when the
    server chooses; both are played on the local API.
    """
    world = MAIN_WORLDS[0]
    answers, races = (thinned(name, _FIRST, every) for name, every in (("answers to writes", 3), ("races", 6)))
    return [
        *shares(world, "answers to writes", faults_of(answers, SERVER_ANSWERS), 4),
        *shares(world, "kills at writes", at_writes(EVERYTHING["kills at requests"]), 2),
        *shares(world, "races", faults_of(races, {race.name for race in RACES} - NOT_ON_SERVER), 3),
    ]


def faults_of(listing: Listing, names: Collection[str]) -> Listing:
    """Return the points whose faults have one of these names."""
    return lambda player, world: (point for point in listing(player, world) if point.fault().name in names)


def at_writes(listing: Listing) -> Listing:
    """Return the points at writes."""
    return lambda player, world: (point for point in listing(player, world) if ", GET " not in point.place)


def quick() -> Part:
    """Return a few points of every class."""

    def listing(player: Player, world: str) -> Iterator[Point]:
        chooser = random.Random(SEED)
        for name in ("answers to writes", "kills at requests", "races", "disk errors", "signals at writes"):
            yield from chooser.sample([*without_slow_ones(EVERYTHING[name])(player, world)], 1)
        yield from points.troubled(world, range(1))

    return Part(MAIN_WORLDS[0], "one of every class", listing)


def _main(world: str) -> Iterator[Part]:
    """Return what is played in the main worlds.

    Every fault at every write of a commit in the first world; in its second namespace, where the same writes are made
    once more, every third. In the second world, where services share what is written, every second answer, and one
    race, one second run and one signal at each write. Faults that take real time, in the first namespace of the first
    world. A kill at every request at which files or cluster are not exactly as at an earlier one, and at every line of
    the journal. One answer to each read. One error at every fourth disk call.
    """
    is_first = world == MAIN_WORLDS[0]
    writes = thinned("answers to writes", _FIRST, 3) if is_first else thinned("answers to writes", "", 2)
    yield from shares(world, "answers to writes", without_slow_ones(writes), 8)
    if is_first:
        yield Part(world, "late answers", _late_ones(_FIRST))
    dry_runs = EVERYTHING["answers to dry runs"] if is_first else one_each("answers to dry runs")
    yield from shares(world, "answers to dry runs", without_slow_ones(dry_runs), 2)
    yield from shares(world, "one answer to each read", _commit(each_read), 3)
    yield Part(world, "one answer to each read of a dry run", _dry_run(each_read))
    yield from shares(world, "kills at requests", _commit(points.kills_at_changes), 2)
    yield Part(world, "torn lines", torn_lines)
    yield Part(world, "one error at every fourth disk call", one_each("disk errors"), 0, 4)
    for name in ("races", "second runs", "signals at writes"):
        yield from shares(world, name, thinned(name, _FIRST, 3) if is_first else one_each(name), 2)
    yield Part(world, "operators and clocks", EVERYTHING["operators and clocks"])
    yield Part(world, "several faults", functools.partial(troubled, seeds=range(12)))


def _late_ones(namespace: str) -> Listing:
    """Return the faults that take real time, at the writes in one namespace, each once where it is written once."""

    def listing(player: Player, world: str) -> Iterator[Point]:
        for point in EVERYTHING["answers to writes"](player, world):
            if point.fault().options and f"/namespaces/{namespace}/" in point.place:
                yield point

    return listing


def _other(world: str) -> Iterator[Part]:
    """Return what is played in the other worlds: one fault of each class at every write."""
    for name in ("answers to writes", "answers to dry runs", "races"):
        yield Part(world, f"one each: {name}", without_slow_ones(one_each(name)))
    yield Part(world, "kills at requests", _commit(points.kills_at_changes))
    yield Part(world, "operators and clocks", EVERYTHING["operators and clocks"])
