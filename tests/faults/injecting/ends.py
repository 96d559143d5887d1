"""How a process can end, or be asked to: a kill at a request or disk call, signals, a failing disk, a jumping clock."""

import signal
from collections.abc import Sequence

from aim_rehearsal.apiserver import Request, Response
from tests.faults.checking.evidence import Arrival
from tests.faults.child.disk import DiskFault
from tests.faults.injecting.scene import Fault, Scene

_FIRST, _AGAIN = "stopping:", "already stopping"


class KillAtRequest(Fault):
    """A SIGKILL when a request has arrived, or when it has been carried out."""

    def __init__(self, number: int, *, stored: bool) -> None:
        self.name = "kill-after-request" if stored else "kill-before-request"
        self.number = number
        self.stored = stored

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number != self.number or self.stored:
            return None
        scene.kill()
        return scene.drop()

    def after(self, scene: Scene, arrival: Arrival, request: Request, response: Response) -> Response | None:
        if arrival.number != self.number:
            return None
        scene.kill()
        return scene.drop()


class SignalsAtRequest(Fault):
    """One or more signals when a request has arrived; the request is then carried out."""

    def __init__(self, number: int, signals: Sequence[signal.Signals]) -> None:
        self.name = "-".join(item.name.lower() for item in signals)
        self._number = number
        self._signals = signals

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number == self._number:
            for place, number in enumerate(self._signals):
                scene.interrupt(number, _AGAIN if place else _FIRST)
            scene.circumstances.stops_run = True
            scene.circumstances.asked_to_stop = arrival.number
        return None


class DiskAt(Fault):
    """A disk that fails, or a process that dies, at one call."""

    def __init__(self, fault: DiskFault, call: str) -> None:
        self.name = f"{call.partition(' ')[0]}-{fault.how}"
        self.fault = fault

    def begin(self, scene: Scene) -> None:
        kills = self.fault.how in ("kill", "torn", "late")
        scene.circumstances.killed |= kills
        scene.circumstances.disk |= not kills
        scene.circumstances.stops_run = True


class ClockJumps(Fault):
    """A wall clock that jumps a day at each of several looks at it."""

    def __init__(self, name: str, jumps: dict[int, float]) -> None:
        self.name = name
        self.jumps = jumps

    def begin(self, scene: Scene) -> None:
        scene.circumstances.jumps = True
