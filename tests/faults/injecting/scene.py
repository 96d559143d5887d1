"""Where a fault acts: the stage, the run under way, and what becomes known of it."""

import os
import signal
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from aim_rehearsal.apiserver import DropConnectionError, Request, Response
from aim_rehearsal.client import Client
from tests.faults.checking.evidence import Arrival, Circumstances
from tests.faults.process import Running
from tests.faults.stage.stage import Stage

_PATIENCE_SECONDS = 20.0


@dataclass(slots=True)
class Scene:
    """One run under way.

    Attributes:
        stage: the world.
        plan_directory: the run's own copy of the plan.
        err: the file that takes its stderr.
        circumstances: what was done to it, for the checker.
        first_answers: the first answer to each read, by target.
    """

    stage: Stage
    plan_directory: Path
    err: Path
    circumstances: Circumstances = field(default_factory=Circumstances)
    first_answers: dict[str, Response] = field(default_factory=dict)
    _running: Running | None = None
    _started: threading.Event = field(default_factory=threading.Event)

    def started(self, running: Running) -> None:
        """Say which process it is."""
        self._running = running
        self._started.set()

    @property
    def running(self) -> Running:
        """The process."""
        if not self._started.wait(_PATIENCE_SECONDS) or self._running is None:
            raise RuntimeError("the run has not started")
        return self._running

    @property
    def admin(self) -> Client:
        """A client that may do everything."""
        return self.stage.admin

    def carry_out(self, request: Request) -> Response:
        """Carry out a request as the tool, in another form or at another time than it was sent; unseen."""
        response = self.stage.witness.aside(lambda: self.stage.server.handle(request))
        self.stage.operator.work()
        return response

    def kill(self) -> None:
        """End the process at once, and wait until it is gone."""
        self.circumstances.killed = True
        pid = self.running.pid
        self.running.signal(signal.SIGKILL)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while _lives(pid) and time.monotonic() < deadline:
            time.sleep(0.0005)

    def interrupt(self, number: int, words: str) -> None:
        """Send a signal, and wait until the process has said the words that answer it, or is gone."""
        self.running.signal(number)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while words not in self.err.read_text() and _lives(self.running.pid) and time.monotonic() < deadline:
            time.sleep(0.0005)

    def wait_until_resumed(self) -> None:
        """Wait until the process, which was stopped, has noticed that time has passed."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not Path(f"{self.err}.resumed").exists() and time.monotonic() < deadline:
            time.sleep(0.0005)

    def wait_for_request(self, number: int, seconds: float) -> bool:
        """Wait until the run has sent so many requests; return whether it has."""
        deadline = time.monotonic() + seconds
        while len(self.stage.witness.arrivals) < number and time.monotonic() < deadline:
            time.sleep(0.001)
        return len(self.stage.witness.arrivals) >= number

    def drop(self) -> Response:
        """End the connection without an answer.

        Raises:
            DropConnectionError: always.
        """
        raise DropConnectionError


class Fault:
    """Something that goes wrong in a run; by default nothing does.

    Attributes:
        name: what it is called, without its place.
        options: further arguments of the command line.
        complaints: what it saw itself and must not be.
        recovery: how one recovers from it, where the point does not say.
        sabotage: how the tool itself is broken, to try the checker; an empty string in every campaign.
    """

    name = "none"
    options: tuple[str, ...] = ()
    complaints: Sequence[str] = ()
    recovery = "rerun"
    sabotage = ""

    def begin(self, scene: Scene) -> None:
        """Set the scene before the run starts."""

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        """Act before a request is carried out; what is returned is the answer instead."""
        return None

    def after(self, scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
        """Act after a request was carried out; what is returned is the answer instead."""
        return None

    def slept(self, scene: Scene, seconds: float) -> None:
        """Act while the run sleeps."""

    def gone(self, scene: Scene) -> None:
        """Undo what an administrator would put right before the next run."""


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z" and os.path.exists(f"/proc/{pid}")
