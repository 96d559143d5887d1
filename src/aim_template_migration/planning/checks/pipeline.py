"""Rows: which pipeline owns the service, caching mode, projection mode, bridge and CRDs."""

from collections.abc import Iterator
from functools import lru_cache

from aim_api.bridge import COMPATIBLE_CONDITION
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_PROFILE,
    AIM_GROUP,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    CRD,
    INFERENCE_SERVICE,
    LEGACY_VERSION,
    SERVING_RUNTIME,
    Kind,
)
from aim_api.labels import PIPELINE_PROFILE, PIPELINE_TEMPLATE, RECONCILER_PIPELINE
from aim_api.tree import get, get_int, get_str
from aim_template_migration.documents.plan import ClusterIdentity, CrdIdentity, Reference
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.snapshot import Observed, reference_to

DEDICATED_WORDS = frozenset({"Dedicated", "Never"})

# What must be served, and stored where the same object has two versions: kind, served versions, stored version.
_NEEDED: tuple[tuple[Kind, tuple[str, ...], str], ...] = (
    (AIM_SERVICE, (LEGACY_VERSION, AIM_SERVICE.version), AIM_SERVICE.version),
    (AIM_MODEL, (AIM_MODEL.version,), AIM_MODEL.version),
    (AIM_PROFILE, (AIM_PROFILE.version,), AIM_PROFILE.version),
    (AIM_PROFILE_CACHE, (AIM_PROFILE_CACHE.version,), AIM_PROFILE_CACHE.version),
    (AIM_SERVICE_TEMPLATE, (LEGACY_VERSION,), ""),
    (AIM_TEMPLATE_CACHE, (LEGACY_VERSION,), ""),
    (AIM_ARTIFACT, (LEGACY_VERSION,), ""),
    (AIM_RUNTIME_CONFIG, (LEGACY_VERSION,), ""),
    (INFERENCE_SERVICE, (INFERENCE_SERVICE.version,), ""),
    (SERVING_RUNTIME, (SERVING_RUNTIME.version,), ""),
)


def owning_pipeline(service: Observed) -> str:
    """Return ``template`` or ``profile``: the annotation decides, then spec.profile (dispatch facts)."""
    annotation = service.annotations.get(RECONCILER_PIPELINE)
    if annotation in (PIPELINE_TEMPLATE, PIPELINE_PROFILE):
        return annotation
    return PIPELINE_PROFILE if get(service.obj, "spec", "profile") is not None else PIPELINE_TEMPLATE


def already_migrated(service: Observed) -> bool:
    """Return whether the profile pipeline owns the service."""
    return owning_pipeline(service) == PIPELINE_PROFILE


def check_pipeline(case: Case) -> Findings:
    """The service is on the template pipeline, and no annotation would keep it there."""
    service = case.service
    if already_migrated(service):
        yield finding("AlreadyMigrated", service, "the profile pipeline owns the service already", "spec.profile")
    if service.annotations.get(RECONCILER_PIPELINE) == PIPELINE_TEMPLATE:
        message = "the annotation keeps the service on the template pipeline, also after spec.profile is set"
        yield finding("PipelineAnnotation", service, message, f"metadata.annotations[{RECONCILER_PIPELINE}]")


def check_caching_mode(case: Case) -> Findings:
    """Caching is Shared; Auto and Always mean Shared, Never means Dedicated (legacy pipeline facts, cache creation)."""
    mode = get_str(case.service.obj, "spec", "caching", "mode") or "Shared"
    if mode in DEDICATED_WORDS:
        message = f"caching mode {mode} gives the service a cache of its own, whose artifacts no other cache can adopt"
        yield finding("DedicatedHandoffRequiresQuiescence", case.service, message, "spec.caching.mode")


def check_projection_mode(case: Case) -> Findings:
    """The operator publishes a runtime per profile, which the pre-cutover fence needs (R)."""
    if case.settings.runtime_projection_mode == "Reduced":
        message = "the projection mode Reduced publishes no runtime per profile, so the cutover could not be fenced"
        yield finding("ReducedProjectionMode", case.service, message)


