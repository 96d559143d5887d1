"""The controllers of both template kinds and of both model kinds, as far as a service waits for them.

Facts: legacy pipeline (template status, model status). Image inspection and discovery Jobs need a registry and are left
out: a template is Ready once its sources are known, a model as soon as it exists.
"""

from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    LEGACY_VERSION,
)
from aim_api.tree import Json, JsonObject, get_int, get_list, get_map, get_str
from aim_rehearsal.operator import framework, hardware, projection
from aim_rehearsal.operator.conditions import Condition, roll_up
from aim_rehearsal.operator.store import controller_uid, name, namespace, terminating, uid
from aim_rehearsal.operator.view import View, paused
from aim_rehearsal.operator.writes import Render, SetStatus, Write, owner_reference

_MI300X_DEVICES = ("74a1", "74a9", "74b5", "74bd")


def reconcile_template(template: JsonObject, view: View) -> list[Write]:
    """Return what a template needs; a loaded one keeps its status until its spec or its model's changes."""
    kind = AIM_SERVICE_TEMPLATE if namespace(template) else AIM_CLUSTER_SERVICE_TEMPLATE
    controller = "service-template" if namespace(template) else "cluster-service-template"
    model = _model(template, view)
    if terminating(template) or paused(template) or view.settled(template, model):
        return []
    status = _template_status(template, model, view)
    writes: list[Write] = [SetStatus(kind, template, status, framework.manager_of(controller))]
    return writes + _own_cache(template, status, view)


def reconcile_model(model: JsonObject, view: View) -> list[Write]:
    """Return what a model needs: its status, once."""
    kind = AIM_MODEL if namespace(model) else AIM_CLUSTER_MODEL
    if terminating(model) or paused(model) or get_str(model, "status", "status") or view.settled(model):
        return []
    found = Condition(
        "ServiceTemplatesReady", true=True, reason="NoTemplatesExpected", message="No discovery in a rehearsal."
    )
    rolled = roll_up([], [found], view.now)
    source = "Custom" if get_list(model, "spec", "modelSources") else "Image"
    status: JsonObject = {"status": rolled.word, "sourceType": source, "conditions": rolled.conditions}
    if version := projection.image_tag(get_str(model, "spec", "image") or ""):
        status["version"] = version
    manager = framework.manager_of("model" if namespace(model) else "cluster-model")
    return [SetStatus(kind, model, status, manager)]


def _model(template: JsonObject, view: View) -> JsonObject | None:
    wanted = get_str(template, "spec", "modelName") or ""
    if namespace(template):
        return view.store.find(AIM_MODEL, namespace(template), wanted) or view.store.find(AIM_CLUSTER_MODEL, "", wanted)
    return view.store.find(AIM_CLUSTER_MODEL, "", wanted)


def _template_status(template: JsonObject, model: JsonObject | None, view: View) -> JsonObject:
    spec = get_map(template, "spec")
    gpu = get_map(spec, "hardware", "gpu")
    before = get_map(template, "status")
    sources = get_list(spec, "modelSources") or get_list(before, "modelSources")
    found = [_model_condition(template, model), _hardware_condition(get_str(gpu, "model") or "", view)]
    inline = bool(get_list(spec, "modelSources"))
    reason = "InlineModelSources" if inline else "AwaitingDiscovery"
    found.append(Condition("Discovered", true=inline, reason=reason, message="No discovery Job runs in a rehearsal."))
    if not sources:
        found.append(
            Condition("DiscoveryJobReady", true=False, reason="AwaitingDiscovery", message="Sources are not known.")
        )
    rolled = roll_up(get_list(before, "conditions"), found, view.now)
    status: JsonObject = before | {"status": rolled.word, "conditions": rolled.conditions}
    if sources:
        status["modelSources"] = sources
    if gpu:
        model_name, count = get_str(gpu, "model") or "", get_int(gpu, "requests") or 0
        status["resolvedHardware"] = {"gpu": gpu}
        status["hardwareSummary"] = hardware.summary(model_name, count)
        if model_name == "MI300X":
            status["resolvedNodeAffinity"] = _device_affinity()
    if model is not None:
        reference: JsonObject = {"name": name(model)}
        status["resolvedModel"] = reference | ({"namespace": namespace(model)} if namespace(model) else {})
    if inline:
        status["profile"] = _discovered(spec)
    return status


def _discovered(spec: JsonObject) -> JsonObject:
    """Return the profile data of a template with inline sources: what its spec says."""
    gpu = get_map(spec, "hardware", "gpu")
    metadata: JsonObject = {
        "aimId": get_str(spec, "aimId"),
        "modelId": get_str(spec, "modelId"),
        "gpu": get_str(gpu, "model"),
        "gpuCount": get_int(gpu, "requests"),
        "metric": get_str(spec, "metric"),
        "precision": get_str(spec, "precision"),
        "type": get_str(spec, "type") or "unoptimized",
    }
    return {"metadata": {key: value for key, value in metadata.items() if value is not None}}


def _device_affinity() -> JsonObject:
    expressions: list[Json] = [{"key": "amd.com/gpu.device-id", "operator": "In", "values": [*_MI300X_DEVICES]}]
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}
    }


def _model_condition(template: JsonObject, model: JsonObject | None) -> Condition:
    kind = "ModelReady" if namespace(template) else "ClusterModelReady"
    if model is None:
        return Condition(kind, true=False, reason="ModelNotFound", message="There is no such model.", state="Failed")
    return Condition(kind, true=True, reason="ModelFound", message=f"Model {name(model)} exists.")


def _hardware_condition(model: str, view: View) -> Condition:
    if not model or hardware.accelerator_present(model, view):
        return Condition("GPUReady", true=True, reason="GPUAvailable", message="The hardware is there.")
    return Condition(
        "GPUReady", true=False, reason="GPUNotAvailable", message=f"No node has {model}.", state="NotAvailable"
    )


def _own_cache(template: JsonObject, status: JsonObject, view: View) -> list[Write]:
    """Return the cache that a template with ``caching.enabled`` makes, unless it owns one already."""
    caching = get_map(template, "spec", "caching")
    known = bool(get_list(template, "spec", "modelSources")) or get_str(status, "status") == "Ready"
    if (
        caching.get("enabled") is not True
        or not namespace(template)
        or not known
        or not get_list(status, "modelSources")
    ):
        return []
    caches = view.store.all(AIM_TEMPLATE_CACHE, namespace(template))
    if any(controller_uid(cache) == uid(template) for cache in caches):
        return []
    manifest = framework.child(
        AIM_TEMPLATE_CACHE,
        template,
        name(template),
        framework.child_labels(template, "service-template", {}),
        {"templateName": name(template), "templateScope": "Namespace", "env": get_list(caching, "env")},
    )
    owner = owner_reference(template, f"aim.eai.amd.com/{LEGACY_VERSION}", AIM_SERVICE_TEMPLATE.name)
    manager = framework.manager_of("service-template")
    return [Render(AIM_TEMPLATE_CACHE, framework.owned_by(manifest, owner), manager)]
