"""Fields that the API server itself fills in for pods and workloads.

Source: Kubernetes API reference (Pod, Deployment, Job) and the answers of a kube-apiserver 1.36.
"""

from aim_api.tree import Json, JsonObject, get_int, get_map, get_objects, get_str, get_strings
from aim_rehearsal.apiserver.store import with_metadata

_STATEFUL: JsonObject = {
    "podManagementPolicy": "OrderedReady",
    "revisionHistoryLimit": 10,
    "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
    "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
}
_ROLLING: JsonObject = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}


def with_pod_defaults(spec: JsonObject, *, alone: bool) -> JsonObject:
    """Return a pod spec with defaults.

    Args:
        spec: the spec.
        alone: whether it is a Pod's own rather than a template's.
    """
    defaults: JsonObject = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
    }
    if alone:
        defaults["enableServiceLinks"] = True
    filled = {**defaults, **spec}
    if "volumes" in spec:
        volumes: list[Json] = [_volume(item) for item in get_objects(spec, "volumes")]
        filled["volumes"] = volumes
    for key in ("containers", "initContainers"):
        if key in spec:
            containers: list[Json] = [_container(item) for item in get_objects(spec, key)]
            filled[key] = containers
    return filled


def _container(container: JsonObject) -> JsonObject:
    image = get_str(container, "image") or ""
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    latest = "@" not in image and tag in ("", "latest")
    defaults: JsonObject = {
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always" if latest else "IfNotPresent",
    }
    filled = {**defaults, **container}
    for key in ("readinessProbe", "livenessProbe", "startupProbe"):
        if key in container:
            filled[key] = _probe(get_map(container, key))
    if "env" in container:
        env: list[Json] = [_variable(item) for item in get_objects(container, "env")]
        filled["env"] = env
    resources = get_map(container, "resources")
    if "limits" in resources:
        requests = {**get_map(resources, "limits"), **get_map(resources, "requests")}
        filled["resources"] = {**resources, "requests": requests}
    return filled


def _probe(probe: JsonObject) -> JsonObject:
    defaults: JsonObject = {"failureThreshold": 3, "periodSeconds": 10, "successThreshold": 1, "timeoutSeconds": 1}
    filled = {**defaults, **probe}
    if "httpGet" in probe:
        filled["httpGet"] = {"scheme": "HTTP", **get_map(probe, "httpGet")}
    return filled


def _variable(variable: JsonObject) -> JsonObject:
    field = get_map(variable, "valueFrom", "fieldRef")
    if not field:
        return variable
    return {**variable, "valueFrom": {**get_map(variable, "valueFrom"), "fieldRef": {"apiVersion": "v1", **field}}}


def _volume(volume: JsonObject) -> JsonObject:
    filled = dict(volume)
    for key in ("configMap", "secret", "projected", "downwardAPI"):
        if key in volume:
            filled[key] = {"defaultMode": 420, **get_map(volume, key)}
    if "hostPath" in volume:
        filled["hostPath"] = {"type": "", **get_map(volume, "hostPath")}
    return filled


def with_admitted_pod(pod: JsonObject) -> JsonObject:
    """Return a new Pod with what admission adds: priority, tolerations of node failures, its quality of service."""
    spec = get_map(pod, "spec")
    failures: list[Json] = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in ("not-ready", "unreachable")
    ]
    own = get_objects(spec, "tolerations")
    added = [
        item for item in failures if get_str(item, "key") not in [get_str(toleration, "key") for toleration in own]
    ]
    admitted = {"priority": 0, "preemptionPolicy": "PreemptLowerPriority", **spec, "tolerations": [*own, *added]}
    status: JsonObject = {**get_map(pod, "status"), "qosClass": _quality(spec)}
    return {**pod, "spec": admitted, "status": status}


def _quality(spec: JsonObject) -> str:
    resources = [get_map(item, "resources") for item in get_objects(spec, "containers")]
    if not any(get_map(item, "requests") or get_map(item, "limits") for item in resources):
        return "BestEffort"
    guaranteed = all({"cpu", "memory"} <= get_map(item, "limits").keys() for item in resources)
    equal = all(get_map(item, "requests") in ({}, get_map(item, "limits")) for item in resources)
    return "Guaranteed" if guaranteed and equal else "Burstable"


def with_workload_defaults(kind: str, value: JsonObject) -> JsonObject:
    """Return a Deployment, ReplicaSet, StatefulSet, DaemonSet or Job with defaults."""
    spec = get_map(value, "spec")
    template = get_map(spec, "template")
    filled = {**spec, "template": {**template, "spec": with_pod_defaults(get_map(template, "spec"), alone=False)}}
    if kind == "Deployment":
        strategy = get_map(spec, "strategy")
        rolling = get_str(strategy, "type") in (None, "RollingUpdate")
        filled["strategy"] = {**_ROLLING, **strategy} if rolling else strategy
    if kind == "StatefulSet":
        filled = {**_STATEFUL, **filled}
    if kind == "Job":
        filled = {**_job_defaults(spec), **filled}
    return {**value, "spec": filled}


def _job_defaults(spec: JsonObject) -> JsonObject:
    defaults: JsonObject = {
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed",
        "manualSelector": False,
    }
    if get_int(spec, "completions") is None and get_int(spec, "parallelism") is None:
        defaults["completions"] = 1
    return {**defaults, "parallelism": 1}


def with_job_labels(job: JsonObject) -> JsonObject:
    """Return a new Job with the selector and labels that tell its pods from others."""
    uid, name = get_str(job, "metadata", "uid") or "", get_str(job, "metadata", "name") or ""
    labels: JsonObject = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = get_map(job, "spec", "template")
    marked = with_metadata(template, labels={**get_strings(template, "metadata", "labels"), **labels})
    selector: JsonObject = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    own: JsonObject = {**labels, **get_strings(job, "metadata", "labels")}
    return with_metadata(
        {**job, "spec": {**get_map(job, "spec"), "selector": selector, "template": marked}}, labels=own
    )
