"""A commit in which a fault comes up, what an administrator does then, and the rerun."""

import threading
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aim_rehearsal.faults import Trouble
from aim_template_migration.applying.events import Listener
from aim_template_migration.applying.lock import LOCK_NAME
from aim_template_migration.applying.plan_files import RESULT_NAME, PlanFiles, PlanRejected, journal_path
from aim_template_migration.applying.run import ApplyOutcome
from aim_template_migration.documents.inspection import InspectedUnit, Inspection
from aim_template_migration.documents.private_files import read
from aim_template_migration.documents.rehearsal import FaultAnswer, RehearsedFault
from aim_template_migration.documents.result import ApplyResult, decode_result
from aim_template_migration.rehearsing.events import Audience, FaultAnswered, PlanMade, RunBegins, RunEnded
from aim_template_migration.rehearsing.faults import ChosenFault
from aim_template_migration.rehearsing.observation import ServiceFacts
from aim_template_migration.rehearsing.stage import Stage

_SECOND_PLAN = "plan-again"
Services = dict[str, ServiceFacts]


@dataclass(frozen=True, slots=True)
class FaultEnding:
    """How a commit with a fault and its rerun ended.

    Attributes:
        commit: the commit with the fault, None where its process was killed.
        rerun: the rerun, None where the run was stopped before.
        fault: what the report says.
        files: the plan that ran last.
    """

    commit: ApplyOutcome | None
    rerun: ApplyOutcome | None
    fault: RehearsedFault
    files: PlanFiles


