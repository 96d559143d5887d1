"""The template pipeline of AIMService.

Facts: legacy pipeline (what is created per service, predictor, template cache creation, status fields).
"""

from aim_api import labels, names
from aim_api.kinds import AIM_MODEL, AIM_TEMPLATE_CACHE, INFERENCE_SERVICE
from aim_api.tree import JsonObject, get_map, get_objects, get_str
from aim_rehearsal.operator import framework, rendering
from aim_rehearsal.operator.conditions import Condition, status_place
from aim_rehearsal.operator.outcome import Outcome
from aim_rehearsal.operator.runtime_config import config_condition, config_objects, storage_class
from aim_rehearsal.operator.settings import NameFormulas
from aim_rehearsal.operator.store import controller_uid, name, namespace, uid
from aim_rehearsal.operator.template_predictor import Inputs, predictor
from aim_rehearsal.operator.template_selection import find_model, find_template
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Render, Write, owner_reference


def decide(service: JsonObject, view: View) -> Outcome:
    """Return what the template pipeline does with a service; a loaded one is left alone until an input changes."""
    model = find_model(service, view)
    template = find_template(service, model.object, view)
    cache = _find_cache(service, template.object, view)
    sources = (service, model.object, template.object, cache, *config_objects(service, view))
    if view.settled(*sources) and not _cache_lost(service, view):
        return Outcome(silent=True)
    conditions = [model.condition, template.condition]
    config = config_condition(service, view)
    if config is not None:
        conditions.append(config)
    writes: list[Write] = _auto_model(service) if model.object is None else []
    fields: JsonObject = {"runtime": rendering.scaling(service).status()}
    if model.object is not None and model.condition.true:
        fields["resolvedModel"] = _reference(model.object)
    blocked = config is not None and not config.true
    if template.object is None or not template.condition.true or blocked:
        return Outcome(writes, conditions, fields)
    reference = _reference(template.object)
    if namespace(template.object):
        reference["namespace"] = namespace(template.object)
    fields["resolvedTemplate"] = reference
    if cache is None and get_objects(template.object, "status", "modelSources"):
        writes.append(_new_cache(service, template.object, view))
    conditions.append(_cache_condition(cache))
    if cache is not None and conditions[-1].true:
        fields["cache"] = {"templateCacheRef": {"name": name(cache), "namespace": namespace(cache), "uid": uid(cache)}}
    own_name, live = rendering.current_inference_service(service, view)
    if live is not None or all(item.true for item in conditions):
        inputs = Inputs(service, model.object, template.object, cache)
        writes.append(_render(inputs, own_name, live, view))
    return Outcome(writes, [*conditions, *rendering.workload_conditions(live, view)], fields)


def _cache_lost(service: JsonObject, view: View) -> bool:
    cache = get_str(service, "status", "cache", "templateCacheRef", "name")
    return bool(cache) and view.vanished(AIM_TEMPLATE_CACHE, namespace(service), cache or "")


def _auto_model(service: JsonObject) -> list[Write]:
    """Return the ownerless model that a service with an image makes where there is none."""
    image = get_str(service, "spec", "model", "image")
    if not image:
        return []
    repository, _, tag = image.rpartition("/")[2].partition(":")
    model_name = names.derive_name([repository, tag or "latest"], [image])
    marks: JsonObject = {labels.ORIGIN: "auto-generated"}
    manifest = framework.child(
        AIM_MODEL, service, model_name, framework.child_labels(service, "service", marks), {"image": image}
    )
    return [Render(AIM_MODEL, manifest, rendering.SERVICE_MANAGER)]


def _reference(obj: JsonObject) -> JsonObject:
    return {"name": name(obj), "scope": "Namespace" if namespace(obj) else "Cluster", "uid": uid(obj)}


