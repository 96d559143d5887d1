"""The controller of AIMProfileCache: adopt what is there, download only what is missing.

Facts: profile pipeline (AIMProfileCache, artifact matching, finalizer).
"""

from collections.abc import Sequence
from dataclasses import replace

from aim_api import labels
from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE_CACHE
from aim_api.tree import JsonObject, get_list, get_map, get_str, get_strings
from aim_rehearsal.operator import adoption, framework
from aim_rehearsal.operator.adoption import Match
from aim_rehearsal.operator.conditions import Condition, roll_up
from aim_rehearsal.operator.settings import Misbehaviour
from aim_rehearsal.operator.store import generation, name, namespace, terminating, uid
from aim_rehearsal.operator.view import View, paused
from aim_rehearsal.operator.writes import Remove, SetStatus, Write

CONTROLLER = "profile-cache"
MANAGER = framework.manager_of(CONTROLLER)
_API_VERSION = AIM_PROFILE_CACHE.api_version


def reconcile(cache: JsonObject, view: View) -> list[Write]:
    """Return what a profile cache needs."""
    if terminating(cache):
        return [] if view.untouched(cache) else _finalize(cache, view)
    profile = view.profile(
        get_str(cache, "spec", "profileScope") or "", namespace(cache), get_str(cache, "spec", "profileName") or ""
    )
    if adoption.settled_when_loaded(cache, profile, view):
        return []
    finalizer = framework.ensure_finalizer(AIM_PROFILE_CACHE, cache, labels.PROFILE_CACHE_FINALIZER, CONTROLLER)
    if finalizer or paused(cache):
        return list(finalizer)
    matches = _matches(cache, adoption.sources_of(profile, "spec", "modelSources"), view)
    writes: list[Write] = [
        _create(cache, match, index, view)
        for index, match in enumerate(matches)
        if match.artifact is None and not match.waits_for_deletion
    ]
    return [*writes, SetStatus(AIM_PROFILE_CACHE, cache, _status(cache, profile, matches, view), MANAGER)]


def _matches(cache: JsonObject, sources: Sequence[JsonObject], view: View) -> list[Match]:
    matches = adoption.match_sources(cache, sources, view)
    if not view.settings.does(Misbehaviour.DOWNLOADS_AGAIN):
        return matches
    mine = {labels.PROFILE_CACHE_NAME: name(cache)}
    own = [
        artifact
        for artifact in view.store.all(AIM_ARTIFACT, namespace(cache))
        if mine.items() <= get_strings(artifact, "metadata", "labels").items() and get_str(artifact, "status", "status")
    ]
    by_uri = {get_str(artifact, "spec", "sourceUri"): artifact for artifact in own}
    return [replace(match, artifact=by_uri.get(get_str(match.source, "sourceUri"))) for match in matches]


def _create(cache: JsonObject, match: Match, index: int, view: View) -> Write:
    marks: JsonObject = {
        f"{labels.PREFIX}profile.name": get_str(cache, "spec", "profileName"),
        f"{labels.PREFIX}profile.scope": get_str(cache, "spec", "profileScope"),
        f"{labels.PREFIX}profile.index": str(index),
        labels.PROFILE_CACHE_NAME: name(cache),
    }
    salt = name(cache) if view.settings.does(Misbehaviour.DOWNLOADS_AGAIN) else ""
    return adoption.create_missing(
        cache, match, controller=CONTROLLER, api_version=_API_VERSION, marks=marks, salt=salt
    )


def _status(cache: JsonObject, profile: JsonObject | None, matches: Sequence[Match], view: View) -> JsonObject:
    artifacts = adoption.artifacts_ready(matches)
    reported = adoption.report(matches)
    if view.settings.does(Misbehaviour.CACHE_STUCK):
        artifacts = Condition(
            "ArtifactsReady", true=False, reason="CachesNotReady", message="The artifacts are being looked at."
        )
    if view.settings.does(Misbehaviour.ADOPTS_WRONG_ARTIFACT):
        reported = _wrong(cache, reported, view)
    rolled = roll_up(get_list(cache, "status", "conditions"), [_profile_ready(profile), artifacts], view.now)
    status: JsonObject = {
        "observedGeneration": generation(cache),
        "status": rolled.word,
        "conditions": rolled.conditions,
    }
    return status | ({"artifacts": reported} if reported else {})


def _profile_ready(profile: JsonObject | None) -> Condition:
    if profile is None:
        return Condition(
            "ProfileReady", true=False, reason="ProfileNotFound", message="There is no such profile.", state="Failed"
        )
    return Condition("ProfileReady", true=True, reason="ProfileFound", message="The profile exists.")


def _wrong(cache: JsonObject, reported: JsonObject, view: View) -> JsonObject:
    """Report another artifact in place of each right one, or the right name with a UID that is not its own."""
    others = [artifact for artifact in view.store.all(AIM_ARTIFACT, namespace(cache)) if name(artifact) not in reported]
    result: JsonObject = {}
    for artifact_name, entry in reported.items():
        wrong = get_map(reported, artifact_name)
        if others:
            other = others[0]
            claim = get_str(other, "status", "persistentVolumeClaim") or ""
            wrong = wrong | {"name": name(other), "uid": uid(other), "persistentVolumeClaim": claim}
            artifact_name = name(other)  # noqa: PLW2901 - the entry moves to the wrong artifact's name
        else:
            wrong = get_map(reported, artifact_name) | {"uid": "00000000-0000-4000-8000-000000000000"}
        result[artifact_name] = wrong if isinstance(entry, dict) else entry
    return result


def _finalize(cache: JsonObject, view: View) -> list[Write]:
    """Delete this cache's artifacts that never became Ready, then let the cache go; Ready ones stay."""
    mine = {labels.PROFILE_CACHE_NAME: name(cache)}
    unfinished: list[Write] = [
        Remove(AIM_ARTIFACT, artifact)
        for artifact in view.store.all(AIM_ARTIFACT, namespace(cache))
        if mine.items() <= get_strings(artifact, "metadata", "labels").items()
        and get_str(artifact, "status", "status") != "Ready"
    ]
    return unfinished + list(
        framework.drop_finalizer(AIM_PROFILE_CACHE, cache, labels.PROFILE_CACHE_FINALIZER, CONTROLLER)
    )
