"""Applying a plan from start to end: lock, preflight, run, result."""

import secrets
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.applying.clock import Clock, SystemClock
from aim_template_migration.applying.context import RunContext, RunSettings
from aim_template_migration.applying.engine import Engine
from aim_template_migration.applying.events import Listener, RunStarted, UnitFinished
from aim_template_migration.applying.failures import RunFault, RunStopped
from aim_template_migration.applying.journal import Journal, JournalError
from aim_template_migration.applying.lock import ApplyLock, LockHeldError
from aim_template_migration.applying.plan_files import (
    RESULT_NAME,
    PlanFiles,
    PlanRejected,
    journal_path,
    plan_path,
    read_plan,
)
from aim_template_migration.applying.preflight import (
    require_no_dedicated,
    require_no_result,
    require_same_cluster,
    require_sound_plan,
)
from aim_template_migration.applying.revalidate import Revalidator
from aim_template_migration.applying.running_result import RunningResult
from aim_template_migration.applying.schedule import CutoverGate
from aim_template_migration.applying.writer import Writer
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import API_VERSION, STEP_NAMES, Plan, Unit
from aim_template_migration.documents.private_files import PrivateFileError, read
from aim_template_migration.documents.result import (
    KIND,
    SCHEMA_URI,
    ApplyResult,
    ResultError,
    UnitResult,
    WorkloadFacts,
    count_units,
    decode_result,
)
from aim_template_migration.kube import Cluster
from aim_template_migration.planning.assess import Settings
from aim_template_migration.version import __version__


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """What was asked of apply; see the command's own help for each.

    Attributes:
        plan: plan directory or plan file.
        commit: write for real.
        result: where the result goes; None for the default beside the plan.
        plan_sha256: the approved SHA-256 of the plan file, or empty.
        only: unit ids to run, empty for all.
        limit: at most so many automatic units, None for all.
        fail_fast: start no unit after one has failed.
        stop_before: step before which units stop, or empty.
        parallel: units side by side.
        soak_seconds: when the pods are looked at again.
        cutover_deadline_seconds: how long an operator may take to observe a cutover; at most 600.
        baseline: an archived result whose pods a rerun compares with.
        command: the command line, for the lock.
    """

    plan: Path
    commit: bool = False
    result: Path | None = None
    plan_sha256: str = ""
    only: tuple[str, ...] = ()
    limit: int | None = None
    fail_fast: bool = False
    stop_before: str = ""
    parallel: int = 1
    soak_seconds: float = 30.0
    cutover_deadline_seconds: float = 60.0
    baseline: Path | None = None
    command: str = ""


@dataclass(frozen=True, slots=True)
class ApplyOutcome:
    """How an apply ended.

    Attributes:
        result: the complete result.
        result_path: where it was written.
        fault: why the run stopped early, if it did.
        interrupted: whether it was asked to stop.
    """

    result: ApplyResult
    result_path: Path
    fault: RunFault | None
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """The exit code, the first that applies: 130 interrupted, 5 unknown outcome, 3 some unit failed, 0 all done."""
        counts = self.result.counts
        if self.interrupted:
            return 130
        if counts["unknown"]:
            return 5
        return 3 if self.fault or counts["failed"] or counts["interrupted"] else 0


