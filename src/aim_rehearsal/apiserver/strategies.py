"""What a kind's own rules make of an object that is created or updated: status, generation, defaults of the server.

Source: Kubernetes API conventions (spec and status, generation) and the answers of a kube-apiserver 1.36.
"""

from aim_api.tree import JsonObject, get_int, get_list, get_map
from aim_rehearsal.apiserver.builtin_defaults import with_additions
from aim_rehearsal.apiserver.crds import CRD_COLLECTION, with_stored_version
from aim_rehearsal.apiserver.errors import quoted
from aim_rehearsal.apiserver.resources import Resource
from aim_rehearsal.apiserver.store import with_metadata
from aim_rehearsal.apiserver.trees import same_value
from aim_schema.metadata_rules import NameRule

_STANDARD_FINALIZERS = frozenset({"orphan", "foregroundDeletion", "kubernetes"})
_FIRST_STATUS: dict[str, JsonObject] = {
    "Pod": {"phase": "Pending"},
    "PersistentVolumeClaim": {"phase": "Pending"},
    "Namespace": {"phase": "Active"},
    "PersistentVolume": {"phase": "Pending"},
    "ReplicaSet": {"replicas": 0},
    "StatefulSet": {"replicas": 0, "availableReplicas": 0},
    "Service": {"loadBalancer": {}},
}


def name_rule(resource: Resource) -> NameRule:
    """Return what names of a resource must look like."""
    if resource.group == "rbac.authorization.k8s.io":
        return NameRule.PATH_SEGMENT
    return NameRule.LABEL if resource.collection in ("namespaces", "services") else NameRule.SUBDOMAIN


def before_create(resource: Resource, value: JsonObject) -> JsonObject:
    """Return an object as it is first stored: status dropped, generation 1, finalizers of the server's own added."""
    prepared = dict(value)
    if resource.has_status and resource.kind != "Node":
        prepared.pop("status", None)
        if not resource.custom:
            prepared["status"] = dict(_FIRST_STATUS.get(resource.kind, {}))
    if resource.tracks_generation:
        prepared = with_metadata(prepared, generation=1)
    return with_additions(resource, prepared)


def before_update(resource: Resource, new: JsonObject, old: JsonObject) -> JsonObject:
    """Return an object as an update of all but status stores it; the old status is kept, generation counts changes."""
    prepared = dict(new)
    if resource.has_status:
        prepared.pop("status", None)
        if "status" in old:
            prepared["status"] = old["status"]
    if resource.collection == CRD_COLLECTION:
        prepared["status"] = with_stored_version(prepared)
    if not resource.tracks_generation:
        return prepared
    generation = get_int(old, "metadata", "generation") or 0
    changed = not same_value(_desired(resource, prepared), _desired(resource, old))
    return with_metadata(prepared, generation=generation + changed) if generation + changed else prepared


def before_status_update(new: JsonObject, old: JsonObject, *, custom: bool) -> JsonObject:
    """Return the old object with the new status; for built-in kinds labels and annotations may come along."""
    prepared = {key: value for key, value in old.items() if key != "status"}
    if "status" in new:
        prepared["status"] = new["status"]
    taken = (
        ("managedFields",) if custom else ("managedFields", "labels", "annotations", "finalizers", "ownerReferences")
    )
    kept = {key: value for key, value in get_map(old, "metadata").items() if key not in taken}
    moved = {key: value for key, value in get_map(new, "metadata").items() if key in taken}
    return {**prepared, "metadata": kept | moved}


def finalizer_warnings(resource: Resource, value: JsonObject) -> list[str]:
    """Return the warnings that writes of custom objects get for finalizers without a domain and path."""
    if not resource.custom:
        return []
    found = [str(item) for item in get_list(value, "metadata", "finalizers")]
    return [
        f"metadata.finalizers: {quoted(item)}: prefer a domain-qualified finalizer name "
        f"{'including a path (/) ' if '.' in item else ''}to avoid accidental conflicts with other finalizer writers"
        for item in found
        if "/" not in item and item not in _STANDARD_FINALIZERS
    ]


def may_go(resource: Resource, value: JsonObject) -> bool:
    """Return whether an object that is being deleted has nothing left to wait for."""
    metadata = get_map(value, "metadata")
    held = resource.collection == "namespaces" and bool(get_list(value, "spec", "finalizers"))
    waiting = held or bool(metadata.get("finalizers")) or bool(metadata.get("deletionGracePeriodSeconds"))
    return metadata.get("deletionTimestamp") is not None and not waiting


def _desired(resource: Resource, value: JsonObject) -> JsonObject:
    """Return what counts for generation: for custom kinds all but metadata and status, for others the spec."""
    if not resource.custom:
        return {key: value[key] for key in ("spec", "webhooks") if key in value}
    left_out = ("metadata", "status") if resource.has_status else ("metadata",)
    return {key: item for key, item in value.items() if key not in left_out}
