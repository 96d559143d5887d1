"""Reads the workload that a cutover must not change: the InferenceService, its Deployment and its pods."""

from collections.abc import Iterable

from aim_api.kinds import INFERENCE_SERVICE, POD
from aim_api.labels import KSERVE_INFERENCE_SERVICE
from aim_api.tree import JsonObject, get_objects, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import stop_unit
from aim_template_migration.applying.revalidate import PinReading
from aim_template_migration.applying.workload import nothing_to_compare, workload_facts
from aim_template_migration.documents.result import WorkloadFacts
from aim_template_migration.planning.reduction import reduce
from aim_template_migration.planning.snapshot import Observed


def read_workload(state: UnitState, isvc: PinReading | None = None) -> WorkloadFacts:
    """Read the pinned InferenceService, the Deployment that was pinned with it and its pods; return their facts.

    Args:
        state: the unit.
        isvc: the InferenceService, where it was read just now.

    Raises:
        UnitStopped: the InferenceService is gone, or something can't be read.
    """
    reference = state.confirm_step.inference_service
    (live,) = (isvc,) if isvc is not None else state.read_pins("inferenceService")
    if live.observed is None:
        raise stop_unit("RolloutDetected", f"{reference.id} is gone", halts=True)
    return _facts(live.observed, state.read_pins("deployment"), state.select(POD, pod_selector(reference.name)))


def pod_selector(inference_service: str) -> str:
    """Return the label selector of an InferenceService's pods."""
    return f"{KSERVE_INFERENCE_SERVICE}={inference_service}"


def facts_of(isvc: JsonObject, deployments: Iterable[PinReading], pods: list[JsonObject]) -> WorkloadFacts:
    """Return the facts of an InferenceService, with the one of the pinned Deployments that it owns (pure)."""
    return _facts(reduce(INFERENCE_SERVICE, isvc), deployments, pods)  # sanitised: digests of it are written down


def _facts(isvc: Observed, deployments: Iterable[PinReading], pods: list[JsonObject]) -> WorkloadFacts:
    return workload_facts(isvc.obj, _owned_deployment(isvc.obj, deployments), pods)


def require_comparable(state: UnitState, isvc: JsonObject, facts: WorkloadFacts) -> None:
    """Require that the facts from before a cutover hold pods, unless the Deployment wants none.

    Raises:
        UnitStopped: it wants some and there are none.
    """
    deployments = [state.readings[pin] for pin in state.unit.pins if pin.role == "deployment"]
    fault = nothing_to_compare(facts, _owned_deployment(isvc, deployments))
    if fault:
        raise stop_unit("InferenceServiceNotReady", fault)


def _owned_deployment(isvc: JsonObject, deployments: Iterable[PinReading]) -> JsonObject | None:
    uid = get_str(isvc, "metadata", "uid")
    owned = [
        reading.observed.obj
        for reading in deployments
        if reading.observed is not None and _controlled_by(reading.observed.obj, uid)
    ]
    return owned[0] if len(owned) == 1 else None


def _controlled_by(obj: JsonObject, uid: str | None) -> bool:
    return any(
        owner.get("controller") is True and owner.get("uid") == uid
        for owner in get_objects(obj, "metadata", "ownerReferences")
    )
