"""Rows: what would be created is known exactly, does not exist in another form, and would do nothing unexpected."""

from aim_api.kinds import AIM_CLUSTER_MODEL, AIM_CLUSTER_PROFILE_SET, AIM_MODEL, AIM_PROFILE_CACHE, AIM_PROFILE_SET
from aim_api.labels import ORIGIN, ORIGIN_MANUAL, OVERLAY_SERVICE
from aim_api.tree import get_bool, get_objects, get_str
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.checks.service_settings import unknown_settings
from aim_template_migration.planning.comparison import differing_fields
from aim_template_migration.planning.known_fields import unknown_fields
from aim_template_migration.planning.snapshot import Observed

_PROFILE_OWNERS = frozenset(
    {AIM_MODEL.name, AIM_CLUSTER_MODEL.name, AIM_PROFILE_SET.name, AIM_CLUSTER_PROFILE_SET.name}
)


def hand_authored(observed: Observed) -> bool:
    """Return whether a person made the object: no controller, and no origin label or the origin manual."""
    return observed.controller is None and observed.labels.get(ORIGIN, ORIGIN_MANUAL) == ORIGIN_MANUAL


def check_profile(case: Case) -> Findings:
    """The target profile exists with exactly the mapped content, or is absent and the template is hand-authored."""
    yield from unknown_settings(case)
    template, mapped = case.closure.template.found, case.mapped
    if template is None or mapped is None or case.profile_body is None:
        return
    yield from _profile_conflicts(case, template)
    if case.closure.profile is None and not case.closure.cluster_template and not hand_authored(template):
        message = f"no AIMProfile {template.name} exists, and the model's own discovery should publish it"
        yield finding(
            "TargetNotDiscovered",
            template,
            message,
            "metadata.labels" if template.controller is None else "metadata.ownerReferences",
        )
    for problem in mapped.problems:
        yield finding(problem.code, _named(case, problem.object), problem.message, problem.field)
    yield from unknown_fields(case)
    yield from _running_image(case)


def check_cluster_target(case: Case) -> Findings:
    """For a cluster template an AIMClusterProfile must exist already: the tool never writes cluster-scoped objects."""
    if case.closure.cluster_template and case.closure.cluster_profile is None:
        message = (
            f"no AIMClusterProfile {case.closure.profile_name} exists, and this tool writes no cluster-scoped objects"
        )
        yield finding("ClusterTargetMissing", case.profile_reference, message)


def check_own_cache(case: Case) -> Findings:
    """The target profile would not make a cache of its own (R, "Cache behavior")."""
    mapped, existing = case.profile_body, case.closure.target_profile
    if existing and get_bool(existing.obj, "spec", "caching", "enabled"):
        yield finding(
            "TargetProfileOwnsCache", existing, "its spec.caching makes a cache of its own", "spec.caching.enabled"
        )
    elif get_bool(mapped, "spec", "caching", "enabled"):
        message = "the template's spec.caching is enabled, so the target profile would make a cache of its own"
        yield finding("TargetProfileOwnsCache", case.profile_reference, message, "spec.caching.enabled")


def check_profile_cache(case: Case) -> Findings:
    """The service-driven cache is absent, or ownerless and equal; no other cache matches the target profile."""
    body, existing = case.cache_body, case.closure.profile_cache
    if body is None:
        return
    name = get_str(body, "metadata", "name")
    for other in case.closure.scope.with_field(AIM_PROFILE_CACHE, ("spec", "profileName"), case.closure.profile_name):
        fits = get_str(other.obj, "spec", "profileScope") == case.closure.profile_scope
        if fits and other.name != name and (get_str(other.obj, "spec", "mode") or "Shared") == "Shared":
            yield finding(
                "AnotherMatchingCache",
                other,
                "it matches the target profile as well, so either could be used",
                "spec.profileName",
            )
    if existing is None:
        return
    if existing.owner_references:
        yield finding("TargetCacheOwned", existing, "the target cache exists with an owner", "metadata.ownerReferences")
    fields = differing_fields(body, existing, case.snapshot.cluster.schemas)
    if fields:
        message = f"the target cache exists with another content: {', '.join(fields)}"
        yield finding("TargetCacheConflict", existing, message, fields[0])


def _profile_conflicts(case: Case, template: Observed) -> Findings:
    body, existing = case.profile_body, case.closure.target_profile
    if case.closure.cluster_template and case.closure.profile:
        message = f"AIMProfile {template.name} of the namespace would win over the AIMClusterProfile of that name"
        yield finding("TargetProfileConflict", case.closure.profile, message, "metadata.name")
    if existing is None or body is None:
        return
    fields = differing_fields(body, existing, case.snapshot.cluster.schemas)
    if fields:
        message = f"the target profile exists with another content: {', '.join(fields)}"
        yield finding("TargetProfileConflict", existing, message, fields[0])
    controller = existing.controller
    if OVERLAY_SERVICE in existing.annotations or (controller and controller.kind not in _PROFILE_OWNERS):
        message = (
            "the target profile exists as another service's overlay, or under an owner that is no model or profile set"
        )
        yield finding("TargetProfileConflict", existing, message, "metadata.ownerReferences")


def _running_image(case: Case) -> Findings:
    """What runs must be what the profile will state: otherwise nobody knows which image is right."""
    isvc = case.closure.inference_service
    planned = get_str(case.profile_body, "spec", "image")
    for container in get_objects(isvc.obj, "spec", "predictor", "containers") if isvc else ():
        running = get_str(container, "image")
        if isvc and container.get("name") == "kserve-container" and planned and running != planned:
            message = f"it runs image {running}, the profile would state {planned}"
            yield finding("ImputationNotSafe", isvc, message, "spec.predictor.containers[0].image")


def _named(case: Case, object_id: str) -> Observed:
    """Return the object of the closure with an id; problems only name objects of the closure."""
    return next((item for item in case.closure.objects if item.id == object_id), case.service)
