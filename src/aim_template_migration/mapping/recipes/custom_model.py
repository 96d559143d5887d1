"""AIMModel with own weights: a model of the base image and one derived from its definitions (G, "Custom models")."""

from dataclasses import replace

from aim_api.tree import JsonObject, field_path, get, get_objects, get_str
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import Context
from aim_template_migration.mapping.recipes.custom_templates import Weights, convert_custom_templates
from aim_template_migration.mapping.recipes.draft import Beside, Draft, copied, id_of
from aim_template_migration.mapping.recipes.environment import move_model_environment
from aim_template_migration.mapping.recipes.hardware import accelerator_fields
from aim_template_migration.mapping.recipes.images import BaseModel, base_model, image_tag, share_with_base
from aim_template_migration.mapping.recipes.ledger import Path

_CUSTOM: Path = ("spec", "custom")
_PROFILES: Path = ("spec", "profiles")
_SELECTOR: Path = (*_PROFILES, "derivedFrom", "selector")
_OVERRIDES: Path = (*_PROFILES, "overrides")

_ENVIRONMENT_OF_CLUSTER_MODEL = (
    "custom templates of a cluster-scoped model never had its environment; the profiles that the model derives have "
    "it, those of its custom templates still do not"
)
_OF_THE_IMAGE = ("runtimeConfigName", "discovery", "imageMetadata")
_OF_BOTH = ("imagePullSecrets", "serviceAccountName")


def convert_custom_model(draft: Draft, context: Context, *, cluster: bool) -> None:
    """Derive the model's profiles from all definitions of its base image."""
    place, image = _base_image(draft)
    base: BaseModel | None = None
    if context.inline:
        image = _own_image(draft, context, place, image)
    else:
        base = base_model(draft, context, image, place, cluster=cluster)
    draft.put((*_SELECTOR, "role"), "base")
    if base is not None:
        draft.put((*_SELECTOR, "modelRef"), base.reference)
    for name, source in accelerator_fields(draft, (*_CUSTOM, "hardware")).items():
        draft.move(source, (*_SELECTOR, name), reason="definitions for this hardware are selected")
    _version(draft, context, context.values.text(draft.source, "baseImage") or image)
    weights = _identity(draft, context, cluster=cluster)
    _settings_of_the_image(draft, base)
    if cluster and draft.given("spec", "env") and draft.given("spec", "customTemplates"):
        draft.note(("spec", "env"), _ENVIRONMENT_OF_CLUSTER_MODEL)
    draft.lose(
        (*_CUSTOM, "type"),
        "derived profiles have the type of their sources",
        "let services accept it: spec.profile.selector.minimumType",
    )
    if draft.given(*_CUSTOM) in ({}, None):
        draft.drop(_CUSTOM, "an empty custom block says nothing")
    selector: JsonObject = {"role": "base"}
    if base is not None:
        selector["modelRef"] = base.reference
    elif draft.name:
        selector["modelRef"] = {"name": draft.name}
    wanted = context.values.text(draft.source, "baseImage") or image
    convert_custom_templates(draft, replace(weights, image=wanted), selector, cluster=cluster)


def _base_image(draft: Draft) -> tuple[Path, str]:
    """Return where the input states the base image, in G's shape or in the served one, and the image."""
    place: Path = (*_CUSTOM, "image")
    stated, own = get_str(draft.source, *place), draft.given("spec", "image")
    if stated and own not in ("", None):
        draft.leave(place, "spec.image names a base image as well", "keep one of spec.image and spec.custom.image")
    elif stated:
        return place, stated
    return ("spec", "image"), own if isinstance(own, str) else ""


def _own_image(draft: Draft, context: Context, place: Path, image: str) -> str:
    """Put the base image into the model itself."""
    wanted = context.values.text(draft.source, "baseImage") or image
    target: Path = ("spec", "image")
    if image:
        draft.move(place, target)
    if wanted and wanted != image:
        draft.put(target, wanted)
        if draft.has(*place):
            reason = "the given values name the base image"
            draft.account(place, draft.id, target, fate=Fate.TYPED, reason=reason)
    if not wanted:
        draft.need(target, "the base image is not known; state it by --values as baseImage", near=("spec",))
        if is_empty(draft.get(*target)):
            draft.drop(target, "an empty image names nothing")
            draft.put(target, {})  # without an image servers would take every base definition of every image
    return wanted


def _version(draft: Draft, context: Context, image: str) -> None:
    """State which versions of the base definitions are taken: all, unless the model says otherwise."""
    source: Path = (*_CUSTOM, "versionPolicy")
    policy = version_policy(draft.given(*source)) or "all"
    if draft.has(*source):
        move_policy(draft, source)
    else:
        draft.put((*_PROFILES, "versionPolicy"), policy)
    if policy == "pinned":
        put_version(draft, context, image)


