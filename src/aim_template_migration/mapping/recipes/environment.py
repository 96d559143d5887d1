"""Environments of v1alpha1 on profiles: engine arguments, variables that the pipeline sets itself, and all others."""

from collections.abc import Iterable, Sequence

from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_template_migration.mapping.engine_settings import ENGINE_ARGS, FRAMEWORK_VARIABLES, split_engine_args
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.ledger import Path


class Variables:
    """The variables of an environment, asked for where one stands."""

    def __init__(self, environment: Iterable[Json]) -> None:
        self._by_name: dict[str, list[tuple[int, Json]]] = {}
        for index, item in enumerate(environment):
            self._by_name.setdefault(get_str(item, "name") or "", []).append((index, item))

    def below(self, environment: Path, variable: Json) -> Path:
        """Return where a variable stands in the environment at a path, an empty path where it does not."""
        alike = self._by_name.get(get_str(variable, "name") or "", ())
        index = next((index for index, item in alike if item == variable), None)
        return () if index is None else (*environment, index)


def account_variable(
    draft: Draft, place: Path, item: JsonObject, object_: str, *, env: Path, arguments: Path, fault: str
) -> None:
    """Record what became of one variable.

    Args:
        draft: the conversion.
        place: where the input has the variable.
        item: the variable.
        object_: id of the object that has the environment now.
        env: where the variable stands in it, empty where a later one of the same name decides.
        arguments: where that object has its engine arguments.
        fault: why the engine arguments of the environment can't be known, empty where they can.
    """
    name = get_str(item, "name")
    if name == ENGINE_ARGS and fault:
        draft.leave(place, fault, f"state the arguments in {'.'.join(map(str, arguments))}, and remove the variable")
    elif name == ENGINE_ARGS:
        reason = f"{ENGINE_ARGS} holds engine arguments"
        draft.account(place, object_, arguments, fate=Fate.TYPED, reason=reason)
    elif name in FRAMEWORK_VARIABLES:
        draft.leave(place, f"the profile pipeline sets {name} itself", "state its value in the field of the profile")
    elif env:
        draft.account(place, object_, env, fate=Fate.RENAMED, reason="it is the container's environment")
    else:
        draft.account(place, "", (), fate=Fate.DEFAULTED, reason="a later variable of the same name decides")


def kept_variables(env: Sequence[JsonObject]) -> tuple[list[JsonObject], JsonObject, str]:
    """Return what an environment becomes, its engine arguments, and why these can't be known.

    Engine arguments that can't be known stay in the environment, where they are named.
    """
    others, arguments, fault = split_engine_args(env)
    return (list(env), {}, fault) if fault else (others, arguments, "")


def move_model_environment(draft: Draft, overrides: Path) -> None:
    """Carry ``spec.env`` of a model with own weights, which its templates got as theirs, to the derived profiles."""
    source: Path = ("spec", "env")
    target: Path = (*overrides, "containerEnv")
    env = get_objects(draft.source, *source)
    if not draft.move(source, target) or draft.given(*source) != env:
        return  # what is no environment stays what it is
    kept, arguments, fault = kept_variables(env)
    if not kept:
        draft.drop(source)
    elif len(kept) < len(env):
        carried: list[Json] = list(kept)
        draft.put(target, carried)
    if arguments:
        place: Path = (*overrides, "engineArgs")
        draft.put(place, {**get_map(draft.value, *place), **arguments})
    variables = Variables(kept)
    for index, item in enumerate(env):
        where = variables.below(target, item)
        if where:
            draft.origins[where] = (*source, index)
        account_variable(
            draft, (*source, index), item, draft.id, env=where, arguments=(*overrides, "engineArgs"), fault=fault
        )
