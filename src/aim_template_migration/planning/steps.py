"""The pins of a unit, and the steps of an automatic one (pure)."""

from collections.abc import Iterator

from aim_api.bridge import Pin as BridgePin
from aim_api.kinds import AIM_CLUSTER_RUNTIME_CONFIG, AIM_PROFILE, AIM_PROFILE_CACHE, AIM_RUNTIME_CONFIG
from aim_api.tree import JsonObject, get_str, has, pointer_part
from aim_template_migration.documents.plan import (
    AnyStep,
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    Pin,
    PinnedArtifact,
    ProtectArtifact,
    ReverifyProfileCache,
)
from aim_template_migration.planning.case import Case
from aim_template_migration.planning.closure import Closure
from aim_template_migration.planning.content import absent_pin, pin_of
from aim_template_migration.planning.snapshot import Observed


def pins_of(case: Case) -> tuple[Pin, ...]:
    """Return the facts about the closure that must still hold, in the order of the closure."""
    closure = case.closure
    pins = [pin_of("service", closure.service)]
    joins = (("model", closure.model), ("template", closure.template), ("templateCache", closure.template_cache))
    pins += [pin_of(role, join.found) for role, join in joins if join.found]
    pins += [pin_of("artifact", item) for item in closure.artifacts]
    pins += [pin_of("pvc", item) for item in closure.pvcs]
    pins += [pin_of("inferenceService", item) for item in closure.inference_services]
    pins += [pin_of("deployment", item) for item in closure.deployments]
    return (*pins, *_runtime_config_pins(closure), *_target_pins(case))


def steps_of(case: Case) -> tuple[AnyStep, ...]:
    """Return the steps of a case in which every condition of automatic handling holds."""
    closure, settings = case.closure, case.settings
    isvc, artifacts = closure.inference_service, pinned_artifacts(closure)
    if isvc is None:
        return ()
    cache = case.cache_reference
    # An existing profile of the namespace is pinned, and its step finds it; cluster-scoped ones are never written.
    profile = case.profile_reference
    create = () if closure.cluster_template else (CreateProfile(target=profile.id),)
    protect = tuple(
        ProtectArtifact(artifact=item.reference, uid=item.uid)
        for item in sorted((claim.artifact for claim in closure.claims if claim.artifact), key=lambda item: item.name)
    )
    return (
        *create,
        AwaitProfile(profile=profile, deadline_seconds=settings.profile_deadline_seconds),
        CreateProfileCache(target=cache.id),
        AwaitProfileCache(
            profile_cache=cache, artifacts=artifacts, deadline_seconds=settings.profile_cache_deadline_seconds
        ),
        *protect,
        ReverifyProfileCache(
            profile_cache=cache, artifacts=artifacts, deadline_seconds=settings.profile_cache_deadline_seconds
        ),
        _cut_over(case, isvc),
        ConfirmNoRollout(
            service=closure.service.reference,
            inference_service=isvc.reference,
            inference_service_uid=isvc.uid,
            inference_service_generation=isvc.generation or 0,
            profile_name=closure.profile_name,
            deadline_seconds=settings.cutover_deadline_seconds,
        ),
    )


def pinned_artifacts(closure: Closure) -> tuple[PinnedArtifact, ...]:
    """Return the artifacts that the target cache must adopt, with their claims, by name."""
    return tuple(
        PinnedArtifact(
            name=claim.artifact.name,
            uid=claim.artifact.uid,
            model_id=claim.model_id,
            source_uri=claim.source_uri,
            pvc_name=claim.pvc.name,
            pvc_uid=claim.pvc.uid,
        )
        for claim in sorted(closure.claims, key=lambda claim: claim.artifact.name if claim.artifact else "")
        if claim.artifact and claim.pvc
    )


def cut_over_operations(service: Observed, profile: str, pin: BridgePin) -> tuple[JsonObject, ...]:
    """Return the changing operations of the cutover: template out, profile and pin in, the rest as it is."""
    operations: list[JsonObject] = []
    if has(service.obj, "spec", "template"):
        operations.append({"op": "remove", "path": "/spec/template"})
    operations.append({"op": "add", "path": "/spec/profile", "value": {"name": profile}})
    if has(service.obj, "metadata", "annotations"):
        operations += [
            {"op": "add", "path": f"/metadata/annotations/{pointer_part(key)}", "value": value}
            for key, value in pin.annotations().items()
        ]
    else:
        operations.append({"op": "add", "path": "/metadata/annotations", "value": dict(pin.annotations())})
    return tuple(operations)


def _cut_over(case: Case, isvc: Observed) -> CutOver:
    service = case.service
    generation = service.generation or 0
    pin = BridgePin(isvc.uid, generation + 1)
    return CutOver(
        service=service.reference,
        uid=service.uid,
        generation=generation,
        operations=cut_over_operations(service, case.closure.profile_name, pin),
        pinned_generation=pin.generation,
        pinned_inference_service_uid=isvc.uid,
    )


def _runtime_config_pins(closure: Closure) -> Iterator[Pin]:
    name, namespace = closure.runtime_config_name, closure.scope.name
    for role, kind, found in (
        ("namespaceRuntimeConfig", AIM_RUNTIME_CONFIG, closure.runtime_config),
        ("clusterRuntimeConfig", AIM_CLUSTER_RUNTIME_CONFIG, closure.cluster_runtime_config),
    ):
        yield pin_of(role, found) if found else absent_pin(role, kind, namespace, name)


def _target_pins(case: Case) -> Iterator[Pin]:
    closure = case.closure
    name, namespace = closure.profile_name, closure.scope.name
    if not name:
        return
    if closure.cluster_profile:
        yield pin_of("clusterProfile", closure.cluster_profile)
    yield (
        pin_of("targetProfile", closure.profile)
        if closure.profile
        else absent_pin("targetProfile", AIM_PROFILE, namespace, name)
    )
    cache = get_str(case.cache_body, "metadata", "name") or ""
    existing = closure.profile_cache
    yield (
        pin_of("targetProfileCache", existing)
        if existing
        else absent_pin("targetProfileCache", AIM_PROFILE_CACHE, namespace, cache)
    )
