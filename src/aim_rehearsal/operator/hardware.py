"""Which hardware a profile or template needs, what it is called, and whether the cluster has it.

Facts: profile pipeline (roles and readiness of a profile), v1alpha2 reference (hardware mapping), legacy pipeline
(template status). A rehearsal has no GPU: hardware also counts as present where a template that needs it is Ready.
"""

from aim_api.kinds import AIM_CLUSTER_SERVICE_TEMPLATE, AIM_SERVICE_TEMPLATE
from aim_api.tree import Json, JsonObject, get_int, get_map, get_str, get_strings
from aim_rehearsal.operator.store import NODE
from aim_rehearsal.operator.view import View

_FEATURE = "feature.node.kubernetes.io/aim-accelerator"
_CPU_PER_GPU = 4
_MEMORY_REQUEST_GI_PER_GPU = 32
_MEMORY_LIMIT_GI_PER_GPU = 48


def needs_accelerator(profile: JsonObject) -> bool:
    """Return whether a profile needs any accelerator at all."""
    spec = get_map(profile, "spec")
    return bool(
        get_str(spec, "acceleratorVendor") or get_str(spec, "acceleratorModel") or get_int(spec, "acceleratorCount")
    )


def matching_nodes(profile: JsonObject, view: View) -> int:
    """Return on how many nodes a profile could run; a Ready template with the same accelerator counts as one node."""
    model = get_str(profile, "spec", "acceleratorModel") or ""
    return _labelled_nodes(model, view) or int(not model or accelerator_present(model, view))


def accelerator_present(model: str, view: View) -> bool:
    """Return whether the cluster has an accelerator model, by node label, by setting or by a Ready template."""
    if model in view.settings.hardware or _labelled_nodes(model, view):
        return True
    return _proven_by_template(model, view)


def summary(model: str, count: int) -> str:
    """Return hardware as status shows it: ``2 x MI300X``, ``MI300X`` for a count of zero, ``CPU`` without a model."""
    if not model:
        return f"{count} x GPU" if count else "CPU"
    return f"{count} x {model}" if count else model


def node_affinity(profile: JsonObject) -> JsonObject:
    """Return the node affinity that a profile's hardware asks for; empty where it needs none."""
    spec = get_map(profile, "spec")
    if not needs_accelerator(profile):
        return {}
    unit = (get_str(spec, "acceleratorType") or "gpu").upper()
    keys = []
    if model := get_str(spec, "acceleratorModel"):
        keys.append(f"{_FEATURE}.{model}")
    if vendor := get_str(spec, "acceleratorVendor"):
        keys.append(f"{_FEATURE}.vendor.{unit}.{vendor.upper()}")
    expressions: list[Json] = [{"key": key, "operator": "Exists"} for key in keys]
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    }


def profile_resources(profile: JsonObject) -> JsonObject:
    """Return a profile's resources: the defaults for its accelerators with ``spec.resources`` over them, key by key."""
    spec = get_map(profile, "spec")
    count = get_int(spec, "acceleratorCount") or 0
    device = "nvidia.com/gpu" if get_str(spec, "acceleratorVendor") == "nvidia" else "amd.com/gpu"
    is_cpu = get_str(spec, "acceleratorType") == "cpu"
    base: JsonObject = gpu_resources(0 if is_cpu else count, device)
    if is_cpu and count:
        base = {"requests": {"cpu": str(count)}}
    return merge_resources(base, get_map(spec, "resources"))


def gpu_resources(count: int, device: str) -> JsonObject:
    """Return the default resources for ``count`` GPUs; none for zero."""
    if count <= 0:
        return {}
    return {
        "requests": {
            "cpu": str(_CPU_PER_GPU * count),
            "memory": f"{_MEMORY_REQUEST_GI_PER_GPU * count}Gi",
            device: str(count),
        },
        "limits": {"memory": f"{_MEMORY_LIMIT_GI_PER_GPU * count}Gi", device: str(count)},
    }


def merge_resources(base: JsonObject, over: JsonObject) -> JsonObject:
    """Return ``base`` with the requests and limits of ``over`` in place, key by key."""
    merged: JsonObject = dict(base)
    for side in ("requests", "limits"):
        both = get_map(base, side) | get_map(over, side)
        if both:
            merged[side] = both
    return merged


def _labelled_nodes(model: str, view: View) -> int:
    return sum(f"{_FEATURE}.{model}" in get_strings(node, "metadata", "labels") for node in view.store.all(NODE))


def _proven_by_template(model: str, view: View) -> bool:
    templates = view.store.all(AIM_SERVICE_TEMPLATE) + view.store.all(AIM_CLUSTER_SERVICE_TEMPLATE)
    return any(
        get_str(template, "status", "status") == "Ready"
        and model
        in (
            get_str(template, "status", "resolvedHardware", "gpu", "model"),
            get_str(template, "spec", "hardware", "gpu", "model"),
        )
        for template in templates
    )
