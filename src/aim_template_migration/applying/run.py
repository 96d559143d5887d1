"""Applying a plan from start to end: lock, preflight, run, result."""

import contextlib
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.applying.clock import Clock, SystemClock
from aim_template_migration.applying.context import RunContext, RunSettings
from aim_template_migration.applying.edits import edited_bodies, made_automatic, made_manual
from aim_template_migration.applying.engine import Engine
from aim_template_migration.applying.events import Listener, RunStarted, UnitFinished, undisturbed
from aim_template_migration.applying.failures import RunFault, RunStopped
from aim_template_migration.applying.glimpses import FreshGlimpses
from aim_template_migration.applying.journal import Journal, JournalError
from aim_template_migration.applying.lock import LOCK_NAME, ApplyLock, LockHeldError
from aim_template_migration.applying.plan_files import (
    RESULT_NAME,
    PlanFiles,
    PlanRejected,
    journal_path,
    plan_path,
    read_generated,
    read_plan,
)
from aim_template_migration.applying.preflight import (
    require_approved,
    require_evidence,
    require_no_dedicated,
    require_no_result,
    require_own_version,
    require_safe,
    require_same_cluster,
    version_changes,
)
from aim_template_migration.applying.revalidate import Revalidator
from aim_template_migration.applying.running_result import RunningResult
from aim_template_migration.applying.schedule import CutoverGate
from aim_template_migration.applying.selection import ApplyOptions, baseline_of, endings_of_others, select_units
from aim_template_migration.applying.stopping import StopSignal
from aim_template_migration.applying.writer import Writer
from aim_template_migration.cycle_collection import rare_cycle_collection
from aim_template_migration.documents.plan import API_VERSION, ClusterIdentity, Plan, Unit
from aim_template_migration.documents.private_files import PrivateFileError, require_private_directory
from aim_template_migration.documents.result import (
    KIND,
    SCHEMA_URI,
    ApplyResult,
    WorkloadFacts,
    count_units,
)
from aim_template_migration.kube import Cluster
from aim_template_migration.planning.settings import Settings
from aim_template_migration.version import __version__

__all__ = ["ApplyOptions", "ApplyOutcome", "apply_plan"]


