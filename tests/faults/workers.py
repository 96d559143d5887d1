"""Processes that play the shares of a campaign side by side."""

import contextlib
import multiprocessing
import os
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.synchronize import Event
from pathlib import Path

from tests.faults.campaign import Choice
from tests.faults.families import Part
from tests.faults.process import Launcher
from tests.faults.stage.stage import Stage
from tests.faults.tally import Tally
from tests.faults.trial import Player

_LOOK_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Played:
    """What came of one share.

    Attributes:
        number: its number.
        tally: the counts.
        complete: whether all its points were played.
        trouble: why the suite itself could not go on, empty if it could.
    """

    number: int
    tally: Tally = field(default_factory=Tally)
    complete: bool = False
    trouble: str = ""


class Workers:
    """So many processes, each with stages of its own.

    Args:
        choice: what is played.
        jobs: how many processes.
        directory: where files go.
    """

    def __init__(self, choice: Choice, jobs: int, directory: Path) -> None:
        self._choice = choice
        self._jobs = jobs
        self._directory = directory
        self._context = multiprocessing.get_context("spawn")
        self._stop = self._context.Event()

    def stop(self) -> None:
        """Let every process end after its present point."""
        self._stop.set()

    def play(self, seconds: float) -> Iterator[Played]:
        """Play everything, or for so many seconds; yield each share as it ends."""
        deadline = time.monotonic() + seconds
        with contextlib.ExitStack() as stack:
            idle = [stack.enter_context(self._worker(number)) for number in range(self._jobs)]
            busy: dict[Connection, int] = {}
            number = 0
            while True:
                if time.monotonic() > deadline:
                    self.stop()
                while idle and not self._stop.is_set() and self._choice.part(number) is not None:
                    connection = idle.pop()
                    connection.send(number)
                    busy[connection] = number
                    number += 1
                if not busy:
                    return
                for connection in wait(busy, _LOOK_SECONDS):
                    assert isinstance(connection, Connection)
                    played = _received(connection, busy.pop(connection))
                    if not played.trouble:
                        idle.append(connection)
                    yield played

    @contextlib.contextmanager
    def _worker(self, number: int) -> Iterator[Connection]:
        ours, theirs = self._context.Pipe()
        directory = self._directory / f"process-{number + 1}"
        directory.mkdir()
        process = self._context.Process(target=_serve, args=(theirs, self._choice, directory, self._stop))
        process.start()
        theirs.close()
        try:
            yield ours
        finally:
            ours.close()
            process.join()


def _received(connection: Connection, number: int) -> Played:
    try:
        played = connection.recv()
    except (EOFError, ConnectionResetError):
        return Played(number, trouble="the process that played it is gone")
    assert isinstance(played, Played)
    return played


def _serve(connection: Connection, choice: Choice, directory: Path, stop: Event) -> None:
    """Play shares until the other side goes."""
    os.setsid()  # Ctrl-C is for the parent alone, which lets the point under way end
    with contextlib.ExitStack() as stack:
        players = _Players(stack, directory, thorough=choice.thorough)
        while True:
            try:
                number = connection.recv()
            except EOFError:
                return
            part = choice.part(number)
            assert part is not None
            connection.send(_play(players, part, number, stop))


def _play(players: "_Players", part: Part, number: int, stop: Event) -> Played:
    tally = Tally()
    try:
        player = players.of(part.world)
        for point in part.points(player):
            if stop.is_set():
                return Played(number, tally)
            tally.add(player.play(point))
    except Exception:  # noqa: BLE001 - whatever it is, what was counted so far must not be lost
        return Played(number, tally, trouble=traceback.format_exc())
    return Played(number, tally, complete=True)


class _Players:
    """The players of one process, each made when it is first wanted."""

    def __init__(self, stack: contextlib.ExitStack, directory: Path, *, thorough: bool) -> None:
        self._stack = stack
        self._directory = directory
        self._thorough = thorough
        self._launcher = stack.enter_context(Launcher())
        self._players: dict[str, Player] = {}

    def of(self, world: str) -> Player:
        if world not in self._players:
            directory = self._directory / world
            directory.mkdir()
            stage = self._stack.enter_context(Stage(world, directory, self._launcher))
            self._players[world] = Player(stage, thorough=self._thorough)
        return self._players[world]
