"""The runtime configuration that applies to an object.

Facts: legacy pipeline (runtime configuration): the AIMRuntimeConfig of the namespace over the AIMClusterRuntimeConfig
of the same name; a missing ``default`` is fine, any other missing name is an error.
"""

from aim_api.kinds import AIM_CLUSTER_RUNTIME_CONFIG, AIM_RUNTIME_CONFIG
from aim_api.tree import JsonObject, get_map, get_objects, get_str
from aim_rehearsal.operator import framework
from aim_rehearsal.operator.conditions import Condition
from aim_rehearsal.operator.store import namespace
from aim_rehearsal.operator.view import View

DEFAULT = "default"


def config_objects(obj: JsonObject, view: View) -> tuple[JsonObject | None, JsonObject | None]:
    """Return the namespaced and the cluster-wide configuration object that an object uses."""
    wanted = get_str(obj, "spec", "runtimeConfigName") or DEFAULT
    return (
        view.store.find(AIM_RUNTIME_CONFIG, namespace(obj), wanted),
        view.store.find(AIM_CLUSTER_RUNTIME_CONFIG, "", wanted),
    )


def config_condition(obj: JsonObject, view: View) -> Condition | None:
    """Return the condition on an object's configuration; none where it uses an absent ``default``."""
    wanted = get_str(obj, "spec", "runtimeConfigName") or DEFAULT
    if config_objects(obj, view) != (None, None):
        message = f"Runtime configuration {wanted} applies."
        return Condition("RuntimeConfigReady", true=True, reason="RuntimeConfigResolved", message=message)
    if wanted == DEFAULT:
        return None
    message = f"There is no runtime configuration {wanted}."
    return Condition("RuntimeConfigReady", true=False, reason="ReferenceNotFound", message=message, state="Failed")


def merged_config(obj: JsonObject, view: View) -> JsonObject:
    """Return the spec of both configurations merged; the namespace wins, environments merge by name."""
    own, cluster = config_objects(obj, view)
    base, over = get_map(cluster, "spec"), get_map(own, "spec")
    merged = base | over
    merged["storage"] = _storage(base) | _storage(over)
    merged["env"] = framework.merge_env(get_objects(base, "env"), get_objects(over, "env"))
    return merged


def storage_class(obj: JsonObject, view: View) -> str:
    """Return the storage class of an object's configuration; empty for the cluster's default."""
    return get_str(merged_config(obj, view), "storage", "defaultStorageClassName") or ""


def _storage(spec: JsonObject) -> JsonObject:
    """Return a configuration's storage block; the older top-level spellings count where the block lacks them."""
    legacy: JsonObject = {key: spec[key] for key in ("defaultStorageClassName", "pvcHeadroomPercent") if key in spec}
    return legacy | get_map(spec, "storage")
