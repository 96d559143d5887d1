"""Reads what a plan needs, and nothing else: explicit namespaces, paged lists, never a Secret (shell).

A list that is forbidden, ends early or is only partly readable is an error that names it, never taken for empty: the
cluster connection raises it. Raw objects are dropped as soon as they are reduced.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import msgspec

from aim_api.kinds import (
    AIM_CLUSTER_PROFILE,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    CRD,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    LEGACY_VERSION,
    NAMESPACE,
    Kind,
)
from aim_api.tree import JsonObject, get_map, get_objects, get_str
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import ClusterIdentity, CrdIdentity, Finding
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import Forbidden, NotFound, NotServed
from aim_template_migration.kube.listing import objects_of
from aim_template_migration.kube.permissions import DEFINED_KINDS, KUBE_SYSTEM, LISTED_KINDS
from aim_template_migration.kube.requests import Action
from aim_template_migration.kube.side_by_side import ahead, side_by_side
from aim_template_migration.planning.reduction import read_object, reduce
from aim_template_migration.planning.snapshot import ClusterScope, NamespaceScope, Observed, index

__all__ = [
    "Definitions",
    "PlanningError",
    "read_cluster_scope",
    "read_definitions",
    "read_identity",
    "read_namespace",
    "reduce",
]

CLUSTER_KINDS = tuple(kind for kind in LISTED_KINDS if not kind.namespaced)
NAMESPACED_KINDS = tuple(kind for kind in LISTED_KINDS if kind.namespaced)
_TARGET_KINDS = (AIM_PROFILE, AIM_CLUSTER_PROFILE, AIM_PROFILE_CACHE)

READERS = 4
"""Namespaces read at once: a small share of what an API server takes, and enough to hide its latency."""


T = TypeVar("T")
KeepPage = Callable[[Kind, Action, list[msgspec.Raw]], T]
"""Takes a page over: its kind, the list that it belongs to, and its objects as JSON."""


class PlanningError(Exception):
    """A plan can't be made; the message is one sentence with the object, the reason and the next step."""


@dataclass(frozen=True, slots=True)
class Definitions:
    """What the CRDs say: which cluster this is, and the schemas of the targets, for defaulting.

    Attributes:
        identity: the cluster's identity.
        schemas: openAPIV3Schema at the version used, by kind name.
        warnings: what may not be read, where that only warns.
    """

    identity: ClusterIdentity
    schemas: dict[str, JsonObject]
    warnings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class NamespacePages(Generic[T]):
    """A namespace whose pages somebody else looks at.

    Attributes:
        name: its name.
        pages: what stands for each of its pages, in order.
        terminating: whether it is being deleted.
    """

    name: str
    pages: tuple[T, ...]
    terminating: bool


def read_identity(cluster: Cluster) -> ClusterIdentity:
    """Return the identity of a cluster: the UIDs of kube-system and of the CRDs, with versions as information.

    Raises:
        ClusterError: the server can't be reached, or the CRDs may not be read.
    """
    return read_definitions(cluster).identity


def read_definitions(cluster: Cluster) -> Definitions:
    """Read the CRDs that the migration uses; those that are not installed are left out.

    Raises:
        ClusterError: the server can't be reached, or the CRDs may not be read.
    """
    crds: list[CrdIdentity] = []
    schemas: dict[str, JsonObject] = {}
    found = dict(side_by_side(lambda kind: _definition(cluster, kind), DEFINED_KINDS, READERS))
    for kind in DEFINED_KINDS:
        definition = found[kind]
        if definition is None:
            continue
        crds.append(_crd_identity(definition))
        if kind in _TARGET_KINDS:
            schemas[kind.name] = _schema(definition, kind.version)
    uid, warnings = _kube_system(cluster)
    version = get_str(cluster.server_version(), "gitVersion") or ""
    identity = ClusterIdentity(
        kube_system_uid=uid, crds=tuple(sorted(crds, key=lambda crd: crd.name)), server_version=version
    )
    return Definitions(identity, schemas, warnings)


def read_cluster_scope(cluster: Cluster, definitions: Definitions | None = None) -> ClusterScope:
    """Read the cluster-scoped objects that services can refer to.

    Args:
        cluster: the connection.
        definitions: what ``read_definitions`` gave before, so that the large CRDs are not read again.

    Raises:
        ClusterError: a list can't be read whole.
    """
    known = definitions or read_definitions(cluster)
    objects = [item for kind in CLUSTER_KINDS for item in _list(cluster, kind, None)]
    return ClusterScope(identity=known.identity, objects=index(objects), schemas=known.schemas, warnings=known.warnings)


def read_namespaces(cluster: Cluster, names: Sequence[str]) -> Iterator[NamespaceScope]:
    """Read namespaces, a few at once, and yield them in the order of ``names``.

    A few are read ahead of the one in use, and no others: a large fleet is never in memory as a whole.

    Raises:
        PlanningError: a namespace does not exist.
        ClusterError: a namespace or a list in it can't be read whole.
    """
    return ahead(lambda name: read_namespace(cluster, name), names, READERS)