def accepts_observed_generation(case: Case) -> bool:
    """Return whether status.observedGeneration is the proof of the bridge that is used for this service."""
    return not _compatible(case.service) and case.settings.accept_observed_generation and _observed(case.service)


def check_bridge(case: Case) -> Findings:
    """The operator has proven for this generation of the service that it is the bridge; the CRDs are the bridge's."""
    service = case.service
    status = service.condition_status(COMPATIBLE_CONDITION)
    if status == "False":
        message = f"the bridge reports {COMPATIBLE_CONDITION}=False for the service"
        yield finding("BridgeCompatibilityWarning", service, message, f"status.conditions[{COMPATIBLE_CONDITION}]")
    elif not _compatible(service) and not accepts_observed_generation(case):
        message = f"no condition {COMPATIBLE_CONDITION}=True at its generation proves that the operator is the bridge"
        yield finding("BridgeNotProven", service, message, f"status.conditions[{COMPATIBLE_CONDITION}]")
    identity, cluster_template = case.snapshot.cluster.identity, case.closure.cluster_template
    for kind, message in _known_crd_faults(identity, cluster_template):
        yield finding("CrdVersionsUnsuitable", _crd_reference(kind), message, "spec")


def _compatible(service: Observed) -> bool:
    condition = service.condition(COMPATIBLE_CONDITION)
    if condition is None or get_str(condition, "status") != "True":
        return False
    return service.generation is not None and get_int(condition, "observedGeneration") == service.generation


def _observed(service: Observed) -> bool:
    return service.generation is not None and service.observed_generation == service.generation


@lru_cache(maxsize=8)
def _known_crd_faults(identity: ClusterIdentity, cluster_template: bool) -> tuple[tuple[Kind, str], ...]:  # noqa: FBT001
    """Return the faults of the CRDs, which are the same for all services of a cluster."""
    return tuple(crd_faults(identity, cluster_template=cluster_template))


def crd_faults(identity: ClusterIdentity, *, cluster_template: bool = False) -> Iterator[tuple[Kind, str]]:
    """Yield each kind whose CRD is missing, does not serve or store the version that is needed, or converts, and why.

    Args:
        identity: the CRDs as found.
        cluster_template: whether the target is a cluster-scoped profile.
    """
    found = {crd.name: crd for crd in identity.crds}
    needed = _NEEDED
    if cluster_template:
        needed = (*needed, (AIM_CLUSTER_PROFILE, (AIM_CLUSTER_PROFILE.version,), AIM_CLUSTER_PROFILE.version))
    for kind, served, stored in needed:
        crd = found.get(kind.crd_name)
        message = _crd_fault(crd, served, stored) or _conversion_fault(kind, crd)
        if message:
            yield kind, message


def _crd_fault(crd: CrdIdentity | None, served: tuple[str, ...], stored: str) -> str:
    if crd is None:
        return "the CRD is not installed"
    missing = [version for version in served if version not in crd.served_versions]
    if missing:
        return f"the CRD does not serve {' and '.join(missing)}"
    return f"the CRD stores {crd.storage_version}, not {stored}" if stored and crd.storage_version != stored else ""


def _conversion_fault(kind: Kind, crd: CrdIdentity | None) -> str:
    """Return what is wrong with a conversion of the bridge's own kinds; KServe's may state one that is never called.

    The bridge's kinds differ in apiVersion alone, so that nothing has to be asked for a conversion. A webhook that is
    down while something writes wipes the field managers by which others' fields are known.
    """
    asked = crd is not None and crd.converted_by_webhook and kind.group == AIM_GROUP
    return "the CRD converts objects by a webhook, and the bridge's need none" if asked else ""


def _crd_reference(kind: Kind) -> Reference:
    return reference_to(CRD, "", kind.crd_name)
