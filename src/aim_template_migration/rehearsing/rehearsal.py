"""One rehearsal: plan, dry run and commit on a local API, through exactly the code that a real cluster gets."""

import threading
from dataclasses import dataclass, replace

from aim_rehearsal.roles import MIGRATION
from aim_template_migration.applying.events import Listener
from aim_template_migration.applying.plan_files import PlanFiles
from aim_template_migration.applying.run import ApplyOutcome
from aim_template_migration.documents.rehearsal import RehearsalReport, RehearsedFault
from aim_template_migration.rehearsing.events import (
    Audience,
    FleetLoaded,
    PlanMade,
    RehearsalClosed,
    RunBegins,
    RunEnded,
)
from aim_template_migration.rehearsing.faulted import FaultedCommit
from aim_template_migration.rehearsing.reporting import report_of
from aim_template_migration.rehearsing.stage import DRY_RUN_RESULT, RehearsalOptions, RunTuning, Stage

__all__ = ["DRY_RUN_RESULT", "Rehearsal", "RehearsalOptions", "RehearsalOutcome", "RunTuning"]


@dataclass(frozen=True, slots=True)
class RehearsalOutcome:
    """How a rehearsal ended.

    Attributes:
        dry_run: how the dry run ended.
        commit: how the commit ended, after a fault the rerun; None where the rehearsal was stopped before.
        report: the report.
        stopped: whether somebody stopped it before its last run.
    """

    dry_run: ApplyOutcome
    commit: ApplyOutcome | None
    report: RehearsalReport
    stopped: bool = False


class Rehearsal(Stage):
    """A rehearsal, whose local API and operator are up while it is entered."""

    def load(self) -> FleetLoaded:
        """Return what the fleet looks like now."""
        subject, server = self.options.subject, self.session.server
        world = subject.world
        return FleetLoaded(
            world.name, world.summary, server.url, world.namespaces, self.observe(), subject.not_rehearsed
        )

    def run(self, audience: Audience, listener: Listener, stop: threading.Event) -> RehearsalOutcome:
        """Tell the whole story: the fleet, the plan, the dry run, the commit, the proof.

        Args:
            audience: follows the chapters.
            listener: watches the steps of dry run and commit, from several threads.
            stop: set to stop after the requests in flight.

        Raises:
            PlanningError: no plan can be made.
            PlanRejected: a run was not started.
        """
        fleet = self.load()
        audience(fleet)
        files = self.plan()
        audience(PlanMade(files))
        dry_run = self._chapter(fleet, audience, listener, stop, commit=False)
        goes_on = not (dry_run.interrupted or dry_run.fault or dry_run.result.counts["unknown"])
        if not goes_on:
            return self._closed(fleet, files, audience, dry_run)
        if self.options.fault is None:
            commit = self._chapter(fleet, audience, listener, stop, commit=True)
            return self._closed(fleet, files, audience, dry_run, commit=commit)
        faulted = FaultedCommit(
            self,
            self.options.fault,
            files,
            dict(fleet.services),
            audience=audience,
            listener=listener,
            stop=stop,
        )
        ending = faulted.run()
        last = ending.rerun or ending.commit
        outcome = self._closed(fleet, ending.files, audience, dry_run, commit=last, fault=ending.fault)
        return replace(outcome, stopped=ending.rerun is None)

    def _closed(
        self,
        fleet: FleetLoaded,
        files: PlanFiles,
        audience: Audience,
        dry_run: ApplyOutcome,
        *,
        commit: ApplyOutcome | None = None,
        fault: RehearsedFault | None = None,
    ) -> RehearsalOutcome:
        report = report_of(
            files,
            self.options.subject,
            (commit or dry_run).result,
            before=fleet.services,
            after=self.observe(),
            audit=self.session.audit(MIGRATION),
            fault=fault,
        )
        audience(RehearsalClosed(report, self.options.directory))
        return RehearsalOutcome(dry_run, commit, report)

    def _chapter(
        self, fleet: FleetLoaded, audience: Audience, listener: Listener, stop: threading.Event, *, commit: bool
    ) -> ApplyOutcome:
        audience(RunBegins(commit))
        outcome = self.apply(commit=commit, listener=listener, stop=stop)
        audience(RunEnded(commit, outcome, fleet.services, self.observe()))
        return outcome
