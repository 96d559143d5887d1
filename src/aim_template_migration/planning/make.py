"""Makes a plan: reads namespace after namespace, classifies, and writes the documents (shell)."""

from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from aim_template_migration.cycle_collection import without_cycle_collection
from aim_template_migration.documents.plan import (
    API_VERSION,
    GENERATED_NAME,
    KIND,
    PLAN_NAME,
    SCHEMA_URI,
    Plan,
    decode_plan,
)
from aim_template_migration.documents.plan_text import content_digest, plan_text
from aim_template_migration.kube import Cluster
from aim_template_migration.planning.classifying import namespace_texts
from aim_template_migration.planning.destination import Destination, Memory
from aim_template_migration.planning.inventory import PlanningError, read_cluster_scope
from aim_template_migration.planning.parts import Parts
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import ClusterScope
from aim_template_migration.version import __version__

BACKUP_FILE = "backup.yaml"

__all__ = ["BACKUP_FILE", "PlanFiles", "PlanOutline", "PlanningError", "Settings", "make_plan", "write_plan"]


@dataclass(frozen=True, slots=True)
class PlanOutline:
    """What a plan that was written comes to.

    Attributes:
        plan: the plan without targets, its units reduced to id, outcome, codes and evidence.
        sha256: SHA-256 of ``plan.json``.
        evidence_files: names of the Dedicated evidence files, sorted.
    """

    plan: Plan
    sha256: str
    evidence_files: tuple[str, ...]


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
    """Read the selected namespaces and return the plan with all its files, for fleets that fit into memory.

    Raises:
        PlanningError: a namespace does not exist, or none was named.
        ClusterError: something can't be read whole.
    """
    memory = Memory()
    outline = write_plan(cluster, settings, memory, now=now, plan_id=plan_id)
    return PlanFiles(decode_plan(memory.files[PLAN_NAME]), memory.files, outline.evidence_files)


def write_plan(
    cluster: Cluster,
    settings: Settings,
    destination: Destination,
    *,
    now: datetime,
    plan_id: str,
    workers: int | None = 1,
) -> PlanOutline:
    """Read the selected namespaces and write the files of the plan.

    The rules look at one namespace at a time, and so do the reading and the writing: what a namespace held is dropped
    before the next, so that memory does not grow with the fleet.

    Args:
        cluster: the connection.
        settings: what the administrator chose.
        destination: where the files go.
        now: the time of the plan.
        plan_id: its id.
        workers: how many processes classify; 1 is this process alone, None as many as the fleet is worth.

    Raises:
        PlanningError: a namespace does not exist, or none was named; a worker was ended.
        ClusterError: something can't be read whole.
        OSError: the destination can't be written.
    """
    if not settings.namespaces:
        raise PlanningError("no namespace was named; name every namespace with --namespace")
    with without_cycle_collection():
        parts = Parts(destination)
        scope = read_cluster_scope(cluster)
        parts.warnings += scope.warnings
        names = tuple(sorted(set(settings.namespaces)))
        for text in namespace_texts(cluster, scope, settings, names, workers=workers):
            parts.add(text)
        head = _head(settings, names, scope, parts)
        generated_at = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        head = msgspec.structs.replace(head, plan_id=plan_id, generated_at=generated_at)
        return _write(head, parts, destination)


def _head(settings: Settings, names: tuple[str, ...], scope: ClusterScope, parts: Parts) -> Plan:
    """Return the plan without its id, time and digest, and without what stands in files already: units and targets."""
    return Plan(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        schema_version=1,
        tool_version=__version__,
        plan_id="",
        generated_at="",
        content_digest="",
        cluster=scope.identity,
        namespaces=names,
        runtime_projection_mode=settings.runtime_projection_mode,
        accept_observed_generation=settings.accept_observed_generation,
        units=(),
        targets=(),
        forecast=parts.forecast,
        warnings=tuple(parts.warnings),
    )


def _write(head: Plan, parts: Parts, destination: Destination) -> PlanOutline:
    digest = content_digest(head, parts.units(), parts.targets())
    head = msgspec.structs.replace(head, content_digest=digest)
    sha256 = destination.write(PLAN_NAME, plan_text(head, parts.units(), parts.targets()), copies=(GENERATED_NAME,))
    destination.write(BACKUP_FILE, parts.backup())
    outlines = tuple(sorted(parts.outlines, key=lambda unit: unit.id.split("/")))
    return PlanOutline(msgspec.structs.replace(head, units=outlines), sha256, tuple(sorted(parts.evidence_files)))
