"""AIMModel derivations: profile copies, the flat derivedFrom, and fine-tunes (G, "Fine-tunes", "Resource mapping")."""

from aim_api.tree import JsonObject, get_map, get_str
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import Context, has_weights
from aim_template_migration.mapping.recipes.custom_model import move_policy, put_version, version_policy
from aim_template_migration.mapping.recipes.custom_templates import states_no_template
from aim_template_migration.mapping.recipes.draft import Draft
from aim_template_migration.mapping.recipes.environment import move_model_environment
from aim_template_migration.mapping.recipes.images import base_model, share_with_base
from aim_template_migration.mapping.recipes.ledger import Path
from aim_template_migration.mapping.recipes.versions import V1ALPHA2

_PROFILES: Path = ("spec", "profiles")
_DERIVED: Path = (*_PROFILES, "derivedFrom")
_OVERRIDES: Path = (*_PROFILES, "overrides")
_MODEL_LEVEL = ("imagePullSecrets", "serviceAccountName")
_OBJECTS = ("selector", "overrides", "sourceRef")
_NO_IMAGE = ("discovery", "imageMetadata")


def convert_derivation(draft: Draft, context: Context, field: str, *, cluster: bool) -> None:
    """Convert ``profileCopy`` or the flat ``derivedFrom``, which have the same shape, into ``profiles``."""
    old: Path = ("spec", field)
    copy = draft.given(*old)
    if not isinstance(copy, dict) or not all(isinstance(copy.get(name) or {}, dict) for name in _OBJECTS):
        return  # what has another shape stays where it is
    if not draft.relocate(old, _PROFILES):
        draft.leave(old, "spec.profiles is set already", f"keep one of spec.{field} and spec.profiles")
        return
    _source(draft, old, copy)
    move_policy(draft, (*old, "versionPolicy"))
    for name in ("version", "overrides"):
        draft.move((*old, name), (*_PROFILES, name))
    if copy.get("versionPolicy") in (None, "pinned") and not copy.get("version"):
        put_version(draft, context, "")
    _image(draft, old, copy)
    for name in _MODEL_LEVEL:
        if name in copy:
            draft.move((*old, name), ("spec", name))
    _aim_id(draft, copy)
    if draft.given("spec", "runtimeConfigName") in ("", None):
        draft.drop(("spec", "runtimeConfigName"), "it names no runtime config")
    if get_str(draft.source, "spec", "image"):
        _own_image(draft, context, cluster=cluster)
    draft.lead(_PROFILES, "derivedFrom")


def _source(draft: Draft, old: Path, copy: JsonObject) -> None:
    draft.move((*old, "sourceRef"), (*_DERIVED, "sourceRef"))
    selector: Path = (*_DERIVED, "selector")
    if not draft.move((*old, "selector"), selector) or copy.get("selector") is None:
        # Servers read the selector whether or not it is there.
        draft.put(selector, {})


def _image(draft: Draft, old: Path, copy: JsonObject) -> None:
    if not copy.get("image"):
        draft.drop((*old, "image"), "an empty image names nothing")
    elif get_str(copy, "overrides", "image"):
        draft.drop((*old, "image"), "overrides.image decides before it")
    else:
        draft.move((*old, "image"), (*_OVERRIDES, "image"))


def _aim_id(draft: Draft, copy: JsonObject) -> None:
    """Leave out a family that the sources have anyway; a model with profiles states none itself."""
    aim_id = draft.given("spec", "aimId")
    places = ((("overrides",), _OVERRIDES), (("selector",), (*_DERIVED, "selector")))
    stated = [(get_str(copy, *old, "aimId"), new) for old, new in places if get_str(copy, *old, "aimId")]
    if aim_id in ("", None):
        draft.drop(("spec", "aimId"), "it names no family")
    elif not stated:
        draft.move(("spec", "aimId"), (*_OVERRIDES, "aimId"), fate=Fate.RENAMED)
    elif stated[0][0] == aim_id:
        target = (*stated[0][1], "aimId")
        draft.drop(("spec", "aimId"), "the derivation says the same", fate=Fate.RENAMED, target=target)
    else:
        draft.leave(("spec", "aimId"), "the derivation states another AIM id", "keep one of them")


