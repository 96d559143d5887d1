"""The serving runtimes that a profile publishes, with their ConfigMap.

Facts: profile pipeline (runtime projection: what is written, ownership and labels, ConfigMap and container content).
"""

import hashlib
import json
import re

import yaml

from aim_api import labels, names
from aim_api.kinds import AIM_PROFILE_CACHE, CLUSTER_SERVING_RUNTIME, CONFIG_MAP, SERVING_RUNTIME
from aim_api.tree import Json, JsonObject, get, get_int, get_list, get_map, get_objects, get_str, get_strings
from aim_rehearsal.operator.hardware import node_affinity, profile_resources
from aim_rehearsal.operator.store import generation, name
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Render, owner_reference

CONTENT_HASH = "aim.eai.amd.com/runtime-projection-content-hash"
PROFILE_MANAGER = "aim-profile-controller"
CLUSTER_PROFILE_MANAGER = "aim-cluster-profile-controller"
CACHE_ROOT = "/workspace/cache"
_PROFILES_ROOT = "/workspace/aim-runtime/profiles/custom"
_PORT = 8000


def deployable(profile: JsonObject) -> bool:
    """Return whether a profile names a model and its sources; the rest are base profiles."""
    return bool(get_str(profile, "spec", "aimId")) and bool(get_list(profile, "spec", "modelSources"))


def namespaced_pair(profile: JsonObject, namespace: str, view: View, *, projection: str, manager: str) -> list[Render]:
    """Return a profile's ConfigMap and ServingRuntime in a namespace; ``projection`` is ``eager`` or ``lazy``."""
    runtime = names.runtime_name(name(profile))
    stem, content = profile_file(profile)
    data: JsonObject = {f"{stem}.yaml": content}
    spec = runtime_spec(profile, mounted_artifacts(profile, namespace, view), config_map=runtime)
    owner = owner_reference(profile, "aim.eai.amd.com/v1alpha2", get_str(profile, "kind") or "AIMProfile")
    marks: JsonObject = _labels(profile) | {labels.RUNTIME_PROJECTION: projection}
    config_map: JsonObject = {
        "apiVersion": CONFIG_MAP.api_version,
        "kind": CONFIG_MAP.name,
        "metadata": {"name": runtime, "namespace": namespace, "labels": marks, "ownerReferences": [owner]},
        "data": data,
    }
    serving_runtime: JsonObject = {
        "apiVersion": SERVING_RUNTIME.api_version,
        "kind": SERVING_RUNTIME.name,
        "metadata": {
            "name": runtime,
            "namespace": namespace,
            "labels": marks,
            "annotations": _annotations(profile) | {CONTENT_HASH: _content_hash(spec, data)},
            "ownerReferences": [owner],
        },
        "spec": spec,
    }
    return [Render(CONFIG_MAP, config_map, manager), Render(SERVING_RUNTIME, serving_runtime, manager)]


def cluster_runtime(profile: JsonObject, runtime: str) -> Render:
    """Return a cluster profile's ClusterServingRuntime, which has no ConfigMap and no profile volume."""
    manifest = _bare(profile, CLUSTER_SERVING_RUNTIME.api_version, CLUSTER_SERVING_RUNTIME.name, runtime, "")
    return Render(CLUSTER_SERVING_RUNTIME, manifest, CLUSTER_PROFILE_MANAGER)


def model_runtime(profile: JsonObject, namespace: str) -> Render:
    """Return the per-model runtime of an elected profile, in the profile's scope."""
    runtime = names.slug_runtime_name(get_str(profile, "spec", "aimId") or "")
    if not namespace:
        return cluster_runtime(profile, runtime)
    manifest = _bare(profile, SERVING_RUNTIME.api_version, SERVING_RUNTIME.name, runtime, namespace)
    return Render(SERVING_RUNTIME, manifest, PROFILE_MANAGER)


