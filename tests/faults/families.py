"""Classes of points by name, and how many of them each kind of campaign plays.

``full`` plays every fault at every point of every world. ``ci`` plays, in the worlds of ``MAIN_WORLDS``, every fault at
every write, a kill at every request and at every line of the journal, and one fault, chosen by a seed, at every read
and at every other disk call; in the other worlds one of each at every point. ``quick`` is for everybody's hands.
"""

import functools
import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from tests.faults import points
from tests.faults.trial import Player, Point

MAIN_WORLDS = ("shared-happy-path", "shared-template")
OTHER_WORLDS = ("discovered-template", "cluster-template")
WORLDS = (*MAIN_WORLDS, *OTHER_WORLDS)
SEED = 20_260_602
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


def full(of: int) -> list[Part]:
    """Return everything, each class in so many shares."""
    parts = [
        part for world in WORLDS for name, listing in EVERYTHING.items() for part in shares(world, name, listing, of)
    ]
    random.Random(SEED).shuffle(parts)  # so that the processes end together
    return parts


def ci() -> list[Part]:
    """Return what every change is tried with."""
    return [part for world in MAIN_WORLDS for part in _main(world)] + [
        part for world in OTHER_WORLDS for part in _other(world)
    ]


def quick() -> Part:
    """Return a few points of every class."""

    def listing(player: Player, world: str) -> Iterator[Point]:
        chooser = random.Random(SEED)
        for name in ("answers to writes", "kills at requests", "races", "disk errors", "signals at writes"):
            yield from chooser.sample([*points.quick(EVERYTHING[name](player, world))], 2)
        yield from itertools.islice(points.troubled(world, range(2)), 2)

    return Part(MAIN_WORLDS[0], "a few of every class", listing)


def _main(world: str) -> Iterator[Part]:
    everything = EVERYTHING
    yield from shares(world, "answers to writes", everything["answers to writes"], 8)
    yield from shares(world, "answers to dry runs", everything["answers to dry runs"], 3)
    yield from shares(world, "one answer to each read", one_each("answers to reads"), 4)
    yield from shares(world, "one answer to each read of a dry run", one_each("answers to reads of a dry run"), 2)
    yield from shares(world, "kills at requests", everything["kills at requests"], 4)
    yield Part(world, "torn lines", torn_lines)
    yield from shares(world, "one error at each disk call", one_each("disk errors"), 2)
    yield from shares(world, "races", everything["races"], 3)
    for name in ("signals at writes", "second runs", "operators and clocks"):
        yield Part(world, name, everything[name])
    yield Part(world, "several faults", functools.partial(troubled, seeds=range(24)))


def _other(world: str) -> Iterator[Part]:
    for name in ("answers to writes", "answers to dry runs", "kills at requests", "races", "disk errors"):
        yield Part(world, f"one each: {name}", one_each(name))
    yield Part(world, "operators and clocks", EVERYTHING["operators and clocks"])
