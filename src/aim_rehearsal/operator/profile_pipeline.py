"""The profile pipeline of AIMService.

Facts: profile pipeline (overlay, gate order, InferenceService, status; which cache a service uses). The pin is R's.
"""

from dataclasses import dataclass

from aim_api import labels, names
from aim_api.kinds import AIM_PROFILE, AIM_PROFILE_CACHE, CONFIG_MAP, INFERENCE_SERVICE, SERVING_RUNTIME
from aim_api.tree import JsonObject, get_map, get_objects, get_str, get_strings
from aim_rehearsal.operator import framework, projection, rendering
from aim_rehearsal.operator.conditions import Condition, status_place
from aim_rehearsal.operator.outcome import Outcome
from aim_rehearsal.operator.overlay import overlay_of
from aim_rehearsal.operator.pin import PinFinding, PinState, examine
from aim_rehearsal.operator.resolution import Resolution, resolve
from aim_rehearsal.operator.runtime_config import config_condition
from aim_rehearsal.operator.store import controller_uid, generation, name, namespace, uid
from aim_rehearsal.operator.view import View
from aim_rehearsal.operator.writes import Render, Write, changes, owner_reference


@dataclass(slots=True)
class _Pass:
    """What has been decided so far in one pass; later gates add to it."""

    writes: list[Write]
    conditions: list[Condition]
    fields: JsonObject

    def outcome(self) -> Outcome:
        return Outcome(self.writes, self.conditions, self.fields)


def decide(service: JsonObject, view: View) -> Outcome:
    """Return what the profile pipeline does with a service: each gate waits for the one before."""
    pin = examine(service, view)
    so_far = _Pass([], [pin.condition] if pin.condition else [], {})
    if pin.state is PinState.BROKEN:
        so_far.conditions.append(_not_preserved(pin))
        return so_far.outcome()
    resolution = _effective(service, resolve(service, view), so_far, view)
    profile = resolution.profile
    if profile is not None and _settled_when_loaded(service, profile, view):
        return Outcome(silent=True)
    so_far.conditions.append(resolution.condition)
    config = config_condition(service, view)
    so_far.conditions += [config] if config else []
    if profile is None or not all(item.true for item in (resolution.condition, *([config] if config else []))):
        return so_far.outcome()
    so_far.fields |= _resolved(profile)
    cache = _cache_gate(service, profile, so_far, view)
    if pin.state is PinState.HELD:
        so_far.conditions += rendering.workload_conditions(pin.inference_service, view)
        so_far.fields["runtime"] = rendering.scaling(service).status()
        return so_far.outcome()
    if cache is None or not _runtime_gate(service, profile, so_far, view):
        return so_far.outcome()
    _render(service, profile, cache, so_far, view)
    return so_far.outcome()


def _not_preserved(pin: PinFinding) -> Condition:
    message = pin.condition.message if pin.condition else ""
    return Condition(
        "InferenceServiceReady", true=False, reason="InferenceServiceNotPreserved", message=message, state="Degraded"
    )


def _effective(service: JsonObject, resolution: Resolution, so_far: _Pass, view: View) -> Resolution:
    """Return the resolution after the service's overrides: the overlay takes the place of its seed."""
    if resolution.profile is None or not resolution.condition.true:
        return resolution
    overlay = overlay_of(service, resolution.profile)
    if overlay is None:
        return resolution
    so_far.writes.append(Render(AIM_PROFILE, overlay, rendering.SERVICE_MANAGER))
    live = view.profile("Namespace", namespace(service), get_str(overlay, "metadata", "name") or "")
    current = (
        live is not None
        and not changes(Render(AIM_PROFILE, overlay, rendering.SERVICE_MANAGER), live)
        and get_map(live, "status").get("observedGeneration") == generation(live)
        and get_str(live, "status", "status") == "Ready"
    )
    if current:
        return Resolution(live, resolution.condition)
    waiting = Condition("ProfileReady", true=False, reason="ProfileNotReady", message="The overlay is not ready.")
    return Resolution(None, waiting)


def _settled_when_loaded(service: JsonObject, profile: JsonObject, view: View) -> bool:
    """Return whether a loaded service keeps the status and the InferenceService that it came with."""
    reference = get_map(service, "status", "cache", "profileCacheRef")
    cache = view.store.find(AIM_PROFILE_CACHE, namespace(service), get_str(reference, "name") or "")
    lost = bool(reference) and (cache is None or uid(cache) != get_str(reference, "uid"))
    return not lost and view.settled(service, profile, cache)


def _resolved(profile: JsonObject) -> JsonObject:
    scope = projection.scope_of(profile)
    reference: JsonObject = {"name": name(profile), "scope": scope, "uid": uid(profile)}
    if scope == "Namespace":
        reference["namespace"] = namespace(profile)
    model: JsonObject = {"name": get_str(profile, "spec", "modelId") or "", "scope": scope}
    return {"resolvedProfile": reference, "resolvedModel": model}


