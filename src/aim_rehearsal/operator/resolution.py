"""Which profile a service resolves to.

Facts: profile pipeline (shapes, selector filter, ranking, stickiness), v1alpha2 reference (selector).
"""

from dataclasses import dataclass

from aim_api import labels
from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE
from aim_api.tree import JsonObject, get, get_int, get_map, get_str, get_strings
from aim_rehearsal.operator.conditions import Condition
from aim_rehearsal.operator.projection import deployable
from aim_rehearsal.operator.ranking import TYPES, profile_rank, type_tier
from aim_rehearsal.operator.store import namespace
from aim_rehearsal.operator.view import View

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


@dataclass(frozen=True, slots=True)
class Resolution:
    """The profile that a service runs, or the condition that says why there is none to run."""

    profile: JsonObject | None
    condition: Condition


def resolve(service: JsonObject, view: View) -> Resolution:
    """Return the profile of a service: by name (namespace first, then cluster), or the best one of its selector."""
    wanted = get_str(service, "spec", "profile", "name")
    if wanted:
        profile = view.profile("Namespace", namespace(service), wanted) or view.profile("Cluster", "", wanted)
    else:
        profile = _select(service, view)
    if profile is None:
        what = f"profile {wanted}" if wanted else "profile that matches"
        return Resolution(None, _not_ready("ProfileNotFound", f"There is no {what}.", state="Failed"))
    if not deployable(profile):
        return Resolution(None, _not_ready("BaseProfile", "A base profile cannot serve.", state="Failed"))
    if get_str(profile, "status", "status") != "Ready":
        return Resolution(profile, _not_ready("ProfileNotReady", "The profile is not ready.", state="Pending"))
    ready = Condition("ProfileReady", true=True, reason="ProfileResolved", message="The profile is ready.")
    return Resolution(profile, ready)


def _not_ready(reason: str, message: str, *, state: str) -> Condition:
    return Condition("ProfileReady", true=False, reason=reason, message=message, state=state)


def _select(service: JsonObject, view: View) -> JsonObject | None:
    """Return the bound profile while it still matches, else the best; namespaced candidates beat cluster-wide ones."""
    selector = _selector(service)
    scopes = (view.store.all(AIM_PROFILE, namespace(service)), view.store.all(AIM_CLUSTER_PROFILE, ""))
    floor = get_str(selector, "minimumType") or "optimized"
    for candidates in scopes:
        fitting = [item for item in candidates if _matches(item, selector) and _above(item, floor)]
        if fitting:
            return _bound(service, fitting) or min(fitting, key=profile_rank)
    if get_str(selector, "minimumType"):
        return None
    for candidates in scopes:
        fitting = [
            item
            for item in candidates
            if _matches(item, selector) and get_str(item, "spec", "autoSelectionPolicy") == "any"
        ]
        if fitting:
            return _bound(service, fitting) or min(fitting, key=profile_rank)
    return None


def _selector(service: JsonObject) -> JsonObject:
    """Return a service's selector; a model that the service names stands in where the selector refers to none."""
    selector = get_map(service, "spec", "profile", "selector")
    model = get_str(service, "spec", "model", "name")
    if model and "modelRef" not in selector:
        return selector | {"modelRef": {"name": model, "scope": "Auto"}}
    return selector


def _bound(service: JsonObject, fitting: list[JsonObject]) -> JsonObject | None:
    if get_strings(service, "metadata", "annotations").get(labels.FORCE_REBIND):
        return None
    bound = get_str(service, "status", "resolvedProfile", "name")
    return next((item for item in fitting if get_str(item, "metadata", "name") == bound), None)


def _matches(profile: JsonObject, selector: JsonObject) -> bool:
    spec = get_map(profile, "spec")
    marks = get_strings(profile, "metadata", "labels")
    origin, model = get_str(selector, "origin"), get_str(selector, "modelRef", "name")
    return (
        deployable(profile)
        and labels.OVERLAY_SERVICE not in get_strings(profile, "metadata", "annotations")
        and all(get_str(selector, field) in {None, "", get_str(spec, field)} for field in _TEXT_FIELDS)
        and get_int(selector, "acceleratorCount") in {None, get_int(spec, "acceleratorCount")}
        and _partitioning(get_str(selector, "acceleratorPartitioningMode") or "", spec)
        and all(get(spec, "engineArgs", key) == value for key, value in get_map(selector, "engineArgs").items())
        and origin in {None, marks.get(labels.PROFILE_ORIGIN)}
        and model in {None, marks.get(labels.SOURCE_MODEL)}
    )


def _partitioning(wanted: str, spec: JsonObject) -> bool:
    """Match a partitioning mode: unpartitioned covers unset, ``<compute>`` covers every ``<compute>-<memory>``."""
    actual = (get_str(spec, "acceleratorPartitioningMode") or "unpartitioned").lower()
    wanted = wanted.lower()
    if wanted in {"", actual}:
        return True
    if wanted == "partitioned":
        return actual != "unpartitioned"
    return "-" not in wanted and actual.startswith(f"{wanted}-")


def _above(profile: JsonObject, floor: str) -> bool:
    return floor == "any" or type_tier(get_str(profile, "spec", "type")) <= TYPES.index(floor)
