"""The objects below an InferenceService, as KServe and the workload controllers make them.

A rehearsal has no kubelet: the pods are objects that say they are ready. What counts is their identity: a changed pod
template has another hash, so another ReplicaSet and other pods.
"""

import hashlib
import json

from aim_api import labels
from aim_api.kinds import DEPLOYMENT, INFERENCE_SERVICE, POD, REPLICA_SET
from aim_api.tree import Json, JsonObject, get_int, get_map, get_objects, get_str, get_strings
from aim_rehearsal.operator.store import name, namespace, uid

KSERVE_MANAGER = "manager"
CONTROLLER_MANAGER = "kube-controller-manager"
KUBELET = "kubelet"
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"  # the characters of Kubernetes' own generated names
_HASH_LENGTH = 10
_SUFFIX_LENGTH = 5
_CONTAINER = "kserve-container"


def deployment_of(inference: JsonObject, runtime: JsonObject | None) -> JsonObject:
    """Return the Deployment that KServe makes of an InferenceService; ``runtime`` is what its model refers to."""
    own_name = f"{name(inference)}-predictor"
    selector: JsonObject = {"app": f"isvc.{own_name}"}
    return {
        "apiVersion": DEPLOYMENT.api_version,
        "kind": DEPLOYMENT.name,
        "metadata": {
            "name": own_name,
            "namespace": namespace(inference),
            "labels": _inherited(inference) | selector | {"component": "predictor"},
            "ownerReferences": [_owner(inference, INFERENCE_SERVICE.api_version, INFERENCE_SERVICE.name)],
        },
        "spec": {
            "replicas": wanted_replicas(inference),
            "selector": {"matchLabels": selector},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "template": pod_template(inference, runtime),
        },
    }


def pod_template(inference: JsonObject, runtime: JsonObject | None) -> JsonObject:
    """Return the pod template: the inline predictor, or the runtime with the model's own settings over it."""
    own_name = f"{name(inference)}-predictor"
    marks: JsonObject = _inherited(inference) | {
        "app": f"isvc.{own_name}",
        "component": "predictor",
        labels.KSERVE_INFERENCE_SERVICE: name(inference),
    }
    metadata: JsonObject = {"labels": marks}
    if notes := get_strings(inference, "metadata", "annotations"):
        metadata["annotations"] = {key: value for key, value in notes.items() if not key.startswith("kubectl.")}
    return {"metadata": metadata, "spec": _pod_spec(inference, runtime)}


def replica_set_of(deployment: JsonObject) -> JsonObject:
    """Return the ReplicaSet for a Deployment's present pod template."""
    template = get_map(deployment, "spec", "template")
    mark: JsonObject = {labels.POD_TEMPLATE_HASH: template_hash(template)}
    template_metadata = get_map(template, "metadata")
    marked: JsonObject = template | {
        "metadata": template_metadata | {"labels": get_map(template_metadata, "labels") | mark}
    }
    selector = get_map(deployment, "spec", "selector", "matchLabels")
    return {
        "apiVersion": REPLICA_SET.api_version,
        "kind": REPLICA_SET.name,
        "metadata": {
            "name": f"{name(deployment)}-{mark[labels.POD_TEMPLATE_HASH]}",
            "namespace": namespace(deployment),
            "labels": get_map(template_metadata, "labels") | mark,
            "ownerReferences": [_owner(deployment, DEPLOYMENT.api_version, DEPLOYMENT.name)],
        },
        "spec": {
            "replicas": get_int(deployment, "spec", "replicas"),
            "selector": {"matchLabels": selector | mark},
            "template": marked,
        },
    }


def pod_of(replica_set: JsonObject, number: int) -> JsonObject:
    """Return one pod of a ReplicaSet; the same number gives the same name."""
    template = get_map(replica_set, "spec", "template")
    suffix = _encode(f"{uid(replica_set)}/{number}", _SUFFIX_LENGTH)
    return {
        "apiVersion": POD.api_version,
        "kind": POD.name,
        "metadata": get_map(template, "metadata")
        | {
            "name": f"{name(replica_set)}-{suffix}",
            "generateName": f"{name(replica_set)}-",
            "namespace": namespace(replica_set),
            "ownerReferences": [_owner(replica_set, REPLICA_SET.api_version, REPLICA_SET.name)],
        },
        "spec": get_map(template, "spec"),
    }


