"""The columns that ``kubectl get`` shows for built-in kinds."""

from collections.abc import Callable

from aim_api.tree import Json, JsonObject, get, get_int, get_list, get_map, get_objects, get_str, get_strings
from aim_rehearsal.apiserver.resources import Column
from aim_rehearsal.apiserver.times import age, human_duration, now, parse_time

_NONE = "<none>"


def _name(value: JsonObject) -> Json:
    return get_str(value, "metadata", "name") or ""


def _age(value: JsonObject) -> Json:
    return age(get_str(value, "metadata", "creationTimestamp") or "")


NAME = Column("Name", _name, format="name", description="The name of the object.")
_AGE_DESCRIPTION = "When the object was created."
AGE = Column("Age", _age, description=_AGE_DESCRIPTION)
CUSTOM_AGE = Column("Age", _age, "date", description=_AGE_DESCRIPTION)
DEFAULT_COLUMNS = (NAME, AGE)


def _at(name: str, *path: str, missing: Json = "", kind: str = "string", priority: int = 0) -> Column:
    def cell(value: JsonObject) -> Json:
        found = get(value, *path)
        return missing if found is None else found

    return Column(name, cell, kind=kind, priority=priority)


def _joined(values: list[str]) -> str:
    return ",".join(values) or _NONE


def _pairs(values: dict[str, str]) -> str:
    return _joined([f"{key}={value}" for key, value in sorted(values.items())])


def _selector(name: str, *path: str) -> Column:
    return Column(name, lambda value: _pairs(get_strings(value, *path)), priority=1)


def _containers(value: JsonObject) -> list[JsonObject]:
    return get_objects(value, "spec", "template", "spec", "containers")


_CONTAINERS = Column(
    "Containers", lambda value: ",".join(get_str(item, "name") or "" for item in _containers(value)), priority=1
)
_IMAGES = Column(
    "Images", lambda value: ",".join(get_str(item, "image") or "" for item in _containers(value)), priority=1
)


def _pod_ready(value: JsonObject) -> Json:
    statuses = get_objects(value, "status", "containerStatuses")
    ready = sum(status.get("ready") is True for status in statuses)
    return f"{ready}/{len(get_list(value, 'spec', 'containers'))}"


def _pod_status(value: JsonObject) -> Json:
    if get(value, "metadata", "deletionTimestamp"):
        return "Terminating"
    for status in get_objects(value, "status", "containerStatuses"):
        for state in ("waiting", "terminated"):
            reason = get_str(status, "state", state, "reason")
            if reason:
                return reason
    return get_str(value, "status", "reason") or get_str(value, "status", "phase") or ""


def _pod_restarts(value: JsonObject) -> Json:
    return str(sum(get_int(item, "restartCount") or 0 for item in get_objects(value, "status", "containerStatuses")))


def _claim_access_modes(value: JsonObject) -> Json:
    return _access_modes(get_list(value, "status", "accessModes")) if get(value, "spec", "volumeName") else ""


def _claim_capacity(value: JsonObject) -> Json:
    return get(value, "status", "capacity", "storage") or "" if get(value, "spec", "volumeName") else ""


def _access_modes(modes: list[Json]) -> str:
    short = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}
    return ",".join(short.get(str(mode), str(mode)) for mode in modes)


def _claim_status(value: JsonObject) -> Json:
    if get(value, "metadata", "deletionTimestamp"):
        return "Terminating"
    return get_str(value, "status", "phase") or ""


def _claim_of_volume(value: JsonObject) -> Json:
    claim = get_map(value, "spec", "claimRef")
    return f"{claim.get('namespace')}/{claim.get('name')}" if claim else ""


def _quota(side: str) -> Callable[[JsonObject], Json]:
    def cell(value: JsonObject) -> Json:
        hard, used = get_map(value, "status", "hard"), get_map(value, "status", "used")
        names = [name for name in sorted(hard) if name.startswith("limits") is (side == "limits")]
        return ", ".join(f"{name}: {used.get(name)}/{hard[name]}" for name in names)

    return cell


def _node_status(value: JsonObject) -> Json:
    ready = next((item for item in get_objects(value, "status", "conditions") if item.get("type") == "Ready"), {})
    text = {"True": "Ready", "False": "NotReady"}.get(get_str(ready, "status") or "", "Unknown")
    return text + (",SchedulingDisabled" if get(value, "spec", "unschedulable") is True else "")


def _node_roles(value: JsonObject) -> Json:
    prefix = "node-role.kubernetes.io/"
    labels = get_strings(value, "metadata", "labels")
    return _joined(sorted(label.removeprefix(prefix) for label in labels if label.startswith(prefix)))


def _kernel(value: JsonObject) -> Json:
    info = get_map(value, "status", "nodeInfo")
    return f"{info['kernelVersion']} ({info.get('architecture', '')})" if info.get("kernelVersion") else "<unknown>"


