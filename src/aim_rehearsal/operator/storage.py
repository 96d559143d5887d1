"""The parts of a cluster below the artifact controller: claims get bound and download Jobs finish at once."""

from aim_api import labels
from aim_api.kinds import JOB, PVC
from aim_api.tree import Json, JsonObject, get_int, get_map, get_str
from aim_rehearsal.operator.store import terminating, uid
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Patch, SetStatus, Write

MANAGER = "kube-controller-manager"


def reconcile_claim(claim: JsonObject, view: View) -> list[Write]:
    """Bind an artifact's claim that was made since the operator started."""
    made_here = labels.CACHE_NAME in get_map(claim, "metadata", "labels")
    if terminating(claim) or view.untouched(claim) or not made_here or get_str(claim, "status", "phase") == "Bound":
        return []
    spec = get_map(claim, "spec")
    status: JsonObject = {
        "phase": "Bound",
        "accessModes": spec.get("accessModes", []),
        "capacity": get_map(spec, "resources", "requests"),
    }
    return [
        Patch(PVC, claim, {"spec": {"volumeName": f"pvc-{uid(claim)}"}}, MANAGER),
        SetStatus(PVC, claim, status, MANAGER),
    ]


def reconcile_job(job: JsonObject, view: View) -> list[Write]:
    """Finish a Job that was made since the operator started."""
    if terminating(job) or view.untouched(job) or get_int(job, "status", "succeeded"):
        return []
    conditions: list[Json] = [
        {"type": kind, "status": "True", "lastTransitionTime": view.now, "lastProbeTime": view.now}
        for kind in ("SuccessCriteriaMet", "Complete")
    ]
    status: JsonObject = {
        "startTime": view.now,
        "completionTime": view.now,
        "succeeded": 1,
        "conditions": conditions,
    }
    return [SetStatus(JOB, job, status, MANAGER)]
