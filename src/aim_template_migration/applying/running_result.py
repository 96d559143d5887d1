"""The result file while a run lasts: small, and replaced before each request, so that it is true at any moment."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from aim_template_migration.applying.failures import RunFault, RunStopped
from aim_template_migration.documents.private_files import PrivateFileError, replace, write_new
from aim_template_migration.documents.result import (
    UNIT_STATUSES,
    ApplyResult,
    OpenAttempt,
    UnitResult,
    encode_result,
)

SHOWN_WHILE_RUNNING = 50
"""How many units that did not succeed the file shows in full while the run lasts; counts and journal have them all."""

_SHOWN = frozenset({"failed", "unknown", "interrupted"})


class RunningResult:
    """The result of one run, safe to use from several threads.

    While the run lasts the file has the counts, what is under way, and the first units that failed; at the end every
    unit stands in it. Threads that wait for the file at the same time share one rewriting.
    """

    def __init__(self, path: Path, empty: ApplyResult, unit_order: tuple[str, ...], *, durable: bool) -> None:
        """Create the file exclusively.

        Raises:
            RunStopped: it exists or can't be written.
        """
        self._path = path
        self._empty = empty
        self._durable = durable
        self._order = {unit_id: index for index, unit_id in enumerate(unit_order)}
        self._lock = threading.Lock()
        self._file_lock = threading.Lock()
        self._finished: dict[str, UnitResult] = {}
        self._counts: Counter[str] = Counter()
        self._shown: list[UnitResult] = []
        self._open: dict[tuple[str, str, str], OpenAttempt] = {}
        self._version = 0
        self._written = 0
        self._guarded(lambda: write_new(path, encode_result(self._running())))

    def attempt(self, attempt: OpenAttempt) -> None:
        """Show an attempt in the file before its request leaves.

        Raises:
            RunStopped: the file can't be written.
        """
        with self._lock:
            self._open[attempt.unit, attempt.step, attempt.object] = attempt
            self._version += 1
            wanted = self._version
        try:
            self._write(wanted)
        except RunStopped:
            self.close_attempt(attempt)  # its request does not leave
            raise

    def close_attempt(self, attempt: OpenAttempt) -> None:
        """Forget an attempt whose outcome is journaled; the file follows with the next write."""
        with self._lock:
            self._open.pop((attempt.unit, attempt.step, attempt.object), None)
            self._version += 1

    def record(self, units: Iterable[UnitResult]) -> None:
        """Record the endings of units that this run does not touch; the file follows with the next write."""
        with self._lock:
            for unit in units:
                self._keep(unit)
            self._version += 1

    def finish_unit(self, unit: UnitResult) -> None:
        """Record a unit's ending.

        Raises:
            RunStopped: the file can't be written.
        """
        with self._lock:
            self._keep(unit)
            self._version += 1
            wanted = self._version
            shows = unit.status in _SHOWN
        if shows:
            self._write(wanted)

    def in_flight(self, unit_id: str) -> bool:
        """Return whether the outcome of a real write of this unit is not on record."""
        with self._lock:
            return any(attempt.unit == unit_id and not attempt.dry_run for attempt in self._open.values())

    def counts(self) -> dict[str, int]:
        """Return the number of endings so far, by status, every status named."""
        with self._lock:
            return {status: self._counts[status] for status in UNIT_STATUSES}

    def complete(self, finished_at: str, stopped: str) -> ApplyResult:
        """Write the complete result and return it.

        Raises:
            RunStopped: it can't be written; the incomplete one and the journal remain.
        """
        result = self.snapshot(finished_at, stopped)
        with self._file_lock:
            self._guarded(lambda: replace(self._path, encode_result(result)))
        return result

    def snapshot(self, finished_at: str, stopped: str) -> ApplyResult:
        """Return the complete result without writing it."""
        counts = self.counts()
        with self._lock:
            return msgspec.structs.replace(
                self._empty,
                state="complete",
                finished_at=finished_at,
                units=tuple(sorted(self._finished.values(), key=lambda unit: self._order[unit.id])),
                counts=counts,
                in_flight=tuple(self._open.values()),
                stopped=stopped,
            )

    def _keep(self, unit: UnitResult) -> None:
        if unit.id in self._finished:
            raise ValueError(f"{unit.id} has a final status already")
        self._finished[unit.id] = unit
        self._counts[unit.status] += 1
        if unit.status in _SHOWN and len(self._shown) < SHOWN_WHILE_RUNNING:
            self._shown.append(unit)

    def _write(self, wanted: int) -> None:
        with self._file_lock:
            if self._written >= wanted:
                return  # another thread wrote this already
            with self._lock:
                version = self._version
            data = encode_result(self._running())
            self._guarded(lambda: replace(self._path, data, durable=self._durable))
            self._written = version

    def _running(self) -> ApplyResult:
        counts = self.counts()
        with self._lock:
            shown = tuple(sorted(self._shown, key=lambda unit: self._order[unit.id]))
            return msgspec.structs.replace(
                self._empty, in_flight=tuple(self._open.values()), units=shown, counts=counts
            )

    def _guarded(self, write: Callable[[], None]) -> None:
        try:
            write()
        except PrivateFileError as error:
            raise RunStopped(RunFault("ResultNotWritable", str(error))) from error