def profile_file(profile: JsonObject) -> tuple[str, str]:
    """Return the file stem and the YAML text of the profile file that the container reads."""
    spec = get_map(profile, "spec")
    engine = get_str(spec, "engine") or "vllm"
    parts = [
        engine,
        (get_str(spec, "acceleratorModel") or "none").lower(),
        get_str(spec, "precision") or "none",
        f"tp{get_int(spec, 'acceleratorCount') or 0}",
        get_str(spec, "metric") or "none",
        get_str(spec, "variant") or "",
    ]
    stem = get_str(spec, "profileId") or "-".join(filter(None, parts))
    metadata: dict[str, Json] = {
        "engine": engine,
        "metric": get_str(spec, "metric"),
        "precision": get_str(spec, "precision"),
        "type": get_str(spec, "type"),
        "accelerator_model": get_str(spec, "acceleratorModel"),
        "accelerator_type": get_str(spec, "acceleratorType"),
        "accelerator_count": get_int(spec, "acceleratorCount"),
        "variant": get_str(spec, "variant"),
        "features": get_list(spec, "features") or None,
    }
    content = {
        "aim_id": get_str(spec, "aimId"),
        "model_id": get_str(spec, "modelId"),
        "metadata": {key: value for key, value in metadata.items() if value is not None},
        "engine_args": get(spec, "engineArgs") or {},
        "env_vars": get_strings(spec, "engineEnv"),
    }
    return stem, yaml.safe_dump(content, sort_keys=True)


def runtime_spec(profile: JsonObject, artifacts: list[JsonObject], *, config_map: str) -> JsonObject:
    """Return a serving runtime's spec; ``config_map`` is empty for bare runtimes, ``artifacts`` are those to mount."""
    volumes: list[Json] = [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}]
    mounts: list[Json] = [{"name": "dshm", "mountPath": "/dev/shm"}]  # noqa: S108 - a mount path in a container
    aim_id = get_str(profile, "spec", "aimId") or ""
    if config_map:
        volumes.append({"name": "aim-profile", "configMap": {"name": config_map}})
        mounts.append({"name": "aim-profile", "mountPath": f"{_PROFILES_ROOT}/{aim_id}", "readOnly": True})
    for artifact in artifacts:
        volume = get_str(artifact, "name") or ""
        claim = get_str(artifact, "persistentVolumeClaim") or ""
        path = get_str(artifact, "mountPoint") or f"{CACHE_ROOT}/{get_str(artifact, 'model') or ''}"
        volumes.append({"name": volume, "persistentVolumeClaim": {"claimName": claim}})
        mounts.append({"name": volume, "mountPath": path})
    image = get_str(profile, "spec", "image") or ""
    container: JsonObject = {
        "name": "kserve-container",
        "image": image,
        "imagePullPolicy": pull_policy(image),
        "ports": [{"name": "http", "containerPort": _PORT, "protocol": "TCP"}],
        "env": _environment(profile),
        "volumeMounts": mounts,
    }
    if resources := profile_resources(profile):
        container["resources"] = resources
    spec: JsonObject = {
        "supportedModelFormats": [{"name": "huggingface", "autoSelect": False}],
        "protocolVersions": ["v2"],
        "containers": [container],
        "volumes": volumes,
    }
    if affinity := node_affinity(profile):
        spec["affinity"] = {"nodeAffinity": affinity}
    if secrets := get_list(profile, "spec", "imagePullSecrets"):
        spec["imagePullSecrets"] = secrets
    return spec


def mounted_artifacts(profile: JsonObject, namespace: str, view: View) -> list[JsonObject]:
    """Return the artifacts that a profile's runtime mounts: those of its Ready Shared cache with the lowest name."""
    for cache in view.store.all(AIM_PROFILE_CACHE, namespace):
        if cache_matches(cache, profile) and get_str(cache, "status", "status") == "Ready":
            artifacts = get_map(cache, "status", "artifacts")
            return [item for _, item in sorted(artifacts.items()) if isinstance(item, dict)]
    return []


