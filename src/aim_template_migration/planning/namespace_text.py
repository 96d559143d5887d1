"""What one namespace gives to the documents of a plan, as text (pure).

It depends on what was read in the namespace and outside namespaces, and on nothing else, so that it may be made in any
process and in any order.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import msgspec

from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.evidence import encode_evidence, evidence_file_name
from aim_template_migration.documents.plan import EvidenceReference, Finding, Forecast, Unit
from aim_template_migration.documents.plan_text import item_text
from aim_template_migration.planning.assess import Assessment, assess
from aim_template_migration.planning.backup import BackupKey, backup_documents, backup_text
from aim_template_migration.planning.evidence import DEDICATED, evidence_of
from aim_template_migration.planning.forecast import forecast
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import ClusterScope, NamespaceScope, Snapshot

Texts = dict[str, bytes]
"""By kind, in order within each."""


@dataclass(frozen=True, slots=True)
class NamespaceText:
    """What a namespace gives to a plan.

    Attributes:
        objects: how many objects it has.
        outlines: every unit, reduced to what a summary of the plan states.
        units: the texts of the units.
        targets: the texts of the targets.
        backup: the texts of the backup's documents.
        cluster_backup: documents of cluster-scoped objects, which other namespaces may give as well.
        evidence: the Dedicated evidence files by name.
        warnings: findings about the namespace as a whole.
        forecast: what a commit will ask of the API server.
    """

    objects: int
    outlines: tuple[Unit, ...]
    units: Texts
    targets: Texts
    backup: Texts
    cluster_backup: dict[BackupKey, str]
    evidence: dict[str, bytes]
    warnings: tuple[Finding, ...]
    forecast: Forecast


def namespace_text(cluster: ClusterScope, namespace: NamespaceScope, settings: Settings) -> NamespaceText:
    """Classify the services of one namespace and return what it gives to the documents."""
    assessment = assess(Snapshot(cluster, (namespace,)), settings)
    units, evidence = _with_evidence(assessment)
    documents = sorted(backup_documents(assessment.cases).items())
    targets = sorted(assessment.targets, key=lambda target: target.id.split("/"))
    return NamespaceText(
        objects=namespace.size,
        outlines=tuple(map(_outline, units)),
        units=_by_kind((_kind(unit.id), item_text(unit)) for unit in units),
        targets=_by_kind((_kind(target.id), item_text(target)) for target in targets),
        backup=_by_kind((kind, backup_text(text)) for (kind, within, _), text in documents if within),
        cluster_backup={key: text for key, text in documents if not key[1]},
        evidence=evidence,
        # Those of the cluster scope come first in each, and are known.
        warnings=assessment.warnings[len(cluster.warnings) :],
        forecast=forecast(units, assessment.targets),
    )


def _with_evidence(assessment: Assessment) -> tuple[list[Unit], dict[str, bytes]]:
    cases = {case.service.id: case for case in assessment.cases}
    units: list[Unit] = []
    files: dict[str, bytes] = {}
    for unit in assessment.units:
        if unit.outcome != DEDICATED:
            units.append(unit)
            continue
        case = cases[unit.id]
        name = evidence_file_name(case.service.namespace, case.service.name)
        files[name] = encode_evidence(evidence_of(case))
        reference = EvidenceReference(file=name, sha256=digest_bytes(files[name]))
        units.append(msgspec.structs.replace(unit, evidence=reference))
    return units, files


def _by_kind(texts: Iterable[tuple[str, bytes]]) -> Texts:
    found: dict[str, list[bytes]] = {}
    for kind, text in texts:
        found.setdefault(kind, []).append(text)
    return {kind: b"".join(items) for kind, items in found.items()}


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
