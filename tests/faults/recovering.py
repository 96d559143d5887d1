"""What an administrator does after a fault: look, archive, remove a dead lock, run again, plan again, verify.

Only what the tool's own messages say is done. It is done once for each state of cluster and files that faults leave,
since what comes of it depends on nothing else; a thorough campaign does it after every fault.
"""

import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.faults.checking.checker import Checker, Target
from tests.faults.checking.evidence import Circumstances, Objects, RunEvidence
from tests.faults.checking.journal import open_attempts, read_journal
from tests.faults.checking.planned import read_plan
from tests.faults.checking.reading import check_inspection, check_verification
from tests.faults.checking.requests import count_writes
from tests.faults.injecting.scene import Fault, Scene
from tests.faults.running import apply, run_command

if TYPE_CHECKING:
    from collections import Counter

_WAY_OUT = re.compile(r"^hint: .*?((?:mkdir|rm) .*)$", re.MULTILINE)
_TRIES = 4
_NOT_STARTED = 4
_VERIFY_EXCUSED = frozenset({"safe"})


class Recovery:
    """Recovers on one stage.

    Args:
        thorough: after every fault, and not only once for each state that faults leave.
    """

    def __init__(self, *, thorough: bool) -> None:
        self._thorough = thorough
        self._known: dict[tuple[str, ...], Counter[Target]] = {}

    def recover(self, how: str, checker: Checker, scene: Scene, run: RunEvidence, clean: Objects) -> Iterator[str]:
        """Recover, unless another fault left the same and recovery led to a good end; yield what is violated.

        Args:
            how: ``rerun``, ``replan`` or ``safe``, as a point says.
            checker: the checker of the plan.
            scene: the run's scene.
            run: the run.
            clean: the objects after a commit without any fault.
        """
        excused = replace(scene.circumstances, killed=False, stops_run=False, disk=False, falsified=set())
        key = (how, scene.stage.state(), *_left(run))
        known = self._known.get(key)
        written = count_writes(run.audit)
        if known is not None and not self._thorough:
            if how == "rerun":
                yield from checker.check_writes("rerun, as after another fault", written + known, excused)
            return
        found = []
        for what in self._do(how, checker, scene, run, excused, clean):
            found.append(what)
            yield what
        if not found:
            self._known[key] = count_writes(scene.stage.audit()) - written

    def _do(
        self, how: str, checker: Checker, scene: Scene, run: RunEvidence, excused: Circumstances, clean: Objects
    ) -> Iterator[str]:
        afterwards = Scene(scene.stage, scene.plan_directory, scene.err)
        if run.journal is not None and run.code != _NOT_STARTED:
            yield from self._inspect(afterwards, run, checker, excused)
        last = yield from self._run_until_started(afterwards, checker, excused)
        yield from checker.check_run(last, scene.stage.observe(), excused)
        yield from checker.check_once(last, excused)
        if how == "rerun":
            yield from checker.check_all_done(last, excused)
            yield from self._verify(afterwards, checker)
        elif how == "replan":
            yield from self._plan_again(scene, excused, clean)

    def _run_until_started(self, scene: Scene, checker: Checker, excused: Circumstances) -> Iterator[str]:
        """Run again, and follow what a refusal says, until a run is started; return that run."""
        for number in range(_TRIES):
            run = apply(scene, Fault(), commit=True, name=f"rerun {number}" if number else "rerun")
            if run.code != _NOT_STARTED:
                return run
            if any(arrival.mutating for arrival in run.arrivals):
                yield f"{run.name}: it was refused, but sent writes"
            yield from checker.check_run(run, scene.stage.observe(), excused)
            way_out = _WAY_OUT.search(run.err)
            if way_out is None:
                return run
            subprocess.run(["sh", "-c", way_out[1]], check=True, capture_output=True)
        return run

    @staticmethod
    def _inspect(scene: Scene, run: RunEvidence, checker: Checker, excused: Circumstances) -> Iterator[str]:
        argv = ("inspect", "--plan", str(scene.plan_directory), "-o", "json")
        looked = run_command(scene, Fault(), argv, commit=False, name="inspect")
        yield from check_inspection(looked, run, excused, checker.secrets)

    @staticmethod
    def _verify(scene: Scene, checker: Checker) -> Iterator[str]:
        argv = ("verify", "--plan", str(scene.plan_directory), "-o", "json")
        looked = run_command(scene, Fault(), argv, commit=False, name="verify")
        yield from check_verification(looked, checker.plan, checker.secrets)

    @staticmethod
    def _plan_again(scene: Scene, excused: Circumstances, clean: Objects) -> Iterator[str]:
        """Make a new plan of what is there now, and apply it."""
        stage = scene.stage
        directory = scene.plan_directory.parent / "second-plan"
        before, position = stage.observe(), stage.audit_position()
        stage.make_plan(directory)
        run = apply(Scene(stage, directory, scene.err), Fault(), commit=True, name="second plan")
        run = replace(run, audit=stage.audit(position))
        plan = read_plan((directory / "plan.json").read_bytes())
        checker = Checker(plan, before, clean, count_writes(run.audit))
        yield from checker.check_run(run, stage.observe(), replace(excused, rolls=False, touched=set()))
        yield from checker.check_all_done(run, Circumstances())


def _left(run: RunEvidence) -> tuple[str, ...]:
    """Return which files of apply are left, and which attempts are open in the journal."""
    names = sorted(name for name in run.files if name.startswith("apply"))
    waiting = open_attempts(read_journal(run.journal or b"").entries)
    return (*names, *sorted(f"{item['unit']} {item['step']} {item['facts']['dryRun']}" for item in waiting))
