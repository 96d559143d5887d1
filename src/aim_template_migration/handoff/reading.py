"""Reads what a handoff check needs, and nothing else: the evidence's objects and the target side (shell)."""

from collections.abc import Iterable

from aim_api.kinds import (
    AIM_CLUSTER_PROFILE,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    Kind,
)
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
    namespace = evidence.unit.split("/")[1]
    profile_name = next((item.reference.name for item in evidence.objects if item.role == "template"), "")
    service_uid = next((item.uid for item in evidence.objects if item.role == "service"), "")
    return Sighting(
        evidence=evidence,
        sources=sources,
        profile_name=profile_name,
        profile=_profile(cluster, profile_name, namespace),
        target_caches=_target_caches(cluster, namespace, profile_name, service_uid),
        outside=tuple(_outside(evidence, sources)),
    )


def _profile(cluster: Cluster, name: str, namespace: str) -> Observed | None:
    if not name:
        return None
    return _read(cluster, AIM_PROFILE, name, namespace) or _read(cluster, AIM_CLUSTER_PROFILE, name, "")


def _target_caches(cluster: Cluster, namespace: str, profile: str, service_uid: str) -> tuple[Observed, ...]:
    """Return the target caches by owner, profile name and mode, never by a recomputed name (R, phase 4)."""
    caches = cluster.list_reduced(AIM_PROFILE_CACHE, namespace, lambda obj: reduce(AIM_PROFILE_CACHE, obj))
    return tuple(
        item
        for item in caches
        if item.owned_by(service_uid)
        and get_str(item.obj, "spec", "profileName") == profile
        and get_str(item.obj, "spec", "mode") == "Dedicated"
    )


def _outside(evidence: DedicatedEvidence, sources: dict[str, Observed | None]) -> Iterable[str]:
    for item in evidence.objects:
        live = sources[item.reference.id]
        if live is None or item.role not in _MOVED:
            continue
        for field, tool in outside_markers(live):
            yield f"{live.id} is managed by {tool} ({field}), which may race the maintenance"
        for manager in outside_managers(live):
            yield f"{live.id} has fields of manager {manager}, which may race the maintenance"


def _read(cluster: Cluster, kind: Kind, name: str, namespace: str) -> Observed | None:
    try:
        return reduce(kind, cluster.get(kind, name, namespace or None))
    except NotFound:
        return None
