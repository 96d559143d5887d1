"""The evidence of a Dedicated unit, from its case (pure)."""

from collections.abc import Iterator

from aim_api.tree import get_map, get_str
from aim_template_migration.documents.evidence import ArtifactReport, DedicatedEvidence, SourceObject, make_evidence
from aim_template_migration.planning.case import Case
from aim_template_migration.planning.content import pin_of
from aim_template_migration.planning.snapshot import Observed
from aim_template_migration.version import __version__

DEDICATED = "DedicatedHandoffRequiresQuiescence"


def evidence_of(case: Case) -> DedicatedEvidence:
    """Return the evidence of a case: every source object, in the order of the closure."""
    return make_evidence(
        case.service.id,
        tuple(_source(role, item) for role, item in _sources(case)),
        tool_version=__version__,
        kube_system_uid=case.snapshot.cluster.identity.kube_system_uid,
    )


def _sources(case: Case) -> Iterator[tuple[str, Observed]]:
    closure = case.closure
    yield "service", closure.service
    joins = (("model", closure.model), ("template", closure.template), ("templateCache", closure.template_cache))
    yield from ((role, join.found) for role, join in joins if join.found)
    yield from (("artifact", item) for item in closure.artifacts())
    yield from (("pvc", item) for item in closure.pvcs())
    yield from (("inferenceService", item) for item in closure.inference_services)
    yield from (("deployment", item) for item in closure.deployments)
    yield from (("runtimeConfig", item) for item in closure.runtime_configs())


def _source(role: str, item: Observed) -> SourceObject:
    pin = pin_of(role, item)
    return SourceObject(
        role=role,
        reference=item.reference,
        uid=item.uid,
        content_digest=pin.content_digest,
        generation=pin.generation,
        observed_generation=item.observed_generation,
        owner_references=item.owner_references,
        paused=item.paused,
        terminating=item.terminating,
        ready=item.condition_status("Ready"),
        status=item.status_word,
        phase=get_str(item.obj, "status", "phase") or "",
        artifacts=tuple(_reports(item)),
    )


def _reports(item: Observed) -> Iterator[ArtifactReport]:
    for _, entry in sorted(get_map(item.obj, "status", "artifacts").items()):
        yield ArtifactReport(
            name=get_str(entry, "name") or "",
            uid=get_str(entry, "uid") or "",
            model=get_str(entry, "model") or "",
            status=get_str(entry, "status") or "",
            persistent_volume_claim=get_str(entry, "persistentVolumeClaim") or "",
        )
