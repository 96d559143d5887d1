"""AIMService ``spec.model``: an image or own weights become AIMModels of their own (G, "Resource mapping")."""

from aim_api.kinds import AIM_MODEL
from aim_api.names import derive_name
from aim_api.tree import get_map, get_objects, get_str
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import Context
from aim_template_migration.mapping.recipes.draft import Beside, Draft, id_of, new_object
from aim_template_migration.mapping.recipes.hardware import accelerator_fields
from aim_template_migration.mapping.recipes.images import (
    BaseModel,
    base_model,
    image_model_name,
    is_reference,
    share_with_base,
)
from aim_template_migration.mapping.recipes.ledger import Path

_MODEL: Path = ("spec", "model")
COPIED = ("runtimeConfigName", "imagePullSecrets", "serviceAccountName")
"""Fields of a service that the model of its image gets as well."""


def convert_service_model(draft: Draft, context: Context) -> None:
    """Give an image, or own weights, a model of their own and name it."""
    model = get_map(draft.source, *_MODEL)
    if model.get("name") not in ("", None):
        return
    image = get_str(model, "image")
    if image:
        _image(draft, context, image)
    elif isinstance(model.get("custom"), dict):
        _custom(draft, context)


def _image(draft: Draft, context: Context, image: str) -> None:
    path: Path = (*_MODEL, "image")
    given = context.values.text(draft.source, "modelName")
    known = context.model_of_image(draft, image, cluster=False)
    if given not in ("", get_str(known, "metadata", "name")):
        known = None
    written = None if known else context.written_model(AIM_MODEL, draft, image, given)
    known = known or written
    name = given or get_str(known, "metadata", "name") or ""
    if not name and not is_reference(image):
        draft.leave(
            path,
            "it is no reference of an image, so that nothing names the AIMModel of it",
            "render the manifest first, or state the name by --values as modelName",
        )
        draft.put((*_MODEL, "name"), {})  # which servers refuse, where they would take the image alone
        return
    name = name or image_model_name(image)
    if known is not None:
        base = BaseModel({"name": name}, known, is_written=written is not None)
        share_with_base(draft, base, COPIED)
    else:
        beside = Beside(new_object(AIM_MODEL, name, draft.namespace, {"image": image}), {("spec", "image"): path})
        known = beside.value
        context.note_model(draft, image, known)
        draft.beside.append(beside)
        for field in COPIED:
            if draft.has("spec", field):
                draft.give(("spec", field), beside, ("spec", field), keep=True)
    draft.put((*_MODEL, "name"), name)
    draft.drop(path)
    draft.account(path, id_of(known), ("spec", "image"), fate=Fate.RENAMED, reason="the image has a model of its own")
    draft.note(
        path,
        f"the image gets the AIMModel {name}; spec.model of a service that exists can't change, so such a service has "
        "to be created anew or migrated in place",
    )


def _custom(draft: Draft, context: Context) -> None:
    path: Path = (*_MODEL, "custom")
    custom = get_map(draft.source, *path)
    base = base_model(draft, context, get_str(custom, "baseImage") or "", (*path, "baseImage"), cluster=False)
    name = context.values.text(draft.source, "modelName") or derive_name([draft.name, "model"])
    derived = Beside(new_object(AIM_MODEL, name, draft.namespace, {}))
    draft.beside.append(derived)
    share_with_base(draft, base, COPIED)
    profiles: Path = ("spec", "profiles")
    selector: Path = (*profiles, "derivedFrom", "selector")
    derived.put((*selector, "role"), "base")
    derived.put((*selector, "modelRef"), base.reference)
    for key, source in accelerator_fields(draft, (*path, "hardware")).items():
        draft.give(source, derived, (*selector, key))
    derived.put((*profiles, "versionPolicy"), "all")
    _identity(draft, context, derived, (*profiles, "overrides"))
    sources = get_objects(custom, "modelSources")
    if sources:
        derived.put((*profiles, "overrides", "modelId"), sources[0].get("modelId"))
        draft.give((*path, "modelSources"), derived, (*profiles, "overrides", "modelSources"))
    draft.put((*_MODEL, "name"), name)


def _identity(draft: Draft, context: Context, derived: Beside, overrides: Path) -> None:
    aim_id = context.values.text(draft.source, "aimId")
    if aim_id:
        derived.put((*overrides, "aimId"), aim_id)
        return
    draft.need(
        (*overrides, "aimId"),
        "derived profiles need an AIM id, which a service does not state; state it by --values as aimId",
        near=(*_MODEL, "custom"),
        object_=derived.id,
    )
