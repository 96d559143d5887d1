"""The service-driven AIMProfileCache, exactly as the service controller would create it (pure).

Profile pipeline facts, "Who creates one": Shared, without an owner; the download environment is the profile's below the
service's; the storage class comes from the service alone.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from aim_api.kinds import AIM_PROFILE_CACHE
from aim_api.labels import MANAGED_BY, MANAGED_BY_SERVICE_CONTROLLER, PREFIX, SERVICE, SERVICE_NAME
from aim_api.names import label_value, shared_profile_cache_name
from aim_api.tree import JsonObject, get_bool, get_list, get_map, get_objects, get_str, get_strings
from aim_template_migration.mapping.engine_settings import merge_env


def map_profile_cache(
    service: JsonObject, profile_name: str, profile_scope: str, profile_spec: JsonObject, propagated: JsonObject
) -> JsonObject:
    """Return the whole cache object.

    Args:
        service: the AIMService.
        profile_name: the profile's name.
        profile_scope: ``Namespace`` or ``Cluster``.
        profile_spec: the profile's spec.
        propagated: ``spec.labelPropagation`` of the service's merged runtime config.
    """
    namespace, name = get_str(service, "metadata", "namespace") or "", get_str(service, "metadata", "name") or ""
    spec: JsonObject = {"profileName": profile_name, "profileScope": profile_scope, "mode": "Shared"}
    storage_class = get_str(service, "spec", "storage", "defaultStorageClassName")
    if storage_class:
        spec["storageClassName"] = storage_class
    runtime_config = get_str(service, "spec", "runtimeConfigName")
    if runtime_config:
        spec["runtimeConfigName"] = runtime_config
    env = merge_env(get_objects(profile_spec, "caching", "env"), get_objects(service, "spec", "caching", "env"))
    if env:
        spec["env"] = list(env)
    return {
        "apiVersion": AIM_PROFILE_CACHE.api_version,
        "kind": AIM_PROFILE_CACHE.name,
        "metadata": {
            "name": shared_profile_cache_name(profile_name, namespace, profile_scope),
            "namespace": namespace,
            "labels": {**_inherited(get_strings(service, "metadata", "labels"), propagated), **_own_labels(name)},
        },
        "spec": spec,
    }


def _own_labels(service: str) -> dict[str, str]:
    return {SERVICE: label_value(service), SERVICE_NAME: service, MANAGED_BY: MANAGED_BY_SERVICE_CONTROLLER}


def _inherited(labels: Mapping[str, str], propagated: JsonObject) -> dict[str, str]:
    """Return the service's labels that children inherit: the operator's prefix, and what the runtime config names."""
    patterns = (
        [item for item in get_list(propagated, "match") if isinstance(item, str)]
        if get_bool(propagated, "enabled")
        else []
    )
    return {
        key: value
        for key, value in sorted(labels.items())
        if key.startswith(PREFIX) or any(fnmatchcase(key, pattern) for pattern in patterns)
    }


def merged_label_propagation(runtime_configs: tuple[JsonObject, ...]) -> JsonObject:
    """Return ``spec.labelPropagation`` of runtime configs merged, lowest precedence first."""
    merged: JsonObject = {}
    for config in runtime_configs:
        merged |= get_map(config, "spec", "labelPropagation")
    return merged
