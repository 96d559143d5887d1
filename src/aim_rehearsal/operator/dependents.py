"""Which objects must be looked at again when one object changed (the operator's watches)."""

from collections.abc import Iterator

from aim_api import labels
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    INFERENCE_SERVICE,
)
from aim_api.tree import JsonObject, get_map, get_objects, get_str, get_strings
from aim_rehearsal.operator.store import KINDS, SERVICE, Key, Store, name, namespace, owner_references

# Changes of these concern every object of some kinds in the namespace, or in the cluster: there are few of them.
_BROAD = frozenset(
    {
        "AIMRuntimeConfig",
        "AIMClusterRuntimeConfig",
        "AIMModel",
        "AIMClusterModel",
        "AIMServiceTemplate",
        "AIMClusterServiceTemplate",
        "AIMClusterProfile",
        "Node",
    }
)
_TEMPLATES = frozenset({"AIMServiceTemplate", "AIMClusterServiceTemplate"})


def affected(obj: JsonObject, store: Store) -> set[Key]:
    """Return the keys to reconcile after a change of ``obj``: itself, its owners, and what depends on it."""
    keys = {Key.of(obj)}
    keys.update(_owners(obj))
    kind = get_str(obj, "kind") or ""
    if kind in _BROAD:
        keys.update(_broad(obj, kind, store))
    elif kind == AIM_PROFILE.name:
        keys.update(_users_of_profile(obj, store))
    elif kind in {AIM_PROFILE_CACHE.name, AIM_TEMPLATE_CACHE.name}:
        keys.update(_users_of_cache(obj, store))
    elif kind == AIM_ARTIFACT.name:
        keys.update(_waiting_for_artifact(obj, store))
    elif kind in {"ServingRuntime", "ClusterServingRuntime"}:
        keys.update(_users_of_runtime(obj, store))
    elif kind == "Pod":
        keys.update(_service_of_pod(obj, store))
    return keys


def _owners(obj: JsonObject) -> Iterator[Key]:
    for owner in owner_references(obj):
        kind = KINDS.get(get_str(owner, "kind") or "")
        if kind is not None:
            yield Key(kind.name, namespace(obj) if kind.namespaced else "", get_str(owner, "name") or "")


def _broad(obj: JsonObject, kind: str, store: Store) -> Iterator[Key]:
    scope = namespace(obj) or None
    concerned = [SERVICE, AIM_TEMPLATE_CACHE, AIM_PROFILE_CACHE]
    if "Profile" not in kind:
        concerned.append(AIM_SERVICE_TEMPLATE)
    if kind in _TEMPLATES or kind == "Node":
        concerned.append(AIM_PROFILE)
    for other in concerned:
        for item in store.all(other, scope):
            yield Key.of(item)


def _users_of_profile(profile: JsonObject, store: Store) -> Iterator[Key]:
    for service in store.all(SERVICE, namespace(profile)):
        wanted = get_str(service, "spec", "profile", "name")
        if get_map(service, "spec", "profile") and (
            not wanted
            or name(profile) in {wanted, get_str(service, "status", "resolvedProfile", "name")}
            or any(get_str(owner, "name") == name(service) for owner in owner_references(profile))
        ):
            yield Key.of(service)
    for cache in store.all(AIM_PROFILE_CACHE, namespace(profile)):
        if get_str(cache, "spec", "profileName") == name(profile):
            yield Key.of(cache)
    for rival in store.all(AIM_PROFILE, namespace(profile)):
        if get_str(rival, "spec", "aimId") == get_str(profile, "spec", "aimId"):
            yield Key.of(rival)


def _users_of_cache(cache: JsonObject, store: Store) -> Iterator[Key]:
    spec = get_map(cache, "spec")
    upstream = get_str(spec, "profileName") or get_str(spec, "templateName")
    for service in store.all(SERVICE, namespace(cache)):
        status = get_map(service, "status")
        if upstream in {
            get_str(service, "spec", "profile", "name"),
            get_str(service, "spec", "template", "name"),
            get_str(status, "resolvedProfile", "name"),
            get_str(status, "resolvedTemplate", "name"),
        }:
            yield Key.of(service)
    if get_str(spec, "profileName"):
        yield Key(AIM_PROFILE.name, namespace(cache), get_str(spec, "profileName") or "")


def _waiting_for_artifact(artifact: JsonObject, store: Store) -> Iterator[Key]:
    uri = get_str(artifact, "spec", "sourceUri")
    for other in store.all(AIM_ARTIFACT, namespace(artifact)):
        if get_str(other, "status", "status") != "Ready":
            yield Key.of(other)  # it may wait for the room that another takes
    for cache in store.all(AIM_TEMPLATE_CACHE, namespace(artifact)):
        yield Key.of(cache)
    for cache in store.all(AIM_PROFILE_CACHE, namespace(artifact)):
        profile = store.find(AIM_PROFILE, namespace(cache), get_str(cache, "spec", "profileName") or "")
        sources = get_objects(profile, "spec", "modelSources")
        if profile is None or any(get_str(source, "sourceUri") == uri for source in sources):
            yield Key.of(cache)


def _users_of_runtime(runtime: JsonObject, store: Store) -> Iterator[Key]:
    scope = namespace(runtime) or None
    for inference in store.all(INFERENCE_SERVICE, scope):
        if get_str(inference, "spec", "predictor", "model", "runtime") == name(runtime):
            yield Key.of(inference)
            yield from _owners(inference)
    profile = get_strings(runtime, "metadata", "annotations").get(f"{labels.PREFIX}projected.profile")
    for service in store.all(SERVICE, scope):
        if profile and get_str(service, "spec", "profile", "name") == profile:
            yield Key.of(service)


def _service_of_pod(pod: JsonObject, store: Store) -> Iterator[Key]:
    wanted = get_strings(pod, "metadata", "labels").get(labels.KSERVE_INFERENCE_SERVICE, "")
    inference = store.find(INFERENCE_SERVICE, namespace(pod), wanted)
    if inference is not None:
        yield from _owners(inference)
    for owner in owner_references(pod):
        replica_set = store.at(Key("ReplicaSet", namespace(pod), get_str(owner, "name") or ""))
        if replica_set is not None:
            yield from _owners(replica_set)
