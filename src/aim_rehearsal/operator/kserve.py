"""The half of a cluster below the InferenceService: Deployment, ReplicaSets, pods, and what they report upwards.

A loaded workload is left alone until the InferenceService's pod template changes: then a visible rollout begins, with a
new ReplicaSet, new pods with new UIDs, and the old ones gone.
"""

from aim_api import labels
from aim_api.kinds import CLUSTER_SERVING_RUNTIME, DEPLOYMENT, INFERENCE_SERVICE, POD, REPLICA_SET, SERVING_RUNTIME
from aim_api.tree import Json, JsonObject, get_int, get_map, get_str, get_strings
from aim_rehearsal.operator import workload
from aim_rehearsal.operator.conditions import is_true
from aim_rehearsal.operator.settings import Misbehaviour
from aim_rehearsal.operator.store import generation, name, namespace, terminating, uid
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.workload import CONTROLLER_MANAGER, KSERVE_MANAGER, KUBELET
from aim_rehearsal.operator.writes import Patch, Remove, Render, SetStatus, Write

_KEPT_REVISIONS = 5


def reconcile_inference_service(inference: JsonObject, view: View) -> list[Write]:
    """Keep the Deployment in step with an InferenceService, and its status with the Deployment."""
    runtime = runtime_of(inference, view)
    if terminating(inference):
        return []
    reported = view.settings.keeps_loaded or bool(get_map(inference, "status"))
    if reported and view.untouched(inference, runtime):
        return _foreign_counter(inference, view)
    if needs_runtime(inference) and runtime is None:
        return []  # KServe keeps the running Deployment while the runtime is not there
    found = view.store.owned(DEPLOYMENT, inference)
    writes: list[Write] = []
    if found and view.loaded_templates.get(uid(inference)) == template_digest(inference, view):
        scale: JsonObject = {"spec": {"replicas": workload.wanted_replicas(inference)}}
        writes.append(Patch(DEPLOYMENT, found[0], scale, KSERVE_MANAGER))
    else:
        writes.append(Render(DEPLOYMENT, workload.deployment_of(inference, runtime), KSERVE_MANAGER))
    deployment = found[0] if found else None
    ready = deployment is not None and (get_int(deployment, "status", "availableReplicas") or 0) > 0
    observed = generation(inference)
    status = workload.inference_service_status(inference, ready=ready, observed_generation=observed, now=view.now)
    return [*writes, SetStatus(INFERENCE_SERVICE, inference, status, KSERVE_MANAGER)]


def _foreign_counter(inference: JsonObject, view: View) -> list[Write]:
    """Let a KServe that copies its Deployment's counter show it: the two counters part without a rollout."""
    found = view.store.owned(DEPLOYMENT, inference)
    if not found or not view.settings.does(Misbehaviour.FOREIGN_OBSERVED_GENERATION):
        return []
    copied = get_map(inference, "status") | {"observedGeneration": get_int(found[0], "status", "observedGeneration")}
    return [
        Patch(DEPLOYMENT, found[0], {"spec": {"revisionHistoryLimit": _KEPT_REVISIONS}}, KSERVE_MANAGER),
        SetStatus(INFERENCE_SERVICE, inference, copied, KSERVE_MANAGER),
    ]


def reconcile_deployment(deployment: JsonObject, view: View) -> list[Write]:
    """Roll a Deployment: the ReplicaSet of its present template first, the others down when that one is ready."""
    if terminating(deployment) or view.untouched(deployment):
        return []
    sets = view.store.owned(REPLICA_SET, deployment)
    current = next((item for item in sets if _same_template(item, deployment)), None)
    wanted = get_int(deployment, "spec", "replicas") or 0
    if current is None:
        return [Render(REPLICA_SET, workload.replica_set_of(deployment), CONTROLLER_MANAGER)]
    writes: list[Write] = [_scale(current, wanted)]
    ready = len([pod for pod in view.store.owned(POD, current) if is_true(pod, "Ready")])
    old = [item for item in sets if uid(item) != uid(current)]
    if ready >= wanted:
        writes += [_scale(item, 0) for item in old]
    pods = sum(len(view.store.owned(POD, item)) for item in sets)
    old_ready = sum(is_true(pod, "Ready") for item in old for pod in view.store.owned(POD, item))
    status = workload.deployment_status(
        generation(deployment),
        replicas=pods,
        updated=len(view.store.owned(POD, current)),
        ready=ready + old_ready,
        now=view.now,
        before=get_map(deployment, "status").get("conditions"),
    )
    return [*writes, SetStatus(DEPLOYMENT, deployment, status, CONTROLLER_MANAGER)]