def _address(kind: str) -> Column:
    def cell(value: JsonObject) -> Json:
        addresses = get_objects(value, "status", "addresses")
        return next((get_str(item, "address") or _NONE for item in addresses if item.get("type") == kind), _NONE)

    return Column(f"{kind.removesuffix('IP')}-IP", cell, priority=1)


def _ports(value: JsonObject) -> Json:
    return _joined([_port(port) for port in get_objects(value, "spec", "ports")])


def _port(port: JsonObject) -> str:
    on_node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{on_node}/{port.get('protocol', 'TCP')}"


def _ready_replicas(value: JsonObject) -> Json:
    return f"{get_int(value, 'status', 'readyReplicas') or 0}/{get_int(value, 'spec', 'replicas') or 0}"


def _completions(value: JsonObject) -> Json:
    return f"{get_int(value, 'status', 'succeeded') or 0}/{get_int(value, 'spec', 'completions') or 1}"


def _job_status(value: JsonObject) -> Json:
    for condition in get_objects(value, "status", "conditions"):
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed", "Suspended"):
            return get_str(condition, "type")
    return "Terminating" if get(value, "metadata", "deletionTimestamp") else "Running"


def _job_duration(value: JsonObject) -> Json:
    start = parse_time(get_str(value, "status", "startTime") or "")
    if start is None:
        return ""
    end = parse_time(get_str(value, "status", "completionTime") or "") or now()
    return human_duration(int((end - start).total_seconds()))


def _event_last_seen(value: JsonObject) -> Json:
    stamp = get_str(value, "lastTimestamp") or get_str(value, "deprecatedLastTimestamp") or get_str(value, "eventTime")
    return age(stamp or get_str(value, "metadata", "creationTimestamp") or "")


def _event_first_seen(value: JsonObject) -> Json:
    stamp = get_str(value, "firstTimestamp") or get_str(value, "eventTime")
    return age(stamp or get_str(value, "metadata", "creationTimestamp") or "")


def _event_object(value: JsonObject) -> Json:
    about = get_map(value, "involvedObject") or get_map(value, "regarding")
    return f"{(get_str(about, 'kind') or '').lower()}/{get_str(about, 'name') or ''}"


def _event_message(value: JsonObject) -> Json:
    return (get_str(value, "message") or get_str(value, "note") or "").strip()


def _default_class(value: JsonObject) -> Json:
    annotations = get_strings(value, "metadata", "annotations")
    mark = " (default)" if annotations.get("storageclass.kubernetes.io/is-default-class") == "true" else ""
    return f"{_name(value)}{mark}"


def _bound_subjects(kind: str) -> Column:
    def cell(value: JsonObject) -> Json:
        found = [item for item in get_objects(value, "subjects") if item.get("kind") == kind]
        names = [
            f"{item['namespace']}/{item.get('name')}" if item.get("namespace") else str(item.get("name"))
            for item in found
        ]
        return ", ".join(names)

    return Column({"User": "Users", "Group": "Groups"}.get(kind, "ServiceAccounts"), cell, priority=1)


def _data_count(*keys: str) -> Column:
    return Column("Data", lambda value: sum(len(get_map(value, key)) for key in keys), kind="string")


def _created_at(value: JsonObject) -> Json:
    return get_str(value, "metadata", "creationTimestamp") or ""


_ROLE_REF = Column("Role", lambda value: f"{get_str(value, 'roleRef', 'kind')}/{get_str(value, 'roleRef', 'name')}")
_BINDING_COLUMNS = (
    NAME,
    _ROLE_REF,
    AGE,
    _bound_subjects("User"),
    _bound_subjects("Group"),
    _bound_subjects("ServiceAccount"),
)
_WEBHOOKS = (NAME, Column("Webhooks", lambda value: len(get_list(value, "webhooks")), kind="integer"), AGE)

