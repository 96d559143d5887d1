"""Reads the workload that a cutover must not change: the InferenceService, its Deployment and its pods."""

from aim_api.kinds import INFERENCE_SERVICE, POD
from aim_api.labels import KSERVE_INFERENCE_SERVICE
from aim_api.tree import JsonObject, get_objects, get_str
from aim_template_migration.applying.context import UnitState
from aim_template_migration.applying.failures import stop_unit
from aim_template_migration.applying.workload import workload_facts
from aim_template_migration.documents.result import WorkloadFacts
from aim_template_migration.planning.reduction import reduce


def read_workload(state: UnitState, isvc: JsonObject | None = None) -> WorkloadFacts:
    """Read the pinned InferenceService, the Deployment that was pinned with it and its pods; return their facts.

    Args:
        state: the unit.
        isvc: the InferenceService, where it was read just now.

    Raises:
        UnitStopped: the InferenceService is gone, or something can't be read.
    """
    reference = state.confirm_step.inference_service
    live = isvc or state.read(INFERENCE_SERVICE, reference.name)
    if live is None:
        raise stop_unit("RolloutDetected", f"{reference.id} is gone", halts=True)
    uid = get_str(live, "metadata", "uid")
    owned = [
        reading.observed.obj
        for reading in state.read_pins("deployment")
        if reading.observed is not None and _controlled_by(reading.observed.obj, uid)
    ]
    pods = state.list(POD, f"{KSERVE_INFERENCE_SERVICE}={reference.name}")
    # Sanitised, since digests of the facts are written down.
    return workload_facts(reduce(INFERENCE_SERVICE, live).obj, owned[0] if len(owned) == 1 else None, pods)


def _controlled_by(obj: JsonObject, uid: str | None) -> bool:
    return any(
        owner.get("controller") is True and owner.get("uid") == uid
        for owner in get_objects(obj, "metadata", "ownerReferences")
    )
