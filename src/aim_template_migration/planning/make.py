"""Makes a plan: reads namespace after namespace, classifies, and writes the documents as bytes (shell)."""

from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.documents.canonical import digest_bytes, document_digest
from aim_template_migration.documents.evidence import encode_evidence, evidence_file_name
from aim_template_migration.documents.plan import (
    API_VERSION,
    GENERATED_NAME,
    KIND,
    PLAN_NAME,
    SCHEMA_URI,
    EvidenceReference,
    Finding,
    Plan,
    Target,
    Unit,
    encode_plan,
)
from aim_template_migration.kube import Cluster
from aim_template_migration.planning.assess import Assessment, assess
from aim_template_migration.planning.backup import BackupKey, backup_documents, encode_backup
from aim_template_migration.planning.evidence import DEDICATED, evidence_of
from aim_template_migration.planning.forecast import forecast
from aim_template_migration.planning.inventory import PlanningError, read_cluster_scope, read_namespaces
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import Snapshot
from aim_template_migration.version import __version__

BACKUP_FILE = "backup.yaml"

__all__ = ["BACKUP_FILE", "PlanFiles", "PlanningError", "Settings", "make_plan"]


@dataclass(frozen=True, slots=True)
class PlanFiles:
    """A plan with the files of its directory, by name.

    Attributes:
        plan: the plan.
        files: the bytes of every file.
        evidence_files: names of the Dedicated evidence files, sorted.
    """

    plan: Plan
    files: dict[str, bytes]
    evidence_files: tuple[str, ...]


def make_plan(cluster: Cluster, settings: Settings, *, now: datetime, plan_id: str) -> PlanFiles:
    """Read the selected namespaces and return the plan with all its files.

    The rules look at one namespace at a time, and so does the reading: what a namespace held is dropped before the
    next.

    Raises:
        PlanningError: a namespace does not exist, or none was named.
        ClusterError: something can't be read whole.
    """
    if not settings.namespaces:
        raise PlanningError("no namespace was named; name every namespace with --namespace")
    with without_cycle_collection():
        return _make(cluster, settings, now, plan_id)


def _make(cluster: Cluster, settings: Settings, now: datetime, plan_id: str) -> PlanFiles:
    parts = _Parts()
    scope = read_cluster_scope(cluster)
    parts.warnings += scope.warnings
    names = tuple(sorted(set(settings.namespaces)))
    for namespace in read_namespaces(cluster, names):
        parts.add(assess(Snapshot(scope, (namespace,)), settings), len(scope.warnings))
    units = tuple(sorted(parts.units, key=lambda unit: unit.id.split("/")))
    targets = tuple(target for _, target in sorted(parts.targets.items()))
    plan = Plan(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        schema_version=1,
        tool_version=__version__,
        plan_id=plan_id,
        generated_at=now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        content_digest="",
        cluster=scope.identity,
        namespaces=names,
        runtime_projection_mode=settings.runtime_projection_mode,
        accept_observed_generation=settings.accept_observed_generation,
        units=units,
        targets=targets,
        forecast=forecast(units, targets),
        warnings=tuple(parts.warnings),
    )
    plan = msgspec.structs.replace(plan, content_digest=content_digest(plan))
    encoded = encode_plan(plan)
    files = {PLAN_NAME: encoded, GENERATED_NAME: encoded, BACKUP_FILE: encode_backup(parts.backup), **parts.evidence}
    return PlanFiles(plan, files, tuple(sorted(parts.evidence)))


def content_digest(plan: Plan) -> str:
    """Return the digest of a plan without itself, its id and its time: the same live state gives the same digest."""
    return document_digest(msgspec.structs.replace(plan, content_digest="", plan_id="", generated_at=""))


class _Parts:
    """What the namespaces gave so far."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.targets: dict[str, Target] = {}
        self.warnings: list[Finding] = []
        self.backup: dict[BackupKey, str] = {}
        self.evidence: dict[str, bytes] = {}

    def add(self, assessment: Assessment, known_warnings: int) -> None:
        """Take over one namespace; the warnings of the cluster scope come first in each and are known already."""
        self.targets |= {target.id: target for target in assessment.targets}
        self.warnings += assessment.warnings[known_warnings:]
        self.backup |= backup_documents(assessment.cases)
        dedicated = {case.service.id: case for case in assessment.cases}
        for unit in assessment.units:
            if unit.outcome != DEDICATED:
                self.units.append(unit)
                continue
            case = dedicated[unit.id]
            name = evidence_file_name(case.service.namespace, case.service.name)
            self.evidence[name] = encode_evidence(evidence_of(case))
            reference = EvidenceReference(file=name, sha256=digest_bytes(self.evidence[name]))
            self.units.append(msgspec.structs.replace(unit, evidence=reference))
