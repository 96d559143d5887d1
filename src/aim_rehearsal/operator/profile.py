"""The controller of AIMProfile and AIMClusterProfile: readiness, provenance labels, projected runtimes, own cache.

Facts: profile pipeline (roles and readiness, provenance, runtime projection, profile-owned cache), v1alpha2 reference
(profile status).
"""

from aim_api import labels, names
from aim_api.kinds import (
    AIM_CLUSTER_PROFILE,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    Kind,
)
from aim_api.tree import Json, JsonObject, get_bool, get_int, get_list, get_map, get_str, get_strings
from aim_rehearsal.operator import hardware, projection
from aim_rehearsal.operator.conditions import Condition, roll_up
from aim_rehearsal.operator.ranking import profile_rank
from aim_rehearsal.operator.settings import Misbehaviour
from aim_rehearsal.operator.store import generation, name, namespace, owner_references
from aim_rehearsal.operator.view import View, paused
from aim_rehearsal.operator.writes import Patch, Render, SetStatus, Write, owner_reference

_SET_OWNERS = frozenset({"AIMModel", "AIMClusterModel", "AIMProfileSet", "AIMClusterProfileSet"})


def reconcile(profile: JsonObject, view: View) -> list[Write]:
    """Return what a profile needs; provenance labels are kept right even while the profile is paused."""
    kind = AIM_CLUSTER_PROFILE if projection.scope_of(profile) == "Cluster" else AIM_PROFILE
    if _settled_when_loaded(profile, view):
        return []
    writes: list[Write] = [Patch(kind, profile, {"metadata": {"labels": _provenance(profile)}}, _manager(kind))]
    if paused(profile):
        return writes
    if view.settings.does(Misbehaviour.PROFILE_STUCK) and not view.untouched(profile):
        return [*writes, _stuck(kind, profile, view)]
    nodes = hardware.matching_nodes(profile, view)
    runtimes, reported = _projection(profile, nodes, view)
    writes += runtimes
    writes.append(SetStatus(kind, profile, _status(profile, nodes, reported, view), _manager(kind)))
    return writes + _own_cache(kind, profile)


def _settled_when_loaded(profile: JsonObject, view: View) -> bool:
    """Return whether a loaded profile keeps the status that it came with."""
    caches = [
        cache
        for cache in view.store.all(AIM_PROFILE_CACHE, namespace(profile))
        if get_str(cache, "spec", "profileName") == name(profile)
    ]
    current = get_int(profile, "status", "observedGeneration") == generation(profile)
    return (current or view.settings.keeps_loaded) and view.untouched(profile, *caches)


def _manager(kind: Kind) -> str:
    return projection.CLUSTER_PROFILE_MANAGER if kind is AIM_CLUSTER_PROFILE else projection.PROFILE_MANAGER


def _provenance(profile: JsonObject) -> JsonObject:
    owner = next((item for item in owner_references(profile) if item.get("controller") is True), {})
    made_by_model = get_str(owner, "kind") in _SET_OWNERS
    present = get_strings(profile, "metadata", "labels")
    wanted: JsonObject = {labels.PROFILE_ROLE: "deployable" if projection.deployable(profile) else "base"}
    if labels.PROFILE_ORIGIN not in present:
        wanted[labels.PROFILE_ORIGIN] = "discovered" if made_by_model else "user-authored"
    if not made_by_model:
        wanted |= {key: None for key in (labels.SOURCE_MODEL, labels.SOURCE_MODEL_SCOPE) if key in present}
    return wanted


def _stuck(kind: Kind, profile: JsonObject, view: View) -> SetStatus:
    waiting = Condition("HardwareReady", true=False, reason="Progressing", message="The hardware is being looked at.")
    rolled = roll_up(get_list(profile, "status", "conditions"), [waiting], view.now)
    status: JsonObject = get_map(profile, "status") | {
        "observedGeneration": generation(profile),
        "status": rolled.word,
        "deployable": False,
        "conditions": rolled.conditions,
    }
    return SetStatus(kind, profile, status, _manager(kind))


def _projection(profile: JsonObject, nodes: int, view: View) -> tuple[list[Write], JsonObject]:
    """Return the runtimes to render and the status fields that report them."""
    before = get_map(profile, "status")
    reported: JsonObject = {
        key: before[key] for key in ("projectedRuntimeName", "projectedModelSlugRuntimeName") if key in before
    }
    mode = view.settings.projection_mode
    projectable = projection.deployable(profile) and bool(get_str(profile, "spec", "image")) and nodes > 0
    if not projectable:
        return [], reported
    writes: list[Write] = []
    if mode.per_profile or "projectedRuntimeName" in reported:
        runtime = names.runtime_name(name(profile))
        reported["projectedRuntimeName"] = runtime
        if namespace(profile):
            writes += projection.namespaced_pair(
                profile, namespace(profile), view, projection="eager", manager=projection.PROFILE_MANAGER
            )
        else:
            writes.append(projection.cluster_runtime(profile, runtime))
    reported.pop("projectedModelSlugRuntimeName", None)
    if mode.per_model and _elected(profile, view):
        render = projection.model_runtime(profile, namespace(profile))
        reported["projectedModelSlugRuntimeName"] = get_str(render.manifest, "metadata", "name")
        writes.append(render)
    return writes, reported


