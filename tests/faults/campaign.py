"""Which points a campaign plays, as a process can be told it: by name and number."""

import functools
from dataclasses import dataclass

from tests.faults.families import SEED, WORLDS, Part, ci, full, troubled

RUNS_AT_ONCE = 10
SEVERAL_FAULTS = "several faults"


@dataclass(frozen=True, slots=True)
class Choice:
    """What to play.

    Attributes:
        name: ``ci``, ``full`` or ``random``.
        worlds: the worlds.
        classes: names of classes of points; all if empty.
        seed: of the first random run.
        thorough: whether an administrator recovers after every fault, and not only once from each state.
    """

    name: str
    worlds: tuple[str, ...] = WORLDS
    classes: tuple[str, ...] = ()
    seed: int = SEED
    thorough: bool = False

    @property
    def is_random(self) -> bool:
        """Whether it goes on for as long as it may."""
        return self.name == "random"

    def parts(self) -> list[Part]:
        """Return all shares of it, in their order; a random campaign has no end and none of them."""
        return [part for part in _parts(self.name) if part.world in self.worlds and self._wants(part)]

    def part(self, number: int) -> Part | None:
        """Return one share, from 0; None after the last."""
        if self.is_random:
            return _random_part(self.worlds[number % len(self.worlds)], self.seed + number * RUNS_AT_ONCE)
        parts = self.parts()
        return parts[number] if number < len(parts) else None

    def _wants(self, part: Part) -> bool:
        return not self.classes or part.name in self.classes


def classes_of(campaign: str) -> list[str]:
    """Return the names of the classes of points of a campaign."""
    return [SEVERAL_FAULTS] if campaign == "random" else sorted({part.name for part in _parts(campaign)})


@functools.cache
def _parts(campaign: str) -> tuple[Part, ...]:
    return tuple({"ci": ci, "full": full, "random": list[Part]}[campaign]())


def _random_part(world: str, seed: int) -> Part:
    seeds = range(seed, seed + RUNS_AT_ONCE)
    return Part(world, SEVERAL_FAULTS, functools.partial(troubled, seeds=seeds))
