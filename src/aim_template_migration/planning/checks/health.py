"""Rows: the predecessor serves, and its cache, artifacts and PersistentVolumeClaims are whole."""

from collections import Counter

from aim_api.kinds import AIM_SERVICE
from aim_api.labels import PROFILE, TEMPLATE
from aim_api.names import label_value
from aim_api.tree import get_map, get_objects, get_str
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.closure import Claim
from aim_template_migration.planning.currency import currency
from aim_template_migration.planning.snapshot import Observed


def check_predecessor(case: Case) -> Findings:
    """The service is Ready; its InferenceService is Ready, current and rendered by the template pipeline (R)."""
    service, isvc = case.service, case.closure.inference_service
    if service.condition_status("Ready") != "True" or service.status_word != "Running":
        message = f"the service is not Ready and Running (its status is {service.status_word or 'unset'})"
        yield finding("PredecessorNotReady", service, message, "status.conditions[Ready]")
    elif service.observed_generation is not None and service.observed_generation != service.generation:
        message = (
            f"its status observes generation {service.observed_generation}, its generation is {service.generation}"
        )
        yield finding("PredecessorNotReady", service, message, "status.observedGeneration")
    if isvc is None:
        return
    proof, message = currency(case.closure)
    if proof is None:
        code = "PredecessorNotReady" if isvc.condition_status("Ready") != "True" else "InferenceServiceNotCurrent"
        yield finding(code, isvc, message, "status")
    yield from _legacy_labels(case, isvc)


def check_cache(case: Case) -> Findings:
    """The template cache is Ready and Shared."""
    cache = case.closure.template_cache.found
    if cache is None:
        return
    mode = get_str(cache.obj, "spec", "mode") or "Shared"
    if mode != "Shared":
        yield finding("CacheNotReady", cache, f"its mode is {mode}, not Shared", "spec.mode")
    if cache.status_word != "Ready":
        yield finding(
            "CacheNotReady", cache, f"its status is {cache.status_word or 'unset'}, not Ready", "status.status"
        )
    elif cache.observed_generation is not None and cache.observed_generation != cache.generation:
        yield finding("CacheNotReady", cache, "its status is of an older generation", "status.observedGeneration")
    if any(owner.kind == AIM_SERVICE.name for owner in cache.owner_references):
        yield finding(
            "CacheNotReady", cache, "it is owned by a service, so it is no Shared cache", "metadata.ownerReferences"
        )


def check_artifacts(case: Case) -> Findings:
    """Each source has exactly one ownerless Ready artifact that can be adopted, on a Bound claim of its own."""
    template, cache = case.closure.template.found, case.closure.template_cache.found
    if template is None or cache is None:
        return
    if not case.closure.claims:
        yield finding("ArtifactUnresolved", template, "the template reports no model sources", "status.modelSources")
    repeated = _repeated([claim.model_id for claim in case.closure.claims])
    repeated += _repeated([claim.source_uri for claim in case.closure.claims])
    for name in repeated:
        yield finding(
            "ArtifactUnresolved",
            template,
            f"two model sources have the same modelId or sourceUri ({name})",
            "status.modelSources",
        )
    reported = get_map(cache.obj, "status", "artifacts")
    if _reports(cache) and len(reported) != len(case.closure.claims):
        message = f"it reports {len(reported)} artifacts for {len(case.closure.claims)} model sources"
        yield finding("ArtifactUnresolved", cache, message, "status.artifacts")
    for claim in case.closure.claims:
        yield from _artifact(case, template, cache, claim)
        yield from _pvc(case, claim)


def _repeated(texts: list[str]) -> list[str]:
    """Return what stands in a list more than once."""
    return [text for text, count in Counter(texts).items() if count > 1] if len(texts) > 1 else []


def _legacy_labels(case: Case, isvc: Observed) -> Findings:
    value = isvc.labels.get(TEMPLATE, "")
    template = case.closure.template.found
    if not value:
        yield finding(
            "LegacyLabelsInvalid", isvc, f"its label {TEMPLATE} is absent or empty", f"metadata.labels[{TEMPLATE}]"
        )
    elif template and value not in (template.name, label_value(template.name)):
        message = f"its label names template {value}, the service resolves {template.name}"
        yield finding("LegacyLabelsInvalid", isvc, message, f"metadata.labels[{TEMPLATE}]")
    if PROFILE in isvc.labels:
        yield finding("LegacyLabelsInvalid", isvc, f"it carries the label {PROFILE}", f"metadata.labels[{PROFILE}]")


