"""Who manages an object besides the operator (pure): markers, field managers and owners."""

import re
from collections.abc import Iterator
from functools import lru_cache

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_PROFILE_SET,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_GROUP,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_PROFILE_SET,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    PVC,
)
from aim_api.labels import FIELD_MANAGER, MANAGED_BY
from aim_template_migration.derived import kept
from aim_template_migration.documents.plan import OwnerReference
from aim_template_migration.planning.closure import Closure
from aim_template_migration.planning.snapshot import Observed

_MARKERS: tuple[tuple[str, str], ...] = (
    ("argocd.argoproj.io/", "Argo CD"),
    ("kustomize.toolkit.fluxcd.io/", "Flux"),
    ("helm.toolkit.fluxcd.io/", "Flux"),
    ("fluxcd.io/", "Flux"),
    ("meta.helm.sh/", "Helm"),
    ("helm.sh/", "Helm"),
    ("pulumi.com/", "Pulumi"),
    ("app.terraform.io/", "Terraform"),
)
_MANAGED_BY_TOOLS = re.compile(
    r"(?i)(helm|argo-?cd|flux|terraform|pulumi|crossplane|config-?sync|fleet|kapp|kustomize-controller)"
)
_OPERATOR = re.compile(r"aim-[a-z0-9-]+-controller")
_CURRENT_OPERATOR = re.compile(
    r"aim-(?:service|service-template|cluster-service-template|template-cache|artifact|model|cluster-model|cluster-model-source"
    r"|profile|cluster-profile|profile-cache|profile-set|cluster-profile-set|runtime-projection)-controller"
)
_KUBECTL = re.compile(r"kubectl(?:-[a-z-]+)?")
_KSERVE = "manager"
_KSERVE_WRITES = frozenset({INFERENCE_SERVICE.name, DEPLOYMENT.name})
# The scheduler marks a claim that waits for its first consumer with the node that was selected for it.
_CLUSTER_COMPONENTS = {PVC.name: frozenset({"kube-controller-manager", "kube-scheduler"})}
_CONTROLLER_MANAGER = frozenset({"kube-controller-manager"})

# Kinds that may own an object of a kind without being foreign; where they are in the closure, the UID must be theirs.
_OWNERS: dict[str, frozenset[str]] = {
    INFERENCE_SERVICE.name: frozenset({AIM_SERVICE.name}),
    DEPLOYMENT.name: frozenset({INFERENCE_SERVICE.name}),
    PVC.name: frozenset({AIM_ARTIFACT.name}),
    AIM_SERVICE_TEMPLATE.name: frozenset({AIM_MODEL.name, AIM_CLUSTER_MODEL.name}),
    AIM_TEMPLATE_CACHE.name: frozenset({AIM_SERVICE_TEMPLATE.name, AIM_SERVICE.name}),
    AIM_PROFILE.name: frozenset({AIM_MODEL.name, AIM_CLUSTER_MODEL.name, AIM_PROFILE_SET.name, AIM_SERVICE.name}),
    AIM_PROFILE_CACHE.name: frozenset({AIM_PROFILE.name, AIM_SERVICE.name}),
    AIM_CLUSTER_MODEL.name: frozenset({"AIMClusterModelSource"}),
    AIM_CLUSTER_SERVICE_TEMPLATE.name: frozenset({AIM_CLUSTER_MODEL.name}),
    AIM_CLUSTER_PROFILE.name: frozenset({AIM_CLUSTER_MODEL.name, AIM_CLUSTER_PROFILE_SET.name}),
}


def outside_management(observed: Observed, closure: Closure) -> Iterator[tuple[str, str]]:
    """Yield the field and a sentence of everything by which an object shows that it is managed from outside."""
    yield from _outside_marks(observed)
    owner = foreign_owner(observed, closure)
    if owner:
        yield "metadata.ownerReferences", f"it is owned by {owner}, which is no part of the closure"