def reconcile_replica_set(replica_set: JsonObject, view: View) -> list[Write]:
    """Keep as many pods as a ReplicaSet asks for; in a copied cluster the pods that were copied, be they too few."""
    if terminating(replica_set) or (view.settings.keeps_loaded and view.untouched(replica_set)):
        return []
    pods = [pod for pod in view.store.owned(POD, replica_set) if not terminating(pod)]
    wanted = get_int(replica_set, "spec", "replicas") or 0
    writes: list[Write] = [Remove(POD, pod) for pod in pods[wanted:]]
    number = 0
    taken = {name(pod) for pod in pods}
    for _ in range(wanted - len(pods)):
        while get_str(workload.pod_of(replica_set, number), "metadata", "name") in taken:
            number += 1
        pod = workload.pod_of(replica_set, number)
        taken.add(name(pod))
        writes.append(Render(POD, pod, CONTROLLER_MANAGER))
    if not writes and view.untouched(replica_set):
        return []
    ready = sum(is_true(pod, "Ready") for pod in pods)
    status = workload.replica_set_status(len(pods), ready, generation(replica_set))
    return [*writes, SetStatus(REPLICA_SET, replica_set, status, CONTROLLER_MANAGER)]


def reconcile_pod(pod: JsonObject, view: View) -> list[Write]:
    """Let a pod that was made since the operator started become ready."""
    if terminating(pod) or view.untouched(pod) or is_true(pod, "Ready"):
        return []
    if labels.KSERVE_INFERENCE_SERVICE not in get_strings(pod, "metadata", "labels"):
        return []
    return [SetStatus(POD, pod, workload.pod_status(pod, view.now), KUBELET)]


def runtime_of(inference: JsonObject, view: View) -> JsonObject | None:
    """Return the runtime that an InferenceService names; a namespaced one comes before a cluster-wide one."""
    wanted = get_str(inference, "spec", "predictor", "model", "runtime")
    if not wanted:
        return None
    own = view.store.find(SERVING_RUNTIME, namespace(inference), wanted)
    return own or view.store.find(CLUSTER_SERVING_RUNTIME, "", wanted)


def needs_runtime(inference: JsonObject) -> bool:
    """Return whether an InferenceService depends on a runtime at all."""
    return get_str(inference, "spec", "predictor", "model", "runtime") is not None


def template_digest(inference: JsonObject, view: View) -> str:
    """Return the hash of the pod template that an InferenceService has now."""
    return workload.template_hash(workload.pod_template(inference, runtime_of(inference, view)))


def _scale(replica_set: JsonObject, replicas: int) -> Patch:
    return Patch(REPLICA_SET, replica_set, {"spec": {"replicas": replicas}}, CONTROLLER_MANAGER)


def _same_template(replica_set: JsonObject, deployment: JsonObject) -> bool:
    """Return whether a ReplicaSet has the Deployment's pod template, the hash label aside."""
    template = get_map(replica_set, "spec", "template")
    metadata = get_map(template, "metadata")
    marks = {key: value for key, value in get_map(metadata, "labels").items() if key != labels.POD_TEMPLATE_HASH}
    bare: Json = template | {"metadata": metadata | {"labels": marks}}
    return _settled(bare) == _settled(get_map(deployment, "spec", "template"))


def _settled(value: Json) -> Json:
    """Return a value without null and empty fields, which servers add and drop."""
    if isinstance(value, dict):
        kept = {key: _settled(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in (None, {}, [])}
    if isinstance(value, list):
        return [_settled(item) for item in value]
    return value
