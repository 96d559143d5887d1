"""One point of the campaign: a run with a fault, what it leaves, and what an administrator does then."""

import contextlib
import json
import re
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.faults.checking.checker import Checker, Target
from tests.faults.checking.evidence import Circumstances, File, Objects, RunEvidence
from tests.faults.checking.expecting import Expectation, nothing
from tests.faults.checking.planned import read_plan
from tests.faults.checking.requests import count_writes
from tests.faults.child.disk import MOMENT, SIZE, DiskFault
from tests.faults.injecting.answers import LEAKED
from tests.faults.injecting.scene import Fault, Scene
from tests.faults.stage.stage import Stage
from tests.support.audit import AuditTrail

if TYPE_CHECKING:
    from collections import Counter

_SYNCED = struct.Struct("qd")
_WAY_OUT = re.compile(r"^hint: .*?((?:mkdir|rm) .*)$", re.MULTILINE)
_TRIES = 4
_RESULT, _JOURNAL = "apply-result.json", "apply-result.json.journal.jsonl"


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
            does, ``none`` where nothing is tried, and ``safe`` where a rerun must only do no harm.
    """

    world: str
    commit: bool
    place: str
    fault: Callable[[], Fault]
    expects: Expectation = nothing
    recovery: str = "rerun"


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
    """

    run: RunEvidence
    disk_calls: tuple[str, ...]
    after: Objects


