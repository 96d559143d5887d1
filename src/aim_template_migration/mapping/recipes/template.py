"""AIMServiceTemplate and AIMClusterServiceTemplate become profiles (G, "AIMServiceTemplate → AIMProfile").

What the profile states is decided by the same mapping as in a migration in place; here every value also keeps its place
in the manifest.
"""

from collections.abc import Mapping

from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_SERVICE_TEMPLATE,
)
from aim_api.tree import Json, JsonObject, field_path, get, get_list, get_map, get_objects, get_str
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.engine_settings import ENGINE_ARGS, deep_merge, split_engine_args
from aim_template_migration.mapping.fates import Fate, field_of
from aim_template_migration.mapping.profile import MappedProfile, ProfileSources, Source, map_profile
from aim_template_migration.mapping.recipes.context import Context
from aim_template_migration.mapping.recipes.draft import Draft, copied
from aim_template_migration.mapping.recipes.environment import Variables, account_variable
from aim_template_migration.mapping.recipes.hardware import accelerator_fields
from aim_template_migration.mapping.recipes.ledger import Path
from aim_template_migration.mapping.recipes.versions import to_kind
from aim_template_migration.mapping.template_fates import TEMPLATE_FATES

REDISCOVERY = (
    "it is simpler to create the model through v1alpha2 discovery and let the controller publish the profile; write it "
    "by hand only where discovery can't run"
)

_FLAT = frozenset(field_of(row.path).removeprefix("spec.") for row in TEMPLATE_FATES.fates if not row.served)
"""Fields that only G's examples show; they are those of a profile already."""

_ENGINE_ARGS: Path = ("spec", "engineArgs")
_CUSTOM_PROFILE: Path = ("spec", "customProfile")
_CUSTOM_ARGUMENTS: Path = (*_CUSTOM_PROFILE, "engineArgs")
_CPU: Path = ("spec", "hardware", "cpu")
_RESOLVED_CPU = "status.resolvedHardware.cpu"
_ARGUMENTS = field_path(_ENGINE_ARGS)
_STATED = frozenset({"spec.acceleratorModel", "spec.acceleratorCount", "spec.engineEnv"})
"""Fields that are in doubt only where the template states them and discovery found others: the leaf says so itself."""
_GIVEN = ("aimId", "modelId", "modelSources", "precision")
_DECIDED_HERE = frozenset({"caching", "containerEnv", "engineArgs"})
_GAPS = {"spec.image": "image", "spec.aimId": "aimId", "spec.modelId": "modelId", "spec.modelSources": "modelSources"}


def convert_template(draft: Draft, context: Context, *, cluster: bool) -> None:
    """Convert one template."""
    to_kind(draft, (AIM_CLUSTER_PROFILE if cluster else AIM_PROFILE).name)
    template = _with_status(draft, context, cluster=cluster)
    mapped, given = _mapped(draft, context, template, cluster=cluster)
    doubts = {problem.field: problem.message for problem in mapped.problems if problem.code == "ImputationNotSafe"}
    for name, source in accelerator_fields(draft, ("spec", "hardware")).items():
        _move_known(draft, source, ("spec", name), doubts)
    _move_known(draft, ("spec", "customProfile", "envVars"), ("spec", "engineEnv"), doubts)
    _environment(draft, mapped, doubts.get(_ARGUMENTS, ""))
    if _ARGUMENTS in doubts:
        _leave_engine_args(draft, doubts)
    else:
        _engine_args(draft, mapped)
    _precision(draft, mapped)
    decided = _DECIDED_HERE | {name for name in mapped.spec if f"spec.{name}" in _STATED and f"spec.{name}" in doubts}
    for name, value in mapped.spec.items():
        # A value that is stated stays as it is, even one of a wrong type.
        if name not in decided and (is_empty(draft.get("spec", name)) or draft.get("spec", name) == "auto"):
            draft.put(("spec", name), value)
    _given_decides(draft, given)
    _model_name(draft, mapped)
    _runtime_config(draft, context)
    if cluster and draft.has("spec", "caching"):
        draft.leave(
            ("spec", "caching"),
            "cluster-scoped profiles make no caches",
            "remove it, and enable caching on a profile in a namespace or let the service make its cache",
        )
    _gaps(draft, mapped, given, template)
    draft.lead(("spec",), "aimId", "modelId", "image")
    draft.note(("kind",), REDISCOVERY)