class FaultedCommit:
    """One commit with a fault, on a stage whose plan has been made and dry-run.

    Args:
        stage: the stage.
        chosen: the fault.
        files: the plan.
        before: the services before planning.
        audience: follows the chapters.
        listener: watches the steps.
        stop: set to stop after the requests in flight.
    """

    def __init__(
        self,
        stage: Stage,
        chosen: ChosenFault,
        files: PlanFiles,
        before: Services,
        *,
        audience: Audience,
        listener: Listener,
        stop: threading.Event,
    ) -> None:
        self._stage = stage
        self._chosen = chosen
        self._files = files
        self._before = before
        self._audience = audience
        self._listener = listener
        self._stop = stop

    def run(self) -> FaultEnding:
        """Commit, let the fault come up, do what an administrator does, and run again.

        Raises:
            PlanRejected: a run was not started.
            PlanningError: the second plan can't be made.
        """
        self._stage.arm()
        self._audience(RunBegins(commit=True, fault=self._chosen))
        outcome: ApplyOutcome | None = None
        result: ApplyResult | None
        if self._chosen.fault.trouble is Trouble.KILL:
            result, refusal = self._killed()
        else:
            outcome = self._committed()
            result, refusal = outcome.result, ""
        stopped = self._stop.is_set() or (outcome is not None and outcome.interrupted)
        answered = self._answered(result, rerun=not stopped)
        if stopped or result is None:
            return FaultEnding(outcome, None, answered, self._files)
        inspected = self._inspected(answered)
        archive = self._archive(result)
        self._audience(FaultAnswered(self._chosen, answered, inspected, refusal, archive))
        self._mend()
        rerun = self._reran()
        return FaultEnding(outcome, rerun, answered, self._files)

    def _committed(self) -> ApplyOutcome:
        outcome = self._stage.apply(commit=True, listener=self._listener, stop=self._stop)
        self._audience(RunEnded(True, outcome, self._before, self._stage.observe()))
        return outcome

    def _killed(self) -> tuple[ApplyResult | None, str]:
        """Commit in a process of its own, which the fault kills; return what it left, and what the next apply says.

        It leaves nothing where it was stopped before it had begun.

        Raises:
            PlanRejected: it did not begin, and nobody had stopped it.
        """
        arguments = self._arguments()
        ended = self._stage.child.run(arguments, self._stop)
        path = self._files.directory / RESULT_NAME
        if not path.exists():
            if self._stop.is_set():
                return None, ""
            raise PlanRejected(f"apply, as a process of its own, did not begin: {_sentence(ended.errors)}")
        result = decode_result(read(path))
        if ended.code >= 0 or self._stop.is_set():
            return result, ""
        return result, _sentence(self._stage.child.run(arguments, self._stop).errors)

    def _arguments(self) -> list[str]:
        """Return the arguments of apply as a process."""
        tuning, stage = self._stage.options.tuning, self._stage
        arguments = ["apply", "--plan", str(self._files.directory), "--commit", "--parallel", str(stage.parallel)]
        arguments += ["--kubeconfig", str(stage.tool_kubeconfig()), "--soak", _duration(tuning.soak_seconds)]
        arguments += [part for unit in tuning.only for part in ("--only", unit)]
        optional: tuple[tuple[str, str], ...] = (
            ("--limit", str(tuning.limit or "")),
            ("--stop-before", tuning.stop_before),
            ("--request-timeout", _duration(stage.request_seconds)),
            ("--cutover-deadline", _duration(tuning.cutover_deadline_seconds)),
        )
        arguments += [part for option, value in optional if value for part in (option, value)]
        return [*arguments, *(["--fail-fast"] if tuning.fail_fast else [])]

    def _answered(self, result: ApplyResult | None, *, rerun: bool) -> RehearsedFault:
        ended = [
            FaultAnswer(unit.id, unit.status, unit.code, unit.next_step)
            for unit in (result.units if result else ())
            if unit.disposition == "automatic" or self._chosen.fault.plans_again
        ]
        next_step = self._chosen.fault.next_step(self._chosen.step)
        known = {answer.id for answer in ended}
        in_flight = [
            FaultAnswer(attempt.unit, "inFlight", "", next_step)
            for attempt in (result.in_flight if result else ())
            if attempt.unit not in known
        ]
        hook = self._stage.fault
        return RehearsedFault(
            name=self._chosen.fault.name,
            step=self._chosen.step,
            happened=hook.happened if hook is not None else True,
            answers=(*ended, *in_flight),
            rerun=rerun,
        )

    def _inspected(self, answered: RehearsedFault) -> tuple[InspectedUnit, ...]:
        """Look with the tool's own inspect, where a unit did not succeed; return what needs attention."""
        if all(answer.status in ("succeeded", "manual") for answer in answered.answers):
            return ()
        place = ["--plan", str(self._files.directory), "--kubeconfig", str(self._stage.tool_kubeconfig())]
        ended = self._stage.child.run(["inspect", *place, "-o", "json"], self._stop)
        try:
            inspection = msgspec.json.decode(ended.output, type=Inspection)
        except msgspec.MsgspecError:
            return ()  # it has said why on its stderr; the records are archived all the same
        return tuple(unit for unit in inspection.units if unit.attention)

    def _archive(self, result: ApplyResult) -> Path:
        """Move result, journal and the lock of a killed process aside, names unchanged, as an administrator does."""
        directory = self._files.directory
        archive = directory / "archive" / result.run_id
        archive.mkdir(mode=0o700, parents=True)
        path = directory / RESULT_NAME
        for file in (path, journal_path(path), directory / LOCK_NAME):
            if file.exists():
                file.rename(archive / file.name)
        return archive

    def _mend(self) -> None:
        """Let the operator behave from now on, and plan again where only a new plan helps."""
        if self._chosen.fault.misbehaviour is not None:
            self._stage.session.mend_operator()
        if self._chosen.fault.plans_again:
            self._files = self._stage.plan(self._files.directory / _SECOND_PLAN)
            self._audience(PlanMade(self._files))

    def _reran(self) -> ApplyOutcome:
        self._audience(RunBegins(commit=True, rerun=True))
        outcome = self._stage.apply(
            commit=True, listener=self._listener, stop=self._stop, directory=self._files.directory
        )
        self._audience(RunEnded(True, outcome, self._before, self._stage.observe()))
        return outcome


def _sentence(said: str) -> str:
    """Return what a command said of its error, without what stands before it."""
    return said[max(said.find("error:"), 0) :].strip()


def _duration(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:.0f}ms"
