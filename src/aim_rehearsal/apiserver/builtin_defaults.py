"""What the API server adds to built-in kinds: defaults on every write, and its own parts on the first one.

Source: Kubernetes API reference and the answers of a kube-apiserver 1.36.
"""

import base64
import hashlib
from collections.abc import Callable
from functools import partial

from aim_api.tree import Json, JsonObject, get_list, get_map, get_objects, get_str, get_strings
from aim_rehearsal.apiserver.crds import CRD_COLLECTION, unestablished, with_crd_defaults
from aim_rehearsal.apiserver.pod_defaults import (
    with_admitted_pod,
    with_job_labels,
    with_pod_defaults,
    with_workload_defaults,
)
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import with_metadata

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
    defaults: JsonObject = {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}
    return {**value, "spec": {**defaults, **get_map(value, "spec")}}


def _pod_defaults(value: JsonObject) -> JsonObject:
    return {**value, "spec": with_pod_defaults(get_map(value, "spec"), alone=True)}


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


def _with_first_crd_status(crd: JsonObject) -> JsonObject:
    return {**crd, "status": unestablished(crd)}


_ADDITIONS: dict[str, Callable[[JsonObject], JsonObject]] = {
    "namespaces": _with_namespace_finalizer,
    "jobs.batch": with_job_labels,
    "pods": with_admitted_pod,
    "services": _with_address,
    "persistentvolumes": partial(_with_finalizer, VOLUME_FINALIZER),
    "persistentvolumeclaims": partial(_with_finalizer, PVC_FINALIZER),
    CRD_COLLECTION: _with_first_crd_status,
}