def read_namespace(cluster: Cluster, namespace: str) -> NamespaceScope:
    """Read the objects of one namespace.

    Raises:
        PlanningError: the namespace does not exist.
        ClusterError: the namespace or a list in it can't be read whole.
    """
    found = read_namespace_object(cluster, namespace)
    objects = (item for kind in NAMESPACED_KINDS for item in _list(cluster, kind, namespace))
    return NamespaceScope(namespace, objects, terminating=_is_terminating(found))


def read_namespace_object(cluster: Cluster, namespace: str) -> JsonObject:
    """Return the Namespace itself.

    Raises:
        PlanningError: the namespace does not exist.
        ClusterError: it can't be read.
    """
    try:
        return cluster.get(NAMESPACE, namespace)
    except NotFound:
        message = (
            f"namespace {namespace} does not exist; name existing namespaces only, and check the kubeconfig's context"
        )
        raise PlanningError(message) from None


def read_pages(cluster: Cluster, namespace: str, keep: KeepPage[T]) -> NamespacePages[T]:
    """Read one namespace without looking at its objects: what ``keep`` gives for each page stands for the page.

    Raises:
        PlanningError: the namespace does not exist.
        ClusterError: the namespace or a list in it can't be read whole.
    """
    found = read_namespace_object(cluster, namespace)
    pages: list[T] = []
    for kind in NAMESPACED_KINDS:
        pages += _served(lambda kind: cluster.list_pages(kind, namespace, partial(keep, kind)), kind)
    return NamespacePages(namespace, tuple(pages), terminating=_is_terminating(found))


def reduced_page(kind: Kind, action: Action, texts: Iterable[memoryview]) -> list[Observed]:
    """Return the reduced objects of a page that ``read_pages`` has read.

    Raises:
        IncompleteList: an item is not JSON, or no such object.
    """
    reduced = (_reduced(kind, obj) for obj in objects_of(action, kind, texts, read_object))
    return [item for item in reduced if item is not None]


def _is_terminating(namespace: JsonObject) -> bool:
    return get_str(namespace, "metadata", "deletionTimestamp") is not None


def _list(cluster: Cluster, kind: Kind, namespace: str | None) -> Iterable[Observed]:
    def read(kind: Kind) -> list[Observed | None]:
        return cluster.list_reduced(kind, namespace, lambda obj: _reduced(kind, obj), decode=read_object)

    return (item for item in _served(read, kind) if item is not None)


def _served(read: Callable[[Kind], list[T]], kind: Kind) -> list[T]:
    """Read one kind; where the cluster does not serve it there is none, which the check of the CRDs reports."""
    try:
        return read(kind)
    except NotServed:
        return _served(read, AIM_SERVICE.at(LEGACY_VERSION)) if kind is AIM_SERVICE else []


def _reduced(kind: Kind, obj: JsonObject) -> Observed | None:
    """Reduce an object; Deployments of anything but an InferenceService are not kept."""
    if kind is DEPLOYMENT:
        owners = get_objects(obj, "metadata", "ownerReferences")
        if not any(owner.get("kind") == INFERENCE_SERVICE.name for owner in owners):
            return None
    return reduce(kind, obj)


def _definition(cluster: Cluster, kind: Kind) -> JsonObject | None:
    try:
        return cluster.get(CRD, kind.crd_name)
    except NotFound:
        return None


def _kube_system(cluster: Cluster) -> tuple[str, tuple[Finding, ...]]:
    try:
        return get_str(cluster.get(NAMESPACE, KUBE_SYSTEM), "metadata", "uid") or "", ()
    except (Forbidden, NotFound):
        code = CODES["ClusterIdentityPartial"]
        message = "the UID of namespace kube-system may not be read, so only the CRDs identify the cluster"
        return "", (Finding(code=code.code, object=f"Namespace/{KUBE_SYSTEM}", message=message, advice=code.advice),)


def _crd_identity(definition: JsonObject) -> CrdIdentity:
    versions = get_objects(definition, "spec", "versions")
    return CrdIdentity(
        name=get_str(definition, "metadata", "name") or "",
        uid=get_str(definition, "metadata", "uid") or "",
        storage_version=next((get_str(item, "name") or "" for item in versions if item.get("storage") is True), ""),
        served_versions=tuple(sorted(get_str(item, "name") or "" for item in versions if item.get("served") is True)),
        converted_by_webhook=get_str(definition, "spec", "conversion", "strategy") == "Webhook",
    )


def _schema(definition: JsonObject, version: str) -> JsonObject:
    versions = get_objects(definition, "spec", "versions")
    found = next((item for item in versions if item.get("name") == version), {})
    return get_map(found, "schema", "openAPIV3Schema")
