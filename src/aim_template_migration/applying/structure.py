"""Structural safety of a plan (pure): could applying it write anything but what this tool writes?

Every plan that ``plan`` makes passes. The checks do not trust that: they bound what apply can send whatever stands in
the file, so that a hand-edited plan can't reach other objects, other fields or another order (R, "Plan and review").
"""

from collections.abc import Iterator

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID, Pin
from aim_api.kinds import AIM_PROFILE, AIM_PROFILE_CACHE, AIM_SERVICE
from aim_api.tree import JsonObject, get_map, get_str, get_strings
from aim_template_migration.documents.plan import (
    AnyStep,
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    Plan,
    ProtectArtifact,
    Reference,
    ReverifyProfileCache,
    Target,
    Unit,
    step_name,
)

AUTOMATIC_OUTCOME = "SharedNoRollout"
_TARGET_KINDS = {kind.name: kind for kind in (AIM_PROFILE, AIM_PROFILE_CACHE)}
_FREE_METADATA = frozenset({"name", "namespace", "labels", "annotations"})


def structural_faults(plan: Plan) -> tuple[str, ...]:
    """Return every structural fault as one sentence; an empty result means that the plan is safe to run."""
    return (*_plan_faults(plan), *(fault for unit in plan.units for fault in _unit_faults(plan, unit)))


def _plan_faults(plan: Plan) -> Iterator[str]:
    ids = [unit.id for unit in plan.units]
    if len(set(ids)) != len(ids):
        yield "two units have the same id"
    for target in plan.targets:
        yield from _target_faults(plan, target)


def _target_faults(plan: Plan, target: Target) -> Iterator[str]:
    kind = _TARGET_KINDS.get(get_str(target.body, "kind") or "")
    namespace = get_str(target.body, "metadata", "namespace")
    expected = f"{kind.name if kind else '?'}/{namespace}/{get_str(target.body, 'metadata', 'name')}"
    if kind is None or get_str(target.body, "apiVersion") != kind.api_version:
        yield f"target {target.id}: only an AIMProfile or an AIMProfileCache at v1alpha2 may be created"
    elif expected != target.id:
        yield f"target {target.id}: its body is {expected}"
    if namespace not in plan.namespaces:
        yield f"target {target.id}: namespace {namespace} was not selected"
    if (
        set(target.body) - {"apiVersion", "kind", "metadata", "spec"}
        or set(get_map(target.body, "metadata")) - _FREE_METADATA
    ):
        yield f"target {target.id}: its body may have metadata (name, namespace, labels, annotations) and spec only"


def _unit_faults(plan: Plan, unit: Unit) -> Iterator[str]:
    if unit.disposition != "automatic":
        return
    kind, _, rest = unit.id.partition("/")
    namespace, _, name = rest.partition("/")
    if kind != AIM_SERVICE.name or not name or namespace not in plan.namespaces:
        yield f"{unit.id}: an automatic unit is an AIMService in a selected namespace"
    if unit.outcome != AUTOMATIC_OUTCOME or unit.reasons or unit.evidence:
        yield f"{unit.id}: an automatic unit has the outcome {AUTOMATIC_OUTCOME}, no reasons and no evidence file"
    if not _in_order([step_name(step) for step in unit.steps]):
        yield f"{unit.id}: its steps are not the closed sequence of an automatic unit"
        return
    for step in unit.steps:
        yield from (f"{unit.id}: {fault}" for fault in _step_faults(plan, unit, namespace, step))


def _in_order(names: list[str]) -> bool:
    """Return whether ``names`` is the sequence of steps; CreateProfile may be absent, ProtectArtifact repeats."""
    rest = names[1:] if names[:1] == ["CreateProfile"] else names
    head, tail = (
        ["AwaitProfile", "CreateProfileCache", "AwaitProfileCache"],
        ["ReverifyProfileCache", "CutOver", "ConfirmNoRollout"],
    )
    middle = rest[len(head) : -len(tail)]
    return (
        rest[: len(head)] == head and rest[-len(tail) :] == tail and bool(middle) and set(middle) == {"ProtectArtifact"}
    )