def _mapped(draft: Draft, context: Context, template: JsonObject, *, cluster: bool) -> tuple[MappedProfile, JsonObject]:
    """Return the profile by the common mapping, from all that is known, and the values that were given by hand."""
    name = get_str(draft.source, "spec", "modelName") or ""
    model = context.find((AIM_CLUSTER_MODEL,) if cluster else (AIM_MODEL, AIM_CLUSTER_MODEL), draft, name)
    given = _given(draft, context, name, cluster=cluster)
    spec = {key: value for key, value in get_map(template, "spec").items() if key not in _FLAT}
    spec |= {
        key: value for key, value in given.items() if key in _GIVEN and (key == "precision" or is_empty(spec.get(key)))
    }
    inherited = get_list(model.obj, "spec", "modelSources") if model else []
    if inherited and is_empty(spec.get("modelSources")) and not get_list(template, "status", "modelSources"):
        spec["modelSources"] = inherited
    if "image" not in given:
        model = _with_base_image(context, model, _model_stub(draft, name, cluster=cluster))
    elif model is None:
        model = Source("the given values", {"spec": {"image": given["image"]}})
    config = get_str(draft.source, "spec", "runtimeConfigName") or "default"
    mapped = map_profile(
        ProfileSources(
            target=draft.id,
            template=Source(draft.id, {**template, "spec": spec}),
            model=model,
            runtime_configs=context.runtime_configs(draft, config),
            runtime_config_name=config,
        )
    )
    if "image" in given:
        mapped.spec["image"] = given["image"]
    return mapped, given


def _given(draft: Draft, context: Context, model: str, *, cluster: bool) -> JsonObject:
    """Return the values that were given for the template, or for its model."""
    stub = _model_stub(draft, model, cluster=cluster)
    found: JsonObject = {}
    for name in ("image", *_GIVEN):
        value = context.values.of(draft.source, name)
        value = context.values.of(stub, name) if value is None and model else value
        if value is not None:
            found[name] = value
    return found


def _model_stub(draft: Draft, name: str, *, cluster: bool) -> JsonObject:
    """Return what the values of a template's model are found by."""
    kind = AIM_CLUSTER_MODEL if cluster else AIM_MODEL
    return {"kind": kind.name, "metadata": {"name": name, "namespace": draft.namespace}}


def _with_base_image(context: Context, model: Source | None, stub: JsonObject) -> Source | None:
    """Return a model with the base image that is given for it, which decides as in the conversion of the model."""
    spec = get_map(model.obj, "spec") if model else {}
    image = context.values.text(stub, "baseImage") if get_str(stub, "metadata", "name") else ""
    keeps_its_own = bool(get_str(spec, "image")) and not isinstance(spec.get("custom"), dict)
    if not image or keeps_its_own:
        return model
    return Source("the given values", {**(model.obj if model else {}), "spec": {**spec, "image": image}})


def _with_status(draft: Draft, context: Context, *, cluster: bool) -> JsonObject:
    """Return the template with what discovery found, from the manifest or from the live object."""
    if get_map(draft.source, "status"):
        return draft.source
    kind = AIM_CLUSTER_SERVICE_TEMPLATE if cluster else AIM_SERVICE_TEMPLATE
    found = context.live(kind, draft.namespace, draft.name)
    if found is None:
        return draft.source
    metadata = get_map(draft.source, "metadata")
    annotations = {**get_map(found, "metadata", "annotations"), **get_map(metadata, "annotations")}
    return {**draft.source, "metadata": {**metadata, "annotations": annotations}, "status": get_map(found, "status")}


def _move_known(draft: Draft, source: Path, target: Path, doubts: Mapping[str, str]) -> None:
    """Carry a field, or leave it in its place where what discovery found says otherwise."""
    doubt = doubts.get(field_path(target))
    if doubt is None:
        draft.move(source, target)
    elif draft.has(*source):
        draft.leave(source, doubt, f"state what is meant in {field_path(target)}, and remove {field_path(source)}")


def _environment(draft: Draft, mapped: MappedProfile, doubt: str) -> None:
    """Carry the environment, with that of the runtime configs below it and without engine arguments."""
    source, target = ("spec", "env"), ("spec", "containerEnv")
    own = get_objects(draft.source, *source)
    if draft.given(*source) not in (None, own):
        return  # it is no environment, and so it stays where it is
    _, _, fault = split_engine_args(own)
    fault = fault or doubt
    merged = get_objects(mapped.spec, "containerEnv")
    result: list[Json] = [*merged, *(item for item in own if fault and item.get("name") == ENGINE_ARGS)]
    draft.move(source, target)
    if result:
        draft.put(target, result)
    else:
        draft.drop(source)
    stated, carried = Variables(own), Variables(result)
    for index, item in enumerate(result):
        draft.origins[*target, index] = stated.below(source, item) or None
    for index, item in enumerate(own):
        place = carried.below(target, item)
        account_variable(draft, (*source, index), item, draft.id, env=place, arguments=_ENGINE_ARGS, fault=fault)


