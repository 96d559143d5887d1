"""The evidence of a Dedicated unit, from its case (pure)."""

from collections.abc import Iterator

import msgspec

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.kinds import AIM_ARTIFACT, AIM_SERVICE
from aim_api.labels import EVICTION_PROTECTED, PIPELINE_PROFILE, RECONCILER_PIPELINE
from aim_api.tree import JsonObject, get_list, get_map, get_str
from aim_template_migration.documents.canonical import digest
from aim_template_migration.documents.evidence import ArtifactReport, DedicatedEvidence, SourceObject, make_evidence
from aim_template_migration.planning.case import Case
from aim_template_migration.planning.content import content, pin_of
from aim_template_migration.planning.snapshot import Observed
from aim_template_migration.version import __version__

DEDICATED = "DedicatedHandoffRequiresQuiescence"
_SELECTION = frozenset({"template", "profile"})
_MARK = (RECONCILER_PIPELINE, PIPELINE_PROFILE)
_PIN = frozenset({PRESERVE_UID, PRESERVE_GENERATION})


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
    yield from (("artifact", item) for item in closure.artifacts)
    yield from (("pvc", item) for item in closure.pvcs)
    yield from (("inferenceService", item) for item in closure.inference_services)
    yield from (("deployment", item) for item in closure.deployments)
    yield from (("runtimeConfig", item) for item in closure.runtime_configs)


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
        finalizers=finalizers_of(item),
        paused=item.paused,
        terminating=item.terminating,
        ready=item.condition_status("Ready"),
        status=item.status_word,
        phase=get_str(item.obj, "status", "phase") or "",
        artifacts=tuple(reports_of(item)),
        beside_selection_digest=beside_selection(item) if item.kind.name == AIM_SERVICE.name else "",
        eviction_protected=is_eviction_protected(item),
    )


def finalizers_of(item: Observed) -> tuple[str, ...]:
    """Return an object's finalizers, in order."""
    return tuple(str(entry) for entry in get_list(item.obj, "metadata", "finalizers"))


def is_eviction_protected(item: Observed) -> bool:
    """Return whether an object is an artifact that is protected from quota eviction."""
    return item.kind.name == AIM_ARTIFACT.name and item.annotations.get(EVICTION_PROTECTED) == "true"


def beside_selection(service: Observed) -> str:
    """Return the digest of a service's desired state without its selection and pin: a cutover leaves it (R, phase 9).

    An operator may mark a service as the profile pipeline's own; that is what the cutover asks for.
    """
    metadata = get_map(service.obj, "metadata")
    spec = {key: value for key, value in get_map(service.obj, "spec").items() if key not in _SELECTION}
    kept: JsonObject = {
        key: value for key, value in service.annotations.items() if key not in _PIN and (key, value) != _MARK
    }
    bare = msgspec.structs.replace(
        service, obj={**service.obj, "metadata": {**metadata, "annotations": kept}, "spec": spec}
    )
    return digest(content(bare))


def reports_of(item: Observed) -> Iterator[ArtifactReport]:
    """Yield what a cache reports of its artifacts, by name."""
    for _, entry in sorted(get_map(item.obj, "status", "artifacts").items()):
        yield ArtifactReport(
            name=get_str(entry, "name") or "",
            uid=get_str(entry, "uid") or "",
            model=get_str(entry, "model") or "",
            status=get_str(entry, "status") or "",
            persistent_volume_claim=get_str(entry, "persistentVolumeClaim") or "",
        )
