"""The overlay profile that a service's ``profileOverrides`` make of its profile (profile pipeline facts, overlay)."""

from aim_api import labels, names
from aim_api.kinds import AIM_PROFILE
from aim_api.tree import Json, JsonObject, get_list, get_map, get_objects, get_str, get_strings
from aim_rehearsal.operator import framework
from aim_rehearsal.operator.rendering import SERVICE_OWNER_VERSION
from aim_rehearsal.operator.store import name, uid
from aim_rehearsal.operator.writes import owner_reference

_REPLACED = ("acceleratorModel", "acceleratorVendor", "acceleratorCount", "acceleratorPartitioningMode")


def overlay_of(service: JsonObject, seed: JsonObject) -> JsonObject | None:
    """Return the manifest of a service's overlay profile, or None where the overrides say nothing."""
    given = get_map(service, "spec", "profileOverrides")
    overrides: JsonObject = {key: value for key, value in given.items() if value not in (None, "", [], {})}
    if not overrides:
        return None
    own_name = names.derive_name([name(seed), name(service), "overlay"], [uid(service)])
    marks: JsonObject = {labels.PROFILE_ROLE: "deployable", labels.PROFILE_ORIGIN: "derived"}
    manifest = framework.child(
        AIM_PROFILE, service, own_name, framework.child_labels(service, "service", marks), _spec(seed, overrides)
    )
    notes: JsonObject = {labels.OVERLAY_SERVICE: name(service)}
    contract = get_strings(seed, "metadata", "annotations").get(labels.PROFILE_YAML_CONTRACT)
    if contract:
        notes[labels.PROFILE_YAML_CONTRACT] = contract
    owned = framework.owned_by(manifest, owner_reference(service, SERVICE_OWNER_VERSION, "AIMService"))
    return owned | {"metadata": get_map(owned, "metadata") | {"annotations": notes}}


def _spec(seed: JsonObject, overrides: JsonObject) -> JsonObject:
    spec: JsonObject = {key: value for key, value in get_map(seed, "spec").items() if key != "caching"}
    spec |= {key: overrides[key] for key in _REPLACED if key in overrides}
    sources = get_objects(overrides, "modelSources")
    if sources:
        spec["modelSources"] = list(sources)
        spec["modelId"] = get_str(sources[0], "modelId")
    features: list[Json] = get_list(spec, "features") + get_list(overrides, "features")
    if features:
        spec["features"] = [*sorted({item for item in features if isinstance(item, str)})]
    env = framework.merge_env(get_objects(spec, "containerEnv"), get_objects(overrides, "containerEnv"))
    if env:
        spec["containerEnv"] = env
    for field in ("engineEnv", "engineArgs"):
        if merged := get_map(spec, field) | get_map(overrides, field):
            spec[field] = merged
    return spec
