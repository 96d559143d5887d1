"""What a rehearsal acts on: the local API with its operator, and the tool's own plan and apply on them."""

import secrets
import sys
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from aim_rehearsal.faults import Fault, Trouble
from aim_rehearsal.operator import Misbehaviour
from aim_rehearsal.roles import MIGRATION
from aim_rehearsal.session import ADMIN, Progress, RehearsalSession
from aim_template_migration.applying.events import Listener
from aim_template_migration.applying.plan_files import PlanFiles, read_plan
from aim_template_migration.applying.run import ApplyOptions, ApplyOutcome, apply_plan
from aim_template_migration.documents.plan import ProjectionMode
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.kube import Cluster, ConnectionOptions, Pacing, connect
from aim_template_migration.kube.connecting import USER_AGENT
from aim_template_migration.planning.make import Settings, make_plan
from aim_template_migration.planning.secret_scan import redact
from aim_template_migration.rehearsing.child import ChildProcess
from aim_template_migration.rehearsing.faults import ChosenFault
from aim_template_migration.rehearsing.observation import ServiceFacts, observe
from aim_template_migration.rehearsing.subject import Subject

DRY_RUN_RESULT = "dry-run-result.json"
_FAULT_REQUEST_SECONDS = 5.0


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
        tuning: how dry run and commit go; with a fault, one unit goes after the other.
        misbehaviour: what the operator does wrong, None for what the world or the fault says.
        fault: the fault that comes up in the commit, None for none.
        request_seconds: how long one request of the tool may take, None for its default, or less with a fault.
        tool: how the command line is started as a process of its own, for a fault that kills it.
        command: the command line, for the lock.
        progress: told what is done next while the local API and its operator start.
    """

    subject: Subject
    mode: ProjectionMode
    directory: Path
    work_dir: Path
    tuning: RunTuning = field(default_factory=RunTuning)
    misbehaviour: Misbehaviour | None = None
    fault: ChosenFault | None = None
    request_seconds: float | None = None
    tool: tuple[str, ...] = (sys.executable, "-m", "aim_template_migration")
    command: str = ""
    progress: Progress | None = None


class Stage:
    """A local API with its operator, up while it is entered, and the tool's commands on it."""

    def __init__(self, options: RehearsalOptions) -> None:
        self.options = options
        self.child = ChildProcess(options.tool)
        chosen = options.fault
        self.fault = _hook(chosen, self.child) if chosen else None
        asked = chosen.fault.misbehaviour if chosen else None
        self._session = RehearsalSession(
            options.subject.world,
            projection_mode=options.mode,
            misbehaviour=asked or options.misbehaviour,
            work_dir=options.work_dir,
            faults=self.fault,
            progress=options.progress,
        )

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.__exit__(kind, error, trace)

    def arm(self) -> None:
        """Let the fault of a request come up from now on."""
        if self.fault is not None:
            self.fault.arm()

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

    def connect(self, stop: threading.Event | None = None) -> Cluster:
        """Connect with the tool's own identity; no proxy stands between a rehearsal and its loopback address.

        Args:
            stop: once set, reads are repeated after short waits only.
        """
        pacing = Pacing.stopped_by(stop) if stop else None
        options = ConnectionOptions(kubeconfig=str(self.tool_kubeconfig()), request_timeout=self.request_seconds)
        return connect(options, redact=redact, pacing=pacing, environ={})

    @property
    def request_seconds(self) -> float | None:
        """How long one request may take; with a fault briefly, since a lost write is settled only after that time."""
        return self.options.request_seconds or (_FAULT_REQUEST_SECONDS if self.options.fault else None)

    def plan(self, directory: Path | None = None) -> PlanFiles:
        """Make a plan and its directory, by default the rehearsal's.

        Raises:
            PlanningError: no plan can be made.
            PrivateFileError: the directory can't be made.
        """
        target = directory or self.options.directory
        cluster = self.connect()
        try:
            made = make_plan(cluster, self._settings(), now=datetime.now(UTC), plan_id=secrets.token_hex(8))
        finally:
            cluster.close()
        publish_directory(target, made.files)
        return read_plan(target)

    def apply(
        self, *, commit: bool, listener: Listener, stop: threading.Event, directory: Path | None = None
    ) -> ApplyOutcome:
        """Dry-run or commit the plan; the dry run leaves the default result's name to the commit.

        Raises:
            PlanRejected: nothing was started.
        """
        tuning, plan = self.options.tuning, directory or self.options.directory
        options = ApplyOptions(
            plan=plan,
            commit=commit,
            result=None if commit else plan / DRY_RUN_RESULT,
            only=tuning.only,
            limit=tuning.limit,
            fail_fast=tuning.fail_fast,
            stop_before=tuning.stop_before,
            parallel=self.parallel,
            soak_seconds=tuning.soak_seconds,
            cutover_deadline_seconds=tuning.cutover_deadline_seconds,
            command=self.options.command,
        )
        return apply_plan(options, lambda: self.connect(stop), listener=listener, stop=stop)

    @property
    def parallel(self) -> int:
        """Units side by side; with a fault one, so that it is certain which unit it befalls."""
        return 1 if self.options.fault else self.options.tuning.parallel

    def _settings(self) -> Settings:
        settings = Settings(namespaces=self._session.namespaces, runtime_projection_mode=self.options.mode)
        if self.options.fault is None:
            return settings
        seconds = self.options.fault.fault.deadline_seconds
        return Settings(
            namespaces=settings.namespaces,
            runtime_projection_mode=settings.runtime_projection_mode,
            profile_deadline_seconds=seconds,
            profile_cache_deadline_seconds=seconds,
            cutover_deadline_seconds=seconds,
        )


def _hook(chosen: ChosenFault, child: ChildProcess) -> Fault | None:
    """Return the hook for a fault of a request; only a killed apply is a process of its own."""
    moment, trouble = chosen.moment, chosen.fault.trouble
    if moment is None or trouble is None:
        return None
    kill = child.kill if trouble is Trouble.KILL else _nothing
    return Fault(trouble, moment, user_agent=USER_AGENT, kill=kill)


def _nothing() -> None:
    """Do nothing."""
