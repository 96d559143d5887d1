"""AIMService ``spec.env``: engine arguments go to the overlay, everything else has to be decided about.

In the served v1alpha1 schema the variable AIM_ENGINE_ARGS is the one way for a service to state engine arguments; it is
what the guide shows as ``overrides.engineArgs`` (G, "overrides → profileOverrides").
"""

from aim_api.tree import JsonObject, get_map, get_objects
from aim_template_migration.mapping.engine_settings import ENGINE_ARGS, split_engine_args
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.environment import Variables
from aim_template_migration.mapping.recipes.ledger import Path

_ENV: Path = ("spec", "env")
_ARGUMENTS: Path = ("spec", "profileOverrides", "engineArgs")


def convert_service_env(draft: Draft, *, named: bool) -> bool:
    """Carry AIM_ENGINE_ARGS to ``profileOverrides.engineArgs``; return whether there was something to carry."""
    env = get_objects(draft.source, *_ENV)
    places = [index for index, item in enumerate(env) if item.get("name") == ENGINE_ARGS]
    if len(places) != 1 or draft.given(*_ENV) != env:
        return False
    place: Path = (*_ENV, places[0])
    others, arguments, fault = split_engine_args(env)
    obstacle = fault or _obstacle(draft, arguments, named=named)
    if obstacle:
        draft.leave(
            place, obstacle, "state the arguments in spec.profileOverrides.engineArgs, beside spec.profile.name"
        )
        return False
    if others:
        draft.put(_ENV, list(others))
        variables = Variables(env)
        for index, item in enumerate(others):
            draft.origins[*_ENV, index] = variables.below(_ENV, item)
    else:
        draft.drop(_ENV)
    reason = f"{ENGINE_ARGS} holds engine arguments"
    draft.account(place, draft.id, _ARGUMENTS, fate=Fate.TYPED, reason=reason)
    draft.put(_ARGUMENTS, {**get_map(draft.value, *_ARGUMENTS), **arguments})
    return True


def _obstacle(draft: Draft, arguments: JsonObject, *, named: bool) -> str:
    if not named:
        return "spec.profileOverrides changes one named profile, and none is named"
    if any(isinstance(value, dict) for value in arguments.values()):
        return "v1alpha1 merged nested arguments, and v1alpha2 replaces them"
    present = draft.get(*_ARGUMENTS)
    if present is not None and (not isinstance(present, dict) or present.keys() & arguments.keys()):
        return "spec.profileOverrides.engineArgs states the same arguments"
    return ""
