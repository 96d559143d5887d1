"""Writing the journal: what a run is about to ask is on disk before it asks."""

import os
import threading
from pathlib import Path

from aim_api.tree import JsonObject
from aim_template_migration.applying.clock import Clock
from aim_template_migration.applying.failures import RunFault, RunStopped
from aim_template_migration.documents.journal import Entry, Event, encode_line
from aim_template_migration.documents.private_files import open_private, sync_directory, write_all

SYNCED_EVENTS: frozenset[Event] = frozenset(
    {"runStarted", "attempt", "accepted", "rejected", "unknown", "settled", "runFinished"}
)
"""Events that are on disk before the engine goes on; the others are with the next of these, in their order."""


class JournalError(Exception):
    """The journal can't be made; the message names the file and the reason."""


class Journal:
    """An append-only file of checksummed lines, safe to use from several threads.

    In a commit the events of ``SYNCED_EVENTS`` are synced; several threads that wait for it share one sync. A dry run
    writes the same lines in the same order but waits for no disk: a server stores nothing of it, so a power failure
    leaves nothing to be settled.
    """

    def __init__(self, path: Path, clock: Clock, *, durable: bool) -> None:
        """Create the journal exclusively.

        Raises:
            JournalError: it exists, or can't be made.
        """
        self.path = path
        self._clock = clock
        self._durable = durable
        self._lock = threading.Lock()
        self._sync_lock = threading.Lock()
        self._seq = 0
        self._synced = 0
        self._previous = ""
        self._broken = ""
        try:
            self._descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
        except FileExistsError:
            raise JournalError(f"{path} exists already and is never overwritten") from None
        except OSError as error:
            raise JournalError(f"{path} can't be made: {error.strerror}") from error
        try:
            sync_directory(path.parent)
        except OSError as error:
            self.discard()
            raise JournalError(f"{path} can't be made: {error.strerror}") from error

    def append(self, event: Event, *, unit: str = "", step: str = "", facts: JsonObject | None = None) -> None:
        """Add one event, and wait until it is on disk where it has to be.

        Raises:
            RunStopped: it can't be written or synced, now or earlier. A failed sync is never retried as a success: what
                the kernel dropped would be taken for durable.
        """
        with self._lock:
            self._require_sound()
            entry = Entry(
                seq=self._seq + 1, time=self._clock.now(), event=event, unit=unit, step=step, facts=facts or {}
            )
            line, checksum = encode_line(entry, self._previous)
            try:
                write_all(self._descriptor, line)
            except OSError as error:
                raise self._break(error) from error
            self._seq = entry.seq
            self._previous = checksum
        if self._durable and event in SYNCED_EVENTS:
            self._sync(entry.seq)

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)

    def discard(self) -> None:
        """Remove the journal that was just made here, where nothing was started."""
        self.close()
        self.path.unlink(missing_ok=True)

    def _sync(self, seq: int) -> None:
        with self._sync_lock:
            with self._lock:
                self._require_sound()
                written = self._seq
            if self._synced >= seq:
                return  # another thread's sync took this line along
            try:
                os.fdatasync(self._descriptor)
            except OSError as error:
                with self._lock:
                    raise self._break(error) from error
            self._synced = written

    def _require_sound(self) -> None:
        if self._broken:
            raise RunStopped(RunFault("JournalNotWritable", self._broken))

    def _break(self, error: OSError) -> RunStopped:
        self._broken = f"{self.path} can't be written: {error.strerror}"
        return RunStopped(RunFault("JournalNotWritable", self._broken))
