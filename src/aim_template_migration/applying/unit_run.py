"""One unit, from its fences to its soak: steps in the closed order, each begun and completed in the journal."""

from collections.abc import Callable
from dataclasses import dataclass

from aim_api.kinds import AIM_SERVICE
from aim_template_migration.applying.awaiting import await_profile, await_profile_cache
from aim_template_migration.applying.confirming import (
    confirm,
    confirm_after_soak,
    confirm_earlier_cutover,
    cut_over_step,
    halting,
    live_pin,
)
from aim_template_migration.applying.context import RunContext, UnitState
from aim_template_migration.applying.cutover import cut_over, is_cut_over
from aim_template_migration.applying.failures import Failure, UnitStopped
from aim_template_migration.applying.protecting import protect_artifact
from aim_template_migration.applying.targets import (
    create_profile,
    create_profile_cache,
    download_jobs,
    pinned_artifacts,
)
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import (
    AnyStep,
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    ProtectArtifact,
    ReverifyProfileCache,
    Unit,
    step_name,
)
from aim_template_migration.documents.result import Identity, UnitResult

_WAITS = (AwaitProfile, AwaitProfileCache, ReverifyProfileCache, ConfirmNoRollout)


@dataclass(frozen=True, slots=True)
class Soaking:
    """A unit that was cut over and confirmed, and is looked at once more when its soak is over.

    Attributes:
        due: monotonic time, in seconds.
        state: the unit.
    """

    due: float
    state: UnitState