def _find_cache(service: JsonObject, template: JsonObject | None, view: View) -> JsonObject | None:
    """Return the cache a service uses: Dedicated by owner, Shared by template name, best status first."""
    if template is None:
        return None
    caches = view.store.all(AIM_TEMPLATE_CACHE, namespace(service))
    if rendering.caching_mode(service) == "Dedicated":
        return next((item for item in caches if controller_uid(item) == uid(service)), None)
    fitting = [
        item
        for item in caches
        if get_str(item, "spec", "templateName") == name(template)
        and (get_str(item, "spec", "mode") or "Shared") == "Shared"
    ]
    return min(fitting, key=lambda item: (status_place(item), name(item)), default=None)


def _cache_condition(cache: JsonObject | None) -> Condition:
    word = get_str(cache, "status", "status") or ""
    if cache is None or word not in {"Ready", "Failed", "Progressing"}:
        return Condition(
            "CacheReady", true=False, reason="CacheCreating", message="The template cache is being created."
        )
    if word == "Ready":
        return Condition("CacheReady", true=True, reason="CacheReady", message=f"{name(cache)} is ready.")
    reason = "CacheFailed" if word == "Failed" else "CacheNotReady"
    return Condition("CacheReady", true=False, reason=reason, message=f"{name(cache)} is {word}.", state=word)


def _new_cache(service: JsonObject, template: JsonObject, view: View) -> Render:
    mode = rendering.caching_mode(service)
    own_class = get_str(service, "spec", "storage", "defaultStorageClassName")
    manifest = framework.child(
        AIM_TEMPLATE_CACHE,
        service,
        _cache_name(service, template, view),
        framework.child_labels(service, "service", {labels.SERVICE: names.label_value(name(service))}),
        {
            "templateName": name(template),
            "templateScope": "Namespace" if namespace(template) else "Cluster",
            "mode": mode,
            "storageClassName": own_class or storage_class(service, view),
            "runtimeConfigName": get_str(service, "spec", "runtimeConfigName"),
            "env": framework.merge_env(
                framework.env_of(template, "spec", "env"),
                framework.env_of(template, "spec", "caching", "env"),
                framework.env_of(service, "spec", "caching", "env"),
                framework.env_of(service, "spec", "env"),
            ),
        },
    )
    if mode == "Dedicated":
        manifest = framework.owned_by(manifest, owner_reference(service, rendering.SERVICE_OWNER_VERSION, "AIMService"))
    return Render(AIM_TEMPLATE_CACHE, manifest, rendering.SERVICE_MANAGER)


def _cache_name(service: JsonObject, template: JsonObject, view: View) -> str:
    newer = view.settings.names is NameFormulas.NEWER
    if rendering.caching_mode(service) == "Dedicated":
        inputs = [uid(service), name(template)] if newer else [uid(service)]
        return names.derive_name([name(template), name(service)], list(inputs))
    if newer:
        return names.shared_template_cache_name(name(template), namespace(service))
    return names.derive_name([name(template)], [namespace(service)])


def _render(inputs: Inputs, own_name: str, live: JsonObject | None, view: View) -> Render:
    template = inputs.template
    marks: JsonObject = {
        labels.TEMPLATE: names.label_value(name(template)),
        labels.MODEL: names.label_value(get_str(template, "spec", "modelName") or ""),
    }
    metadata = get_map(template, "status", "profile", "metadata")
    for label, field in ((labels.METRIC, "metric"), (labels.PRECISION, "precision")):
        if value := get_str(metadata, field):
            marks[label] = names.label_value(value)
    sources = get_objects(template, "status", "modelSources")
    model_id = get_str(template, "spec", "modelId") or (get_str(sources[0], "modelId") if sources else None)
    model_id = model_id or get_str(template, "spec", "aimId")
    notes: JsonObject = {labels.MODEL_ID: model_id} if model_id else {}
    body = predictor(inputs, live, view) | rendering.service_fields(inputs.service)
    return Render(
        INFERENCE_SERVICE,
        rendering.inference_service(inputs.service, own_name, marks, notes, body),
        rendering.SERVICE_MANAGER,
    )
