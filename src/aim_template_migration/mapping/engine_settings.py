"""Engine arguments and environments, folded as the template pipeline folds them (pure).

Engine settings of v1alpha1 live in what discovery found, in a custom profile, and in the variable AIM_ENGINE_ARGS of
any environment, whose JSON is deep-merged from level to level instead of being replaced (legacy pipeline facts,
predictor).
"""

from collections.abc import Sequence

import msgspec

from aim_api.tree import Json, JsonObject, get_str

ENGINE_ARGS = "AIM_ENGINE_ARGS"

FRAMEWORK_VARIABLES = frozenset(
    {"AIM_PROFILE_ID", "AIM_METRIC", "AIM_PRECISION", "AIM_MODEL_ID", "AIM_ID", "AIM_ENGINE", "AIM_CACHE_PATH"}
)
"""Variables that the profile pipeline sets itself, above a profile's containerEnv: setting one there has no effect."""


def deep_merge(low: JsonObject, high: JsonObject) -> JsonObject:
    """Return ``low`` with ``high`` merged over it; objects merge key by key, anything else is replaced."""
    merged = dict(low)
    for key, value in high.items():
        present = merged.get(key)
        merged[key] = deep_merge(present, value) if isinstance(present, dict) and isinstance(value, dict) else value
    return merged


def merge_env(low: Sequence[JsonObject], high: Sequence[JsonObject]) -> list[JsonObject]:
    """Return an environment merged by name: ``high`` replaces in place, new names are appended."""
    by_name: dict[str, JsonObject] = {}
    for item in (*low, *high):
        by_name[get_str(item, "name") or ""] = item
    return list(by_name.values())


def split_engine_args(env: Sequence[JsonObject]) -> tuple[list[JsonObject], JsonObject, str]:
    """Take AIM_ENGINE_ARGS out of an environment.

    Returns:
        The other variables, the engine arguments, and why they can't be known (empty where they can).
    """
    others = [item for item in env if item.get("name") != ENGINE_ARGS]
    variable = next((item for item in env if item.get("name") == ENGINE_ARGS), None)
    if variable is None:
        return others, {}, ""
    text = get_str(variable, "value")
    if text is None:
        return others, {}, f"{ENGINE_ARGS} takes its value from elsewhere (valueFrom), which is not read"
    value = _json(text) if text.strip() else {}
    if not isinstance(value, dict):
        return others, {}, f"{ENGINE_ARGS} is no JSON object"
    return others, value, ""


def _json(text: str) -> Json:
    try:
        value: Json = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return value
