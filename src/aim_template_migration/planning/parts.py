"""What the namespaces gave to a plan so far, as text in scratch files, to be put in order at the end (shell).

Namespaces come in order, and the documents are sorted by kind, namespace and name; so one scratch file per kind,
written from front to end, holds the texts of that kind in order.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import BinaryIO

import msgspec

from aim_template_migration.documents.evidence import encode_evidence, evidence_file_name
from aim_template_migration.documents.plan import EvidenceReference, Finding, Forecast, Unit
from aim_template_migration.documents.plan_text import item_text
from aim_template_migration.planning.assess import Assessment
from aim_template_migration.planning.backup import BackupKey, backup_documents, backup_head, backup_text
from aim_template_migration.planning.destination import Destination
from aim_template_migration.planning.evidence import DEDICATED, evidence_of
from aim_template_migration.planning.forecast import forecast, merged

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

    def add(self, assessment: Assessment, known_warnings: int) -> None:
        """Take over one namespace; the warnings of the cluster scope come first in each and are known already."""
        units = self._with_evidence(assessment)
        for unit in units:
            self._units.add(_kind(unit.id), item_text(unit))
        self.outlines += map(_outline, units)
        for target in sorted(assessment.targets, key=lambda target: target.id.split("/")):
            self._targets.add(_kind(target.id), item_text(target))
        self.warnings += assessment.warnings[known_warnings:]
        self.forecast = merged(self.forecast, forecast(units, assessment.targets))
        for key, document in sorted(backup_documents(assessment.cases).items()):
            if key[1]:
                self._backup.add(key[0], backup_text(document))
            else:
                self._cluster_backup[key] = document

    def units(self) -> Iterator[bytes]:
        """Yield the texts of all units in order."""
        return self._units.pieces()

    def targets(self) -> Iterator[bytes]:
        """Yield the texts of all targets in order."""
        return self._targets.pieces()

    def backup(self) -> Iterator[bytes]:
        """Yield the text of the backup."""
        for (kind, _, _), document in sorted(self._cluster_backup.items()):
            self._backup.add(kind, backup_text(document))
        self._cluster_backup.clear()
        yield backup_head()
        yield from self._backup.pieces()

    def _with_evidence(self, assessment: Assessment) -> list[Unit]:
        cases = {case.service.id: case for case in assessment.cases}
        units: list[Unit] = []
        for unit in assessment.units:
            if unit.outcome != DEDICATED:
                units.append(unit)
                continue
            case = cases[unit.id]
            name = evidence_file_name(case.service.namespace, case.service.name)
            sha256 = self._destination.write(name, (encode_evidence(evidence_of(case)),))
            self.evidence_files.append(name)
            units.append(msgspec.structs.replace(unit, evidence=EvidenceReference(file=name, sha256=sha256)))
        return units


class _Spools:
    """Texts by kind, each kind in the order in which it was added."""

    def __init__(self, scratch: Callable[[], BinaryIO]) -> None:
        self._scratch = scratch
        self._files: dict[str, BinaryIO] = {}

    def add(self, kind: str, text: bytes) -> None:
        """Add a text behind those of its kind."""
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


def _kind(object_id: str) -> str:
    return object_id.partition("/")[0]


def _outline(unit: Unit) -> Unit:
    return Unit(
        id=unit.id,
        disposition=unit.disposition,
        outcome=unit.outcome,
        reasons=_codes(unit.reasons),
        warnings=_codes(unit.warnings),
        evidence=unit.evidence,
    )


def _codes(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(_code(finding.code) for finding in findings)


@cache
def _code(code: str) -> Finding:
    return Finding(code=code, object="", message="")
