"""Which profile a selector resolves to (pure): the operator's filter and order (profile resolution facts).

Only as far as a plan needs it: would a profile that does not exist yet be chosen once it does? Where the operator's
answer is not certain, the answer here is yes.
"""

from collections.abc import Iterable

from aim_api.labels import OVERLAY_SERVICE, PIPELINE_PROFILE, PROFILE_ORIGIN, RECONCILER_PIPELINE, SOURCE_MODEL
from aim_api.tree import JsonObject, get, get_bool, get_int, get_map, get_objects, get_str, has
from aim_template_migration.planning.snapshot import Observed

_TYPES = ("optimized", "general", "preview", "unoptimized")
_ACCELERATORS = ("MI325X", "MI300X", "MI250X", "MI210", "R9700", "W7900")
_METRICS = ("latency", "throughput")
_PRECISIONS = ("fp4", "int4", "fp8", "int8", "fp16", "bf16", "fp32", "fp64")
_TEXT_FIELDS = (
    "aimId",
    "modelId",
    "profileId",
    "engine",
    "metric",
    "precision",
    "type",
    "acceleratorModel",
    "acceleratorVendor",
    "acceleratorType",
)
_USER_AUTHORED = "user-authored"


def selector_of(service: Observed) -> JsonObject | None:
    """Return the selector by which the profile pipeline resolves a service, or None where it does not select."""
    spec = get_map(service.obj, "spec")
    if get_str(spec, "profile", "name"):
        return None
    selected = has(spec, "profile", "selector")
    if not selected and service.annotations.get(RECONCILER_PIPELINE) != PIPELINE_PROFILE:
        return None
    selector = dict(get_map(spec, "profile", "selector"))
    model = get_str(spec, "model", "name")
    if "modelRef" not in selector and (model or has(spec, "model", "image")):
        selector["modelRef"] = {"name": model or ""}
    return selector


def names_model(selector: JsonObject) -> bool:
    """Return whether a selector refers to a model: no new profile has a label by which that leads to it."""
    return "modelRef" in selector


def would_choose(selector: JsonObject, new: JsonObject, present: Iterable[Observed]) -> bool:
    """Return whether a selector would resolve to the new profile beside those present in its namespace.

    Args:
        selector: the service's selector.
        new: the new AIMProfile, after defaulting; it counts as Ready.
        present: the AIMProfiles of the namespace; cluster profiles never win over a namespaced one.
    """
    if not _matches(new, {}, selector):
        return False
    floor = get_str(selector, "minimumType")
    rivals = [
        item
        for item in present
        if _matches(item.obj, item.labels, selector) and OVERLAY_SERVICE not in item.annotations
    ]
    if _tier(new) > _floor(floor or "optimized"):
        # Below an implied floor a profile is chosen only in the second pass, where nothing else passes the floor.
        if floor or get_str(new, "spec", "autoSelectionPolicy") != "any":
            return False
        return not any(_tier(item.obj) <= _floor("optimized") for item in rivals)
    eligible = [item for item in rivals if _tier(item.obj) <= _floor(floor or "optimized")]
    return not any(item.status_word in ("Ready", "Running") and _rank(item.obj) < _rank(new) for item in eligible)


def _matches(profile: JsonObject, labels: dict[str, str], selector: JsonObject) -> bool:
    spec = get_map(profile, "spec")
    if not get_str(spec, "aimId") or not get_objects(spec, "modelSources"):
        return False
    if any(get_str(selector, name) and get_str(selector, name) != get_str(spec, name) for name in _TEXT_FIELDS):
        return False
    count = get_int(selector, "acceleratorCount")
    if count is not None and count != get_int(spec, "acceleratorCount"):
        return False
    if any(get(spec, "engineArgs", key) != value for key, value in get_map(selector, "engineArgs").items()):
        return False
    origin = get_str(selector, "origin")
    if origin and origin != labels.get(PROFILE_ORIGIN, _USER_AUTHORED):
        return False
    # A profile of no model has no source-model label, so no reference to a model leads to it.
    return not names_model(selector) or labels.get(SOURCE_MODEL, "") == (get_str(selector, "modelRef", "name") or None)


def _rank(profile: JsonObject) -> tuple[int, ...]:
    """Return the sort key among profiles that are equally ready; version and name, which decide last, are left out."""
    spec = get_map(profile, "spec")
    return (
        0 if get_bool(spec, "primary") else 1,
        _tier(profile),
        _place(get_str(spec, "acceleratorModel"), _ACCELERATORS),
        _place(get_str(spec, "metric"), _METRICS),
        _place(get_str(spec, "precision"), _PRECISIONS),
        get_int(spec, "acceleratorCount") or 1 << 31,
        1 if get_str(spec, "acceleratorType") == "cpu" else 0,
    )


def _tier(profile: JsonObject) -> int:
    return _place(get_str(profile, "spec", "type") or "unoptimized", _TYPES)


def _floor(word: str) -> int:
    return len(_TYPES) if word == "any" else _place(word, _TYPES)


def _place(value: str | None, order: tuple[str, ...]) -> int:
    return order.index(value) if value in order else len(order)