def pod_status(pod: JsonObject, now: str) -> JsonObject:
    """Return the status of a pod that runs and is ready."""
    conditions: list[Json] = [
        {"type": kind, "status": "True", "lastTransitionTime": now}
        for kind in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    containers: list[Json] = [
        {
            "name": get_str(container, "name") or "",
            "image": get_str(container, "image") or "",
            "imageID": f"{get_str(container, 'image') or ''}",
            "ready": True,
            "started": True,
            "restartCount": 0,
            "state": {"running": {"startedAt": now}},
        }
        for container in get_objects(pod, "spec", "containers")
    ]
    return {"phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": containers}


def replica_set_status(replicas: int, ready: int, generation: int) -> JsonObject:
    """Return a ReplicaSet's status."""
    return {
        "observedGeneration": generation,
        "replicas": replicas,
        "fullyLabeledReplicas": replicas,
        "readyReplicas": ready,
        "availableReplicas": ready,
    }


def deployment_status(
    generation: int, *, replicas: int, updated: int, ready: int, now: str, before: Json
) -> JsonObject:
    """Return a Deployment's status; conditions keep their times while nothing changes."""
    available = "True" if ready else "False"
    old = {item.get("type"): item for item in get_objects(before)}
    conditions: list[Json] = []
    for kind, status, reason in (
        ("Available", available, "MinimumReplicasAvailable" if ready else "MinimumReplicasUnavailable"),
        ("Progressing", "True", "NewReplicaSetAvailable"),
    ):
        known = old.get(kind)
        same = known is not None and known.get("status") == status and known.get("reason") == reason
        when = known.get("lastTransitionTime", now) if same and known is not None else now
        changed = known.get("lastUpdateTime", now) if same and known is not None else now
        conditions.append(
            {"type": kind, "status": status, "reason": reason, "lastTransitionTime": when, "lastUpdateTime": changed}
        )
    return {
        "observedGeneration": generation,
        "replicas": replicas,
        "updatedReplicas": updated,
        "readyReplicas": ready,
        "availableReplicas": ready,
        "conditions": conditions,
    }


def inference_service_status(inference: JsonObject, *, ready: bool, observed_generation: int, now: str) -> JsonObject:
    """Return an InferenceService's status as raw deployments have it."""
    before = {get_str(item, "type"): item for item in get_objects(inference, "status", "conditions")}
    conditions: list[Json] = []
    for kind in ("IngressReady", "PredictorReady", "Ready"):
        status = "True" if ready or kind == "IngressReady" else "False"
        known = before.get(kind)
        same = known is not None and known.get("status") == status
        when = known.get("lastTransitionTime", now) if same and known is not None else now
        conditions.append({"type": kind, "status": status, "lastTransitionTime": when})
    host = f"{name(inference)}-predictor.{namespace(inference)}.svc.cluster.local"
    return {
        "observedGeneration": observed_generation,
        "url": f"http://{host}",
        "conditions": conditions,
        "components": {"predictor": {"url": f"http://{host}"}},
    }


def wanted_replicas(inference: JsonObject) -> int:
    """Return how many replicas an InferenceService asks for at least."""
    count = get_int(inference, "spec", "predictor", "minReplicas")
    return 1 if count is None else count


def template_hash(template: JsonObject) -> str:
    """Return a pod template's hash, written as Kubernetes writes it."""
    return _encode(json.dumps(template, sort_keys=True, separators=(",", ":")), _HASH_LENGTH)


def _pod_spec(inference: JsonObject, runtime: JsonObject | None) -> JsonObject:
    predictor = get_map(inference, "spec", "predictor")
    spec: JsonObject = dict(get_map(runtime, "spec")) if "model" in predictor else {}
    for field in ("supportedModelFormats", "protocolVersions"):
        spec.pop(field, None)
    if "model" in predictor:
        spec["containers"] = _with_model(get_objects(spec, "containers"), get_map(predictor, "model"))
    for field, value in predictor.items():
        if field in {"minReplicas", "maxReplicas", "model", "autoScaling"}:
            continue
        if field == "volumes" and isinstance(value, list):
            own: list[Json] = list(get_objects(spec, "volumes"))
            spec[field] = own + value
        else:
            spec[field] = value
    return spec


def _with_model(containers: list[JsonObject], model: JsonObject) -> list[Json]:
    """Return a runtime's containers with the model's resources, mounts and environment on the serving one."""
    result: list[Json] = []
    for container in containers or [{"name": _CONTAINER, "image": "none"}]:
        merged: JsonObject = dict(container)
        if container.get("name") == _CONTAINER:
            if resources := get_map(model, "resources"):
                merged["resources"] = resources
            for field in ("volumeMounts", "env"):
                extra = get_objects(model, field)
                if extra:
                    merged[field] = [*get_objects(container, field), *extra]
        result.append(merged)
    return result


def _inherited(inference: JsonObject) -> JsonObject:
    return dict(get_strings(inference, "metadata", "labels"))


def _owner(owner: JsonObject, api_version: str, kind: str) -> JsonObject:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name(owner),
        "uid": uid(owner),
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _encode(text: str, length: int) -> str:
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:16])
    characters = []
    for _ in range(length):
        number, place = divmod(number, len(_ALPHABET))
        characters.append(_ALPHABET[place])
    return "".join(characters)
