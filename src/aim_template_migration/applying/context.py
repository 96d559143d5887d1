"""What all units of one run share, and what one unit keeps while it runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from aim_api.kinds import AIM_ARTIFACT, JOB, Kind
from aim_api.tree import JsonObject
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.events import Listener, StepProgress, StepState
from aim_template_migration.applying.failures import UnitStopped, refusal, stop_unit
from aim_template_migration.applying.glimpses import FreshGlimpses
from aim_template_migration.applying.journal import Journal
from aim_template_migration.applying.readiness import Missing
from aim_template_migration.applying.revalidate import PinReading, Revalidator
from aim_template_migration.applying.schedule import CutoverGate
from aim_template_migration.applying.stopping import StopSignal
from aim_template_migration.applying.writer import Writer
from aim_template_migration.documents.plan import (
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CutOver,
    Finding,
    Pin,
    Unit,
)
from aim_template_migration.documents.result import Identity, WorkloadFacts
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound, RequestError

FIRST_POLL_SECONDS = 0.1
LONGEST_POLL_SECONDS = 1.0

TRANSIENT_CODES = frozenset({"Unreachable", "UnreadableAnswer", "ServerBusy", "ServerError", "IncompleteList"})
"""A read that failed so may succeed a moment later; a wait goes on over it, and its deadline holds all the same."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run was asked to go.

    Attributes:
        commit: write; otherwise every write is a server-side dry run.
        soak_seconds: how long after a cutover its pods are looked at again.
        cutover_deadline_seconds: how long an operator may take to observe a cutover; None for what the plan says.
        stop_before: name of the step before which units stop, or an empty string.
        baseline: workload facts of an archived result by unit id, for units that a former run cut over.
    """

    commit: bool
    soak_seconds: float = 30.0
    cutover_deadline_seconds: float | None = None
    stop_before: str = ""
    baseline: Mapping[str, WorkloadFacts] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunContext:
    """The shared parts of one run; ``targets`` are the bodies of what the plan creates, by id."""

    settings: RunSettings
    targets: Mapping[str, JsonObject]
    cluster: Cluster
    writer: Writer
    journal: Journal
    clock: Clock
    revalidator: Revalidator
    glimpses: FreshGlimpses
    gate: CutoverGate
    listener: Listener
    signal: StopSignal


@dataclass(frozen=True, slots=True)
class KnownSources:
    """What held or downloaded the weights of a unit before its cache was created, by UID."""

    artifacts: frozenset[str] = frozenset()
    jobs: frozenset[str] = frozenset()


@dataclass(slots=True)
class UnitState:
    """How far one unit has come."""

    unit: Unit
    context: RunContext
    attempted: list[str] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)
    warnings: list[Finding] = field(default_factory=list)
    not_checked: list[str] = field(default_factory=list)
    readings: dict[Pin, PinReading] = field(default_factory=dict)
    answers: dict[str, JsonObject] = field(default_factory=dict)
    """What the server answered to this run's writes, by id of the object, until it was read again."""
    known_sources: KnownSources = field(default_factory=KnownSources)
    workload_before: WorkloadFacts | None = None
    workload_after: WorkloadFacts | None = None
    resolved_profile: str = ""
    profile_uid: str = ""
    """UID of the target profile that became Ready."""
    deadline: float | None = None
    """Until when a wait that is under way reads, by the run's clock; None outside of waits."""
    may_be_cut_over: bool = False
    """Whether this run's cutover of the unit is stored or may be; false only while it is certain that it is not."""

    @property
    def namespace(self) -> str:
        """The unit's namespace."""
        return self.unit.id.split("/")[1]

    @property
    def dry_run(self) -> bool:
        """Whether this run only asks admission."""
        return not self.context.settings.commit

    @property
    def identities(self) -> tuple[Identity, ...]:
        """Who the unit's pinned objects were when each was read or written last, in the plan's order."""
        found = (self._identity(pin) for pin in self.unit.pins if pin in self.readings)
        return tuple(identity for identity in found if identity is not None)

    def _identity(self, pin: Pin) -> Identity | None:
        answer = self.answers.get(pin.reference.id)
        return (self.readings[pin] if answer is None else PinReading.of(pin, answer)).identity

    @property
    def cut_over_step(self) -> CutOver:
        """The unit's step CutOver."""
        return next(step for step in self.unit.steps if isinstance(step, CutOver))

    @property
    def confirm_step(self) -> ConfirmNoRollout:
        """The unit's step ConfirmNoRollout."""
        return next(step for step in self.unit.steps if isinstance(step, ConfirmNoRollout))

    @property
    def profile_step(self) -> AwaitProfile:
        """The unit's step AwaitProfile, which names the target profile."""
        return next(step for step in self.unit.steps if isinstance(step, AwaitProfile))

    @property
    def cache_step(self) -> AwaitProfileCache:
        """The unit's step AwaitProfileCache, which names the predecessor's artifacts."""
        return next(step for step in self.unit.steps if isinstance(step, AwaitProfileCache))

    def progress(self, step: str, state: StepState, detail: str = "") -> None:
        """Tell the listener."""
        self.context.listener(StepProgress(self.unit.id, step, state, detail))

    def record(self, step: str, facts: JsonObject) -> None:
        """Journal what a step saw.

        Raises:
            RunStopped: the journal can't be written.
        """
        self.context.journal.append("facts", unit=self.unit.id, step=step, facts=facts)

    def warn(self, step: str, messages: tuple[str, ...]) -> None:
        """Keep the server's Warning headers, each once; they are shown, never taken for bridge warnings."""
        for text in messages:
            warning = Finding(code="ServerWarning", object=self.unit.id, field=step, message=text)
            if warning not in self.warnings:
                self.warnings.append(warning)

    def keep_answer(self, object_id: str, answer: JsonObject) -> None:
        """Keep how a write of a commit left an object: a unit that is interrupted reads it no more."""
        if not self.dry_run:
            self.answers[object_id] = answer

    def read(self, kind: Kind, name: str) -> JsonObject | None:
        """Return a live object of the unit's namespace (or cluster-scoped), or None where it does not exist.

        Raises:
            UnitStopped: it can't be read.
            RunStopped: the credentials are rejected.
        """
        try:
            return self.context.cluster.get(kind, name, self.namespace if kind.namespaced else None, within=self._left)
        except NotFound:
            return None
        except RequestError as error:
            raise refusal(error, verb="reading", object_id=f"{kind.name}/{name}", dry_run=False) from error

    def select(self, kind: Kind, label_selector: str) -> list[JsonObject]:
        """Return the live objects of a kind in the unit's namespace with some labels; raises as ``read`` does."""
        with self._listing(kind):
            return self.context.cluster.list(kind, self.namespace, label_selector=label_selector, within=self._left)

    def same_source(self, sources: Iterable[str]) -> list[JsonObject]:
        """Return the live artifacts that hold some sources, at a glance; raises as ``read`` does."""
        with self._listing(AIM_ARTIFACT):
            return self.context.glimpses.artifacts(self.namespace, sources, within=self._left)

    def owned_jobs(self, owners: Iterable[str]) -> list[JsonObject]:
        """Return the live Jobs that have owners with some UIDs, at a glance; raises as ``read`` does."""
        with self._listing(JOB):
            return self.context.glimpses.jobs(self.namespace, owners, within=self._left)

    def read_pin(self, pin: Pin) -> PinReading:
        """Read one pinned object, and keep what was read; raises as ``read`` does."""
        try:
            reading = self.context.revalidator.read(pin, self.readings.get(pin), within=self._left)
        except RequestError as error:
            raise refusal(error, verb="reading", object_id=pin.reference.id, dry_run=False) from error
        self.readings[pin] = reading
        self.answers.pop(pin.reference.id, None)
        return reading

    def read_pins(self, *roles: str) -> tuple[PinReading, ...]:
        """Read the unit's pinned objects of some roles, or all; raises as ``read`` does."""
        return tuple(self.read_pin(pin) for pin in self.unit.pins if not roles or pin.role in roles)

    def require_running(self) -> None:
        """Stop the unit where the run is stopping.

        Raises:
            UnitStopped: the run was asked to stop, or a fault stops it.
        """
        self.context.signal.require_running()

    def poll(
        self,
        step: str,
        code: str,
        deadline_seconds: float,
        probe: Callable[[], Missing | None],
        *,
        unread_code: str = "",
    ) -> None:
        """Repeat ``probe`` until it finds nothing missing; the deadline binds its reads, and what comes later is late.

        Raises:
            UnitStopped: with ``code``, once something final is found or the deadline passes; with the failure of the
                last read (its code replaced by ``unread_code`` where one is given), where that is all that is known at
                the deadline; or the run is stopping.
        """
        self.deadline = self.context.clock.monotonic() + deadline_seconds
        try:
            missing, unread = self._wait(step, code, self.deadline, probe)
        finally:
            self.deadline = None
        if missing is None:
            return
        message = f"{missing.message} (waited {deadline_seconds:g} s)"
        if unread is None:
            raise stop_unit(code, message)
        raise UnitStopped(replace(unread.failure, code=unread_code or unread.failure.code, message=message))

    def _wait(
        self, step: str, code: str, deadline: float, probe: Callable[[], Missing | None]
    ) -> tuple[Missing | None, UnitStopped | None]:
        """Return what was missing at the deadline, and the failed read where that is all that is known; or nothing."""
        clock, wait, said = self.context.clock, FIRST_POLL_SECONDS, ""
        known: Missing | None = None
        unread: UnitStopped | None = None
        while True:
            try:
                known, unread = probe(), None
            except UnitStopped as stopped:
                if stopped.failure.code not in TRANSIENT_CODES:
                    raise
                if known is None or clock.monotonic() < deadline:  # else cut off, which says less than the look before
                    unread = stopped
            missing = known if unread is None else Missing(unread.failure.message)
            left = deadline - clock.monotonic()
            if missing is None:
                return (None if left >= 0 else Missing("what was waited for came only after the deadline")), None
            if missing.final:
                raise stop_unit(code, missing.message)
            if left > 0 and missing.message != said:
                said = missing.message
                self.progress(step, "waiting", said)
            self.require_running()
            clock.sleep(max(0.0, min(wait, left)))
            self.require_running()
            if clock.monotonic() >= deadline:
                return missing, unread
            wait = min(2 * wait, LONGEST_POLL_SECONDS)

    @contextmanager
    def _listing(self, kind: Kind) -> Iterator[None]:
        """Turn what keeps a list from being read into the end of the unit, or of the run."""
        object_id = f"{kind.name}/{self.namespace}"
        try:
            yield
        except RequestError as error:
            raise refusal(error, verb="listing", object_id=object_id, dry_run=False) from error
        except TimeoutError as error:
            raise stop_unit("UnreadableAnswer", f"listing of {object_id} got no answer in time") from error

    @property
    def _left(self) -> float | None:
        """Seconds that a read may take: None outside of waits, and never none at all, which would be no limit."""
        return None if self.deadline is None else max(0.001, self.deadline - self.context.clock.monotonic())
