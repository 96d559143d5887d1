"""From the rehearsal's own observations to its report (pure)."""

from collections.abc import Mapping

from aim_rehearsal.session import AuditSummary
from aim_template_migration.applying.plan_files import PlanFiles
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.plan import API_VERSION, Unit
from aim_template_migration.documents.rehearsal import (
    KIND,
    SCHEMA_URI,
    AuditCounts,
    InferenceServiceComparison,
    PodComparison,
    ReasonCode,
    RehearsalReport,
    RehearsedFault,
    RehearsedUnit,
)
from aim_template_migration.documents.result import ApplyResult
from aim_template_migration.rehearsing.observation import ServiceFacts
from aim_template_migration.rehearsing.subject import Subject

SUPPLIED_BY_SIMULATION = (
    "the condition BridgeCompatible and status.observedGeneration of every AIMService",
    "readiness of profiles, runtimes, caches, artifacts, InferenceServices, Deployments and pods",
    "accelerators, storage and weights, none of which exist",
)

Services = Mapping[str, ServiceFacts]


def report_of(
    files: PlanFiles,
    subject: Subject,
    result: ApplyResult,
    *,
    before: Services,
    after: Services,
    audit: AuditSummary,
    fault: RehearsedFault | None = None,
) -> RehearsalReport:
    """Return the report of a rehearsal whose last run gave ``result``."""
    statuses = {unit.id: unit.status for unit in result.units}
    return RehearsalReport(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        world=subject.world.name,
        runtime_projection_mode=files.plan.runtime_projection_mode,
        plan_sha256=files.sha256,
        last_run=result.mode,
        counts=result.counts,
        units=tuple(
            _unit(unit, statuses.get(unit.id, ""), before.get(unit.id), after.get(unit.id)) for unit in files.plan.units
        ),
        audit=AuditCounts(audit.mutations, audit.dry_runs, audit.deletes, audit.secret_reads),
        supplied_by_simulation=(*SUPPLIED_BY_SIMULATION, *subject.supplied),
        limits=LIMITS,
        not_rehearsed=subject.not_rehearsed,
        fault=fault,
    )


def is_untouched(before: ServiceFacts | None, after: ServiceFacts | None) -> bool:
    """Return whether a service's InferenceService and pods are exactly the same at both moments."""
    if before is None or after is None or before.inference_service is None:
        return False
    return before.inference_service == after.inference_service and before.pods == after.pods


def _unit(unit: Unit, status: str, before: ServiceFacts | None, after: ServiceFacts | None) -> RehearsedUnit:
    return RehearsedUnit(
        id=unit.id,
        disposition=unit.disposition,
        outcome=unit.outcome,
        reasons=tuple(ReasonCode(reason.code) for reason in unit.reasons),
        status=status,
        resolved_profile=after.profile if after else "",
        inference_service=InferenceServiceComparison(
            before.inference_service if before else None, after.inference_service if after else None
        ),
        pods=PodComparison(before.pods if before else (), after.pods if after else ()),
    )
