"""The predictor that the template pipeline renders: one inline container (legacy pipeline facts, predictor)."""

import json
from dataclasses import dataclass

from aim_api import labels
from aim_api.tree import Json, JsonObject, get_int, get_map, get_objects, get_str, get_strings
from aim_rehearsal.operator.hardware import gpu_resources, merge_resources
from aim_rehearsal.operator.projection import CACHE_ROOT
from aim_rehearsal.operator.rendering import cache_volumes
from aim_rehearsal.operator.runtime_config import merged_config
from aim_rehearsal.operator.view import View

_ENGINE_ARGS = "AIM_ENGINE_ARGS"
_PORT = 8000


@dataclass(frozen=True, slots=True)
class Inputs:
    """What an InferenceService of the template pipeline is rendered from."""

    service: JsonObject
    model: JsonObject | None
    template: JsonObject
    cache: JsonObject | None


def predictor(inputs: Inputs, live: JsonObject | None, view: View) -> JsonObject:
    """Return the predictor's container, volumes and affinity.

    On an update the cache volumes are those of the live InferenceService; only a new one takes them from the cache.
    """
    service, template = inputs.service, inputs.template
    volumes, mounts = _kept_volumes(live) if live is not None else cache_volumes(inputs.cache or {})
    image = get_strings(template, "metadata", "annotations").get(labels.DEPLOYMENT_IMAGE_REF)
    container: JsonObject = {
        "name": "kserve-container",
        "image": image or get_str(inputs.model, "spec", "image") or "",
        "ports": [{"containerPort": _PORT, "name": "http", "protocol": "TCP"}],
        "env": _environment(service, template, view),
        "volumeMounts": [{"name": "dshm", "mountPath": "/dev/shm"}, *mounts],  # noqa: S108 - a path in a container
    }
    if resources := _resources(service, template):
        container["resources"] = resources
    result: JsonObject = {
        "containers": [container],
        "volumes": [{"name": "dshm", "emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}}, *volumes],
    }
    if affinity := get_map(template, "status", "resolvedNodeAffinity"):
        result["affinity"] = {"nodeAffinity": affinity}
    return result


def _kept_volumes(live: JsonObject) -> tuple[list[Json], list[Json]]:
    spec = get_map(live, "spec", "predictor")
    containers = get_objects(spec, "containers")
    if not containers:
        return [], []  # written by the profile pipeline: nothing is copied
    volumes: list[Json] = [item for item in get_objects(spec, "volumes") if item.get("name") != "dshm"]
    mounts: list[Json] = [item for item in get_objects(containers[0], "volumeMounts") if item.get("name") != "dshm"]
    return volumes, mounts


def _environment(service: JsonObject, template: JsonObject, view: View) -> list[Json]:
    spec = get_map(template, "spec")
    fixed: dict[str, str | None] = {
        "AIM_PROFILE_ID": get_str(spec, "profileId"),
        "AIM_METRIC": get_str(spec, "metric"),
        "AIM_PRECISION": get_str(spec, "precision"),
    }
    inline = get_objects(spec, "modelSources")
    sources: dict[str, str | None] = {}
    if inline:
        sources = {"AIM_MODEL_ID": get_str(inline[0], "modelId"), "AIM_ID": ""}
    levels: list[list[JsonObject]] = [
        [{"name": "AIM_CACHE_PATH", "value": CACHE_ROOT}, {"name": "VLLM_ENABLE_METRICS", "value": "true"}],
        get_objects(merged_config(service, view), "env"),
        [{"name": key, "value": value} for key, value in fixed.items() if value],
        get_objects(spec, "env"),
        [{"name": key, "value": value} for key, value in sources.items()],
        get_objects(service, "spec", "env"),
    ]
    merged: dict[str, JsonObject] = {}
    for level in levels:
        for item in level:
            key = get_str(item, "name") or ""
            merged[key] = _deeper(merged[key], item) if key == _ENGINE_ARGS and key in merged else item
    return [merged[key] for key in sorted(merged)]


def _deeper(low: JsonObject, high: JsonObject) -> JsonObject:
    """Return the engine arguments of two levels merged as JSON; what is no JSON object is replaced."""
    try:
        below: Json = json.loads(get_str(low, "value") or "")
        above: Json = json.loads(get_str(high, "value") or "")
    except ValueError:
        return high
    if not isinstance(below, dict) or not isinstance(above, dict):
        return high
    return {"name": _ENGINE_ARGS, "value": json.dumps(_merged(below, above), separators=(",", ":"), sort_keys=True)}


def _merged(below: JsonObject, above: JsonObject) -> JsonObject:
    result = dict(below)
    for key, value in above.items():
        old = result.get(key)
        result[key] = _merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def _resources(service: JsonObject, template: JsonObject) -> JsonObject:
    gpu = get_map(template, "status", "resolvedHardware", "gpu")
    device = get_str(gpu, "resourceName") or "amd.com/gpu"
    base = gpu_resources(get_int(gpu, "requests") or 0, device)
    with_template = merge_resources(base, get_map(template, "spec", "resources"))
    return merge_resources(with_template, get_map(service, "spec", "resources"))
