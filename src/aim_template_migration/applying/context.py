"""What all units of one run share, and what one unit keeps while it runs."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from aim_api.kinds import Kind
from aim_api.tree import JsonObject
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.events import Listener, StepProgress, StepState
from aim_template_migration.applying.failures import Failure, UnitStopped, refusal, stop_unit
from aim_template_migration.applying.journal import Journal
from aim_template_migration.applying.readiness import Missing
from aim_template_migration.applying.revalidate import Revalidator
from aim_template_migration.applying.schedule import CutoverGate
from aim_template_migration.applying.writer import Writer
from aim_template_migration.documents.plan import Finding, Plan, Reference, Unit
from aim_template_migration.documents.result import WorkloadFacts
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound, RequestError

T = TypeVar("T")

POLL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run was asked to go.

    Attributes:
        commit: write; otherwise every write is a server-side dry run.
        soak_seconds: how long after a cutover its pods are looked at again.
        cutover_deadline_seconds: how long an operator may take to observe a cutover.
        stop_before: name of the step before which units stop, or an empty string.
        baseline: workload facts of an archived result by unit id, for units that a former run cut over.
    """

    commit: bool
    soak_seconds: float = 30.0
    cutover_deadline_seconds: float = 60.0
    stop_before: str = ""
    baseline: dict[str, WorkloadFacts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The shared parts of one run."""

    plan: Plan
    settings: RunSettings
    cluster: Cluster
    writer: Writer
    journal: Journal
    clock: Clock
    revalidator: Revalidator
    gate: CutoverGate
    listener: Listener
    stop: threading.Event


@dataclass(slots=True)
class UnitState:
    """How far one unit has come."""

    unit: Unit
    context: RunContext
    attempted: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    workload_before: WorkloadFacts | None = None
    workload_after: WorkloadFacts | None = None
    resolved_profile: str = ""
    cut_over: bool = False

    @property
    def namespace(self) -> str:
        """The unit's namespace."""
        return self.unit.id.split("/")[1]

    @property
    def dry_run(self) -> bool:
        """Whether this run only asks admission."""
        return not self.context.settings.commit

    def progress(self, step: str, state: StepState, detail: str = "") -> None:
        """Tell the listener."""
        self.context.listener(StepProgress(self.unit.id, step, state, detail))

    def record(self, step: str, facts: JsonObject) -> None:
        """Journal what a step saw."""
        self.context.journal.append("facts", unit=self.unit.id, step=step, facts=facts)

    def warn(self, step: str, messages: tuple[str, ...]) -> None:
        """Keep the server's Warning headers; they are shown, never taken for bridge warnings."""
        self.warnings += [
            Finding(code="ServerWarning", object=self.unit.id, field=step, message=text) for text in messages
        ]

    def read(self, kind: Kind, name: str, namespace: str | None = None) -> JsonObject | None:
        """Return a live object of the unit's namespace (or cluster-scoped), or None where it does not exist.

        Raises:
            UnitStopped: it can't be read.
            RunStopped: the credentials are rejected.
        """
        where = (namespace or self.namespace) if kind.namespaced else None
        try:
            return self.context.cluster.get(kind, name, where)
        except NotFound:
            return None
        except RequestError as error:
            raise refusal(error, verb="reading", object_id=f"{kind.name}/{name}", dry_run=False) from error

    def list(self, kind: Kind, label_selector: str | None = None) -> list[JsonObject]:
        """Return the live objects of a kind in the unit's namespace; raises as ``read`` does."""
        try:
            return self.context.cluster.list(kind, self.namespace, label_selector=label_selector)
        except RequestError as error:
            raise refusal(error, verb="listing", object_id=f"{kind.name}/{self.namespace}", dry_run=False) from error

    def require_running(self) -> None:
        """Stop the unit where the run is stopping.

        Raises:
            UnitStopped: the run was asked to stop.
        """
        if self.context.stop.is_set():
            raise UnitStopped(
                Failure("Interrupted", "the run was asked to stop before the unit was done", status="interrupted")
            )

    def poll(self, step: str, code: str, deadline_seconds: float, probe: Callable[[], Missing | None]) -> None:
        """Repeat ``probe`` until it finds nothing missing.

        Raises:
            UnitStopped: with ``code``, once something final is found or the deadline passes; or the run is stopping.
        """
        clock = self.context.clock
        deadline = clock.monotonic() + deadline_seconds
        while True:
            missing = probe()
            if missing is None:
                return
            if missing.final:
                raise stop_unit(code, missing.message)
            if clock.monotonic() >= deadline:
                raise stop_unit(code, f"{missing.message} (waited {deadline_seconds:g} s)")
            self.progress(step, "waiting", missing.message)
            clock.sleep(POLL_SECONDS)
            self.require_running()


def api_path_kind(reference: Reference, kinds: tuple[Kind, ...]) -> Kind:
    """Return which of ``kinds`` a reference names.

    Raises:
        ValueError: none of them.
    """
    for kind in kinds:
        if kind.name == reference.kind:
            return kind
    raise ValueError(f"{reference.id} is none of {', '.join(kind.name for kind in kinds)}")
