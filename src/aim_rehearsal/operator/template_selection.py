"""Which model and which template a service of the template pipeline uses.

Facts: legacy pipeline (AIMService: model to template).
"""

from dataclasses import dataclass

from aim_api import names
from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_SERVICE_TEMPLATE,
)
from aim_api.tree import JsonObject, get_bool, get_int, get_map, get_objects, get_str
from aim_rehearsal.operator.conditions import Condition
from aim_rehearsal.operator.hardware import accelerator_present
from aim_rehearsal.operator.ranking import ACCELERATORS, METRICS, PRECISIONS, place
from aim_rehearsal.operator.store import name, namespace
from aim_rehearsal.operator.view import View

_TYPES = ("optimized", "preview", "unoptimized")


@dataclass(frozen=True, slots=True)
class Found:
    """An input of a service and the condition that reports it; the object may be there without being ready."""

    object: JsonObject | None
    condition: Condition


def find_model(service: JsonObject, view: View) -> Found:
    """Return the model that a service names, by name, image or custom sources."""
    model = _model(service, view)
    if model is None:
        message = "There is no such model."
        return Found(None, Condition("ModelReady", true=False, reason="ModelNotFound", message=message, state="Failed"))
    word = get_str(model, "status", "status") or "Pending"
    if word != "Ready":
        state = "Failed" if word in {"Failed", "Degraded"} else "Pending"
        message = f"Model {name(model)} is {word}."
        return Found(model, Condition("ModelReady", true=False, reason="ModelNotReady", message=message, state=state))
    return Found(
        model, Condition("ModelReady", true=True, reason="ModelResolved", message=f"Model {name(model)} is ready.")
    )


def find_template(service: JsonObject, model: JsonObject | None, view: View) -> Found:
    """Return the template of a service: the bound one while it is Ready, else the named one, else the best one."""
    bound = _bound(service, view)
    if bound is not None:
        return Found(
            bound, Condition("TemplateReady", true=True, reason="Resolved", message=f"{name(bound)} is ready.")
        )
    wanted = get_str(service, "spec", "template", "name") or ""
    if wanted:
        return _named(service, wanted.strip(), view)
    return _selected(service, model, view)


def derived_name(service: JsonObject, base: str) -> str:
    """Return the name of the template that a service's overrides derive from ``base``; without overrides, ``base``."""
    overrides = get_map(service, "spec", "overrides")
    gpu = get_map(overrides, "hardware", "gpu")
    pairs: list[tuple[str, str | int | None]] = [
        ("gpu", get_str(gpu, "model")),
        ("count", get_int(gpu, "requests")),
        ("precision", get_str(overrides, "precision")),
        ("metric", get_str(overrides, "metric")),
    ]
    present = [(key, value) for key, value in pairs if value]
    if not present:
        return base
    parts = [f"{value}gpu" if key == "count" else str(value) for key, value in present]
    inputs = [text for key, value in present for text in (key, str(value))]
    return names.derive_name([base, "ovr", *parts], list(inputs), hash_length=4)


def _model(service: JsonObject, view: View) -> JsonObject | None:
    reference = get_map(service, "spec", "model")
    if wanted := get_str(reference, "name"):
        own = view.store.find(AIM_MODEL, namespace(service), wanted)
        return own or view.store.find(AIM_CLUSTER_MODEL, "", wanted)
    own_models = view.store.all(AIM_MODEL, namespace(service))
    if image := get_str(reference, "image"):
        models = own_models + view.store.all(AIM_CLUSTER_MODEL, "")
        matching = [model for model in models if get_str(model, "spec", "image") == image]
        return matching[0] if len(matching) == 1 else None
    custom = get_map(reference, "custom")
    wanted_sources = _identity(get_objects(custom, "modelSources"))
    for model in own_models:
        same_image = get_str(model, "spec", "image") == get_str(custom, "baseImage")
        if same_image and _identity(get_objects(model, "spec", "modelSources")) == wanted_sources:
            return model
    return None


def _identity(sources: list[JsonObject]) -> list[tuple[str | None, str | None]]:
    return [(get_str(source, "modelId"), get_str(source, "sourceUri")) for source in sources]