class UnitRun:
    """Runs one unit. Nothing is rolled back or repaired, wherever it stops (R, "Partial recovery")."""

    def __init__(self, context: RunContext, unit: Unit) -> None:
        self._context = context
        self._state = UnitState(unit, context)
        self._jobs_before: frozenset[str] = frozenset()

    def run(self) -> UnitResult | Soaking:
        """Run the unit up to its end or its soak.

        Raises:
            RunStopped: credentials, disk or lock stop the whole run.
        """
        self._context.journal.append("unitStarted", unit=self._state.unit.id)
        try:
            if self._already_cut_over():
                self._do("ConfirmNoRollout", lambda: confirm_earlier_cutover(self._state, self._confirm_step()))
                return self._finish(code="AlreadyCutOver")
            self._context.revalidator.require_unchanged(self._state.unit)
            for step in self._state.unit.steps:
                self._run_step(step)
        except UnitStopped as stopped:
            return self._fail(stopped)
        if self._state.dry_run:
            return self._finish()
        return self._begin_soak()

    def finish_soak(self) -> UnitResult:
        """Look at the unit once more after its soak.

        Raises:
            RunStopped: credentials, disk or lock stop the whole run.
        """
        state = self._state
        try:
            state.require_running()
            assert state.workload_before is not None
            confirm_after_soak(state, self._confirm_step(), state.workload_before)
        except UnitStopped as stopped:
            return self._fail(stopped)
        self._complete("ConfirmNoRollout")
        return self._finish()

    def interrupted(self, code: str, message: str) -> UnitResult:
        """Return how far the unit has come, where the run itself had to stop; nothing more is read or written."""
        return self._result(Failure(code, message, status="interrupted"), read_identities=False)

    def _begin_soak(self) -> Soaking | UnitResult:
        due = self._context.clock.monotonic() + self._context.settings.soak_seconds
        self._state.progress("ConfirmNoRollout", "waiting", f"soaking for {self._context.settings.soak_seconds:g} s")
        if not self._context.gate.is_first(self._state.unit.id):
            return Soaking(due, self._state)
        while self._context.clock.monotonic() < due and not self._context.stop.is_set():
            self._context.clock.sleep(min(1.0, max(0.0, due - self._context.clock.monotonic())))
        return self.finish_soak()

    def _run_step(self, step: AnyStep) -> None:
        name = step_name(step)
        if name == self._context.settings.stop_before:
            raise UnitStopped(Failure("StoppedBefore", f"stopped before {name}, as asked", status="skipped"))
        self._state.require_running()
        if self._state.dry_run and isinstance(step, _WAITS):
            self._state.not_checked.append(f"{name}: it waits for the operator, which sees nothing of a dry run")
            return
        if isinstance(step, ReverifyProfileCache):
            self._take_turn()
        if isinstance(step, ConfirmNoRollout):
            self._begin(name)  # complete only once the soak is over
            self._perform(step)
            return
        self._do(name, lambda: self._perform(step))

    def _perform(self, step: AnyStep) -> None:
        state = self._state
        match step:
            case CreateProfile():
                create_profile(state, step)
            case AwaitProfile():
                await_profile(state, step)
            case CreateProfileCache():
                self._jobs_before = download_jobs(state, pinned_artifacts(state))
                create_profile_cache(state, step)
            case AwaitProfileCache() | ReverifyProfileCache():
                await_profile_cache(state, step, self._jobs_before)
            case ProtectArtifact():
                protect_artifact(state, step)
            case CutOver():
                cut_over(state, step)
            case ConfirmNoRollout():
                assert state.workload_before is not None
                confirm(state, step, state.workload_before)

    def _take_turn(self) -> None:
        """Wait for the turn to cut over, then hold the fences once more: the wait may have been long."""
        self._state.progress(
            "ReverifyProfileCache", "waiting", "waiting for the first cutover of the run to be confirmed"
        )
        if not self._context.gate.wait(self._state.unit.id):
            self._state.require_running()
            by = self._context.gate.halted_by
            if not by:
                raise UnitStopped(Failure("FailFast", CODES["FailFast"].summary, status="skipped"))
            raise UnitStopped(
                Failure(
                    "HaltedAfterRollout",
                    f"not cut over, because {by} halted the cutovers of this run",
                    status="skipped",
                )
            )
        self._context.revalidator.require_unchanged(self._state.unit)

    def _already_cut_over(self) -> bool:
        state = self._state
        live = state.read(AIM_SERVICE, state.unit.id.split("/")[2])
        return live is not None and is_cut_over(live, cut_over_step(state), self._confirm_step().profile_name)

    def _confirm_step(self) -> ConfirmNoRollout:
        return next(step for step in self._state.unit.steps if isinstance(step, ConfirmNoRollout))

    def _do(self, name: str, action: Callable[[], None]) -> None:
        self._begin(name)
        action()
        self._complete(name)

    def _begin(self, name: str) -> None:
        self._context.journal.append("stepStarted", unit=self._state.unit.id, step=name)
        self._state.attempted.append(name)
        self._state.progress(name, "started")

    def _complete(self, name: str) -> None:
        self._context.journal.append("stepCompleted", unit=self._state.unit.id, step=name)
        self._state.completed.append(name)
        self._state.progress(name, "completed")

    def _fail(self, stopped: UnitStopped) -> UnitResult:
        failure = stopped.failure
        if halting(stopped):
            self._context.gate.halt(self._state.unit.id)
        self._context.journal.append(
            "failed", unit=self._state.unit.id, facts={"code": failure.code, "message": failure.message}
        )
        return self._result(failure)

    def _finish(self, code: str = "") -> UnitResult:
        self._context.journal.append(
            "unitFinished", unit=self._state.unit.id, facts={"status": "succeeded", "code": code}
        )
        return self._result(None, code)

    def _result(self, failure: Failure | None, code: str = "", *, read_identities: bool = True) -> UnitResult:
        state = self._state
        return UnitResult(
            id=state.unit.id,
            disposition=state.unit.disposition,
            status=failure.status if failure else "succeeded",
            code=failure.code if failure else code,
            message=failure.message if failure else CODES[code].summary if code else "",
            http_status=failure.http_status if failure else None,
            server_message=failure.server_message if failure else "",
            next_step=failure.next_step if failure else "",
            attempted_steps=tuple(state.attempted),
            completed_steps=tuple(state.completed),
            last_attempted_step=state.attempted[-1] if state.attempted else "",
            last_completed_step=state.completed[-1] if state.completed else "",
            identities=self._identities() if read_identities else (),
            resolved_profile=state.resolved_profile,
            workload_before=state.workload_before,
            workload_after=state.workload_after,
            warnings=tuple(state.warnings),
            not_checked=tuple(state.not_checked),
        )

    def _identities(self) -> tuple[Identity, ...]:
        """Return the unit's objects as they are now; what can't be read now is left out rather than guessed."""
        found: list[Identity] = []
        for pin in self._state.unit.pins:
            try:
                live = live_pin(self._state, pin)
            except UnitStopped:
                continue
            if live is not None:
                found.append(
                    Identity(
                        role=pin.role,
                        reference=pin.reference,
                        uid=live.pin.uid,
                        generation=live.pin.generation,
                        owner_references=live.pin.owner_references,
                        paused=live.pin.paused,
                        resource_version=live.pin.resource_version,
                    )
                )
        return tuple(found)