def _leave_engine_args(draft: Draft, doubts: Mapping[str, str]) -> None:
    """Leave every engine argument where it is stated, and have servers refuse the profile until it is decided."""
    for path in (_CUSTOM_PROFILE, _CUSTOM_ARGUMENTS):
        if draft.has(*path) and draft.given(*path) in ({}, None):
            draft.drop(path, "it states nothing")
    _move_known(draft, _CUSTOM_ARGUMENTS, _ENGINE_ARGS, doubts)
    if draft.get(*_CUSTOM_PROFILE) is None:
        draft.put(_CUSTOM_ARGUMENTS, {})  # no profile has this field, while it may have engine arguments of any type


def _engine_args(draft: Draft, mapped: MappedProfile) -> None:
    """Carry the engine arguments of every place into one; the later of these places decides about one name."""
    target, custom = _ENGINE_ARGS, _CUSTOM_ARGUMENTS
    if not all(isinstance(draft.given(*place), dict | None) for place in (target, custom)):
        return  # what is no object stays where it is
    places = [place for place in (target, custom) if draft.given(*place)]
    merged = deep_merge(get_map(draft.source, *target), get_map(mapped.spec, "engineArgs"))
    if draft.has(*target):
        draft.drop(custom)
    else:
        draft.move(custom, target)
    if merged and draft.get(*target) != merged:
        draft.put(target, merged)
    for place in places:
        for name, value in get_map(draft.source, *place).items():
            if merged.get(name) == value:
                draft.account((*place, name), draft.id, (*target, name), reason="a profile holds its own arguments")
            else:
                reason = "the same argument is set elsewhere as well, and that decides"
                draft.account((*place, name), draft.id, (*target, name), fate=Fate.TYPED, reason=reason)


def _precision(draft: Draft, mapped: MappedProfile) -> None:
    path: Path = ("spec", "precision")
    stated, found = draft.given(*path), mapped.spec.get("precision")
    if stated == "auto" and not found:
        draft.leave(path, "no profile has the precision auto", "state the precision, here or by --values as precision")
    elif stated == "auto":
        draft.account(path, draft.id, path, fate=Fate.TYPED)
    elif not is_empty(stated):
        draft.account(path, draft.id, path, fate=Fate.MAPPED, reason="the profile has the same field")


def _given_decides(draft: Draft, given: JsonObject) -> None:
    """Put the values that are given to correct what the manifest states."""
    for name in ("image", "precision"):
        path: Path = ("spec", name)
        if name in given and draft.get(*path) != given[name]:
            draft.put(path, given[name])
            draft.account(path, draft.id, path, fate=Fate.TYPED, reason="the given values decide about it")


def _model_name(draft: Draft, mapped: MappedProfile) -> None:
    draft.drop(("spec", "modelName"))
    image = "image" in mapped.spec or draft.get("spec", "image") is not None
    draft.account(("spec", "modelName"), draft.id, ("spec", "image") if image else (), fate=Fate.IMPUTED)
    draft.note(
        ("spec", "modelName"),
        "a profile that is written by hand is found by name or by spec.profile.selector.aimId, not by its model",
    )


def _runtime_config(draft: Draft, context: Context) -> None:
    path: Path = ("spec", "runtimeConfigName")
    name = draft.given(*path)
    if name in (None, "", "default") or (isinstance(name, str) and context.runtime_configs(draft, name)):
        draft.drop(path)
        if name not in (None, ""):
            draft.account(path, draft.id, ("spec", "containerEnv"), fate=Fate.IMPUTED)
        return
    draft.leave(
        path,
        f"a profile names no runtime config, and what {name} sets is not known",
        "write its environment into spec.containerEnv and remove the name, or convert it together with the template",
    )


def _gaps(draft: Draft, mapped: MappedProfile, given: JsonObject, template: JsonObject) -> None:
    for problem in mapped.problems:
        name = _GAPS.get(problem.field)
        if problem.field == _RESOLVED_CPU and isinstance(draft.get("spec", "hardware"), dict | None):
            draft.put(_CPU, copied(get(template, *_RESOLVED_CPU.split("."))))  # where servers refuse it
        if problem.code != "ImputationNotSafe" and not problem.field.startswith("status."):
            continue  # the leaf itself says so
        if problem.field == "spec.precision" or problem.field in _STATED:
            continue
        if name and (name in given or not is_empty(draft.get("spec", name))):
            continue
        advice = f"; state it by --values as {name}" if name else ""
        draft.need(tuple(problem.field.split(".")), f"{problem.message}{advice}", near=("kind",))
    if is_empty(get(draft.value, "spec", "aimId")) and is_empty(get(draft.value, "spec", "modelSources")):
        # Without both the server would take it for a base definition.
        draft.put(("spec", "modelSources"), [{}])
    stated = [name for name in _GAPS.values() if not is_empty(get(draft.value, "spec", name))]
    if draft.gaps and stated == [name for name in _GAPS.values() if name != "modelId"]:
        # With the others the server would take a profile that has no model id.
        draft.put(("spec", "modelId"), {})