def _own_image(draft: Draft, context: Context, *, cluster: bool) -> None:
    """Derive from the model's own image: in the same model, or from a model of that image."""
    for field in ("profileCopy", "derivedFrom"):
        for path in (("sourceRef",), ("selector", "modelRef")):
            draft.drop(("spec", field, *path), "profiles of the model's own image are taken")
    if context.inline:
        return
    place: Path = ("spec", "image")
    base = base_model(draft, context, get_str(draft.source, *place) or "", place, cluster=cluster)
    draft.put((*_DERIVED, "selector", "modelRef"), base.reference)
    share_with_base(draft, base, _MODEL_LEVEL)


def is_fine_tune(model: JsonObject) -> bool:
    """Return whether a model takes the profiles of a family, and has no hardware of its own.

    It has own weights for them, or, with nothing else to serve, a policy that says which versions it takes (v1alpha1
    facts, AIMModel). At v1alpha2 such a policy is what a conversion has left to be decided.
    """
    spec = get_map(model, "spec")
    custom = get_map(spec, "custom")
    takes_versions = (
        get_str(model, "apiVersion") != V1ALPHA2
        and version_policy(custom.get("versionPolicy")) not in ("", "pinned")
        and all(is_empty(spec.get(name)) for name in ("image", "modelId", "modelSources"))
    )
    return bool(
        get_str(spec, "aimId")
        and (has_weights(spec) or takes_versions)
        and states_no_template(spec.get("customTemplates"))
        and not custom.keys() & {"image", "hardware"}
    )


def convert_fine_tune(draft: Draft, context: Context) -> None:
    """Derive from the profiles of the same family and exchange their weights."""
    policy = version_policy(draft.given("spec", "custom", "versionPolicy")) or "pinned"
    draft.move(
        ("spec", "aimId"),
        (*_DERIVED, "selector", "aimId"),
        fate=Fate.RENAMED,
        reason="profiles of this family are the sources",
    )
    if draft.has("spec", "custom", "versionPolicy"):
        move_policy(draft, ("spec", "custom", "versionPolicy"))
    else:
        draft.put((*_PROFILES, "versionPolicy"), policy)
    image = get_str(draft.source, "spec", "image") or ""
    if policy == "pinned":
        put_version(draft, context, image)
    draft.move(
        ("spec", "modelSources"),
        (*_OVERRIDES, "modelSources"),
        fate=Fate.RENAMED,
        reason="the derived profiles have these weights",
    )
    _beside_the_sources(draft, image, pinned=policy == "pinned")


def _beside_the_sources(draft: Draft, image: str, *, pinned: bool) -> None:
    place: Path = ("spec", "image")
    if image:
        draft.drop(place)
        if pinned:
            reason = "its tag is the version of the sources, whose image the derived profiles keep"
            draft.account(place, draft.id, (*_PROFILES, "version"), fate=Fate.IMPUTED, reason=reason)
        else:
            reason = "derived profiles keep the image of their sources"
            draft.account(place, "", (), fate=Fate.DEFAULTED, reason=reason)
        draft.note(place, "derived profiles keep the image of their sources; it is no longer stated here")
    elif draft.has(*place):
        draft.drop(place, "an empty image names nothing")
    move_model_environment(draft, _OVERRIDES)
    for name in _NO_IMAGE:
        draft.drop(("spec", name), "there is no image to discover")
    draft.drop(("spec", "customTemplates"), "they state nothing")
    draft.lose(
        ("spec", "custom", "type"),
        "derived profiles have the type of their sources",
        "let services accept it: spec.profile.selector.minimumType",
    )
    if draft.given("spec", "custom") in ({}, None):
        draft.drop(("spec", "custom"), "an empty custom block says nothing")
    if draft.has("spec", "runtimeConfigName"):
        draft.leave(
            ("spec", "runtimeConfigName"),
            "derived profiles take their runtime from their sources",
            "remove it; what the runtime config sets belongs into spec.profiles.overrides",
        )