def cache_matches(cache: JsonObject, profile: JsonObject) -> bool:
    """Return whether a cache is a Shared one for this profile whose status is about its present spec."""
    spec = get_map(cache, "spec")
    return (
        get_str(spec, "profileName") == name(profile)
        and get_str(spec, "profileScope") == scope_of(profile)
        and (get_str(spec, "mode") or "Shared") == "Shared"
        and get_int(cache, "status", "observedGeneration") == generation(cache)
    )


def scope_of(profile: JsonObject) -> str:
    """Return ``Cluster`` for an AIMClusterProfile, ``Namespace`` for an AIMProfile."""
    return "Cluster" if get_str(profile, "kind") == "AIMClusterProfile" else "Namespace"


def pull_policy(image: str) -> str:
    """Return the pull policy that follows from an image's tag."""
    tag = image_tag(image)
    return "Always" if tag in {"", "latest"} and "@" not in image else "IfNotPresent"


def image_tag(image: str) -> str:
    """Return the tag of an image reference; empty for none and for digests."""
    if "@" in image:
        return ""
    found = re.search(r":([^/:]+)$", image)
    return found.group(1) if found else ""


def content_hash(renders: list[Render]) -> str:
    """Return the content hash that a namespaced pair carries."""
    for render in renders:
        found = get_strings(render.manifest, "metadata", "annotations").get(CONTENT_HASH)
        if found:
            return found
    return ""


def _bare(profile: JsonObject, api_version: str, kind: str, runtime: str, namespace: str) -> JsonObject:
    owner = owner_reference(profile, "aim.eai.amd.com/v1alpha2", get_str(profile, "kind") or "")
    metadata: JsonObject = {
        "name": runtime,
        "labels": _labels(profile),
        "annotations": _annotations(profile),
        "ownerReferences": [owner],
    }
    if namespace:
        metadata["namespace"] = namespace
    spec = runtime_spec(profile, [], config_map="")
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _environment(profile: JsonObject) -> list[Json]:
    spec = get_map(profile, "spec")
    aim_id = get_str(spec, "aimId") or ""
    framework: dict[str, str] = {
        "AIM_PROFILE_ID": f"custom/{aim_id}/{profile_file(profile)[0]}",
        "AIM_ENGINE": get_str(spec, "engine") or "vllm",
    }
    sources = get_objects(spec, "modelSources")
    if sources:
        framework |= {"AIM_ID": "", "AIM_CACHE_PATH": CACHE_ROOT, "AIM_MODEL_ID": get_str(sources[0], "modelId") or ""}
    else:
        framework["AIM_ID"] = aim_id
    own: list[Json] = [item for item in get_objects(spec, "containerEnv") if item.get("name") not in framework]
    return own + [{"name": key, "value": value} for key, value in framework.items()]


def _labels(profile: JsonObject) -> JsonObject:
    spec = get_map(profile, "spec")
    marks: JsonObject = {
        labels.COMPONENT: "inference",
        labels.MANAGED_BY: labels.MANAGED_BY_AIM_ENGINE,
        labels.PROFILE: names.label_value(name(profile)),
        labels.RUNTIME_PROJECTION_STATE: "projected",
    }
    if aim_id := get_str(spec, "aimId"):
        marks[labels.MODEL] = names.derive_name([aim_id])
    if precision := get_str(spec, "precision"):
        marks[labels.PRECISION] = precision
    return marks


def _annotations(profile: JsonObject) -> JsonObject:
    spec = get_map(profile, "spec")
    found: dict[str, str | None] = {
        "profile": name(profile),
        "aim-id": get_str(spec, "aimId"),
        "model-id": get_str(spec, "modelId"),
        "precision": get_str(spec, "precision"),
        "metric": get_str(spec, "metric"),
    }
    return {f"{labels.PREFIX}projected.{key}": value for key, value in found.items() if value}


def _content_hash(spec: JsonObject, data: JsonObject) -> str:
    content: JsonObject = {"spec": spec, "data": data, "binaryData": {}, "immutable": False}
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