class Player:
    """Plays points on one stage.

    Args:
        stage: the stage.
        thorough: what an administrator does after a fault is played after every one, and not only once for each state
            of cluster and files that faults leave.
    """

    def __init__(self, stage: Stage, *, thorough: bool = False) -> None:
        self._stage = stage
        self._thorough = thorough
        self._recordings: dict[bool, Recording] = {}
        self._recovered: dict[tuple[str, ...], Counter[Target]] = {}

    def record(self, *, commit: bool) -> Recording:
        """Return a run without any fault, which is made once; nothing that is taken from it depends on UIDs."""
        if commit not in self._recordings:
            self._stage.reset()
            directory = self._stage.plan_directory()
            scene = self._scene(directory)
            run = self._run(scene, Fault(), commit=commit, name="clean run")
            if run.code != 0:
                raise AssertionError(f"the run without faults ended with {run.code}: {run.err}")
            calls = json.loads((directory.parent / "clean-run.disk").read_text())
            self._recordings[commit] = Recording(run, tuple(calls), self._stage.observe())
            shutil.rmtree(directory.parent)
        return self._recordings[commit]

    def play(self, point: Point) -> Verdict:
        """Play one point."""
        clean = self.record(commit=True)
        stage, fault = self._stage, point.fault()
        stage.reset()
        checker = self._checker(clean)
        directory = stage.plan_directory()
        scene = self._scene(directory)
        run = self._run(scene, fault, commit=point.commit, name="run")
        after = stage.observe()
        circumstances = scene.circumstances
        found = list(checker.check_run(run, after, circumstances))
        found += checker.check_once(run, circumstances)
        found += [f"run: {what}" for what in point.expects(run, checker.plan, circumstances)]
        if point.recovery != "none":
            fault.gone(scene)
            found += self._recover(point, checker, scene, run)
        if not found:
            shutil.rmtree(directory.parent)
        return Verdict(point, fault.name, tuple(found), directory.parent)

    def _checker(self, clean: Recording) -> Checker:
        stage = self._stage
        secrets = (stage.token.encode(), LEAKED.encode())
        return Checker(read_plan(stage.plan_bytes), stage.before, clean.after, count_writes(clean.run.audit), secrets)

    def _recover(self, point: Point, checker: Checker, scene: Scene, run: RunEvidence) -> Iterator[str]:
        """Recover, unless another fault left the same and recovery led to a good end."""
        excused = replace(scene.circumstances, killed=False, stops_run=False, disk=False, falsified=set())
        left = sorted(name for name in run.files if name.startswith("apply"))
        key = (point.recovery, self._stage.state(), *left)
        known = self._recovered.get(key)
        written = count_writes(run.audit)
        if known is not None and not self._thorough:
            if point.recovery == "rerun":
                yield from checker.check_writes("rerun, as after another fault", written + known, excused)
            return
        found = []
        for what in self._rerun(point, checker, scene, excused):
            found.append(what)
            yield what
        if not found:
            self._recovered[key] = count_writes(AuditTrail.read(self._stage.audit_path)) - written

    def _rerun(self, point: Point, checker: Checker, scene: Scene, excused: Circumstances) -> Iterator[str]:
        """Do what the tool's messages say, and run it again until it starts; then check what that led to."""
        afterwards = Scene(scene.stage, scene.plan_directory, scene.err)
        run = None
        for number in range(_TRIES):
            run = self._run(afterwards, Fault(), commit=True, name=f"rerun {number}" if number else "rerun")
            if run.code != 4:
                break
            yield from self._refused(run, excused, checker)
            way_out = _WAY_OUT.search(run.err)
            if way_out is None:
                break
            subprocess.run(["sh", "-c", way_out[1]], check=True, capture_output=True)
        assert run is not None
        yield from checker.check_run(run, scene.stage.observe(), excused)
        yield from checker.check_once(run, excused)
        if point.recovery == "rerun":
            yield from checker.check_all_done(run, excused)
        elif point.recovery == "replan":
            yield from self._plan_again(scene, excused)

    def _refused(self, run: RunEvidence, circumstances: Circumstances, checker: Checker) -> Iterator[str]:
        if any(arrival.mutating for arrival in run.arrivals):
            yield f"{run.name}: it was refused, but sent writes"
        yield from checker.check_run(run, self._stage.observe(), circumstances)

    def _plan_again(self, scene: Scene, circumstances: Circumstances) -> Iterator[str]:
        """Make a new plan of what is there now, and apply it."""
        stage = self._stage
        directory = scene.plan_directory.parent / "second-plan"
        before = stage.observe()
        stage.make_plan(directory)
        fresh = Scene(stage, directory, directory.parent / "second.err")
        run = self._run(fresh, Fault(), commit=True, name="second plan", since_reset=False)
        plan = read_plan((directory / "plan.json").read_bytes())
        checker = Checker(plan, before, self._recordings[True].after, count_writes(run.audit))
        yield from checker.check_run(run, stage.observe(), replace(circumstances, rolls=False, touched=set()))
        yield from checker.check_all_done(run, Circumstances())

    def _scene(self, directory: Path) -> Scene:
        return Scene(self._stage, directory, directory.parent / "run.err")

    def _run(self, scene: Scene, fault: Fault, *, commit: bool, name: str, since_reset: bool = True) -> RunEvidence:
        """Run apply once, with a fault, and gather what there is to see of it."""
        stage, directory = self._stage, scene.plan_directory
        file_name = name.replace(" ", "-")
        argv = ("apply", "--plan", str(directory), *(("--commit",) if commit else ()), *fault.options)
        disk: DiskFault | None = getattr(fault, "fault", None)
        job = stage.job(directory, argv, file_name, disk=disk, jumps=getattr(fault, "jumps", {}))
        scene.err = Path(job.err)
        start = 0 if since_reset else stage.audit_path.stat().st_size
        fault.begin(scene)

        def look(arrival):
            arrival.journal = _bytes(directory / _JOURNAL)
            arrival.result = _bytes(directory / _RESULT)
            arrival.synced = _read_synced(Path(job.synced))[0]

        def after(arrival, request, response):
            if arrival.mutating and not arrival.dry_run and arrival.accepted:
                stage.operator.work()
            return fault.after(scene, arrival, request, response)

        stage.witness.begin(look, lambda arrival, request: fault.before(scene, arrival, request), after)
        running = stage.launcher.start(job, lambda seconds: fault.slept(scene, seconds))
        scene.started(running)
        ending = running.wait()
        scene.circumstances.disk_failed_at = _read_synced(Path(job.synced))[1]
        return RunEvidence(
            name=name,
            commit=commit,
            code=ending.code,
            out=_text(Path(job.out)),
            err=_text(Path(job.err)),
            arrivals=tuple(stage.witness.arrivals),
            files=_files(directory),
            audit=AuditTrail.read(stage.audit_path, start),
        )


def _files(directory: Path) -> dict[str, File]:
    return {
        path.name: File(path.stat().st_mode & 0o7777, path.read_bytes())
        for path in sorted(directory.iterdir())
        if path.is_file()
    }


def _read_synced(path: Path) -> tuple[int, float]:
    data = _bytes(path).ljust(SIZE.size + MOMENT.size, b"\0")
    size, moment = _SYNCED.unpack(data[: _SYNCED.size])
    return size, moment


def _bytes(path: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""


def _text(path: Path) -> str:
    return _bytes(path).decode(errors="replace")