def _cache_gate(service: JsonObject, profile: JsonObject, so_far: _Pass, view: View) -> JsonObject | None:
    """Return the service's profile cache if it is Ready; ask for one where there is none."""
    cache = _find_cache(service, profile, view)
    if cache is None:
        manifest = _new_cache(service, profile)
        if view.store.find(AIM_PROFILE_CACHE, namespace(service), get_str(manifest, "metadata", "name") or "") is None:
            so_far.writes.append(Render(AIM_PROFILE_CACHE, manifest, rendering.SERVICE_MANAGER))
        message = "The profile cache is being created."
        so_far.conditions.append(
            Condition("ProfileCacheReady", true=False, reason="ProfileCacheNotFound", message=message)
        )
        return None
    if get_str(cache, "status", "status") != "Ready":
        state = get_str(cache, "status", "status") or "Progressing"
        message = f"{name(cache)} is not ready."
        so_far.conditions.append(
            Condition("ProfileCacheReady", true=False, reason="ProfileCacheNotReady", message=message, state=state)
        )
        return None
    so_far.conditions.append(
        Condition("ProfileCacheReady", true=True, reason="ProfileCacheReady", message=f"{name(cache)} is ready.")
    )
    so_far.fields["cache"] = {
        "profileCacheRef": {"name": name(cache), "namespace": namespace(cache), "uid": uid(cache)}
    }
    return cache


def _find_cache(service: JsonObject, profile: JsonObject, view: View) -> JsonObject | None:
    caches = view.store.all(AIM_PROFILE_CACHE, namespace(service))
    if rendering.caching_mode(service) == "Dedicated":
        return next((item for item in caches if controller_uid(item) == uid(service)), None)
    fitting = [item for item in caches if projection.cache_matches(item, profile)]
    return min(fitting, key=lambda item: (status_place(item), name(item)), default=None)


def _new_cache(service: JsonObject, profile: JsonObject) -> JsonObject:
    scope = projection.scope_of(profile)
    mode = rendering.caching_mode(service)
    if mode == "Dedicated":
        cache_name = names.dedicated_profile_cache_name(name(profile), name(service), uid(service), scope)
    else:
        cache_name = names.shared_profile_cache_name(name(profile), namespace(service), scope)
    marks: JsonObject = {labels.SERVICE: names.label_value(name(service))}
    manifest = framework.child(
        AIM_PROFILE_CACHE,
        service,
        cache_name,
        framework.child_labels(service, "service", marks),
        {
            "profileName": name(profile),
            "profileScope": scope,
            "mode": mode,
            "storageClassName": get_str(service, "spec", "storage", "defaultStorageClassName"),
            "runtimeConfigName": get_str(service, "spec", "runtimeConfigName"),
            "env": framework.merge_env(
                framework.env_of(profile, "spec", "caching", "env"), framework.env_of(service, "spec", "caching", "env")
            ),
        },
    )
    if mode == "Dedicated":
        return framework.owned_by(manifest, owner_reference(service, rendering.SERVICE_OWNER_VERSION, "AIMService"))
    return manifest


def _runtime_gate(service: JsonObject, profile: JsonObject, so_far: _Pass, view: View) -> bool:
    """Return whether the namespaced runtime and its ConfigMap are there with the content the profile has now."""
    runtime_name = names.runtime_name(name(profile))
    live = view.store.find(SERVING_RUNTIME, namespace(service), runtime_name)
    made = get_strings(live, "metadata", "labels").get(labels.RUNTIME_PROJECTION, "lazy")
    pair = projection.namespaced_pair(
        profile, namespace(service), view, projection=made, manager=rendering.SERVICE_MANAGER
    )
    current = (
        live is not None
        and get_strings(live, "metadata", "annotations").get(projection.CONTENT_HASH) == projection.content_hash(pair)
        and controller_uid(live) == uid(profile)
        and view.store.find(CONFIG_MAP, namespace(service), runtime_name) is not None
    )
    reason = "ProfileRuntimeReady" if current else "ProfileRuntimeMaterializing"
    so_far.conditions.append(Condition("ProfileRuntimeReady", current, reason, f"ServingRuntime {runtime_name}."))
    if not current:
        so_far.writes += pair
    return current


def _render(service: JsonObject, profile: JsonObject, cache: JsonObject, so_far: _Pass, view: View) -> None:
    own_name, live = rendering.current_inference_service(service, view)
    marks: JsonObject = {labels.PROFILE: names.label_value(name(profile))}
    for label, field in ((labels.METRIC, "metric"), (labels.PRECISION, "precision")):
        if value := get_str(profile, "spec", field):
            marks[label] = names.label_value(value)
    sources = get_objects(profile, "spec", "modelSources")
    model_id = get_str(profile, "spec", "modelId") or (get_str(sources[0], "modelId") if sources else "") or ""
    notes: JsonObject = {labels.MODEL_ID: model_id, labels.RUNTIME_PROFILE: name(profile)}
    manifest = rendering.inference_service(service, own_name, marks, notes, _predictor(service, profile, cache))
    so_far.writes.append(Render(INFERENCE_SERVICE, manifest, rendering.SERVICE_MANAGER))
    so_far.conditions += rendering.workload_conditions(live, view)
    so_far.fields["runtime"] = rendering.scaling(service).status()


def _predictor(service: JsonObject, profile: JsonObject, cache: JsonObject) -> JsonObject:
    model: JsonObject = {
        "modelFormat": {"name": "huggingface"},
        "runtime": names.runtime_name(name(profile)),
    }
    if own := get_map(service, "spec", "resources"):
        model["resources"] = rendering.merged_resources(profile, own)
    account = get_str(service, "spec", "serviceAccountName") or get_str(profile, "spec", "serviceAccountName")
    predictor: JsonObject = rendering.service_fields(service)
    predictor["model"] = model
    if account:
        predictor["serviceAccountName"] = account
    if rendering.caching_mode(service) == "Dedicated":
        volumes, mounts = rendering.cache_volumes(cache)
        model["volumeMounts"] = mounts
        predictor["volumes"] = volumes
    return predictor
