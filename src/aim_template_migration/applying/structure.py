"""Structural safety of a plan (pure): could applying it write anything but what this tool writes?

Every plan that ``plan`` makes passes. The checks do not trust that: they bound what apply can send whatever stands in
the file, so that a hand-edited plan can't reach other objects, other fields or another order (R, "Plan and review").
"""

import re
from collections.abc import Iterator

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.bridge import Pin as BridgePin
from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE, AIM_PROFILE_CACHE, AIM_SERVICE
from aim_api.tree import JsonObject, get, get_map, get_str
from aim_template_migration.applying.pinned_kinds import PINNED_KINDS
from aim_template_migration.documents.deadlines import LONGEST_CUTOVER_DEADLINE_SECONDS
from aim_template_migration.documents.plan import (
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    Pin,
    Plan,
    ProtectArtifact,
    ReverifyProfileCache,
    Target,
    Unit,
    step_name,
)

AUTOMATIC_OUTCOME = "SharedNoRollout"
_TARGET_KINDS = {kind.name: kind for kind in (AIM_PROFILE, AIM_PROFILE_CACHE)}
_FREE_METADATA = frozenset({"name", "namespace", "labels", "annotations"})
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?")
_HEAD = ["AwaitProfile", "CreateProfileCache", "AwaitProfileCache"]
_TAIL = ["ReverifyProfileCache", "CutOver", "ConfirmNoRollout"]


def structural_faults(plan: Plan) -> tuple[str, ...]:
    """Return every structural fault as one sentence; an empty result means that the plan is safe to run."""
    targets = {target.id: target for target in plan.targets}
    return (*_plan_faults(plan), *(fault for unit in plan.units for fault in _unit_faults(plan, targets, unit)))


def _plan_faults(plan: Plan) -> Iterator[str]:
    if not plan.cluster.kube_system_uid and not plan.cluster.crds:
        yield "it names no cluster"
    if len({unit.id for unit in plan.units}) != len(plan.units):
        yield "two units have the same id"
    if len({target.id for target in plan.targets}) != len(plan.targets):
        yield "two targets have the same id"
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
    if not _NAME.fullmatch(get_str(target.body, "metadata", "name") or ""):
        yield f"target {target.id}: its body has no valid metadata.name"
    if namespace not in plan.namespaces:
        yield f"target {target.id}: namespace {namespace} was not selected"
    if (
        set(target.body) - {"apiVersion", "kind", "metadata", "spec"}
        or set(get_map(target.body, "metadata")) - _FREE_METADATA
    ):
        yield f"target {target.id}: its body may have metadata (name, namespace, labels, annotations) and spec only"
    if kind is AIM_PROFILE and get(target.body, "spec", "caching", "enabled") not in (None, False):
        yield f"target {target.id}: the profile would make a cache of its own (spec.caching.enabled)"
    if kind is AIM_PROFILE_CACHE and get(target.body, "spec", "mode") not in (None, "Shared"):
        yield f"target {target.id}: only a Shared cache may be created"


def _unit_faults(plan: Plan, targets: dict[str, Target], unit: Unit) -> Iterator[str]:
    if unit.disposition != "automatic":
        return
    parts = unit.id.split("/")
    if len(parts) != 3 or parts[0] != AIM_SERVICE.name or not parts[2] or parts[1] not in plan.namespaces:
        yield f"{unit.id}: an automatic unit is an AIMService in a selected namespace"
        return
    if unit.outcome != AUTOMATIC_OUTCOME or unit.reasons or unit.evidence:
        yield f"{unit.id}: an automatic unit has the outcome {AUTOMATIC_OUTCOME}, no reasons and no evidence file"
    names = [step_name(step) for step in unit.steps]
    if not _in_order(names):
        yield f"{unit.id}: its steps are not the closed sequence of an automatic unit"
        return
    checks = (_pin_faults(unit, parts[1]), _AutomaticUnit(unit, parts[1]).faults(targets))
    yield from (f"{unit.id}: {fault}" for faults in checks for fault in faults)


