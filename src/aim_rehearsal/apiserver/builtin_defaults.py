"""What the API server adds to built-in kinds: defaults on every write, and its own parts on the first one.

Source: Kubernetes API reference and the answers of a kube-apiserver 1.36.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import partial

from aim_api.tree import Json, JsonObject, get_list, get_map, get_objects, get_str, get_strings
from aim_rehearsal.apiserver.builtin_schemas import NODE_ZEROS
from aim_rehearsal.apiserver.crds import CRD_COLLECTION, unestablished, with_crd_defaults
from aim_rehearsal.apiserver.pod_defaults import (
    with_admitted_pod,
    with_job_labels,
    with_pod_defaults,
    with_workload_defaults,
)
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import with_metadata

RBAC_GROUP = "rbac.authorization.k8s.io"
VOLUME_FINALIZER = "kubernetes.io/pv-protection"
PVC_FINALIZER = "kubernetes.io/pvc-protection"
_ALWAYS_WRITTEN = frozenset({"spec", "status", "metadata", "rules", "webhooks"})


def with_defaults(resource: Resource, value: JsonObject) -> JsonObject:
    """Return an object with the fields that the server itself fills in for whoever writes it."""
    if resource.custom:
        return value
    value = {key: item for key, item in value.items() if item not in ({}, []) or key in _ALWAYS_WRITTEN}
    fill = None if resource.view_of else _DEFAULTS.get(resource.kind)
    return fill(value) if fill is not None else value


def _event_defaults(value: JsonObject) -> JsonObject:
    return {"eventTime": None, "reportingComponent": "", "reportingInstance": "", **value}


def _service_defaults(value: JsonObject) -> JsonObject:
    ports: list[Json] = [{"targetPort": port.get("port"), **port} for port in get_objects(value, "spec", "ports")]
    spec = {**get_map(value, "spec"), "ports": ports}
    if get_str(spec, "type") != "ExternalName":
        spec = {"internalTrafficPolicy": "Cluster", **spec}
    return {**value, "spec": spec}


def _volume_defaults(value: JsonObject) -> JsonObject:
    spec: JsonObject = {
        "persistentVolumeReclaimPolicy": "Retain",
        "volumeMode": "Filesystem",
        **get_map(value, "spec"),
    }
    if "hostPath" in spec:
        spec["hostPath"] = {"type": "", **get_map(spec, "hostPath")}
    return {**value, "spec": spec}


def _pod_defaults(value: JsonObject) -> JsonObject:
    filled: JsonObject = {**value, "spec": with_pod_defaults(get_map(value, "spec"), alone=True)}
    status = get_map(value, "status")
    for key in ("containerStatuses", "initContainerStatuses"):
        status = _with_each(status, key, {"lastState": {}, "state": {}})
    status = _with_each(status, "conditions", {"lastProbeTime": None, "lastTransitionTime": None})
    return {**filled, "status": status} if status else filled


def _node_defaults(value: JsonObject) -> JsonObject:
    status = _with_each(get_map(value, "status"), "conditions", {"lastHeartbeatTime": None, "lastTransitionTime": None})
    for key, zero in NODE_ZEROS.items():
        status = {**status, key: {**get_map(zero), **get_map(status, key)}}
    return {**value, "status": status}


def _with_each(value: JsonObject, key: str, defaults: JsonObject) -> JsonObject:
    """Return a value whose list at ``key``, if there is one, has the defaults in each of its objects."""
    if key not in value:
        return value
    items: list[Json] = [{**defaults, **item} for item in get_objects(value, key)]
    return {**value, key: items}


def _binding_defaults(value: JsonObject) -> JsonObject:
    subjects: list[Json] = [
        item if get_str(item, "kind") == "ServiceAccount" else {"apiGroup": RBAC_GROUP, **item}
        for item in get_objects(value, "subjects")
    ]
    filled: JsonObject = {**value, "subjects": subjects} if subjects else value
    return {**filled, "roleRef": {"apiGroup": RBAC_GROUP, **get_map(value, "roleRef")}}


def _namespace_defaults(value: JsonObject) -> JsonObject:
    name = get_str(value, "metadata", "name") or ""
    return with_metadata(
        value, labels={**get_strings(value, "metadata", "labels"), "kubernetes.io/metadata.name": name}
    )


def _secret_defaults(value: JsonObject) -> JsonObject:
    return {"type": "Opaque", **_plain_secret(value)}


def _plain_secret(value: JsonObject) -> JsonObject:
    """Move ``stringData`` into ``data``, as the server does on every write."""
    written = {key: base64.b64encode(text.encode()).decode() for key, text in get_strings(value, "stringData").items()}
    if not written:
        return value
    kept = {key: item for key, item in value.items() if key != "stringData"}
    return {**kept, "data": {**get_map(value, "data"), **written}}


_DEFAULTS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "Event": _event_defaults,
    "Service": _service_defaults,
    "PersistentVolume": _volume_defaults,
    "Pod": _pod_defaults,
    "Node": _node_defaults,
    "RoleBinding": _binding_defaults,
    "ClusterRoleBinding": _binding_defaults,
    "Namespace": _namespace_defaults,
    "Secret": _secret_defaults,
    "CustomResourceDefinition": with_crd_defaults,
    **{
        kind: partial(with_workload_defaults, kind)
        for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job")
    },
}


def with_additions(resource: Resource, value: JsonObject) -> JsonObject:
    """Return a new object with what the server adds to its kind: finalizers, addresses, labels, a first status."""
    add = _ADDITIONS.get(resource.collection)
    return add(value) if add is not None else value


def _with_namespace_finalizer(namespace: JsonObject) -> JsonObject:
    finalizers = [item for item in get_list(namespace, "spec", "finalizers") if item != "kubernetes"]
    return {**namespace, "spec": {"finalizers": [*finalizers, "kubernetes"]}}


def _with_address(service: JsonObject) -> JsonObject:
    """Return a new Service with an address of its own, unless it wants none."""
    spec = get_map(service, "spec")
    if get_str(spec, "type") == "ExternalName":
        return service
    digest = hashlib.sha256((get_str(service, "metadata", "uid") or "").encode()).digest()
    address = get_str(spec, "clusterIP") or f"10.96.{digest[0]}.{digest[1]}"
    families: JsonObject = {"clusterIPs": [address], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"}
    return {**service, "spec": {**families, **spec, "clusterIP": address}}


def _with_finalizer(finalizer: str, value: JsonObject) -> JsonObject:
    metadata = get_map(value, "metadata")
    finalizers = [item for item in get_list(metadata, "finalizers") if item != finalizer]
    return {**value, "metadata": {**metadata, "finalizers": [*finalizers, finalizer]}}


def _with_taint(node: JsonObject) -> JsonObject:
    """Return a new Node that nothing is scheduled to before it is ready."""
    taints = get_list(node, "spec", "taints")
    fresh: JsonObject = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
    return {**node, "spec": {**get_map(node, "spec"), "taints": [*taints, fresh]}}


def _with_first_crd_status(crd: JsonObject) -> JsonObject:
    return {**crd, "status": unestablished(crd)}


_ADDITIONS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "namespaces": _with_namespace_finalizer,
    "jobs.batch": with_job_labels,
    "nodes": _with_taint,
    "pods": with_admitted_pod,
    "services": _with_address,
    "persistentvolumes": partial(_with_finalizer, VOLUME_FINALIZER),
    "persistentvolumeclaims": partial(_with_finalizer, PVC_FINALIZER),
    CRD_COLLECTION: _with_first_crd_status,
}
