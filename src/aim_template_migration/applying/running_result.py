"""The result file while a run lasts: small, and replaced before each request, so that it is true at any moment."""

import threading
from collections.abc import Callable
from pathlib import Path

import msgspec

from aim_template_migration.applying.failures import RunFault, RunStopped
from aim_template_migration.documents.private_files import PrivateFileError, replace, write_new
from aim_template_migration.documents.result import ApplyResult, OpenAttempt, UnitResult, count_units, encode_result


class RunningResult:
    """The result of one run, safe to use from several threads.

    While the run lasts the file names only what is under way or did not succeed; at the end every unit stands in it.
    """

    def __init__(self, path: Path, empty: ApplyResult, unit_order: tuple[str, ...]) -> None:
        """Create the file exclusively.

        Raises:
            RunStopped: it exists or can't be written.
        """
        self._path = path
        self._empty = empty
        self._order = {unit_id: index for index, unit_id in enumerate(unit_order)}
        self._lock = threading.Lock()
        self._finished: dict[str, UnitResult] = {}
        self._open: dict[tuple[str, str, str], OpenAttempt] = {}
        self._guarded(lambda: write_new(path, encode_result(self._running())))

    def attempt(self, attempt: OpenAttempt) -> None:
        """Show an attempt, on disk, before its request leaves."""
        with self._lock:
            self._open[attempt.unit, attempt.step, attempt.object] = attempt
            self._write()

    def close_attempt(self, attempt: OpenAttempt) -> None:
        """Forget an attempt whose outcome is journaled; the file follows with the next write."""
        with self._lock:
            self._open.pop((attempt.unit, attempt.step, attempt.object), None)

    def finish_unit(self, unit: UnitResult) -> None:
        """Record a unit's ending."""
        with self._lock:
            self._finished[unit.id] = unit
            if unit.status not in ("succeeded", "manual"):
                self._write()

    def unfinished(self) -> tuple[str, ...]:
        """Return the ids of units that have no ending yet, in plan order."""
        with self._lock:
            return tuple(unit_id for unit_id in self._order if unit_id not in self._finished)

    def results(self) -> tuple[UnitResult, ...]:
        """Return the endings so far, in plan order."""
        with self._lock:
            return tuple(sorted(self._finished.values(), key=lambda unit: self._order[unit.id]))

    def complete(self, finished_at: str, stopped: str) -> ApplyResult:
        """Write the complete result and return it.

        Raises:
            RunStopped: it can't be written; the incomplete one and the journal remain.
        """
        result = self.snapshot(finished_at, stopped)
        with self._lock:
            self._guarded(lambda: replace(self._path, encode_result(result)))
        return result

    def snapshot(self, finished_at: str, stopped: str) -> ApplyResult:
        """Return the complete result without writing it."""
        units = self.results()
        with self._lock:
            return msgspec.structs.replace(
                self._empty,
                state="complete",
                finished_at=finished_at,
                units=units,
                counts=count_units(units),
                in_flight=tuple(self._open.values()),
                stopped=stopped,
            )

    def _write(self) -> None:
        self._guarded(lambda: replace(self._path, encode_result(self._running())))

    def _running(self) -> ApplyResult:
        units = tuple(self._finished.values())
        shown = tuple(
            sorted((unit for unit in units if unit.status not in ("succeeded", "manual")), key=lambda unit: unit.id)
        )
        return msgspec.structs.replace(
            self._empty, in_flight=tuple(self._open.values()), units=shown, counts=count_units(units)
        )

    def _guarded(self, write: Callable[[], None]) -> None:
        try:
            write()
        except PrivateFileError as error:
            raise RunStopped(RunFault("ResultNotWritable", str(error))) from error
