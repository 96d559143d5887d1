"""AIMTemplateCache: caching is enabled on the profile (G, "AIMTemplateCache → AIMProfileCache")."""

from collections.abc import Sequence

from aim_api.kinds import AIM_PROFILE
from aim_api.tree import Json, JsonObject, get, get_map, get_objects, get_str
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.engine_settings import merge_env
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import CLUSTER_PROFILES, NAMESPACED_PROFILES, Context
from aim_template_migration.mapping.recipes.draft import Beside, Draft
from aim_template_migration.mapping.recipes.environment import Variables
from aim_template_migration.mapping.recipes.ledger import Path
from aim_template_migration.mapping.recipes.versions import note_leaving

_CACHING: Path = ("spec", "caching")
_UNREAD = ("modelSources", "downloadImage", "imagePullSecrets")
_KEPT_ELSEWHERE = ("labels", "annotations")


def convert_template_cache(draft: Draft, context: Context) -> None:
    """Enable caching on the profile of the cached template and drop the cache, or say what is missing for that."""
    spec = get_map(draft.source, "spec")
    profiles, obstacle, advice = _profiles(draft, context, spec)
    if not profiles or obstacle:
        draft.account(
            ("apiVersion",), draft.id, ("apiVersion",), fate=Fate.MAPPED, reason="it stays until that is decided"
        )
        draft.leave(("spec",), obstacle, advice)
        return
    for one in profiles:
        _enable(draft, one)
    profile = profiles[0]
    draft.removed = True
    note_leaving(draft)
    target: Path = (*_CACHING, "enabled")
    draft.leave(("spec",), "a cache has no such field", "remove it")
    draft.account(("apiVersion",), profile.id, ("apiVersion",), fate=Fate.DEFAULTED, reason="the object is gone")
    draft.account(("kind",), profile.id, ("kind",), fate=Fate.DEFAULTED, reason="the object is gone")
    draft.account(
        ("metadata",), profile.id, target, fate=Fate.DEFAULTED, reason="the controller names its cache itself"
    )
    draft.account(("status",), "", (), fate=Fate.DEFAULTED, reason="the controller reports it anew")
    for name in ("templateName", "templateScope"):
        draft.account(("spec", name), profile.id, target, fate=Fate.RENAMED)
    draft.account(("spec", "mode"), "", (), fate=Fate.DEFAULTED, reason="a profile's own cache is shared")
    draft.account(("spec", "runtimeConfigName"), "", (), fate=Fate.DEFAULTED, reason="it names the default")
    for one in profiles:
        _environment(draft, one, spec)
    for name in _UNREAD:
        draft.account(("spec", name), "", (), fate=Fate.DEFAULTED)
    _without_place(draft, spec)


def _enable(draft: Draft, profile: Draft | Beside) -> None:
    if get(profile.value, *_CACHING, "enabled") is False:
        message = f"spec.caching.enabled: false of {profile.id} becomes true, since this cache asks for it"
        draft.note(("spec", "templateName"), message)
    profile.put((*_CACHING, "enabled"), True)
    if isinstance(profile, Draft) and profile.given(*_CACHING, "enabled") is not True:
        reason = f"the cache {draft.name} of the template asks for it"
        profile.account((*_CACHING, "enabled"), profile.id, (*_CACHING, "enabled"), fate=Fate.TYPED, reason=reason)


def _profiles(draft: Draft, context: Context, spec: JsonObject) -> tuple[list[Draft | Beside], str, str]:
    """Return the profiles of the cached template, and what keeps caching from being enabled on them, with advice."""
    name, scope = get_str(spec, "templateName") or "", get_str(spec, "templateScope") or "Unknown"
    where = f" in the namespace {draft.namespace}" if draft.namespace else ""
    request = f"set spec.caching.enabled: true on the AIMProfile {name}{where}, then remove this cache"
    if not name:
        return [], "the cache names no template", "remove it, or state spec.templateName"
    found = list(context.profiles(NAMESPACED_PROFILES, draft, name)) if scope != "Cluster" else []
    if not found and (scope == "Cluster" or any(context.profiles(CLUSTER_PROFILES, draft, name))):
        advice = "let the services that use the profile make the cache, or enable caching on a profile in the namespace"
        return [], "the template is cluster-scoped, and cluster-scoped profiles make no caches", advice
    if not found:
        return [], f"{draft.place or 'the input'} has no template and no profile {name}", request
    if context.profiles_differ(found):
        advice = "rename one of them, so that the cache belongs to one"
        return found, f"the input gives several profiles {name}, and nothing says which of them was cached", advice
    obstacles = (_obstacle(one, spec) for one in found)
    return found, *next((obstacle for obstacle in obstacles if any(obstacle)), ("", ""))