def _in_order(names: list[str]) -> bool:
    """Return whether ``names`` is the sequence of steps; CreateProfile may be absent, ProtectArtifact repeats."""
    rest = names[1:] if names[:1] == ["CreateProfile"] else names
    middle = rest[len(_HEAD) : -len(_TAIL)]
    return (
        rest[: len(_HEAD)] == _HEAD
        and rest[-len(_TAIL) :] == _TAIL
        and bool(middle)
        and set(middle) == {"ProtectArtifact"}
    )


def _pin_faults(unit: Unit, namespace: str) -> Iterator[str]:
    for pin in unit.pins:
        kind = PINNED_KINDS.get(pin.reference.kind)
        if kind is None:
            yield f"a pin names {pin.reference.id}, whose kind is never read"
        elif pin.reference.namespace != (namespace if kind.namespaced else ""):
            yield f"a pin names {pin.reference.id}, which is not in the unit's namespace"
        elif not _NAME.fullmatch(pin.reference.name):
            yield f"a pin names {pin.reference.id}, which is no name of an object"
    for role in ("service", "inferenceService", "deployment"):
        present = [pin for pin in unit.pins if pin.role == role and not pin.absent]
        if len(present) != 1:
            yield f"it has {len(present)} pins of the role {role}, not one"


class _AutomaticUnit:
    """The steps of one automatic unit, which must all speak of the same objects."""

    def __init__(self, unit: Unit, namespace: str) -> None:
        self._unit = unit
        self._namespace = namespace
        self._uids = {pin.reference.id: pin.uid for pin in unit.pins if not pin.absent}

    def faults(self, targets: dict[str, Target]) -> Iterator[str]:
        """Yield what does not fit together."""
        for step in self._unit.steps:
            match step:
                case CreateProfile():
                    yield from self._creation(targets, AIM_PROFILE.name, step)
                case CreateProfileCache():
                    yield from self._creation(targets, AIM_PROFILE_CACHE.name, step)
                case AwaitProfile():
                    yield from self._profile(step)
                case AwaitProfileCache() | ReverifyProfileCache():
                    yield from self._cache(step)
                case ProtectArtifact():
                    if self._uids.get(step.artifact.id) != step.uid or step.artifact.id not in self._artifact_ids():
                        yield f"ProtectArtifact names {step.artifact.id}, which is no pinned artifact of the unit"
                case CutOver():
                    yield from self._cut_over(step)
                case ConfirmNoRollout():
                    yield from self._confirmation(step)
        yield from self._protections()

    def _creation(
        self, targets: dict[str, Target], kind: str, step: CreateProfile | CreateProfileCache
    ) -> Iterator[str]:
        if step.target not in targets or not step.target.startswith(f"{kind}/{self._namespace}/"):
            yield f"{step_name(step)} names {step.target}, which is no such target in namespace {self._namespace}"
        awaited = (
            self._await_profile().profile if isinstance(step, CreateProfile) else self._await_cache().profile_cache
        )
        if awaited.id != step.target:
            yield f"{step_name(step)} creates {step.target}, but {awaited.id} is waited for"
        if not any(pin.reference.id == step.target for pin in self._unit.pins):
            yield f"{step_name(step)} creates {step.target}, of which the unit has no pin"

    def _profile(self, step: AwaitProfile) -> Iterator[str]:
        creates = any(isinstance(item, CreateProfile) for item in self._unit.steps)
        kind, namespace = (AIM_PROFILE, self._namespace) if creates else (AIM_CLUSTER_PROFILE, "")
        if (step.profile.kind, step.profile.namespace) != (kind.name, namespace):
            yield f"AwaitProfile waits for {step.profile.id}, not for an {kind.name} of the unit"
        if step.profile.name != self._confirm().profile_name:
            yield f"AwaitProfile waits for {step.profile.id}, but the cutover is to {self._confirm().profile_name}"
        if not creates and step.profile.id not in self._uids:
            yield f"AwaitProfile waits for {step.profile.id}, which is not pinned"

    def _cache(self, step: AwaitProfileCache | ReverifyProfileCache) -> Iterator[str]:
        name = step_name(step)
        reference, first = step.profile_cache, self._await_cache()
        if (reference.kind, reference.namespace) != (AIM_PROFILE_CACHE.name, self._namespace):
            yield f"{name} needs an AIMProfileCache in namespace {self._namespace}"
        if (reference, step.artifacts) != (first.profile_cache, first.artifacts) or not step.artifacts:
            yield f"{name} needs the artifacts and the cache of AwaitProfileCache"
        for artifact in step.artifacts:
            found = self._uids.get(f"AIMArtifact/{self._namespace}/{artifact.name}")
            claim = self._uids.get(f"PersistentVolumeClaim/{self._namespace}/{artifact.pvc_name}")
            if (found, claim) != (artifact.uid, artifact.pvc_uid):
                yield f"{name} names artifact {artifact.name}, which is not pinned with its PVC"

    def _protections(self) -> Iterator[str]:
        protected = [step.artifact.id for step in self._unit.steps if isinstance(step, ProtectArtifact)]
        if protected != sorted(self._artifact_ids()):
            yield "ProtectArtifact must stand once for each of its artifacts, in name order"

    def _cut_over(self, step: CutOver) -> Iterator[str]:
        service, isvc = self._pin("service"), self._pin("inferenceService")
        if service is None or isvc is None or step.service.id != self._unit.id or service.reference.id != self._unit.id:
            yield "CutOver needs the pins of the unit's own service and InferenceService"
            return
        pinned = (service.uid, service.generation, isvc.uid)
        if (step.uid, step.generation, step.pinned_inference_service_uid) != pinned:
            yield "CutOver does not name the pinned UIDs and generation"
        if step.pinned_generation != step.generation + 1:
            yield "CutOver must pin the generation that follows the present one"
        pin = BridgePin(step.pinned_inference_service_uid, step.pinned_generation)
        if not _operations_allowed(step.operations, pin, self._confirm().profile_name):
            yield "CutOver may only remove spec.template and add spec.profile.name and the two annotations of the pin"

    def _confirmation(self, step: ConfirmNoRollout) -> Iterator[str]:
        isvc = self._pin("inferenceService")
        named = (step.inference_service.id, step.inference_service_uid, step.inference_service_generation)
        if isvc is None or step.service.id != self._unit.id or named != (isvc.reference.id, isvc.uid, isvc.generation):
            yield "ConfirmNoRollout does not name the unit's own service and InferenceService"
        if not 1 <= step.deadline_seconds <= LONGEST_CUTOVER_DEADLINE_SECONDS:
            yield f"the deadline of ConfirmNoRollout must be 1 to {LONGEST_CUTOVER_DEADLINE_SECONDS} seconds"

    def _pin(self, role: str) -> Pin | None:
        return next((pin for pin in self._unit.pins if pin.role == role and not pin.absent), None)

    def _artifact_ids(self) -> tuple[str, ...]:
        return tuple(f"AIMArtifact/{self._namespace}/{artifact.name}" for artifact in self._await_cache().artifacts)

    def _await_profile(self) -> AwaitProfile:
        return next(step for step in self._unit.steps if isinstance(step, AwaitProfile))

    def _await_cache(self) -> AwaitProfileCache:
        return next(step for step in self._unit.steps if isinstance(step, AwaitProfileCache))

    def _confirm(self) -> ConfirmNoRollout:
        return next(step for step in self._unit.steps if isinstance(step, ConfirmNoRollout))


def _operations_allowed(operations: tuple[JsonObject, ...], pin: BridgePin, profile: str) -> bool:
    added: JsonObject = {}
    profiles = removals = 0
    for operation in operations:
        path, value = get_str(operation, "path") or "", operation.get("value")
        if set(operation) - {"op", "path", "value"}:
            return False
        match get_str(operation, "op"), path:
            case "remove", "/spec/template":
                removals += 1
            case "add", "/spec/profile" if value == {"name": profile}:
                profiles += 1
            case "add", "/metadata/annotations" if isinstance(value, dict):
                added |= value
            case "add", _ if path in _ANNOTATION_PATHS:
                added[_ANNOTATION_PATHS[path]] = value
            case _:
                return False
    return profiles == 1 and removals <= 1 and added == pin.annotations() and bool(profile)


_ANNOTATION_PATHS = {
    f"/metadata/annotations/{name.replace('~', '~0').replace('/', '~1')}": name
    for name in (PRESERVE_UID, PRESERVE_GENERATION)
}
