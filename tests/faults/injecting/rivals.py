"""A second run of the tool beside the first: on the same host, and on another."""

import signal
import time
from pathlib import Path

from aim_rehearsal.apiserver import Request, Response
from tests.faults.checking.evidence import Arrival
from tests.faults.checking.journal import ended_units
from tests.faults.injecting.scene import Fault, Scene

_SUSPENDED_SECONDS = 0.05


class SecondApply(Fault):
    """Somebody starts the same plan once more while a request of the first run is under way."""

    name = "second-apply"

    def __init__(self, number: int) -> None:
        self._number = number
        self.complaints: list[str] = []

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number != self._number:
            return None
        stage, plan = scene.stage, scene.plan_directory
        job = stage.job(plan, ("apply", "--plan", str(plan), "--commit"), "second", kubeconfig=stage.rival_kubeconfig)
        ending = stage.rival.run(job)
        said = Path(job.err).read_text()
        if ending.code != 4:
            self.complaints.append(f"a second apply ended with {ending.code}: {said}")
        for words in ("still lives on this host", str(scene.running.pid)):
            if words not in said:
                self.complaints.append(f"a second apply does not say {words!r}: {said}")
        if stage.audit().requests("rival"):
            self.complaints.append("a second apply asked the cluster although the lock was held")
        return None


class OtherHost(Fault):
    """Somebody runs a copy of the plan on another host to its end while a request of this run is under way."""

    name = "other-host"

    def __init__(self, number: int) -> None:
        self._number = number
        self.complaints: list[str] = []

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number != self._number:
            return None
        stage, copy = scene.stage, scene.stage.plan_directory()
        argv = ("apply", "--plan", str(copy), "--commit", "--parallel", "2")
        job = stage.job(copy, argv, "other", kubeconfig=stage.rival_kubeconfig)
        scene.circumstances.shared = True
        scene.circumstances.finished |= ended_units(arrival.journal)
        # Protecting what is protected already has no effect, and is no second write.
        scene.circumstances.touched |= {key for key in stage.before if key[0] == "AIMArtifact"}
        ending = stage.rival.run(job)
        if ending.code not in (0, 3):
            self.complaints.append(f"the run on the other host ended with {ending.code}: {Path(job.err).read_text()}")
        return None


class Suspended(Fault):
    """The process is stopped when a request has arrived, and goes on; by its own clock a minute has passed."""

    name = "suspended"

    def __init__(self, number: int) -> None:
        self._number = number

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        if arrival.number == self._number:
            scene.circumstances.jumps = True  # the run's clock is then ahead of the server's
            scene.running.signal(signal.SIGSTOP)
            time.sleep(_SUSPENDED_SECONDS)
            scene.running.signal(signal.SIGCONT)
            scene.wait_until_resumed()
        return None
