"""One unit, from its fences to its soak: steps in the closed order, each begun and completed in the journal."""

import contextlib
from dataclasses import dataclass

from aim_template_migration.applying.awaiting import await_profile, await_profile_cache, require_profile
from aim_template_migration.applying.confirming import (
    confirm,
    confirm_after_soak,
    confirm_earlier_cutover,
    halting,
)
from aim_template_migration.applying.context import TRANSIENT_CODES, RunContext, UnitState
from aim_template_migration.applying.cutover import cut_over, is_cut_over, require_turn
from aim_template_migration.applying.failures import Failure, RunFault, RunStopped, UnitStopped
from aim_template_migration.applying.protecting import protect_artifact
from aim_template_migration.applying.revalidate import PinReading
from aim_template_migration.applying.targets import create_profile, create_profile_cache
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import (
    STEP_NAMES,
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
from aim_template_migration.documents.result import UnitResult

_WAITS = (AwaitProfile, AwaitProfileCache, ReverifyProfileCache, ConfirmNoRollout)


@dataclass(frozen=True, slots=True)
class Soaking:
    """A unit that was cut over and confirmed, and is looked at once more when its soak is over.

    Attributes:
        due: monotonic time, in seconds.
    """

    due: float


class UnitRun:
    """Runs one unit. Nothing is rolled back or repaired, wherever it stops (R, "Partial recovery")."""

    def __init__(self, context: RunContext, unit: Unit) -> None:
        """Take what the run shares, and the unit."""
        self._context = context
        self._state = UnitState(unit, context)

    def run(self) -> UnitResult | Soaking:
        """Run the unit up to its end or its soak.

        Raises:
            RunStopped: credentials, disk or lock stop the whole run.
        """
        state = self._state
        self._context.journal.append("unitStarted", unit=state.unit.id)
        try:
            state.require_running()
            readings = state.read_pins()
            if self._already_cut_over(readings):
                self._begin("ConfirmNoRollout")
                confirm_earlier_cutover(state, state.confirm_step, readings)
                self._complete("ConfirmNoRollout")
                return self._succeed("AlreadyCutOver")
            self._context.revalidator.require_unchanged(state.unit, readings)
            for step in state.unit.steps:
                self._run_step(step)
        except UnitStopped as stopped:
            return self._fail(stopped)
        return self._succeed() if state.dry_run else self._begin_soak()

    def finish_soak(self) -> UnitResult:
        """Look at the unit once more after its soak.

        Raises:
            RunStopped: credentials, disk or lock stop the whole run.
        """
        state = self._state
        try:
            state.require_running()
            assert state.workload_before is not None
            confirm_after_soak(state, state.confirm_step, state.workload_before)
        except UnitStopped as stopped:
            return self._fail(stopped)
        self._complete("ConfirmNoRollout")
        return self._succeed()

    def stopped_by(self, fault: RunFault, *, in_flight: bool) -> UnitResult:
        """Return how far the unit has come, where the run itself had to stop; nothing more is read or written.

        Args:
            fault: what stops the run.
            in_flight: whether the outcome of a write of this unit is on no record.
        """
        if in_flight:
            message = f"{fault.message}; whether the last request was carried out is on no record"
            return self._finish(Failure("OutcomeUnknown", message, status="unknown"))
        return self._finish(Failure(fault.code, fault.message, status="interrupted"))

    def broken(self, message: str, *, in_flight: bool) -> UnitResult:
        """Return how far the unit has come, where a fault of this tool ended it; nothing more is read or written."""
        if "CutOver" in self._state.attempted and not self._state.dry_run:
            self._context.gate.halt(self._state.unit.id)  # nothing proves that its workload still runs
        return self._finish(Failure("UnexpectedError", message, status="unknown" if in_flight else "failed"))

    def _begin_soak(self) -> Soaking | UnitResult:
        clock, seconds = self._context.clock, self._context.settings.soak_seconds
        due = clock.monotonic() + seconds
        self._state.progress("ConfirmNoRollout", "waiting", f"soaking for {seconds:g} s")
        if not self._context.gate.is_first(self._state.unit.id):
            return Soaking(due)
        while clock.monotonic() < due and not self._context.signal.is_set():
            clock.sleep(min(1.0, due - clock.monotonic()))
        return self.finish_soak()

    def _run_step(self, step: AnyStep) -> None:
        state, name = self._state, step_name(step)
        if self._is_postponed(name):
            raise UnitStopped(Failure("StoppedBefore", f"stopped before {name}, as asked", status="skipped"))
        state.require_running()
        if state.dry_run and isinstance(step, _WAITS):
            state.not_checked.append(f"{name}: it waits for the operator, which sees nothing of a dry run")
            return
        if isinstance(step, ReverifyProfileCache):
            self._take_turn()
        self._begin(name)
        self._perform(step)
        if not isinstance(step, ConfirmNoRollout):  # complete only once the soak is over
            self._complete(name)

    def _is_postponed(self, name: str) -> bool:
        """Whether the run stops before this step: the named one, or where the unit has none such, the next after it."""
        postponed = self._context.settings.stop_before
        return bool(postponed) and STEP_NAMES.index(name) >= STEP_NAMES.index(postponed)

    def _perform(self, step: AnyStep) -> None:
        state = self._state
        match step:
            case CreateProfile():
                create_profile(state, step)
            case AwaitProfile():
                await_profile(state, step)
            case CreateProfileCache():
                create_profile_cache(state, step)
            case AwaitProfileCache():
                await_profile_cache(state, step)
            case ReverifyProfileCache():
                await_profile_cache(state, step)
                require_profile(state, state.profile_step)  # it, too, may have changed while the unit waited
            case ProtectArtifact():
                protect_artifact(state, step)
            case CutOver():
                cut_over(state, step)
            case ConfirmNoRollout():
                assert state.workload_before is not None
                confirm(state, step, state.workload_before)

    def _take_turn(self) -> None:
        """Wait for the turn to cut over, then hold the fences once more: the wait may have been long."""
        state = self._state
        if not self._context.gate.has_turn(state.unit.id):
            message = "waiting for the first cutover of the run to be confirmed"
            state.progress("ReverifyProfileCache", "waiting", message)
        if not self._context.gate.wait(state.unit.id):
            state.require_running()
            require_turn(state)
            raise UnitStopped(Failure("FailFast", CODES["FailFast"].summary, status="skipped"))
        self._context.revalidator.require_unchanged(state.unit, state.read_pins())

    def _already_cut_over(self, readings: tuple[PinReading, ...]) -> bool:
        live = next((reading.raw for reading in readings if reading.pin.role == "service"), None)
        state = self._state
        return live is not None and is_cut_over(live, state.cut_over_step, state.confirm_step.profile_name)

    def _begin(self, name: str) -> None:
        self._context.journal.append("stepStarted", unit=self._state.unit.id, step=name)
        self._state.attempted.append(name)
        self._state.progress(name, "started")

    def _complete(self, name: str) -> None:
        self._context.journal.append("stepCompleted", unit=self._state.unit.id, step=name)
        self._state.completed.append(name)
        self._state.progress(name, "completed")

    def _fail(self, stopped: UnitStopped) -> UnitResult:
        if halting(self._state, stopped):
            self._context.gate.halt(self._state.unit.id)
        if stopped.failure.status in ("failed", "unknown") and stopped.failure.code not in TRANSIENT_CODES:
            self._refresh_identities()
        return self._finish(stopped.failure)

    def _succeed(self, code: str = "") -> UnitResult:
        if not self._state.dry_run:
            self._refresh_identities()
        return self._finish(None, code)

    def _finish(self, failure: Failure | None, code: str = "") -> UnitResult:
        """Journal the ending and return it; the unit's own ending stands even where the journal can't take it."""
        result = self._result(failure, code)
        try:
            if failure is not None and failure.status in ("failed", "unknown"):
                self._context.journal.append(
                    "failed", unit=result.id, facts={"code": failure.code, "message": failure.message}
                )
            self._context.journal.append(
                "unitFinished", unit=result.id, facts={"status": result.status, "code": result.code}
            )
        except RunStopped as stopped:
            self._context.signal.stop_for(stopped.fault)
        return result

    def _result(self, failure: Failure | None, code: str = "") -> UnitResult:
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
            identities=state.identities,
            resolved_profile=state.resolved_profile,
            workload_before=state.workload_before,
            workload_after=state.workload_after,
            warnings=tuple(state.warnings),
            not_checked=tuple(state.not_checked),
        )

    def _refresh_identities(self) -> None:
        """Read the unit's objects as they are now; what can't be read stays as it was read last."""
        with contextlib.suppress(UnitStopped, RunStopped):
            self._state.read_pins()