BUILTIN_COLUMNS: dict[str, tuple[Column, ...]] = {
    "Namespace": (NAME, _at("Status", "status", "phase"), AGE),
    "Node": (
        NAME,
        Column("Status", _node_status),
        Column("Roles", _node_roles),
        AGE,
        _at("Version", "status", "nodeInfo", "kubeletVersion"),
        _address("InternalIP"),
        _address("ExternalIP"),
        _at("OS-Image", "status", "nodeInfo", "osImage", missing="<unknown>", priority=1),
        Column("Kernel-Version", _kernel, priority=1),
        _at("Container-Runtime", "status", "nodeInfo", "containerRuntimeVersion", missing="<unknown>", priority=1),
    ),
    "Pod": (
        NAME,
        Column("Ready", _pod_ready),
        Column("Status", _pod_status),
        Column("Restarts", _pod_restarts),
        AGE,
        _at("IP", "status", "podIP", missing=_NONE, priority=1),
        _at("Node", "spec", "nodeName", missing=_NONE, priority=1),
        _at("Nominated Node", "status", "nominatedNodeName", missing=_NONE, priority=1),
        Column("Readiness Gates", lambda _: _NONE, priority=1),
    ),
    "ConfigMap": (NAME, _data_count("data", "binaryData"), AGE),
    "Secret": (NAME, _at("Type", "type"), _data_count("data"), AGE),
    "Service": (
        NAME,
        _at("Type", "spec", "type"),
        _at("Cluster-IP", "spec", "clusterIP", missing=_NONE),
        _at("External-IP", "spec", "externalName", missing=_NONE),
        Column("Port(s)", _ports),
        AGE,
        _selector("Selector", "spec", "selector"),
    ),
    "PersistentVolumeClaim": (
        NAME,
        Column("Status", _claim_status),
        _at("Volume", "spec", "volumeName"),
        Column("Capacity", _claim_capacity),
        Column("Access Modes", _claim_access_modes),
        _at("StorageClass", "spec", "storageClassName"),
        _at("VolumeAttributesClass", "spec", "volumeAttributesClassName", missing="<unset>"),
        AGE,
        _at("VolumeMode", "spec", "volumeMode", missing="<unset>", priority=1),
    ),
    "PersistentVolume": (
        NAME,
        _at("Capacity", "spec", "capacity", "storage"),
        Column("Access Modes", lambda value: _access_modes(get_list(value, "spec", "accessModes"))),
        _at("Reclaim Policy", "spec", "persistentVolumeReclaimPolicy"),
        _at("Status", "status", "phase"),
        Column("Claim", _claim_of_volume),
        _at("StorageClass", "spec", "storageClassName"),
        _at("VolumeAttributesClass", "spec", "volumeAttributesClassName", missing="<unset>"),
        _at("Reason", "status", "reason"),
        AGE,
        _at("VolumeMode", "spec", "volumeMode", missing="<unset>", priority=1),
    ),
    "ResourceQuota": (NAME, Column("Request", _quota("requests")), Column("Limit", _quota("limits")), AGE),
    "Lease": (NAME, _at("Holder", "spec", "holderIdentity"), AGE),
    "Event": (
        Column("Last Seen", _event_last_seen),
        _at("Type", "type"),
        _at("Reason", "reason"),
        Column("Object", _event_object),
        _at("Subobject", "involvedObject", "fieldPath", priority=1),
        _at("Source", "source", "component", priority=1),
        Column("Message", _event_message),
        Column("First Seen", _event_first_seen, priority=1),
        _at("Count", "count", missing=1, priority=1),
        Column("Name", _name, format="name", priority=1),
    ),
    "Deployment": (
        NAME,
        Column("Ready", _ready_replicas),
        _at("Up-to-date", "status", "updatedReplicas", missing=0),
        _at("Available", "status", "availableReplicas", missing=0),
        AGE,
        _CONTAINERS,
        _IMAGES,
        _selector("Selector", "spec", "selector", "matchLabels"),
    ),
    "ReplicaSet": (
        NAME,
        _at("Desired", "spec", "replicas", missing=0, kind="integer"),
        _at("Current", "status", "replicas", missing=0, kind="integer"),
        _at("Ready", "status", "readyReplicas", missing=0, kind="integer"),
        AGE,
        _CONTAINERS,
        _IMAGES,
        _selector("Selector", "spec", "selector", "matchLabels"),
    ),
    "StatefulSet": (NAME, Column("Ready", _ready_replicas), AGE, _CONTAINERS, _IMAGES),
    "Job": (
        NAME,
        Column("Status", _job_status),
        Column("Completions", _completions),
        Column("Duration", _job_duration),
        AGE,
        _CONTAINERS,
        _IMAGES,
        _selector("Selector", "spec", "selector", "matchLabels"),
    ),
    "StorageClass": (
        Column("Name", _default_class, format="name"),
        _at("Provisioner", "provisioner"),
        _at("ReclaimPolicy", "reclaimPolicy", missing="Delete"),
        _at("VolumeBindingMode", "volumeBindingMode", missing="Immediate"),
        _at("AllowVolumeExpansion", "allowVolumeExpansion", missing=False),
        AGE,
    ),
    "Role": (NAME, Column("Created At", _created_at, "date")),
    "ClusterRole": (NAME, Column("Created At", _created_at, "date")),
    "RoleBinding": _BINDING_COLUMNS,
    "ClusterRoleBinding": _BINDING_COLUMNS,
    "CustomResourceDefinition": (NAME, Column("Created At", _created_at, "date")),
    "MutatingWebhookConfiguration": _WEBHOOKS,
    "ValidatingWebhookConfiguration": _WEBHOOKS,
}
