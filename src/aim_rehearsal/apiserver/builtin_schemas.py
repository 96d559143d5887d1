"""Schemas of the built-in kinds, as far as the rehearsal needs them.

They give the top-level fields, the fields with defaults, the keys of list-maps (for strategic merge and server-side
apply) and the types that people see in ``kubectl explain``. Objects marked open keep fields that are not listed here.
Source: the Kubernetes API reference.
"""

from aim_api.tree import Json, JsonObject, get_map

STRING: JsonObject = {"type": "string"}
INTEGER: JsonObject = {"type": "integer", "format": "int32"}
LONG: JsonObject = {"type": "integer", "format": "int64"}
BOOLEAN: JsonObject = {"type": "boolean"}
TIME: JsonObject = {"type": "string", "format": "date-time"}
INT_OR_STRING: JsonObject = {"x-kubernetes-int-or-string": True}
ANY: JsonObject = {"x-kubernetes-preserve-unknown-fields": True}


def _with_default(schema: JsonObject, default: Json) -> JsonObject:
    return {**schema, "default": default}


def _fields(**properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": {name.rstrip("_"): schema for name, schema in properties.items()}}


def _open(**properties: JsonObject) -> JsonObject:
    return {**_fields(**properties), "x-kubernetes-preserve-unknown-fields": True}


def _map(values: JsonObject) -> JsonObject:
    return {"type": "object", "additionalProperties": values}


def _list(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items, "x-kubernetes-list-type": "atomic"}


def _set(items: JsonObject) -> JsonObject:
    return {"type": "array", "items": items, "x-kubernetes-list-type": "set"}


def _keyed(items: JsonObject, *keys: str) -> JsonObject:
    listed: list[Json] = list(keys)
    properties = get_map(items, "properties")
    required: list[Json] = [key for key in keys if "default" not in get_map(properties, key)]
    return {
        "type": "array",
        "items": {**items, "required": required},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": listed,
    }


_STRINGS = _map(STRING)
_QUANTITIES = _map(INT_OR_STRING)
_LABEL_SELECTOR = {
    **_fields(matchLabels=_STRINGS, matchExpressions=_list(_fields(key=STRING, operator=STRING, values=_list(STRING)))),
    "x-kubernetes-map-type": "atomic",
}
_RESOURCES = _open(limits=_QUANTITIES, requests=_QUANTITIES)
_NULLABLE_TIME: JsonObject = {**TIME, "nullable": True}
_CONDITIONS = _keyed(
    _open(type=STRING, status=STRING, reason=STRING, message=STRING, lastTransitionTime=_NULLABLE_TIME), "type"
)
_LOCAL_REFERENCE = {**_fields(name=STRING), "x-kubernetes-map-type": "atomic"}
_OBJECT_REFERENCE = {
    **_fields(
        apiVersion=STRING,
        fieldPath=STRING,
        kind=STRING,
        name=STRING,
        namespace=STRING,
        resourceVersion=STRING,
        uid=STRING,
    ),
    "x-kubernetes-map-type": "atomic",
}
_FIELD_REFERENCE = {**_open(apiVersion=STRING, fieldPath=STRING), "x-kubernetes-map-type": "atomic"}
_CONTAINER = _open(
    name=STRING,
    image=STRING,
    command=_list(STRING),
    args=_list(STRING),
    workingDir=STRING,
    env=_keyed(_open(name=STRING, value=STRING, valueFrom=_open(fieldRef=_FIELD_REFERENCE)), "name"),
    envFrom=_list(_open()),
    ports=_keyed(
        _open(containerPort=INTEGER, name=STRING, protocol=_with_default(STRING, "TCP")), "containerPort", "protocol"
    ),
    resources=_RESOURCES,
    volumeMounts=_keyed(_open(name=STRING, mountPath=STRING, readOnly=BOOLEAN), "mountPath"),
)
_POD_SPEC = _open(
    containers=_keyed(_CONTAINER, "name"),
    initContainers=_keyed(_CONTAINER, "name"),
    volumes=_keyed(_open(name=STRING), "name"),
    imagePullSecrets=_keyed(_open(name=STRING), "name"),
    nodeName=STRING,
    nodeSelector=_STRINGS,
    restartPolicy=STRING,
    schedulerName=STRING,
    serviceAccountName=STRING,
    terminationGracePeriodSeconds=LONG,
    tolerations=_list(_open()),
)
_POD_STATUS = _open(
    phase=STRING,
    conditions=_CONDITIONS,
    containerStatuses=_list(_open()),
    podIP=STRING,
    podIPs=_keyed(_open(ip=STRING), "ip"),
    startTime=TIME,
    message=STRING,
)
_POD_TEMPLATE = _fields(metadata=_open(labels=_STRINGS, annotations=_STRINGS), spec=_POD_SPEC)
_RULES = _list(
    _fields(
        apiGroups=_list(STRING),
        nonResourceURLs=_list(STRING),
        resourceNames=_list(STRING),
        resources=_list(STRING),
        verbs=_list(STRING),
    )
)
_ROLE_REFERENCE = {**_fields(apiGroup=STRING, kind=STRING, name=STRING), "x-kubernetes-map-type": "atomic"}
_SUBJECTS = _list(_fields(apiGroup=STRING, kind=STRING, name=STRING, namespace=STRING))
_BINDING = {"roleRef": _ROLE_REFERENCE, "subjects": _SUBJECTS}
_ACCESS_ATTRIBUTES = _fields(
    resourceAttributes=_open(
        group=STRING, name=STRING, namespace=STRING, resource=STRING, subresource=STRING, verb=STRING, version=STRING
    ),
    nonResourceAttributes=_fields(path=STRING, verb=STRING),
)

_BODIES: dict[str, dict[str, JsonObject]] = {
    "Namespace": {
        "spec": _fields(finalizers=_list(STRING)),
        "status": _open(phase=STRING, conditions=_CONDITIONS),
    },
    "Node": {
        "spec": _open(unschedulable=BOOLEAN, taints=_list(_open()), podCIDR=STRING, providerID=STRING),
        "status": _open(
            addresses=_keyed(_open(type=STRING, address=STRING), "type"),
            allocatable=_QUANTITIES,
            capacity=_QUANTITIES,
            conditions=_CONDITIONS,
            nodeInfo=_open(),
        ),
    },
    "Pod": {"spec": _POD_SPEC, "status": _POD_STATUS},
    "ConfigMap": {"data": _STRINGS, "binaryData": _STRINGS, "immutable": BOOLEAN},
    "Secret": {"data": _STRINGS, "stringData": _STRINGS, "type": STRING, "immutable": BOOLEAN},
    "ServiceAccount": {
        "secrets": _keyed(_OBJECT_REFERENCE, "name"),
        "imagePullSecrets": _list(_LOCAL_REFERENCE),
        "automountServiceAccountToken": BOOLEAN,
    },
    "Service": {
        "spec": _open(
            clusterIP=STRING,
            ports=_keyed(
                _open(
                    name=STRING,
                    port=INTEGER,
                    protocol=_with_default(STRING, "TCP"),
                    targetPort=INT_OR_STRING,
                    nodePort=INTEGER,
                ),
                "port",
                "protocol",
            ),
            selector={**_STRINGS, "x-kubernetes-map-type": "atomic"},
            sessionAffinity=_with_default(STRING, "None"),
            type=_with_default(STRING, "ClusterIP"),
        ),
        "status": _open(conditions=_CONDITIONS, loadBalancer=_open()),
    },
    "PersistentVolumeClaim": {
        "spec": _fields(
            accessModes=_list(STRING),
            dataSource=ANY,
            dataSourceRef=ANY,
            resources=_fields(limits=_QUANTITIES, requests=_QUANTITIES),
            selector=_LABEL_SELECTOR,
            storageClassName=STRING,
            volumeAttributesClassName=STRING,
            volumeMode=_with_default(STRING, "Filesystem"),
            volumeName=STRING,
        ),
        "status": _open(phase=STRING, accessModes=_list(STRING), capacity=_QUANTITIES, conditions=_CONDITIONS),
    },
    "PersistentVolume": {"spec": _open(), "status": _open(phase=STRING)},
    "Event": {
        "action": STRING,
        "count": INTEGER,
        "eventTime": {"type": "string", "nullable": True},
        "firstTimestamp": {"type": "string", "nullable": True},
        "involvedObject": _OBJECT_REFERENCE,
        "lastTimestamp": {"type": "string", "nullable": True},
        "message": STRING,
        "note": STRING,
        "reason": STRING,
        "regarding": _OBJECT_REFERENCE,
        "related": _OBJECT_REFERENCE,
        "reportingComponent": STRING,
        "reportingController": STRING,
        "reportingInstance": STRING,
        "series": _open(),
        "source": _fields(component=STRING, host=STRING),
        "deprecatedCount": INTEGER,
        "deprecatedFirstTimestamp": {"type": "string", "nullable": True},
        "deprecatedLastTimestamp": {"type": "string", "nullable": True},
        "deprecatedSource": _fields(component=STRING, host=STRING),
        "type": STRING,
    },
    "Deployment": {
        "spec": _fields(
            minReadySeconds=INTEGER,
            paused=BOOLEAN,
            progressDeadlineSeconds=_with_default(INTEGER, 600),
            replicas=_with_default(INTEGER, 1),
            revisionHistoryLimit=_with_default(INTEGER, 10),
            selector=_LABEL_SELECTOR,
            strategy=_open(type=STRING),
            template=_POD_TEMPLATE,
        ),
        "status": _open(conditions=_CONDITIONS, replicas=INTEGER, observedGeneration=LONG),
    },
    "ReplicaSet": {
        "spec": _fields(
            minReadySeconds=INTEGER,
            replicas=_with_default(INTEGER, 1),
            selector=_LABEL_SELECTOR,
            template=_POD_TEMPLATE,
        ),
        "status": _open(conditions=_CONDITIONS, replicas=INTEGER, observedGeneration=LONG),
    },
    "StatefulSet": {
        "spec": _open(
            replicas=_with_default(INTEGER, 1), selector=_LABEL_SELECTOR, serviceName=STRING, template=_POD_TEMPLATE
        ),
        "status": _open(conditions=_CONDITIONS, replicas=INTEGER, observedGeneration=LONG),
    },
    "DaemonSet": {
        "spec": _open(selector=_LABEL_SELECTOR, template=_POD_TEMPLATE),
        "status": _open(conditions=_CONDITIONS, observedGeneration=LONG),
    },
    "Job": {
        "spec": _open(
            backoffLimit=_with_default(INTEGER, 6),
            completions=INTEGER,
            parallelism=INTEGER,
            selector=_LABEL_SELECTOR,
            template=_POD_TEMPLATE,
            ttlSecondsAfterFinished=INTEGER,
        ),
        "status": _open(conditions=_list(_open()), active=INTEGER, succeeded=INTEGER, failed=INTEGER),
    },
    "StorageClass": {
        "allowVolumeExpansion": BOOLEAN,
        "allowedTopologies": _list(_open()),
        "mountOptions": _list(STRING),
        "parameters": _STRINGS,
        "provisioner": STRING,
        "reclaimPolicy": _with_default(STRING, "Delete"),
        "volumeBindingMode": _with_default(STRING, "Immediate"),
    },
    "Lease": {"spec": _open()},
    "ResourceQuota": {"spec": _open(hard=_QUANTITIES), "status": _open()},
    "Role": {"rules": _RULES},
    "ClusterRole": {"rules": _RULES, "aggregationRule": _open()},
    "RoleBinding": _BINDING,
    "ClusterRoleBinding": _BINDING,
    "CustomResourceDefinition": {
        "spec": _open(),
        "status": _open(conditions={**_CONDITIONS, "nullable": True}),
    },
    "MutatingWebhookConfiguration": {"webhooks": _keyed(_open(name=STRING), "name")},
    "ValidatingWebhookConfiguration": {"webhooks": _keyed(_open(name=STRING), "name")},
    "ValidatingAdmissionPolicy": {"spec": _open(), "status": _open()},
    "ValidatingAdmissionPolicyBinding": {"spec": _open()},
    "APIService": {"spec": _open(), "status": _open(conditions=_CONDITIONS)},
    "SelfSubjectAccessReview": {"spec": _ACCESS_ATTRIBUTES, "status": _open()},
    "SelfSubjectRulesReview": {"spec": _fields(namespace=STRING), "status": _open()},
    "SelfSubjectReview": {"status": _open()},
}


_POD_TEMPLATE_ZERO: JsonObject = {"metadata": {}, "spec": {"containers": None}}
_NODE_INFO = (
    *("architecture", "bootID", "containerRuntimeVersion", "kernelVersion", "kubeProxyVersion", "kubeletVersion"),
    *("machineID", "operatingSystem", "osImage", "systemUUID"),
)
NODE_ZEROS: JsonObject = {
    "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
    "nodeInfo": dict.fromkeys(_NODE_INFO, ""),
}
_ZEROS: dict[str, JsonObject] = {
    "Node": {"spec": {}, "status": NODE_ZEROS},
    "Deployment": {"spec": {"selector": None, "strategy": {}, "template": _POD_TEMPLATE_ZERO}},
    "ReplicaSet": {"spec": {"selector": None, "template": {"metadata": {}, "spec": {"containers": None}}}},
    "StatefulSet": {
        "spec": {"selector": None, "serviceName": "", "template": _POD_TEMPLATE_ZERO, "updateStrategy": {}}
    },
    "DaemonSet": {"spec": {"selector": None, "template": _POD_TEMPLATE_ZERO, "updateStrategy": {}}},
    "Job": {"spec": {"template": _POD_TEMPLATE_ZERO}},
    "Pod": {"spec": {"containers": None}},
    "Service": {"spec": {}, "status": {"loadBalancer": {}}},
    "PersistentVolumeClaim": {"spec": {"resources": {}}},
    "Event": {
        "involvedObject": {},
        "source": {},
        "eventTime": None,
        "reportingComponent": "",
        "reportingInstance": "",
    },
    "CustomResourceDefinition": {
        "spec": {"group": "", "names": {"kind": "", "plural": ""}, "scope": "", "versions": None},
        "status": {"acceptedNames": {"kind": "", "plural": ""}, "conditions": None, "storedVersions": None},
    },
    "RoleBinding": {"roleRef": {"apiGroup": "", "kind": "", "name": ""}},
    "ClusterRoleBinding": {"roleRef": {"apiGroup": "", "kind": "", "name": ""}},
    "Role": {"rules": None},
    "ClusterRole": {"rules": None},
    "StorageClass": {"provisioner": ""},
}


def builtin_zero(kind: str) -> JsonObject:
    """Return what an object of a built-in kind holds before anybody has set a field: its fixed structures."""
    head: JsonObject = {name: {} for name in ("spec", "status") if name in _BODIES[kind]}
    return {**head, **_ZEROS.get(kind, {})}


def builtin_schema(kind: str) -> JsonObject:
    """Return the schema of a built-in kind.

    Raises:
        KeyError: no such kind is built in.
    """
    properties: JsonObject = {"apiVersion": STRING, "kind": STRING, "metadata": {"type": "object"}, **_BODIES[kind]}
    return {"type": "object", "properties": properties}
