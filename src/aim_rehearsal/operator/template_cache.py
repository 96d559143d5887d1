"""The controller of AIMTemplateCache (legacy pipeline facts, AIMTemplateCache and deletion)."""

from collections.abc import Sequence

from aim_api import labels, names
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
)
from aim_api.tree import JsonObject, get_list, get_str, get_strings
from aim_rehearsal.operator import adoption, framework
from aim_rehearsal.operator.adoption import Match
from aim_rehearsal.operator.conditions import Condition, roll_up
from aim_rehearsal.operator.store import name, namespace, terminating
from aim_rehearsal.operator.view import View, paused
from aim_rehearsal.operator.writes import Remove, SetStatus, Write

CONTROLLER = "template-cache"
MANAGER = framework.manager_of(CONTROLLER)


def reconcile(cache: JsonObject, view: View) -> list[Write]:
    """Return what a template cache needs; a loaded one keeps its status until an input changes."""
    if terminating(cache):
        return [] if view.untouched(cache) else _finalize(cache, view)
    template = _template(cache, view)
    if adoption.settled_when_loaded(cache, template, view):
        return []
    finalizer = framework.ensure_finalizer(AIM_TEMPLATE_CACHE, cache, labels.TEMPLATE_CACHE_FINALIZER, CONTROLLER)
    if finalizer or paused(cache):
        return list(finalizer)
    matches = adoption.match_sources(cache, adoption.sources_of(template, "status", "modelSources"), view)
    missing = [match for match in matches if match.artifact is None and not match.waits_for_deletion]
    writes: list[Write] = [_create(cache, match, index) for index, match in enumerate(missing)]
    return [*writes, SetStatus(AIM_TEMPLATE_CACHE, cache, _status(cache, template, matches, view), MANAGER)]


def _template(cache: JsonObject, view: View) -> JsonObject | None:
    wanted = get_str(cache, "spec", "templateName") or ""
    scope = get_str(cache, "spec", "templateScope")
    own = view.store.find(AIM_SERVICE_TEMPLATE, namespace(cache), wanted) if scope != "Cluster" else None
    if own is not None or scope == "Namespace":
        return own
    return view.store.find(AIM_CLUSTER_SERVICE_TEMPLATE, "", wanted)


def _create(cache: JsonObject, match: Match, index: int) -> Write:
    marks: JsonObject = {
        labels.TEMPLATE_CREATED: "true",
        f"{labels.PREFIX}template.name": get_str(cache, "spec", "templateName"),
        f"{labels.PREFIX}template.scope": get_str(cache, "spec", "templateScope"),
        f"{labels.PREFIX}template.index": str(index),
        labels.TEMPLATE_CACHE_NAME: names.label_value(name(cache)),
    }
    return adoption.create_missing(
        cache, match, controller=CONTROLLER, api_version=AIM_TEMPLATE_CACHE.api_version, marks=marks
    )


def _status(cache: JsonObject, template: JsonObject | None, matches: Sequence[Match], view: View) -> JsonObject:
    found = [_template_ready(template), adoption.artifacts_ready(matches)]
    rolled = roll_up(get_list(cache, "status", "conditions"), found, view.now)
    status: JsonObject = {"status": rolled.word, "conditions": rolled.conditions}
    reported = adoption.report(matches)
    return status | ({"artifacts": reported} if reported else {})


def _template_ready(template: JsonObject | None) -> Condition:
    if template is None:
        message = "There is no such template."
        return Condition(
            "ServiceTemplateReady", true=False, reason="ReferenceNotFound", message=message, state="Failed"
        )
    word = get_str(template, "status", "status") or "Pending"
    if word != "Ready":
        message = f"{name(template)} is {word}."
        return Condition("ServiceTemplateReady", true=False, reason="Progressing", message=message, state="Pending")
    return Condition(
        "ServiceTemplateReady", true=True, reason="AllComponentsReady", message=f"{name(template)} is ready."
    )


def _finalize(cache: JsonObject, view: View) -> list[Write]:
    """Delete the artifacts that this cache created and that never became Ready, then let it go; Ready ones stay."""
    mine = {labels.TEMPLATE_CACHE_NAME: names.label_value(name(cache))}
    unfinished: list[Write] = [
        Remove(AIM_ARTIFACT, artifact)
        for artifact in view.store.all(AIM_ARTIFACT, namespace(cache))
        if mine.items() <= get_strings(artifact, "metadata", "labels").items()
        and get_str(artifact, "status", "status") != "Ready"
    ]
    return unfinished + list(
        framework.drop_finalizer(AIM_TEMPLATE_CACHE, cache, labels.TEMPLATE_CACHE_FINALIZER, CONTROLLER)
    )