def _step_faults(plan: Plan, unit: Unit, namespace: str, step: AnyStep) -> Iterator[str]:
    match step:
        case CreateProfile() | CreateProfileCache():
            yield from _creation_faults(plan, namespace, step)
        case AwaitProfile() | AwaitProfileCache() | ReverifyProfileCache():
            yield from _wait_faults(namespace, step)
        case ProtectArtifact():
            if step.artifact.namespace != namespace or _pinned_uid(unit, step.artifact) != step.uid:
                yield f"ProtectArtifact names {step.artifact.id}, which is no pinned artifact of the unit"
        case CutOver():
            yield from _cut_over_faults(unit, step)
        case ConfirmNoRollout():
            own = step.service.id == unit.id and _pinned_uid(unit, step.inference_service) == step.inference_service_uid
            if not own:
                yield "ConfirmNoRollout does not name the unit's own service and InferenceService"


def _creation_faults(plan: Plan, namespace: str, step: CreateProfile | CreateProfileCache) -> Iterator[str]:
    kind = AIM_PROFILE if isinstance(step, CreateProfile) else AIM_PROFILE_CACHE
    known = {target.id for target in plan.targets}
    if step.target not in known or not step.target.startswith(f"{kind.name}/{namespace}/"):
        yield f"{step_name(step)} names {step.target}, which is no such target in namespace {namespace}"


def _wait_faults(namespace: str, step: AwaitProfile | AwaitProfileCache | ReverifyProfileCache) -> Iterator[str]:
    if isinstance(step, AwaitProfile):
        if step.profile.namespace not in ("", namespace):
            yield f"AwaitProfile waits for {step.profile.id} in another namespace"
    elif step.profile_cache.namespace != namespace or not step.artifacts:
        yield f"{step_name(step)} needs a cache in namespace {namespace} and at least one artifact"


def _pinned_uid(unit: Unit, reference: Reference) -> str | None:
    return next((pin.uid for pin in unit.pins if pin.reference.id == reference.id), None)


def _cut_over_faults(unit: Unit, step: CutOver) -> Iterator[str]:
    uids = {pin.role: pin for pin in unit.pins}
    service, isvc = uids.get("service"), uids.get("inferenceService")
    if service is None or isvc is None or step.service.id != unit.id:
        yield "CutOver needs the pins of the unit's own service and InferenceService"
        return
    if (
        step.uid != service.uid
        or step.generation != service.generation
        or step.pinned_inference_service_uid != isvc.uid
    ):
        yield "CutOver does not name the pinned UIDs and generation"
    if step.pinned_generation != step.generation + 1:
        yield "CutOver must pin the generation that follows the present one"
    pin = Pin(step.pinned_inference_service_uid, step.pinned_generation)
    profile = next((item.profile_name for item in unit.steps if isinstance(item, ConfirmNoRollout)), "")
    if not _operations_allowed(step.operations, pin, profile):
        yield "CutOver may only remove spec.template and add spec.profile.name and the two annotations of the pin"


def _operations_allowed(operations: tuple[JsonObject, ...], pin: Pin, profile: str) -> bool:
    added: dict[str, str] = {}
    profile_added = False
    for operation in operations:
        path = get_str(operation, "path") or ""
        match get_str(operation, "op"), path:
            case "remove", "/spec/template":
                continue
            case "add", "/spec/profile":
                profile_added = operation.get("value") == {"name": profile}
            case "add", "/metadata/annotations":
                added |= get_strings(operation, "value")
            case "add", _ if path in _ANNOTATION_PATHS:
                added[_ANNOTATION_PATHS[path]] = get_str(operation, "value") or ""
            case _:
                return False
    return profile_added and added == pin.annotations()


_ANNOTATION_PATHS = {
    f"/metadata/annotations/{name.replace('~', '~0').replace('/', '~1')}": name
    for name in (PRESERVE_UID, PRESERVE_GENERATION)
}