@kept
def _outside_marks(observed: Observed) -> tuple[tuple[str, str], ...]:
    """Return what shows it on the object alone."""
    marks = [(where, f"it is marked as managed by {who}") for where, who in outside_markers(observed)]
    managers = outside_managers(observed)
    marks += [("metadata.managedFields", f"field manager {manager} wrote fields of it") for manager in managers]
    return tuple(marks)


def outside_markers(observed: Observed) -> Iterator[tuple[str, str]]:
    """Yield the field and the tool of every label or annotation by which a tool marks what it manages."""
    for kind, values in (("labels", observed.labels), ("annotations", observed.annotations)):
        for key in _markers(tuple(values)) if values else ():
            yield f"metadata.{kind}[{key}]", _marking_tool(key)
    manager = observed.labels.get(MANAGED_BY)
    if manager and _is_outside_tool(manager):
        yield f"metadata.labels[{MANAGED_BY}]", manager


@lru_cache(maxsize=4096)
def _markers(keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return those keys that are markers, sorted; fleets have thousands of objects and few sets of keys."""
    return tuple(sorted(key for key in keys if _marking_tool(key)))


@lru_cache(maxsize=4096)
def _marking_tool(key: str) -> str:
    """Return the tool whose marker a key is, or an empty string."""
    return next((tool for prefix, tool in _MARKERS if key.startswith(prefix) or f".{prefix}" in key), "")


@lru_cache(maxsize=4096)
def _is_outside_tool(manager: str) -> bool:
    return _MANAGED_BY_TOOLS.search(manager) is not None


def outside_managers(observed: Observed) -> tuple[str, ...]:
    """Return the field managers that are not the operator, KServe, Kubernetes, kubectl or this tool."""
    return _outsiders(observed.kind.name, observed.managers)


def older_managers(observed: Observed) -> tuple[str, ...]:
    """Return the field managers that are an operator's, but of no name that current operators use."""
    return tuple(
        item for item in observed.managers if _OPERATOR.fullmatch(item) and not _CURRENT_OPERATOR.fullmatch(item)
    )


def foreign_owner(observed: Observed, closure: Closure) -> str:
    """Return the first owner that is no part of the closure (``Kind name``), or an empty string."""
    allowed = _OWNERS.get(observed.kind.name, frozenset())
    if observed.kind.name == AIM_ARTIFACT.name:
        # Any owner keeps an artifact from being adopted, which is a reason of its own; here, only outsiders count.
        return next((f"{owner.kind} {owner.name}" for owner in observed.owner_references if not _of_aim(owner)), "")
    for owner in observed.owner_references:
        if owner.kind not in allowed or not _belongs(observed, owner, closure.by_uid):
            return f"{owner.kind} {owner.name}"
    return ""


def _of_aim(owner: OwnerReference) -> bool:
    return owner.api_version.startswith(f"{AIM_GROUP}/")


def _belongs(observed: Observed, owner: OwnerReference, uids: dict[str, Observed]) -> bool:
    """Return whether an owner of a fitting kind is the closure's own; artifacts and caches may be another's."""
    if observed.kind.name in (PVC.name, INFERENCE_SERVICE.name, DEPLOYMENT.name, AIM_SERVICE_TEMPLATE.name):
        known = uids.get(owner.uid)
        return known is not None and known.kind.name == owner.kind
    return True


@lru_cache(maxsize=4096)
def _outsiders(kind: str, managers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(manager or "(unnamed)" for manager in managers if not _known(kind, manager))


def _known(kind: str, manager: str) -> bool:
    if manager == FIELD_MANAGER or _OPERATOR.fullmatch(manager) or _KUBECTL.fullmatch(manager):
        return True
    if manager in _CLUSTER_COMPONENTS.get(kind, _CONTROLLER_MANAGER):
        return True
    return manager == _KSERVE and kind in _KSERVE_WRITES