def _elected(profile: JsonObject, view: View) -> bool:
    """Return whether a profile stands for its model in its scope: primary first, then the ranking."""
    kind = AIM_PROFILE if namespace(profile) else AIM_CLUSTER_PROFILE
    aim_id = get_str(profile, "spec", "aimId")
    rivals = [
        rival
        for rival in view.store.all(kind, namespace(profile))
        if get_str(rival, "spec", "aimId") == aim_id and projection.deployable(rival)
    ]
    best = min(rivals, key=lambda rival: (not get_bool(rival, "spec", "primary"), profile_rank(rival)), default=profile)
    return name(best) == name(profile)


def _status(profile: JsonObject, nodes: int, reported: JsonObject, view: View) -> JsonObject:
    spec = get_map(profile, "spec")
    found = [_hardware_available(profile, nodes), _hardware_ready(nodes), _deployable(profile)]
    if projected := _projected(profile, nodes, reported):
        found.append(projected)
    rolled = roll_up(get_list(profile, "status", "conditions"), found, view.now)
    status: JsonObject = {
        "observedGeneration": generation(profile),
        "status": rolled.word,
        "deployable": projection.deployable(profile),
        "origin": get_strings(profile, "metadata", "labels").get(labels.PROFILE_ORIGIN)
        or get_str(_provenance(profile), labels.PROFILE_ORIGIN),
        "version": projection.image_tag(get_str(spec, "image") or ""),
        "matchingNodes": nodes,
        "hardwareSummary": hardware.summary(
            get_str(spec, "acceleratorModel") or "", get_int(spec, "acceleratorCount") or 0
        ),
        "conditions": rolled.conditions,
    }
    owner = next((item for item in owner_references(profile) if get_str(item, "kind") in _SET_OWNERS), None)
    if owner is not None and (get_str(owner, "kind") or "").endswith("Model"):
        source: JsonObject = {"name": get_str(owner, "name"), "kind": get_str(owner, "kind")}
        status["sourceModel"] = source | ({"namespace": namespace(profile)} if namespace(profile) else {})
    for field, value in (
        ("resources", hardware.profile_resources(profile)),
        ("resolvedNodeAffinity", hardware.node_affinity(profile)),
    ):
        if value:
            status[field] = value
    return status | reported


def _hardware_available(profile: JsonObject, nodes: int) -> Condition:
    if not hardware.needs_accelerator(profile):
        return Condition(
            "HardwareAvailable", true=True, reason="NoAcceleratorSpecified", message="No accelerator is needed."
        )
    if nodes:
        return Condition("HardwareAvailable", true=True, reason="HardwareAvailable", message=f"{nodes} node(s) match.")
    return Condition(
        "HardwareAvailable", true=False, reason="HardwareNotAvailable", message="No node has this hardware."
    )


def _hardware_ready(nodes: int) -> Condition:
    if nodes:
        return Condition("HardwareReady", true=True, reason="Ready", message="The hardware is there.")
    return Condition(
        "HardwareReady",
        true=False,
        reason="HardwareNotAvailable",
        message="No node has this hardware.",
        state="NotAvailable",
    )


def _deployable(profile: JsonObject) -> Condition:
    if projection.deployable(profile):
        return Condition("Deployable", true=True, reason="Deployable", message="Services can run this profile.")
    return Condition("Deployable", true=False, reason="BaseProfile", message="A base profile names no model.")


def _projected(profile: JsonObject, nodes: int, reported: JsonObject) -> Condition | None:
    if not projection.deployable(profile) or not reported:
        return None
    if nodes:
        return Condition("RuntimeProjected", true=True, reason="RuntimeProjected", message="The runtime is published.")
    return Condition(
        "RuntimeProjected",
        true=False,
        reason="RuntimeDegraded",
        message="The published runtime has no hardware to run on.",
    )


def _own_cache(kind: Kind, profile: JsonObject) -> list[Write]:
    caching = get_map(profile, "spec", "caching")
    if kind is AIM_CLUSTER_PROFILE or caching.get("enabled") is not True or not projection.deployable(profile):
        return []
    spec: JsonObject = {"profileName": name(profile), "profileScope": "Namespace", "mode": "Shared"}
    env: Json = get_list(caching, "env")
    manifest: JsonObject = {
        "apiVersion": AIM_PROFILE_CACHE.api_version,
        "kind": AIM_PROFILE_CACHE.name,
        "metadata": {
            "name": name(profile),
            "namespace": namespace(profile),
            "labels": {labels.MANAGED_BY: projection.PROFILE_MANAGER, f"{labels.PREFIX}profile.name": name(profile)},
            "ownerReferences": [owner_reference(profile, "aim.eai.amd.com/v1alpha2", AIM_PROFILE.name)],
        },
        "spec": spec | ({"env": env} if env else {}),
    }
    return [Render(AIM_PROFILE_CACHE, manifest, projection.PROFILE_MANAGER)]