def version_policy(value: object) -> str:
    """Return the word of v1alpha2 for a policy of v1alpha1."""
    return "all" if value == "any" else value if isinstance(value, str) else ""


def move_policy(draft: Draft, source: Path) -> None:
    """Carry a policy; ``any`` is an older word for ``all``."""
    value = draft.given(*source)
    target: Path = (*_PROFILES, "versionPolicy")
    if value == "any":
        draft.retype(source, target, "all")
    elif draft.has(*source):
        draft.move(source, target, fate=Fate.RENAMED, reason="the policy is stated beside the derivation")


def put_version(draft: Draft, context: Context, image: str) -> None:
    """State the pinned version: the given one, or the tag of the image."""
    version = context.values.text(draft.source, "version") or image_tag(image)
    if version:
        draft.put((*_PROFILES, "version"), version)
        return
    draft.need(
        (*_PROFILES, "version"),
        "a pinned derivation needs the version of its sources; state it by --values as version, or choose another "
        "versionPolicy",
        near=("spec",),
    )


def _identity(draft: Draft, context: Context, *, cluster: bool) -> Weights:
    """Name the derived profiles and give them the weights."""
    given = context.values.text(draft.source, "aimId")
    aim_id = given or get_str(draft.source, "spec", "aimId") or ""
    if draft.has("spec", "aimId"):
        draft.move(("spec", "aimId"), (*_OVERRIDES, "aimId"), fate=Fate.RENAMED, reason="it names the derived profiles")
    if given:
        draft.put((*_OVERRIDES, "aimId"), given)
    if given and draft.has("spec", "aimId"):
        reason = "the given values name the derived profiles"
        draft.account(("spec", "aimId"), draft.id, (*_OVERRIDES, "aimId"), fate=Fate.TYPED, reason=reason)
    if not aim_id:
        draft.need(
            (*_OVERRIDES, "aimId"),
            "derived profiles need an AIM id; state it in spec.aimId, or by --values as aimId",
            near=("spec",),
        )
    sources = get_objects(draft.source, "spec", "modelSources")
    model_id = context.values.text(draft.source, "modelId") or (get_str(sources[0], "modelId") if sources else "") or ""
    if model_id:
        draft.put((*_OVERRIDES, "modelId"), model_id)
    else:
        draft.need(
            (*_OVERRIDES, "modelId"),
            "derived profiles need a model id; state it by --values as modelId",
            near=("spec",),
        )
    draft.move(
        ("spec", "modelSources"),
        (*_OVERRIDES, "modelSources"),
        fate=Fate.RENAMED,
        reason="the derived profiles have these weights",
    )
    env = [] if cluster else get_objects(draft.source, "spec", "env")
    return Weights("", aim_id, model_id, tuple(sources), ("spec", "modelSources"), tuple(env), derived=True)


def _settings_of_the_image(draft: Draft, base: BaseModel | None) -> None:
    """Carry what concerns the base image to its model; None is a model that has the image itself."""
    move_model_environment(draft, _OVERRIDES)
    if base is None:
        _inline_runtime(draft)
        return
    for name in _OF_THE_IMAGE:
        if draft.has("spec", name):
            _setting_of_the_image(draft, base, ("spec", name))
    share_with_base(draft, base, _OF_BOTH)


def _setting_of_the_image(draft: Draft, base: BaseModel, path: Path) -> None:
    """Carry a setting to the model of the base image, where that does not state another."""
    stated, found = draft.given(*path), get(base.value, *path)
    if base.beside is not None:
        draft.give(path, base.beside, path, reason="it concerns the base image")
        return
    if is_empty(stated):
        draft.drop(path, "it states nothing")
        return
    if base.is_written and is_empty(found):
        Beside(base.value).put(path, copied(stated))
    elif found != stated:
        draft.leave(
            path,
            "it concerns the base image, whose model is written elsewhere",
            f"state it in {field_path(path)} of that model, and remove it here",
        )
        return
    draft.drop(path)
    draft.account(path, id_of(base.value), path, fate=Fate.RENAMED, reason="it concerns the base image")


def _inline_runtime(draft: Draft) -> None:
    """Name the runtime config, which a model with profiles can't have."""
    path: Path = ("spec", "runtimeConfigName")
    if draft.given(*path) in ("", None):
        draft.drop(path, "it names no runtime config")
        return
    draft.leave(
        path,
        "a model with profiles names no runtime config",
        "convert without --inline, which puts it into the model of the base image, or remove it",
    )
