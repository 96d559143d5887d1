"""One rehearsal: plan, dry run and commit on a local API, through exactly the code that a real cluster gets."""

import secrets
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from aim_rehearsal.operator import Misbehaviour
from aim_rehearsal.roles import MIGRATION
from aim_rehearsal.session import ADMIN, Progress, RehearsalSession
from aim_template_migration.applying.events import Listener
from aim_template_migration.applying.plan_files import PlanFiles, read_plan
from aim_template_migration.applying.run import ApplyOptions, ApplyOutcome, apply_plan
from aim_template_migration.documents.plan import ProjectionMode
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.documents.rehearsal import RehearsalReport
from aim_template_migration.kube import Cluster, ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan
from aim_template_migration.planning.secret_scan import redact
from aim_template_migration.rehearsing.events import (
    Audience,
    FleetLoaded,
    PlanMade,
    RehearsalClosed,
    RunBegins,
    RunEnded,
)
from aim_template_migration.rehearsing.observation import ServiceFacts, observe
from aim_template_migration.rehearsing.reporting import report_of
from aim_template_migration.rehearsing.subject import Subject

DRY_RUN_RESULT = "dry-run-result.json"


@dataclass(frozen=True, slots=True)
class RunTuning:
    """How dry run and commit go; see ``ApplyOptions``."""

    only: tuple[str, ...] = ()
    limit: int | None = None
    fail_fast: bool = False
    stop_before: str = ""
    parallel: int = 8
    soak_seconds: float = 2.0
    cutover_deadline_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class RehearsalOptions:
    """What to rehearse.

    Attributes:
        subject: what is rehearsed.
        mode: the simulated operator's runtime projection mode, and the plan's.
        directory: the plan directory to make; it must not exist.
        work_dir: where kubeconfig files go; it must exist and be private.
        tuning: how dry run and commit go.
        misbehaviour: what the operator does wrong, None for what the world says.
        command: the command line, for the lock.
        progress: told what is done next while the local API and its operator start.
    """

    subject: Subject
    mode: ProjectionMode
    directory: Path
    work_dir: Path
    tuning: RunTuning = field(default_factory=RunTuning)
    misbehaviour: Misbehaviour | None = None
    command: str = ""
    progress: Progress | None = None


@dataclass(frozen=True, slots=True)
class RehearsalOutcome:
    """How a rehearsal ended.

    Attributes:
        dry_run: how the dry run ended.
        commit: how the commit ended, None where the dry run was interrupted or stopped the rehearsal.
        report: the report.
    """

    dry_run: ApplyOutcome
    commit: ApplyOutcome | None
    report: RehearsalReport


class Rehearsal:
    """A rehearsal, whose local API and operator are up while it is entered."""

    def __init__(self, options: RehearsalOptions) -> None:
        self._options = options
        self._session = RehearsalSession(
            options.subject.world,
            projection_mode=options.mode,
            misbehaviour=options.misbehaviour,
            work_dir=options.work_dir,
            progress=options.progress,
        )

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.__exit__(kind, error, trace)

    @property
    def session(self) -> RehearsalSession:
        """The local API and its operator."""
        return self._session

    def tool_kubeconfig(self) -> Path:
        """Write the kubeconfig of the tool's own identity, which has the rights of plan and apply only."""
        return self._session.kubeconfig(MIGRATION)

    def admin_kubeconfig(self) -> Path:
        """Write the kubeconfig of an administrator, for kubectl."""
        return self._session.kubeconfig(ADMIN)

    def observe(self) -> dict[str, ServiceFacts]:
        """Return the services as they are now, by id."""
        return observe(self._session.client, self._session.namespaces)

    def connect(self) -> Cluster:
        """Connect with the tool's own identity; no proxy stands between a rehearsal and its loopback address."""
        return connect(ConnectionOptions(kubeconfig=str(self.tool_kubeconfig())), redact=redact, environ={})

    def load(self) -> FleetLoaded:
        """Return what the fleet looks like now."""
        subject, server = self._options.subject, self._session.server
        world = subject.world
        return FleetLoaded(
            world.name, world.summary, server.url, world.namespaces, self.observe(), subject.not_rehearsed
        )

    def plan(self) -> PlanFiles:
        """Make the plan and its directory.

        Raises:
            PlanningError: no plan can be made.
            PrivateFileError: the directory can't be made.
        """
        settings = Settings(namespaces=self._session.namespaces, runtime_projection_mode=self._options.mode)
        cluster = self.connect()
        try:
            made = make_plan(cluster, settings, now=datetime.now(UTC), plan_id=secrets.token_hex(8))
        finally:
            cluster.close()
        publish_directory(self._options.directory, made.files)
        return read_plan(self._options.directory)

    def apply(self, *, commit: bool, listener: Listener, stop: threading.Event) -> ApplyOutcome:
        """Dry-run or commit the plan; the dry run leaves the default result's name to the commit.

        Raises:
            PlanRejected: nothing was started.
        """
        tuning, directory = self._options.tuning, self._options.directory
        options = ApplyOptions(
            plan=directory,
            commit=commit,
            result=None if commit else directory / DRY_RUN_RESULT,
            only=tuning.only,
            limit=tuning.limit,
            fail_fast=tuning.fail_fast,
            stop_before=tuning.stop_before,
            parallel=tuning.parallel,
            soak_seconds=tuning.soak_seconds,
            cutover_deadline_seconds=tuning.cutover_deadline_seconds,
            command=self._options.command,
        )
        return apply_plan(options, self.connect, listener=listener, stop=stop)

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
        commit = self._chapter(fleet, audience, listener, stop, commit=True) if goes_on else None
        last = commit or dry_run
        report = report_of(
            files,
            self._options.subject,
            last.result,
            before=fleet.services,
            after=self.observe(),
            audit=self._session.audit(MIGRATION),
        )
        audience(RehearsalClosed(report, self._options.directory))
        return RehearsalOutcome(dry_run, commit, report)

    def _chapter(
        self, fleet: FleetLoaded, audience: Audience, listener: Listener, stop: threading.Event, *, commit: bool
    ) -> ApplyOutcome:
        audience(RunBegins(commit))
        outcome = self.apply(commit=commit, listener=listener, stop=stop)
        audience(RunEnded(commit, outcome, fleet.services, self.observe()))
        return outcome
