"""The run: units in deterministic order, side by side where they share nothing, and the soak beside later units."""

import heapq
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from aim_template_migration.applying.context import RunContext
from aim_template_migration.applying.events import UnitFinished
from aim_template_migration.applying.failures import RunFault, RunStopped
from aim_template_migration.applying.running_result import RunningResult
from aim_template_migration.applying.schedule import next_unit, shared_groups
from aim_template_migration.applying.unit_run import Soaking, UnitRun
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import Unit
from aim_template_migration.documents.result import UnitResult

Outcome = UnitResult | Soaking


class Engine:
    """Runs the selected automatic units of a plan and collects their endings."""

    def __init__(self, context: RunContext, running: RunningResult, *, parallel: int, fail_fast: bool) -> None:
        """Take what the run shares; ``parallel`` units at most run side by side."""
        self._context = context
        self._running = running
        self._parallel = parallel
        self._fail_fast = fail_fast
        self._runs: dict[str, UnitRun] = {}
        self._soaking: list[tuple[float, str]] = []
        self._fault: RunFault | None = None
        self._failed_fast = threading.Event()

    def run(self, units: Sequence[Unit]) -> RunFault | None:
        """Run ``units``, which stand in plan order; return why the run stopped, or None.

        A unit that never began because the run stopped is recorded as interrupted.
        """
        groups = shared_groups(units)
        pending = [unit.id for unit in units]
        by_id = {unit.id: unit for unit in units}
        active: dict[Future[Outcome], str] = {}
        with ThreadPoolExecutor(max_workers=self._parallel, thread_name_prefix="unit") as pool:
            while pending or active or self._soaking:
                if self._stopping():
                    self._abandon(pending)
                    self._context.gate.cancel()
                self._start(pool, pending, by_id, groups, active)
                if not active and not self._soaking:
                    continue
                self._collect(active)
        return self._fault

    def _start(
        self,
        pool: ThreadPoolExecutor,
        pending: list[str],
        by_id: dict[str, Unit],
        groups: dict[str, str],
        active: dict[Future[Outcome], str],
    ) -> None:
        now = self._context.clock.monotonic()
        while len(active) < self._parallel:
            if self._soaking and (self._soaking[0][0] <= now or self._stopping()):
                _, unit_id = heapq.heappop(self._soaking)
                active[pool.submit(self._guard, unit_id, self._runs[unit_id].finish_soak)] = unit_id
                continue
            unit_id = next_unit(pending, groups, frozenset(groups[busy] for busy in active.values())) or ""
            if not unit_id:
                return
            pending.remove(unit_id)
            run = self._runs[unit_id] = UnitRun(self._context, by_id[unit_id])
            active[pool.submit(self._guard, unit_id, run.run)] = unit_id

    def _collect(self, active: dict[Future[Outcome], str]) -> None:
        if not active:
            self._context.clock.sleep(min(1.0, max(0.0, self._soaking[0][0] - self._context.clock.monotonic())))
            return
        done, _ = wait(active, timeout=0.5, return_when=FIRST_COMPLETED)
        for future in done:
            unit_id = active.pop(future)
            outcome = future.result()
            if isinstance(outcome, Soaking):
                heapq.heappush(self._soaking, (outcome.due, unit_id))
            else:
                self._finish(outcome)

    def _guard(self, unit_id: str, action: Callable[[], Outcome]) -> Outcome:
        """Turn a stop of the run into an ending of the unit, so that the others finish their request and stop too."""
        try:
            return self._told_the_gate(unit_id, action())
        except RunStopped as stopped:
            self._fault = self._fault or stopped.fault
            self._context.stop.set()
            self._context.gate.cancel()
            return self._interrupted(unit_id, stopped.fault)

    def _told_the_gate(self, unit_id: str, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Soaking):
            return outcome
        if outcome.status == "succeeded" and outcome.code != "AlreadyCutOver" and self._context.settings.commit:
            self._context.gate.passed(unit_id)
        else:
            self._context.gate.left(unit_id)
        return outcome

    def _finish(self, result: UnitResult) -> None:
        try:
            self._running.finish_unit(result)
        except RunStopped as stopped:
            self._fault = self._fault or stopped.fault
            self._context.stop.set()
        self._context.listener(UnitFinished(result))
        if self._fail_fast and result.status in ("failed", "unknown"):
            self._failed_fast.set()

    def _stopping(self) -> bool:
        return self._context.stop.is_set() or self._failed_fast.is_set()

    def _abandon(self, pending: list[str]) -> None:
        for unit_id in pending:
            if self._failed_fast.is_set() and not self._context.stop.is_set():
                self._finish(_not_begun(unit_id, "skipped", "FailFast"))
            else:
                self._finish(self._interrupted(unit_id, self._fault))
        pending.clear()

    def _interrupted(self, unit_id: str, fault: RunFault | None) -> UnitResult:
        run = self._runs.get(unit_id)
        code = fault.code if fault else "Interrupted"
        message = fault.message if fault else CODES[code].summary
        return run.interrupted(code, message) if run else _not_begun(unit_id, "interrupted", code, message)


def _not_begun(unit_id: str, status: str, code: str, message: str = "") -> UnitResult:
    return UnitResult(
        id=unit_id,
        disposition="automatic",
        status="skipped" if status == "skipped" else "interrupted",
        code=code,
        message=message or CODES[code].summary,
        next_step=CODES[code].advice,
    )
