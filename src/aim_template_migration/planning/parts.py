"""What the namespaces gave to a plan so far, as text in scratch files, to be put in order at the end (shell).

Namespaces come in order, and the documents are sorted by kind, namespace and name; so one scratch file per kind,
written from front to end, holds the texts of that kind in order.
"""

from collections.abc import Callable, Iterator
from typing import BinaryIO

from aim_template_migration.documents.plan import Finding, Forecast, Unit
from aim_template_migration.planning.backup import BackupKey, backup_head, backup_text
from aim_template_migration.planning.destination import Destination
from aim_template_migration.planning.forecast import merged
from aim_template_migration.planning.namespace_text import NamespaceText, Texts

_PIECE = 1 << 20


class Parts:
    """What the namespaces gave so far.

    Attributes:
        outlines: every unit, reduced to what a summary of the plan states.
        warnings: findings about the plan as a whole.
        forecast: what a commit will ask of the API server.
        evidence_files: names of the Dedicated evidence files.
    """

    def __init__(self, destination: Destination) -> None:
        self.outlines: list[Unit] = []
        self.warnings: list[Finding] = []
        self.forecast = Forecast(requests={}, deadline_seconds=0, bytes=0)
        self.evidence_files: list[str] = []
        self._destination = destination
        self._units = _Spools(destination.scratch)
        self._targets = _Spools(destination.scratch)
        self._backup = _Spools(destination.scratch)
        self._cluster_backup: dict[BackupKey, str] = {}

    def add(self, text: NamespaceText) -> None:
        """Take over one namespace."""
        self._units.add(text.units)
        self._targets.add(text.targets)
        self._backup.add(text.backup)
        self._cluster_backup |= text.cluster_backup
        for name, evidence in text.evidence.items():
            self._destination.write(name, (evidence,))
        self.evidence_files += text.evidence
        self.outlines += text.outlines
        self.warnings += text.warnings
        self.forecast = merged(self.forecast, text.forecast)

    def units(self) -> Iterator[bytes]:
        """Yield the texts of all units in order."""
        return self._units.pieces()

    def targets(self) -> Iterator[bytes]:
        """Yield the texts of all targets in order."""
        return self._targets.pieces()

    def backup(self) -> Iterator[bytes]:
        """Yield the text of the backup."""
        for (kind, _, _), document in sorted(self._cluster_backup.items()):
            self._backup.add({kind: backup_text(document)})
        self._cluster_backup.clear()
        yield backup_head()
        yield from self._backup.pieces()


class _Spools:
    """Texts by kind, each kind in the order in which it was added."""

    def __init__(self, scratch: Callable[[], BinaryIO]) -> None:
        self._scratch = scratch
        self._files: dict[str, BinaryIO] = {}

    def add(self, texts: Texts) -> None:
        """Add texts behind those of their kinds."""
        for kind, text in texts.items():
            file = self._files.get(kind)
            if file is None:
                file = self._files[kind] = self._scratch()
            file.write(text)

    def pieces(self) -> Iterator[bytes]:
        """Yield all texts by kind, cut anywhere."""
        for _, file in sorted(self._files.items()):
            file.seek(0)
            while piece := file.read(_PIECE):
                yield piece