def _obstacle(found: Draft | Beside, spec: JsonObject) -> tuple[str, str]:
    """Return what keeps a profile from getting the cache, with advice; both are empty where nothing does."""
    profile = found.value
    sound = isinstance(profile.get("spec", {}), dict) and _is_sound(get(profile, *_CACHING))
    if not sound or not _is_sound({"env": spec.get("env")}):
        obstacle = "a profile has an object as its spec, and environments of downloads are lists of variables"
        return obstacle, "mend spec.caching of the profile, or spec.env"
    rival = _rival(get_objects(profile, *_CACHING, "env"), get_objects(spec, "env"))
    if rival is not None:
        obstacle = f"the profile's own cache has another value of the variable {rival} already"
        return obstacle, "keep one of the values, in spec.caching.env of the profile or in spec.env of the cache"
    written_as_profile = isinstance(found, Draft) and get_str(found.source, "kind") == AIM_PROFILE.name
    if written_as_profile and get(profile, *_CACHING, "enabled") is False:
        obstacle = "the profile says spec.caching.enabled: false, and the cache asks for it"
        return obstacle, "set spec.caching.enabled: true there, or remove this cache"
    if get_str(spec, "mode") == "Dedicated":
        advice = "let the service make its cache, with spec.caching.mode: Dedicated"
        return "a profile's own cache is shared, and this one is dedicated", advice
    return "", ""


def _is_sound(caching: Json) -> bool:
    env = get(caching, "env")
    return (caching is None or isinstance(caching, dict)) and (is_empty(env) or env == get_objects(caching, "env"))


def _rival(before: Sequence[JsonObject], own: Sequence[JsonObject]) -> str | None:
    """Return a variable that two environments of one cache state otherwise, where neither is to be lost."""
    stated = {get_str(item, "name") or "": item for item in before}
    last = {get_str(item, "name") or "": item for item in own}
    return next((name for name, item in last.items() if name in stated and stated[name] != item), None)


def _environment(draft: Draft, profile: Draft | Beside, spec: JsonObject) -> None:
    """Add the environment of the cache to that of the profile's own cache."""
    place: Path = (*_CACHING, "env")
    own, before = get_objects(spec, "env"), get_objects(profile.value, *place)
    if not own:
        draft.account(("spec", "env"), "", (), fate=Fate.DEFAULTED, reason="it sets nothing")
        return
    merged: list[Json] = list(merge_env(before, own))
    profile.put(place, merged)
    variables = Variables(merged)
    for items, owner, source in ((before, profile, place), (own, draft, ("spec", "env"))):
        for index, item in enumerate(items):
            if isinstance(owner, Beside):
                continue
            where = variables.below(place, item)
            if where:
                owner.account((*source, index), profile.id, where, fate=Fate.RENAMED)
            else:
                reason = "another variable of the same name decides"
                owner.account((*source, index), "", (), fate=Fate.DEFAULTED, reason=reason)


def _without_place(draft: Draft, spec: JsonObject) -> None:
    """Report what neither the profile nor its cache can state."""
    if spec.get("storageClassName"):
        draft.leave(
            ("spec", "storageClassName"),
            "a cache takes its storage class from the service alone",
            "state it in spec.storage.defaultStorageClassName of the services that use the profile",
        )
    if spec.get("runtimeConfigName") not in (None, "", "default"):
        draft.leave(
            ("spec", "runtimeConfigName"),
            "a profile's own cache names no runtime config",
            "state it in spec.runtimeConfigName of the services that use the profile",
        )
    for name in _KEPT_ELSEWHERE:
        if draft.given("metadata", name):
            draft.leave(
                ("metadata", name),
                "the cache that the controller makes does not get them",
                "put them on the profile where they are needed",
                fate=Fate.REFUSED,
            )
