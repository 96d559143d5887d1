"""One point of the campaign: a run with a fault, what it leaves, and what an administrator does then."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from aim_rehearsal.apiserver import Request, Response
from tests.faults.checking.checker import Checker
from tests.faults.checking.evidence import Arrival, Circumstances, Objects, RunEvidence
from tests.faults.checking.expecting import Expectation, nothing
from tests.faults.checking.planned import read_plan
from tests.faults.checking.requests import count_writes
from tests.faults.injecting.answers import LEAKED
from tests.faults.injecting.scene import Fault, Scene
from tests.faults.recovering import Recovery
from tests.faults.running import apply, disk_calls
from tests.faults.stage.stage import Stage


@dataclass(frozen=True, slots=True)
class Point:
    """Where a fault acts, and what must come of it.

    Attributes:
        world: the world.
        commit: whether the run commits.
        place: where, in words.
        fault: makes the fault.
        expects: what is expected of the run itself.
        recovery: ``rerun`` where the plan must lead to the end once the fault is gone, ``replan`` where only a new one
            does, ``safe`` where a rerun must only do no harm, ``none`` where nothing is tried, and ``told`` where the
            fault knows.
        options: further arguments of the command line.
    """

    world: str
    commit: bool
    place: str
    fault: Callable[[], Fault]
    expects: Expectation = nothing
    recovery: str = "rerun"
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a point.

    Attributes:
        point: the point.
        fault: the fault's name.
        violations: what was violated.
        directory: what the runs left, kept where something was violated.
    """

    point: Point
    fault: str
    violations: tuple[str, ...]
    directory: Path

    def __str__(self) -> str:
        mode = "commit" if self.point.commit else "dry run"
        said = "".join(f"\n    {what}" for what in self.violations)
        return f"{self.point.world}, {mode}, {self.fault} at {self.point.place} ({self.directory}):{said}"


@dataclass(frozen=True, slots=True)
class Recording:
    """A run without any fault.

    Attributes:
        run: the run.
        disk_calls: what it did with its files, in order.
        after: the objects after it.
        moments: what files and cluster were like when each request arrived; equal ones are the same for a kill.
    """

    run: RunEvidence
    disk_calls: tuple[str, ...]
    after: Objects
    moments: tuple[tuple[int, ...], ...]


class Moments(Fault):
    """No fault: notes what files and cluster are like whenever a request arrives."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []

    def before(self, scene: Scene, arrival: Arrival, request: Request) -> Response | None:
        files = [path.stat() for path in sorted(scene.plan_directory.iterdir())]
        facts = (number for file in files for number in (file.st_ino, file.st_size, file.st_mtime_ns))
        self.seen.append((*facts, scene.stage.server.store.revision))
        return None


class Player:
    """Plays points on one stage.

    Args:
        stage: the stage.
        thorough: what an administrator does after a fault is played after every one, and not only once for each state
            of cluster and files that faults leave.
    """

    def __init__(self, stage: Stage, *, thorough: bool = False) -> None:
        self._stage = stage
        self._recovery = Recovery(thorough=thorough)
        self._recordings: dict[bool, Recording] = {}

    def record(self, *, commit: bool) -> Recording:
        """Return a run without any fault, which is made once; nothing that is taken from it depends on UIDs."""
        if commit not in self._recordings:
            self._stage.reset()
            scene = self._scene()
            moments = Moments()
            run = apply(scene, moments, commit=commit, name="clean run")
            if run.code != 0:
                raise AssertionError(f"the run without faults ended with {run.code}: {run.err}")
            calls = tuple(json.loads(disk_calls(scene, run.name).read_text()))
            self._recordings[commit] = Recording(run, calls, self._stage.observe(), tuple(moments.seen))
            shutil.rmtree(scene.plan_directory.parent)
        return self._recordings[commit]

    def play(self, point: Point) -> Verdict:
        """Play one point."""
        clean = self.record(commit=True)
        stage, fault = self._stage, point.fault()
        stage.reset()
        checker = self._checker(clean)
        scene = self._scene()
        run = apply(scene, fault, commit=point.commit, name="run", options=point.options)
        circumstances = scene.circumstances
        found = [f"run: {what}" for what in did_not_happen(point.place, run, circumstances)]
        found += checker.check_run(run, stage.observe(), circumstances)
        found += checker.check_once(run, circumstances)
        found += [f"run: {what}" for what in point.expects(run, checker.plan, circumstances)]
        found += [f"run: {what}" for what in fault.complaints]
        how = fault.recovery if point.recovery == "told" else point.recovery
        if how != "none":
            fault.gone(scene)
            found += self._recovery.recover(how, checker, scene, run, clean.after)
        directory = scene.plan_directory.parent
        if not found:
            shutil.rmtree(directory)
        return Verdict(point, fault.name, tuple(found), directory)

    def _checker(self, clean: Recording) -> Checker:
        stage = self._stage
        secrets = (stage.token.encode(), LEAKED.encode())
        return Checker(read_plan(stage.plan_bytes), stage.before, clean.after, count_writes(clean.run.audit), secrets)

    def _scene(self) -> Scene:
        directory = self._stage.plan_directory()
        return Scene(self._stage, directory, directory.parent / "run.err")


def did_not_happen(place: str, run: RunEvidence, circumstances: Circumstances) -> Iterator[str]:
    """Yield why a fault did not happen where it was to, so that nothing is proved by the run."""
    number, _, what = place.removeprefix("request ").partition(", ")
    if place.startswith("request "):
        arrival = next((item for item in run.arrivals if item.number == int(number)), None)
        # Definitions are read side by side, in any order.
        if arrival is None or (str(arrival) != what and (arrival.mutating or not what.startswith("GET "))):
            yield f"the fault did not happen: request {number} was {arrival or 'never sent'}, not {what}"
    elif place.startswith("disk call ") and not circumstances.disk_failed_at:
        yield f"the fault did not happen: there was no {place}"
