"""A run in which several things go wrong, chosen by a seed."""

import random
import signal
from collections.abc import Sequence

from aim_rehearsal.apiserver import Request, Response
from tests.faults.checking.evidence import Arrival
from tests.faults.injecting.answers import LIES, READ_ANSWERS, WRITE_ANSWERS, Answer, AtRequest
from tests.faults.injecting.ends import KillAtRequest, SignalsAtRequest
from tests.faults.injecting.races import RACES, RaceAtRequest, StatusWriter
from tests.faults.injecting.scene import Fault, Scene

_READ_CHANCE, _WRITE_CHANCE, _RACE_CHANCE, _END_CHANCE = 0.03, 0.1, 0.05, 0.004
_QUICK_READS = tuple(answer for answer in READ_ANSWERS if not answer.slow)
_QUICK_WRITES = tuple(answer for answer in WRITE_ANSWERS if not answer.slow)


class Troubled(Fault):
    """Faults at random requests; what each of them is, is part of the name.

    What comes of it depends on how the requests of several units interleave, so a seed names a kind of run; with one
    unit at a time it names the run.
    """

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._busy = StatusWriter() if self._chance.random() < 0.1 else None
        self._acting: dict[int, list[Fault]] = {}
        self.happened: list[str] = [f"seed {seed}"]
        self.recovery = "rerun"

    @property
    def name(self) -> str:
        return ", ".join(self.happened)

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if self._busy is not None:
            self._busy.before(scene, arrival, request)
        for fault in self._choose(arrival):
            self.happened.append(f"{fault.name} at {arrival.number}")
            self._acting.setdefault(arrival.number, []).append(fault)
            instead = fault.before(scene, arrival, request)
            if instead is not None:
                return instead
        return None

    def after(self, scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
        scene.first_answers.setdefault(arrival.target, response)
        for fault in self._acting.get(arrival.number, ()):
            instead = fault.after(scene, arrival, request, response)
            if instead is not None:
                return instead
        return None

    def _choose(self, arrival: Arrival) -> Sequence[Fault]:
        chance, number = self._chance, arrival.number
        if chance.random() < _END_CHANCE:
            return [
                chance.choice(
                    (
                        KillAtRequest(number, stored=chance.random() < 0.5),
                        SignalsAtRequest(number, (chance.choice((signal.SIGINT, signal.SIGTERM)),)),
                    )
                )
            ]
        if not arrival.mutating:
            return self._perhaps(_READ_CHANCE, _QUICK_READS, number)
        races = [race for race in RACES if race.fits(arrival)]
        if chance.random() < _RACE_CHANCE and races:
            race = chance.choice(races)
            self.recovery = "rerun" if self.recovery == "rerun" and not (race.lasting or race.spoils) else "safe"
            return [RaceAtRequest(number, race)]
        return self._perhaps(_WRITE_CHANCE, _QUICK_WRITES, number)

    def _perhaps(self, likely: float, answers: Sequence[Answer], number: int) -> Sequence[Fault]:
        if self._chance.random() >= likely:
            return ()
        answer = self._chance.choice(answers)
        if answer in LIES[1:]:
            self.recovery = "safe"
        return [AtRequest(number, answer)]
