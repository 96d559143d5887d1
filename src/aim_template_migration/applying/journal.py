"""Writing the journal: every event is on disk before the engine goes on."""

import os
import threading
from pathlib import Path

from aim_api.tree import JsonObject
from aim_template_migration.applying.clock import Clock
from aim_template_migration.documents.journal import Entry, Event, encode_line
from aim_template_migration.documents.private_files import open_private, sync_directory, write_all


class JournalError(Exception):
    """The journal can't be written, so no further request may leave; the message names the file and the reason."""


class Journal:
    """An append-only, synced file of checksummed lines; safe to use from several threads."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Create the journal exclusively.

        Raises:
            JournalError: it exists, or can't be made.
        """
        self.path = path
        self._clock = clock
        self._lock = threading.Lock()
        self._seq = 0
        self._previous = ""
        self._broken = ""
        try:
            self._descriptor = open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND)
            sync_directory(path.parent)
        except OSError as error:
            raise JournalError(f"{path} can't be made: {error.strerror}") from error

    def append(self, event: Event, *, unit: str = "", step: str = "", facts: JsonObject | None = None) -> None:
        """Add one event and wait until it is on disk.

        Raises:
            JournalError: it can't be written or synced, now or earlier. A failed sync is never retried as a success:
                what the kernel dropped would be taken for durable.
        """
        with self._lock:
            if self._broken:
                raise JournalError(self._broken)
            entry = Entry(
                seq=self._seq + 1, time=self._clock.now(), event=event, unit=unit, step=step, facts=facts or {}
            )
            line, checksum = encode_line(entry, self._previous)
            try:
                write_all(self._descriptor, line)
                os.fdatasync(self._descriptor)
            except OSError as error:
                self._broken = f"{self.path} can't be written: {error.strerror}"
                raise JournalError(self._broken) from error
            self._seq = entry.seq
            self._previous = checksum

    def close(self) -> None:
        """Close the file; nothing is lost, since every event was synced."""
        os.close(self._descriptor)
