"""The controller of AIMService: dispatch, finalizer, the bridge's proofs, and the status that both pipelines share.

Facts: profile pipeline (dispatch, finalizer, status), legacy pipeline (status fields, deletion). The bridge's proofs
are R's.
"""

from aim_api import bridge, labels, names
from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE_CACHE, AIM_TEMPLATE_CACHE
from aim_api.tree import JsonObject, get_list, get_map, get_str, get_strings
from aim_rehearsal.operator import framework, profile_pipeline, template_pipeline
from aim_rehearsal.operator.conditions import Condition, find, merge, roll_up
from aim_rehearsal.operator.outcome import Outcome
from aim_rehearsal.operator.rendering import SERVICE_MANAGER, service_word
from aim_rehearsal.operator.store import SERVICE, generation, name, namespace, owner_references, terminating
from aim_rehearsal.operator.view import View, paused
from aim_rehearsal.operator.writes import Remove, SetStatus, Write

_CONTROLLER = "service"


def reconcile(service: JsonObject, view: View) -> list[Write]:
    """Return what a service needs."""
    if terminating(service):
        return [] if view.untouched(service) else _finalize(service, view)
    if not view.settled(service):
        finalizer = framework.ensure_finalizer(SERVICE, service, labels.SERVICE_FINALIZER, _CONTROLLER)
        if finalizer:
            return list(finalizer)
    if paused(service):
        return []
    decide = profile_pipeline.decide if on_profile_pipeline(service) else template_pipeline.decide
    outcome = decide(service, view)
    status = _status(service, outcome, view)
    return [*outcome.writes, SetStatus(SERVICE, service, status, SERVICE_MANAGER)]


def on_profile_pipeline(service: JsonObject) -> bool:
    """Return whether the profile pipeline owns a service: the annotation decides, else the presence of spec.profile."""
    chosen = get_strings(service, "metadata", "annotations").get(labels.RECONCILER_PIPELINE)
    if chosen in {labels.PIPELINE_PROFILE, labels.PIPELINE_TEMPLATE}:
        return chosen == labels.PIPELINE_PROFILE
    return bool(get_map(service, "spec", "profile"))


def _status(service: JsonObject, outcome: Outcome, view: View) -> JsonObject:
    before = get_map(service, "status")
    proof = _proof(service, view)
    if outcome.silent:
        status = dict(before)
        if proof:
            status["conditions"] = merge(get_list(before, "conditions"), proof, view.now)
    else:
        rolled = roll_up(get_list(before, "conditions"), [*proof, *outcome.conditions], view.now)
        status = before | outcome.fields | {"status": service_word(rolled.word), "conditions": rolled.conditions}
    if view.settings.bridge:
        status["observedGeneration"] = generation(service)
    return status


def _proof(service: JsonObject, view: View) -> list[Condition]:
    """Return the bridge's word on whether it can take the service over; other builds say nothing."""
    if not view.settings.bridge:
        return []
    compatible = f"{namespace(service)}/{name(service)}" not in view.settings.incompatible
    if compatible:
        reason, message = "Compatible", "Both pipelines of this build can serve this object."
    else:
        said = find(service, bridge.COMPATIBLE_CONDITION) or {}
        known = said if said.get("status") == "False" else {}
        reason = get_str(known, "reason") or "IncompatibleShape"
        message = get_str(known, "message") or "The profile pipeline of this build cannot take this service over."
    observed = generation(service)
    return [Condition(bridge.COMPATIBLE_CONDITION, compatible, reason, message, observed_generation=observed)]


def _finalize(service: JsonObject, view: View) -> list[Write]:
    """Delete the service's caches that never became Ready, then let the service go; Ready caches stay."""
    mine = {labels.SERVICE: names.label_value(name(service))}
    writes: list[Write] = []
    for kind in (AIM_TEMPLATE_CACHE, AIM_PROFILE_CACHE):
        for cache in view.store.all(kind, namespace(service)):
            marked = mine.items() <= get_strings(cache, "metadata", "labels").items()
            if not marked or get_str(cache, "status", "status") == "Ready" or terminating(cache):
                continue
            writes.append(Remove(kind, cache))
            if kind is AIM_PROFILE_CACHE:
                writes += _unfinished_artifacts(cache, view)
    for finalizer in (labels.SERVICE_FINALIZER, labels.SERVICE_FINALIZER_OLD):
        if patches := framework.drop_finalizer(SERVICE, service, finalizer, _CONTROLLER):
            return [*writes, *patches]
    return writes


def _unfinished_artifacts(cache: JsonObject, view: View) -> list[Write]:
    mine = {labels.PROFILE_CACHE_NAME: name(cache)}
    return [
        Remove(AIM_ARTIFACT, artifact)
        for artifact in view.store.all(AIM_ARTIFACT, namespace(cache))
        if mine.items() <= get_strings(artifact, "metadata", "labels").items()
        and not owner_references(artifact)
        and get_str(artifact, "status", "status") != "Ready"
    ]