@dataclass(frozen=True, slots=True)
class ApplyOutcome:
    """How an apply ended.

    Attributes:
        result: the complete result.
        result_path: where it was written.
        fault: why the run stopped early, if it did.
        interrupted: whether it was asked to stop, and stopped before its end for that.
    """

    result: ApplyResult
    result_path: Path
    fault: RunFault | None
    interrupted: bool

    @property
    def exit_code(self) -> int:
        """The exit code, the first that applies.

        130 interrupted, 1 unexpected error, 5 unknown outcome, 3 some unit failed or the run stopped early, 0 all done.
        """
        counts = self.result.counts
        if self.interrupted:
            return 130
        if any(unit.code == "UnexpectedError" for unit in self.result.units):
            return 1
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
        connect: opens the connection; called once the files were found sound, and closed at the end.
        listener: watches the run.
        stop: set to stop after the requests in flight.
        clock: the time; the machine's by default.

    Raises:
        PlanRejected: nothing was started.
        ClusterError: nothing was started, since the cluster can't be reached or read.
    """
    run_id = secrets.token_hex(8)
    path = plan_path(options.plan)
    with contextlib.ExitStack() as stack:
        lock = _locked(path.parent, run_id, options.command, stack)
        result_path = options.result or path.parent / RESULT_NAME
        require_no_result(result_path)
        files = read_plan(path)
        require_approved(files, options.plan_sha256)
        require_own_version(files)
        generated = read_generated(files)
        selected = select_units(files.plan, options)
        baseline = baseline_of(files.plan, options.baseline)
        cluster, live = _checked_connection(files, generated, connect, stack)
        run = _Run(
            options=options,
            files=files,
            generated=generated,
            selected=selected,
            baseline=baseline,
            run_id=run_id,
            result_path=result_path,
            listener=undisturbed(listener),
            signal=StopSignal(stop),
            clock=clock or SystemClock(stop),
            notices=version_changes(files.plan.cluster, live),
        )
        return run.execute(cluster, lock)


def _locked(directory: Path, run_id: str, command: str, stack: contextlib.ExitStack) -> ApplyLock:
    """Take the lock of a plan directory that nobody else can change."""
    try:
        require_private_directory(directory)
        return stack.enter_context(ApplyLock(directory, run_id, command))
    except PrivateFileError as error:
        raise PlanRejected(f"{error}; --plan takes a plan directory or its plan.json") from error
    except LockHeldError as error:
        raise PlanRejected(str(error)) from error
    except OSError as error:
        raise PlanRejected(f"{directory / LOCK_NAME} can't be made: {error.strerror}") from error


def _checked_connection(
    files: PlanFiles,
    generated: Plan,
    connect: Callable[[], Cluster],
    stack: contextlib.ExitStack,
) -> tuple[Cluster, ClusterIdentity]:
    """Check the plan, connect, and check the cluster; return what was found there.

    Of a unit that was made automatic by hand it is first said whether it is Dedicated, which only the cluster can tell
    for sure; everything else that is wrong with the file is said before anything is asked of the cluster.
    """
    require_evidence(files, generated)
    doubtful = made_automatic(generated, files.plan)
    if not doubtful:
        require_safe(files, generated)
    cluster = connect()
    stack.callback(cluster.close)
    live = require_same_cluster(files.plan, cluster)
    require_no_dedicated(files.plan, cluster)
    if doubtful:
        require_safe(files, generated)
    return cluster, live


@dataclass(frozen=True, slots=True)
class _Run:
    options: ApplyOptions
    files: PlanFiles
    generated: Plan
    selected: tuple[Unit, ...]
    baseline: dict[str, WorkloadFacts]
    run_id: str
    result_path: Path
    listener: Listener
    signal: StopSignal
    clock: Clock
    notices: tuple[str, ...]

    def execute(self, cluster: Cluster, lock: ApplyLock) -> ApplyOutcome:
        """Run the selected units and write the result.

        Raises:
            PlanRejected: nothing was started.
        """
        journal, running = self._open_records()
        with contextlib.closing(journal):
            context = self._context(cluster, lock, journal, running)
            units = len(self.files.plan.units)
            self.listener(RunStarted(self.run_id, self._mode, self.files.sha256, units, self.notices))
            others = endings_of_others(self.files.plan, self.selected, made_manual(self.generated, self.files.plan))
            running.record(others)
            for ending in others:
                self.listener(UnitFinished(ending))
            with rare_cycle_collection():
                Engine(context, running, parallel=self.options.parallel, fail_fast=self.options.fail_fast).run(
                    self.selected
                )
            return self._end(journal, running)

    @property
    def _mode(self) -> str:
        return "commit" if self.options.commit else "dry-run"

    def _open_records(self) -> tuple[Journal, RunningResult]:
        """Make the journal and the result; where one of them fails nothing was started, and nothing is left."""
        durable = self.options.commit
        try:
            journal = Journal(journal_path(self.result_path), self.clock, durable=durable)
        except JournalError as error:
            raise PlanRejected(str(error)) from error
        facts: dict[str, str | float] = {
            "runId": self.run_id,
            "mode": self._mode,
            "planSha256": self.files.sha256,
            "toolVersion": __version__,
            "soakSeconds": self.options.soak_seconds,
            "parallel": self.options.parallel,
        }
        try:
            journal.append("runStarted", facts={**facts, "notices": [*self.notices]})
            order = tuple(unit.id for unit in self.files.plan.units)
            return journal, RunningResult(self.result_path, self._empty_result(), order, durable=durable)
        except RunStopped as stopped:
            journal.discard()
            raise PlanRejected(stopped.fault.message) from stopped

    def _context(self, cluster: Cluster, lock: ApplyLock, journal: Journal, running: RunningResult) -> RunContext:
        plan, options = self.files.plan, self.options
        settings = Settings(
            namespaces=plan.namespaces,
            runtime_projection_mode=plan.runtime_projection_mode,
            accept_observed_generation=plan.accept_observed_generation,
        )
        edited = edited_bodies(self.generated, plan)
        return RunContext(
            settings=RunSettings(
                commit=options.commit,
                soak_seconds=options.soak_seconds,
                cutover_deadline_seconds=options.cutover_deadline_seconds,
                stop_before=options.stop_before,
                baseline=self.baseline,
            ),
            targets={target.id: target.body for target in plan.targets},
            cluster=cluster,
            writer=Writer(cluster, journal, running, self.clock, signal=self.signal, holds_lock=lock.is_ours),
            journal=journal,
            clock=self.clock,
            revalidator=Revalidator(cluster, plan, settings, self.clock, edited),
            glimpses=FreshGlimpses(cluster, self.clock),
            gate=CutoverGate(unit.id for unit in self.selected),
            listener=self.listener,
            signal=self.signal,
        )

    def _end(self, journal: Journal, running: RunningResult) -> ApplyOutcome:
        finished_at = self.clock.now()
        counts = running.counts()
        try:
            journal.append("runFinished", facts={"counts": {**counts}})
        except RunStopped as stopped:
            self.signal.stop_for(stopped.fault)
        cut_short = self.signal.asked and bool(counts["interrupted"] or counts["unknown"])
        fault = self.signal.fault
        stopped_because = fault.message if fault else "interrupted" if cut_short else ""
        try:
            result = running.complete(finished_at, stopped_because)
        except RunStopped as cause:
            self.signal.stop_for(cause.fault)
            result = running.snapshot(finished_at, stopped_because or cause.fault.message)
        fault = self.signal.fault
        return ApplyOutcome(result, self.result_path, fault, interrupted=cut_short and fault is None)

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
