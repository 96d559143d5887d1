"""The run: units in deterministic order, side by side where they share nothing, and the soak beside later units."""

import heapq
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from aim_template_migration.applying.context import RunContext
from aim_template_migration.applying.events import UnitFinished
from aim_template_migration.applying.failures import RunFault, RunStopped, unexpected
from aim_template_migration.applying.running_result import RunningResult
from aim_template_migration.applying.schedule import UnitQueue
from aim_template_migration.applying.unit_run import Soaking, UnitRun
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import Unit
from aim_template_migration.documents.result import UnitResult, UnitStatus

Outcome = UnitResult | Soaking

_LOOK_SECONDS = 0.5


class Engine:
    """Runs the selected automatic units of a plan and collects their endings."""

    def __init__(self, context: RunContext, running: RunningResult, *, parallel: int, fail_fast: bool) -> None:
        """Take what the run shares; ``parallel`` units at most run side by side."""
        self._context = context
        self._running = running
        self._parallel = parallel
        self._fail_fast = fail_fast
        self._failed_fast = False
        self._runs: dict[str, UnitRun] = {}
        self._active: dict[Future[Outcome], str] = {}
        self._soaking: list[tuple[float, int, str]] = []
        self._released: set[str] = set()

    def run(self, units: Sequence[Unit]) -> None:
        """Run ``units``, which stand in plan order, until each has its ending.

        A unit that never began because the run stopped is recorded as interrupted or skipped. A fault that stopped the
        run is known to the run's signal.
        """
        queue = UnitQueue(units)
        by_id = {unit.id: unit for unit in units}
        with ThreadPoolExecutor(max_workers=self._parallel, thread_name_prefix="unit") as pool:
            while queue or self._active or self._soaking:
                self._abandon(queue)
                self._start(pool, queue, by_id)
                self._collect(queue)

    def _start(self, pool: ThreadPoolExecutor, queue: UnitQueue, by_id: dict[str, Unit]) -> None:
        """Give the free places to units whose soak is over, then to those that have not begun."""
        now = self._context.clock.monotonic()
        while len(self._active) < self._parallel:
            if self._soaking and (self._soaking[0][0] <= now or self._context.signal.is_set()):
                unit_id = heapq.heappop(self._soaking)[2]
                self._active[pool.submit(self._guard, unit_id, self._runs[unit_id].finish_soak)] = unit_id
                continue
            taken = queue.take()
            if taken is None:
                return
            run = self._runs[taken] = UnitRun(self._context, by_id[taken])
            self._active[pool.submit(self._guard, taken, run.run)] = taken

    def _collect(self, queue: UnitQueue) -> None:
        """Wait for something to end, at most until the next soak may be over or the signal is to be looked at."""
        if not self._active:
            if self._soaking:
                left = self._soaking[0][0] - self._context.clock.monotonic()
                self._context.clock.sleep(min(_LOOK_SECONDS, max(0.0, left)))
            return
        done, _ = wait(self._active, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
        for future in sorted(done, key=lambda item: self._active[item]):
            unit_id = self._active.pop(future)
            outcome = future.result()
            if isinstance(outcome, Soaking):
                heapq.heappush(self._soaking, (outcome.due, len(self._released), unit_id))
            else:
                del self._runs[unit_id]  # and with it all that the unit has read
                self._finish(outcome)
            if unit_id not in self._released:  # a soak holds up no unit of its group
                self._released.add(unit_id)
                queue.release(unit_id)

    def _guard(self, unit_id: str, action: Callable[[], Outcome]) -> Outcome:
        """Turn whatever ends the unit into its ending, so that no unit is left without one and the others can stop."""
        run = self._runs[unit_id]
        try:
            outcome = action()
        except RunStopped as stopped:
            self._stop_for(stopped.fault)
            outcome = run.stopped_by(stopped.fault, in_flight=self._running.in_flight(unit_id))
        except Exception as error:  # noqa: BLE001 - one unit's surprise is no reason to leave the others half-way
            outcome = run.broken(unexpected(error), in_flight=self._running.in_flight(unit_id))
        if isinstance(outcome, UnitResult):
            confirmed = outcome.status == "succeeded" and outcome.code != "AlreadyCutOver"
            if confirmed and self._context.settings.commit:
                self._context.gate.passed(unit_id)
            else:
                self._context.gate.left(unit_id)
        return outcome

    def _stop_for(self, fault: RunFault) -> None:
        self._context.signal.stop_for(fault)
        self._context.gate.cancel()

    def _finish(self, result: UnitResult) -> None:
        try:
            self._running.finish_unit(result)
        except RunStopped as stopped:
            self._stop_for(stopped.fault)
        self._context.listener(UnitFinished(result))
        if self._fail_fast and result.status in ("failed", "unknown"):
            self._failed_fast = True

    def _abandon(self, queue: UnitQueue) -> None:
        """Where no unit may begin any more, say so of those that have not, and let nobody wait for a turn."""
        ending = self._no_beginning()
        if ending is None:
            return
        status, code, message = ending
        if status == "interrupted" or self._failed_fast:
            self._context.gate.cancel()
        left = [_not_begun(unit_id, status, code, message) for unit_id in queue.drain()]
        self._running.record(left)
        for result in left:
            self._context.listener(UnitFinished(result))

    def _no_beginning(self) -> tuple[UnitStatus, str, str] | None:
        """Return why no unit may begin any more: status, code and message of those that have not; None if they may."""
        signal, halted_by = self._context.signal, self._context.gate.halted_by
        if signal.fault is not None:
            return "interrupted", signal.fault.code, f"the run stopped: {signal.fault.message}"
        if signal.asked:
            return "interrupted", "Interrupted", CODES["Interrupted"].summary
        if halted_by:
            return "skipped", "HaltedAfterRollout", f"not begun, because {halted_by} halted the cutovers of this run"
        if self._failed_fast:
            return "skipped", "FailFast", CODES["FailFast"].summary
        return None


def _not_begun(unit_id: str, status: UnitStatus, code: str, message: str) -> UnitResult:
    return UnitResult(
        id=unit_id,
        disposition="automatic",
        status=status,
        code=code,
        message=message,
        next_step=CODES[code].advice,
    )