def apply_plan(
    options: ApplyOptions,
    connect: Callable[[], Cluster],
    *,
    listener: Listener,
    stop: threading.Event,
    clock: Clock | None = None,
) -> ApplyOutcome:
    """Apply a plan, or ask admission to validate it.

    Args:
        options: what was asked.
        connect: opens the connection; called once the files were found sound.
        listener: watches the run.
        stop: set to stop after the requests in flight.
        clock: the time; the machine's by default.

    Raises:
        PlanRejected: nothing was started.
        ClusterError: nothing was started, since the cluster can't be reached or read.
    """
    run_id = secrets.token_hex(8)
    path = plan_path(options.plan)
    result_path = options.result or path.parent / RESULT_NAME
    if not path.parent.is_dir():
        raise PlanRejected(f"{path.parent} is no directory; name a plan directory or its plan.json with --plan")
    try:
        with ApplyLock(path.parent, run_id, options.command) as lock:
            require_no_result(result_path)
            files = read_plan(path)
            require_sound_plan(files, options.plan_sha256)
            selected = _select(files.plan, options)
            baseline = _baseline(options.baseline)
            cluster = connect()
            require_same_cluster(files.plan, cluster)
            require_no_dedicated(files.plan, cluster)
            run = _Run(options, files, selected, run_id, result_path, listener, stop, clock or SystemClock(stop))
            return run.execute(cluster, baseline, lock)
    except LockHeldError as error:
        raise PlanRejected(str(error)) from error
    except OSError as error:
        raise PlanRejected(f"{path.parent / 'apply.lock'} can't be made: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class _Run:
    options: ApplyOptions
    files: PlanFiles
    selected: tuple[Unit, ...]
    run_id: str
    result_path: Path
    listener: Listener
    stop: threading.Event
    clock: Clock

    def execute(self, cluster: Cluster, baseline: dict[str, WorkloadFacts], lock: ApplyLock) -> ApplyOutcome:
        del lock  # held by the caller for the run's whole life
        plan, options = self.files.plan, self.options
        try:
            journal = Journal(journal_path(self.result_path), self.clock)
            running = RunningResult(self.result_path, self._empty_result(), tuple(unit.id for unit in plan.units))
        except JournalError as error:
            raise PlanRejected(str(error)) from error
        except RunStopped as stopped:
            raise PlanRejected(stopped.fault.message) from stopped
        with closing(journal):
            self._begin(journal)
            context = RunContext(
                plan=plan,
                settings=RunSettings(
                    commit=options.commit,
                    soak_seconds=options.soak_seconds,
                    cutover_deadline_seconds=options.cutover_deadline_seconds,
                    stop_before=options.stop_before,
                    baseline=baseline,
                ),
                cluster=cluster,
                writer=Writer(cluster, journal, running, self.clock),
                journal=journal,
                clock=self.clock,
                revalidator=Revalidator(cluster, plan, _settings_of(plan), self.clock),
                gate=CutoverGate([unit.id for unit in self.selected]),
                listener=self.listener,
                stop=self.stop,
            )
            self._record_others(running)
            fault = Engine(context, running, parallel=options.parallel, fail_fast=options.fail_fast).run(self.selected)
            return self._end(journal, running, fault)

    def _begin(self, journal: Journal) -> None:
        mode = "commit" if self.options.commit else "dry-run"
        facts = {"runId": self.run_id, "mode": mode, "planSha256": self.files.sha256, "toolVersion": __version__}
        try:
            journal.append("runStarted", facts={**facts})
        except JournalError as error:
            raise PlanRejected(str(error)) from error
        self.listener(RunStarted(self.run_id, mode, self.files.sha256, len(self.files.plan.units)))

    def _record_others(self, running: RunningResult) -> None:
        """Record the units that are not run: manual ones, ones to skip, and ones that were not selected."""
        chosen = {unit.id for unit in self.selected}
        for unit in self.files.plan.units:
            if unit.id not in chosen:
                result = _not_run(unit)
                running.finish_unit(result)
                self.listener(UnitFinished(result))

    def _end(self, journal: Journal, running: RunningResult, fault: RunFault | None) -> ApplyOutcome:
        finished_at = self.clock.now()
        stopped = fault.message if fault else "interrupted" if self.stop.is_set() else ""
        try:
            journal.append("runFinished", facts={"counts": {**count_units(running.results())}})
        except JournalError as error:
            fault = fault or RunFault("JournalNotWritable", str(error))
        try:
            result = running.complete(finished_at, stopped)
        except RunStopped as cause:
            fault = fault or cause.fault
            result = running.snapshot(finished_at, stopped)
        return ApplyOutcome(result, self.result_path, fault, interrupted=self.stop.is_set() and fault is None)

    def _empty_result(self) -> ApplyResult:
        plan = self.files.plan
        return ApplyResult(
            schema=SCHEMA_URI,
            api_version=API_VERSION,
            kind=KIND,
            tool_version=__version__,
            run_id=self.run_id,
            mode="commit" if self.options.commit else "dry-run",
            state="incomplete",
            plan_id=plan.plan_id,
            plan_sha256=self.files.sha256,
            started_at=self.clock.now(),
            finished_at="",
            journal=journal_path(self.result_path).name,
            counts=count_units(()),
        )


def _select(plan: Plan, options: ApplyOptions) -> tuple[Unit, ...]:
    """Return the automatic units to run, in plan order.

    Raises:
        PlanRejected: the plan has no units, ``only`` names none of them, or ``stop_before`` names no step.
    """
    if options.stop_before and options.stop_before not in STEP_NAMES:
        raise PlanRejected(f"--stop-before {options.stop_before} is no step; the steps are {', '.join(STEP_NAMES)}")
    if not plan.units:
        raise PlanRejected("the plan has no units, so there is nothing to apply")
    known = {unit.id for unit in plan.units}
    unknown = [unit_id for unit_id in options.only if unit_id not in known]
    if unknown:
        raise PlanRejected(f"--only {unknown[0]} is no unit of the plan; units are named like {plan.units[0].id}")
    chosen = [
        unit for unit in plan.units if unit.disposition == "automatic" and (not options.only or unit.id in options.only)
    ]
    if options.only and not chosen:
        raise PlanRejected("--only selects no automatic unit, so there is nothing to apply")
    return tuple(chosen[: options.limit] if options.limit is not None else chosen)


def _not_run(unit: Unit) -> UnitResult:
    if unit.disposition == "manual":
        return UnitResult(
            id=unit.id,
            disposition="manual",
            status="manual",
            code=unit.outcome,
            message=_message_of(unit),
            next_step=_advice(unit.outcome),
        )
    code = unit.outcome if unit.disposition == "skip" else "NotSelected"
    return UnitResult(
        id=unit.id,
        disposition=unit.disposition,
        status="skipped",
        code=code,
        message=_summary(code),
        next_step=_advice(code),
    )


def _message_of(unit: Unit) -> str:
    return next((finding.message for finding in unit.reasons), _summary(unit.outcome))


def _summary(code: str) -> str:
    return CODES[code].summary if code in CODES else ""


def _advice(code: str) -> str:
    return CODES[code].advice if code in CODES else ""


def _settings_of(plan: Plan) -> Settings:
    return Settings(
        namespaces=plan.namespaces,
        runtime_projection_mode=plan.runtime_projection_mode,
        accept_observed_generation=plan.accept_observed_generation,
    )


def _baseline(path: Path | None) -> dict[str, WorkloadFacts]:
    """Return the workload facts of an archived result, by unit id.

    Raises:
        PlanRejected: it can't be read or is no result.
    """
    if path is None:
        return {}
    try:
        units: Iterable[UnitResult] = decode_result(read(path)).units
    except (PrivateFileError, ResultError) as error:
        raise PlanRejected(f"--baseline {path} can't be used: {error}") from error
    return {unit.id: unit.workload_before for unit in units if unit.workload_before is not None}
