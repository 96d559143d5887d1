"""Reads what a handoff check needs, and nothing else: evidence's objects, target side, and what joined them (shell)."""

from collections.abc import Iterable, Iterator

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_PROFILE,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    INFERENCE_SERVICE,
    NAMESPACE,
    Kind,
)
from aim_api.labels import SERVICE, SERVICE_NAME
from aim_api.names import label_value
from aim_api.tree import get_str
from aim_template_migration.applying.pinned_kinds import PINNED_KINDS
from aim_template_migration.documents.evidence import DedicatedEvidence
from aim_template_migration.handoff.sighting import Sighting
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import NotFound
from aim_template_migration.planning.management import outside_managers, outside_markers
from aim_template_migration.planning.reduction import reduce
from aim_template_migration.planning.snapshot import Observed

_MOVED = frozenset({"service", "templateCache", "artifact", "pvc", "inferenceService"})
_OWNERS = frozenset({"service", "templateCache"})


def look(cluster: Cluster, evidence: DedicatedEvidence) -> Sighting:
    """Read everything that a phase looks at.

    Raises:
        RequestError: something can't be read.
    """
    sources = {
        item.reference.id: _read(
            cluster, PINNED_KINDS[item.reference.kind], item.reference.name, item.reference.namespace
        )
        for item in evidence.objects
    }
    _, namespace, service_name = evidence.unit.split("/")
    profile_name = next((item.reference.name for item in evidence.objects if item.role == "template"), "")
    service_uid = next((item.uid for item in evidence.objects if item.role == "service"), "")
    profile = _profile(cluster, profile_name, namespace)
    caches = tuple(item for item in _list(cluster, AIM_PROFILE_CACHE, namespace) if item.owned_by(service_uid))
    owners = {item.uid for item in evidence.objects if item.role in _OWNERS} | {item.uid for item in caches}
    moved = [live for item in evidence.objects if item.role in _MOVED and (live := sources[item.reference.id])]
    return Sighting(
        evidence=evidence,
        sources=sources,
        profile_name=profile_name,
        profile=profile,
        service_caches=caches,
        target_caches=tuple(item for item in caches if _is_target(item, profile_name)),
        inference_services=tuple(
            item
            for item in _list(cluster, INFERENCE_SERVICE, namespace)
            if _serves(item, service_uid=service_uid, name=service_name)
        ),
        owned_artifacts=tuple(
            item
            for item in _list(cluster, AIM_ARTIFACT, namespace)
            if owners & {owner.uid for owner in item.owner_references}
        ),
        namespace_terminating=get_str(cluster.get(NAMESPACE, namespace), "metadata", "deletionTimestamp") is not None,
        outside=tuple(_outside((*moved, *([profile] if profile else []), *caches))),
    )


def _profile(cluster: Cluster, name: str, namespace: str) -> Observed | None:
    if not name:
        return None
    return _read(cluster, AIM_PROFILE, name, namespace) or _read(cluster, AIM_CLUSTER_PROFILE, name, "")


def _is_target(cache: Observed, profile: str) -> bool:
    """Return whether a cache of the service is the target: by profile and mode, never by a recomputed name (R)."""
    return get_str(cache.obj, "spec", "profileName") == profile and get_str(cache.obj, "spec", "mode") == "Dedicated"


def _serves(item: Observed, *, service_uid: str, name: str) -> bool:
    """Return whether an InferenceService is the service's, or carries its name, as planning joins them."""
    labelled = item.labels.get(SERVICE_NAME) == name or item.labels.get(SERVICE) == label_value(name)
    return labelled or any(owner.uid == service_uid for owner in item.owner_references)


def _outside(objects: Iterable[Observed]) -> Iterator[str]:
    for item in objects:
        for field, tool in outside_markers(item):
            yield f"{item.id} is managed by {tool} ({field}), which may race the maintenance"
        for manager in outside_managers(item):
            yield f"{item.id} has fields of manager {manager}, which may race the maintenance"


def _list(cluster: Cluster, kind: Kind, namespace: str) -> Iterable[Observed]:
    return cluster.list_reduced(kind, namespace, lambda obj: reduce(kind, obj))


def _read(cluster: Cluster, kind: Kind, name: str, namespace: str) -> Observed | None:
    try:
        return reduce(kind, cluster.get(kind, name, namespace or None))
    except NotFound:
        return None
