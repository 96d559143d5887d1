"""The built-in resources, as one table."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

from aim_rehearsal.apiserver.builtin_schemas import builtin_schema
from aim_rehearsal.apiserver.columns import BUILTIN_COLUMNS
from aim_rehearsal.apiserver.resources import ALL_VERBS, Resource, ServedVersion
from aim_schema import StructuralSchema

_CREATE_ONLY = ("create",)
_NO_COLLECTION = tuple(verb for verb in ALL_VERBS if verb != "deletecollection")
_STATUS = frozenset({"status"})
_EVENT_FIELDS = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
_NEW_EVENT_FIELDS = {
    "message": "note",
    "involvedObject": "regarding",
    "reportingComponent": "reportingController",
    "count": "deprecatedCount",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "source": "deprecatedSource",
}
_SELECTABLE: dict[str, tuple[str, ...]] = {
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "Event": _EVENT_FIELDS,
    "Namespace": ("status.phase",),
    "Node": ("spec.unschedulable",),
    "Secret": ("type",),
    "Job": ("status.successful",),
    "ReplicaSet": ("status.replicas",),
    "Service": ("spec.clusterIP", "spec.type"),
}
_GENERATION_KINDS = frozenset(
    {
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "DaemonSet",
        "Job",
        "Pod",
        "CustomResourceDefinition",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    }
)
_RETURNS_DELETED = frozenset(
    {"Pod", "PersistentVolumeClaim", "PersistentVolume", "Service", "ServiceAccount", "ResourceQuota"}
)


def _resource(
    group: str,
    version: str,
    kind: str,
    plural: str,
    short: str = "",
    *,
    namespaced: bool = True,
    subresources: frozenset[str] = frozenset(),
    categories: tuple[str, ...] = (),
    verbs: tuple[str, ...] = ALL_VERBS,
) -> Resource:
    schema = builtin_schema(kind)
    served = ServedVersion(
        version,
        schema,
        StructuralSchema.compile(schema),
        BUILTIN_COLUMNS.get(kind, ()),
        selectable=_SELECTABLE.get(kind, ()),
    )
    return Resource(
        group=group,
        kind=kind,
        plural=plural,
        singular=kind.lower(),
        namespaced=namespaced,
        versions={version: served},
        storage_version=version,
        short_names=tuple(short.split()),
        categories=categories,
        subresources=subresources,
        tracks_generation=kind in _GENERATION_KINDS,
        returns_deleted=kind in _RETURNS_DELETED,
        verbs=verbs,
        list_kind=f"{kind}List",
    )


def _core() -> Iterator[Resource]:
    everywhere = ("all",)
    yield _resource(
        "",
        "v1",
        "Namespace",
        "namespaces",
        "ns",
        namespaced=False,
        subresources=_STATUS | {"finalize"},
        verbs=_NO_COLLECTION,
    )
    yield _resource("", "v1", "Node", "nodes", "no", namespaced=False, subresources=_STATUS)
    yield _resource("", "v1", "PersistentVolume", "persistentvolumes", "pv", namespaced=False, subresources=_STATUS)
    yield _resource("", "v1", "Pod", "pods", "po", subresources=_STATUS, categories=everywhere)
    yield _resource("", "v1", "ConfigMap", "configmaps", "cm")
    yield _resource("", "v1", "Secret", "secrets")
    yield _resource("", "v1", "Service", "services", "svc", subresources=_STATUS, categories=everywhere)
    yield _resource("", "v1", "ServiceAccount", "serviceaccounts", "sa")
    yield _resource("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", subresources=_STATUS)
    yield _resource("", "v1", "ResourceQuota", "resourcequotas", "quota", subresources=_STATUS)
    yield _resource("", "v1", "Event", "events", "ev")


def _groups() -> Iterator[Resource]:
    everywhere = ("all",)
    event = _resource("events.k8s.io", "v1", "Event", "events", "ev")
    yield replace(event, view_of="events", renames=_NEW_EVENT_FIELDS)
    yield _resource("apps", "v1", "Deployment", "deployments", "deploy", subresources=_STATUS, categories=everywhere)
    yield _resource("apps", "v1", "ReplicaSet", "replicasets", "rs", subresources=_STATUS, categories=everywhere)
    yield _resource("apps", "v1", "StatefulSet", "statefulsets", "sts", subresources=_STATUS, categories=everywhere)
    yield _resource("apps", "v1", "DaemonSet", "daemonsets", "ds", subresources=_STATUS, categories=everywhere)
    yield _resource("batch", "v1", "Job", "jobs", subresources=_STATUS, categories=everywhere)
    yield _resource("storage.k8s.io", "v1", "StorageClass", "storageclasses", "sc", namespaced=False)
    yield _resource("coordination.k8s.io", "v1", "Lease", "leases")
    rbac = "rbac.authorization.k8s.io"
    yield _resource(rbac, "v1", "Role", "roles")
    yield _resource(rbac, "v1", "RoleBinding", "rolebindings")
    yield _resource(rbac, "v1", "ClusterRole", "clusterroles", namespaced=False)
    yield _resource(rbac, "v1", "ClusterRoleBinding", "clusterrolebindings", namespaced=False)


def _machinery() -> Iterator[Resource]:
    extensions = ("api-extensions",)
    yield _resource(
        "apiextensions.k8s.io",
        "v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        "crd crds",
        namespaced=False,
        subresources=_STATUS,
        categories=extensions,
    )
    yield _resource(
        "apiregistration.k8s.io",
        "v1",
        "APIService",
        "apiservices",
        namespaced=False,
        subresources=_STATUS,
        categories=extensions,
    )
    yield _resource(
        "admissionregistration.k8s.io",
        "v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        namespaced=False,
        subresources=_STATUS,
        categories=extensions,
    )
    for kind, plural in (
        ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
        ("ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings"),
    ):
        yield _resource("admissionregistration.k8s.io", "v1", kind, plural, namespaced=False, categories=extensions)
    for group, kind, plural in (
        ("authorization.k8s.io", "SelfSubjectAccessReview", "selfsubjectaccessreviews"),
        ("authorization.k8s.io", "SelfSubjectRulesReview", "selfsubjectrulesreviews"),
        ("authentication.k8s.io", "SelfSubjectReview", "selfsubjectreviews"),
    ):
        yield _resource(group, "v1", kind, plural, namespaced=False, verbs=_CREATE_ONLY)


@cache
def builtin_resources() -> tuple[Resource, ...]:
    """Return the built-in resources; core kinds come first, as kubectl prefers them where names collide."""
    return (*_core(), *_groups(), *_machinery())