def _artifact(case: Case, template: Observed, cache: Observed, claim: Claim) -> Findings:
    where = f"status.modelSources[{claim.index}]"
    ownerless = claim.ownerless
    for item in claim.matching:
        if item.owner_references and (not ownerless or item.uid == get_str(claim.entry, "uid")):
            yield finding(
                "ArtifactOwned", item, "it has an owner, so no Shared cache adopts it", "metadata.ownerReferences"
            )
    if not claim.matching:
        yield finding(
            "ArtifactUnresolved", template, f"no artifact of the namespace holds model source {claim.index}", where
        )
    if len(ownerless) > 1:
        names = ", ".join(item.name for item in ownerless)
        yield finding(
            "ArtifactUnresolved",
            template,
            f"several ownerless artifacts hold model source {claim.index}: {names}",
            where,
        )
    artifact = claim.artifact
    if artifact is None:
        return
    for message, field in _artifact_faults(case, claim, artifact):
        yield finding("ArtifactUnresolved", artifact, message, field)
    if _reports(cache) and get_str(claim.entry, "uid") != artifact.uid:
        yield finding(
            "ArtifactUnresolved",
            cache,
            f"it does not report artifact {artifact.name} for model source {claim.index}",
            "status.artifacts",
        )


def _artifact_faults(case: Case, claim: Claim, artifact: Observed) -> list[tuple[str, str]]:
    wanted, has = (
        get_str(case.cache_body, "spec", "storageClassName"),
        get_str(artifact.obj, "spec", "storageClassName"),
    )
    faults = (
        (artifact.terminating, "it is being deleted, so the target cache would wait and create it anew", "metadata"),
        (
            artifact.status_word != "Ready",
            f"its status is {artifact.status_word or 'unset'}, not Ready",
            "status.status",
        ),
        (
            bool(wanted) and wanted != has,
            f"its storage class is {has or 'unset'}; the target cache asks for {wanted}",
            "spec.storageClassName",
        ),
        (get_str(artifact.obj, "spec", "type") == "adapter", "it is an adapter, not a model", "spec.type"),
        (get_str(artifact.obj, "status", "mode") == "Dedicated", "its status says Dedicated", "status.mode"),
        (
            get_str(claim.entry, "model") not in (None, claim.model_id),
            "the template cache reports it for another model",
            "status.artifacts",
        ),
    )
    return [(message, field) for holds, message, field in faults if holds]


def _pvc(case: Case, claim: Claim) -> Findings:
    artifact = claim.artifact
    if artifact is None:
        return
    name = get_str(artifact.obj, "status", "persistentVolumeClaim")
    if not name:
        yield finding("PvcUnresolved", artifact, "it reports no PersistentVolumeClaim", "status.persistentVolumeClaim")
        return
    cache = case.closure.template_cache.found
    if cache and _reports(cache) and get_str(claim.entry, "persistentVolumeClaim") != name:
        message = f"the template cache reports another PersistentVolumeClaim for it than {name}"
        yield finding("PvcUnresolved", artifact, message, "status.persistentVolumeClaim")
    if claim.pvc is None:
        yield finding(
            "PvcUnresolved",
            artifact,
            f"its PersistentVolumeClaim {name} does not exist",
            "status.persistentVolumeClaim",
        )
        return
    phase = get_str(claim.pvc.obj, "status", "phase")
    if phase != "Bound":
        yield finding("PvcUnresolved", claim.pvc, f"its phase is {phase or 'unset'}, not Bound", "status.phase")
    if not claim.pvc.owned_by(artifact.uid):
        yield finding(
            "PvcUnresolved", claim.pvc, f"it is not controlled by artifact {artifact.name}", "metadata.ownerReferences"
        )
    isvc = case.closure.inference_service
    if isvc and name not in _mounted(isvc):
        yield finding(
            "PvcUnresolved", isvc, f"it does not mount PersistentVolumeClaim {name}", "spec.predictor.volumes"
        )


def _reports(cache: Observed) -> bool:
    """Return whether the cache's report of its artifacts means anything; one that is not Ready may report none."""
    return cache.status_word == "Ready"


def _mounted(isvc: Observed) -> frozenset[str]:
    volumes = get_objects(isvc.obj, "spec", "predictor", "volumes")
    names = (get_str(volume, "persistentVolumeClaim", "claimName") for volume in volumes)
    return frozenset(name for name in names if name)