def _bound(service: JsonObject, view: View) -> JsonObject | None:
    reference = get_map(service, "status", "resolvedTemplate")
    wanted = get_str(reference, "name")
    if not wanted:
        return None
    if get_str(reference, "scope") == "Cluster":
        template = view.store.find(AIM_CLUSTER_SERVICE_TEMPLATE, "", wanted)
    else:
        template = view.store.find(AIM_SERVICE_TEMPLATE, namespace(service), wanted)
    return template if template is not None and get_str(template, "status", "status") == "Ready" else None


def _named(service: JsonObject, wanted: str, view: View) -> Found:
    template = view.store.find(AIM_SERVICE_TEMPLATE, namespace(service), derived_name(service, wanted))
    template = template or view.store.find(AIM_CLUSTER_SERVICE_TEMPLATE, "", wanted)
    if template is None:
        return _not_found(f"There is no template {wanted}.", state="Failed")
    if get_str(template, "status", "status") != "Ready":
        return _not_ready(template)
    return Found(template, Condition("TemplateReady", true=True, reason="Resolved", message=f"{wanted} is ready."))


def _selected(service: JsonObject, model: JsonObject | None, view: View) -> Found:
    if model is None:
        return _not_found("Without a model there is no template.", state="Pending")
    own = view.store.all(AIM_SERVICE_TEMPLATE, namespace(service))
    everything = own + view.store.all(AIM_CLUSTER_SERVICE_TEMPLATE, "")
    candidates = [item for item in everything if get_str(item, "spec", "modelName") == name(model)]
    if not candidates:
        return _not_found(f"Model {name(model)} has no template.", state="Pending")
    ready = [item for item in candidates if get_str(item, "status", "status") == "Ready"]
    if not ready:
        return _not_ready(candidates[0])
    fitting = [item for item in ready if _fits(service, item, view)]
    fitting = [item for item in fitting if namespace(item)] or fitting
    if not fitting:
        return _not_found("No ready template fits the service.", state="Pending")
    fitting.sort(key=lambda item: (_rank(item), name(item)))
    if len(fitting) > 1 and _rank(fitting[0]) == _rank(fitting[1]):
        message = f"{name(fitting[0])} and {name(fitting[1])} are equally good."
        return Found(
            None,
            Condition(
                "TemplateReady", true=False, reason="TemplateSelectionAmbiguous", message=message, state="Failed"
            ),
        )
    return Found(fitting[0], Condition("TemplateReady", true=True, reason="Resolved", message=f"{name(fitting[0])}."))


def _fits(service: JsonObject, template: JsonObject, view: View) -> bool:
    metadata = get_map(template, "status", "profile", "metadata")
    unoptimized = get_bool(service, "spec", "template", "allowUnoptimized") is True
    if not unoptimized and get_str(metadata, "type") != "optimized":
        return False
    overrides = get_map(service, "spec", "overrides")
    for field in ("metric", "precision"):
        wanted = get_str(overrides, field)
        if wanted and wanted.lower() != (_value(template, field) or "").lower():
            return False
    gpu = get_map(template, "status", "resolvedHardware", "gpu")
    wanted_gpu = get_map(overrides, "hardware", "gpu")
    if any(key in wanted_gpu and wanted_gpu[key] != gpu.get(key) for key in ("model", "requests")):
        return False
    model = get_str(gpu, "model")
    return not model or accelerator_present(model, view)


def _rank(template: JsonObject) -> tuple[int, int, int, int]:
    metadata = get_map(template, "status", "profile", "metadata")
    return (
        place(get_str(metadata, "type"), _TYPES),
        place(get_str(template, "status", "resolvedHardware", "gpu", "model"), ACCELERATORS),
        place(_value(template, "metric"), METRICS),
        place(_value(template, "precision"), PRECISIONS),
    )


def _value(template: JsonObject, field: str) -> str | None:
    return get_str(template, "status", "profile", "metadata", field) or get_str(template, "spec", field)


def _not_found(message: str, *, state: str) -> Found:
    return Found(None, Condition("TemplateReady", true=False, reason="TemplateNotFound", message=message, state=state))


def _not_ready(template: JsonObject) -> Found:
    message = f"{name(template)} is not ready."
    return Found(template, Condition("TemplateReady", true=False, reason="TemplateNotReady", message=message))
