"""AIMModel and AIMClusterModel: which recipe fits (G, "Custom models", "Fine-tunes", "Resource mapping")."""

from aim_api.tree import JsonObject, get, get_map, get_objects, get_str
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.fates import Fate
from aim_template_migration.mapping.recipes.context import (
    CLUSTER_PROFILES,
    LEGACY_MODEL_FIELDS,
    NAMESPACED_PROFILES,
    Context,
    has_weights,
    is_image_model,
)
from aim_template_migration.mapping.recipes.custom_model import convert_custom_model
from aim_template_migration.mapping.recipes.custom_templates import Weights, convert_custom_templates
from aim_template_migration.mapping.recipes.derived_model import convert_derivation, convert_fine_tune, is_fine_tune
from aim_template_migration.mapping.recipes.draft import Draft, id_of
from aim_template_migration.mapping.recipes.versions import V1ALPHA2, to_v1alpha2


def convert_model(draft: Draft, context: Context, *, cluster: bool) -> None:
    """Convert one model; one that is at v1alpha2 and has nothing of v1alpha1 stays as it is."""
    spec = get_map(draft.source, "spec")
    if draft.given("apiVersion") == V1ALPHA2 and not any(name in spec for name in LEGACY_MODEL_FIELDS):
        draft.unchanged = True
        return
    to_v1alpha2(draft)
    if "profiles" in spec:
        # The model is derived already; what is left of v1alpha1 beside it has to be decided about.
        return
    field = next((name for name in ("profileCopy", "derivedFrom") if not is_empty(spec.get(name))), "")
    if field:
        convert_derivation(draft, context, field, cluster=cluster)
    elif is_fine_tune(draft.source):
        convert_fine_tune(draft, context)
    elif isinstance(spec.get("custom"), dict) and has_weights(spec):
        convert_custom_model(draft, context, cluster=cluster)
    elif not is_image_model(draft.source):
        _profiles_of_the_image(draft, context, spec, cluster=cluster)
    _default_template(draft, context, cluster=cluster)


def _profiles_of_the_image(draft: Draft, context: Context, spec: JsonObject, *, cluster: bool) -> None:
    """Keep the image, and move sources and templates to profiles and profile sets of their own."""
    sources = tuple(get_objects(spec, "modelSources"))
    weights = Weights(
        get_str(spec, "image") or "",
        context.values.text(draft.source, "aimId") or get_str(spec, "aimId") or "",
        context.values.text(draft.source, "modelId") or (get_str(sources[0], "modelId") or "" if sources else ""),
        sources,
        ("spec", "modelSources"),
        () if cluster else tuple(get_objects(spec, "env")),
    )
    if draft.given("spec", "custom") in ({}, None):
        draft.drop(("spec", "custom"), "an empty custom block says nothing")
    convert_custom_templates(draft, weights, {"modelRef": {"name": draft.name}}, cluster=cluster)
    if spec.get("modelSources") in ([], None):
        draft.drop(("spec", "modelSources"), "an empty list states no source")
    elif sources:
        _sources(draft, context, cluster=cluster)


def _sources(draft: Draft, context: Context, *, cluster: bool) -> None:
    """Sources live on each profile: on those of custom templates and of templates of the input."""
    path = ("spec", "modelSources")
    names = context.templates_of(draft.namespace, draft.name, cluster=cluster)
    kinds = CLUSTER_PROFILES if cluster else NAMESPACED_PROFILES
    made = [found for name in names for found in context.profiles(kinds, draft, name)]
    profiles = [*(found.value for found in made), *(beside.value for beside in draft.beside)]
    having = [id_of(profile) for profile in profiles if get(profile, *path) == draft.given(*path)]
    if not having:
        draft.leave(
            path,
            "sources live on each profile, and the input has neither custom templates nor templates of this model that "
            "take them",
            "add spec.modelSources to each profile, or convert the model's templates together with it",
        )
        return
    draft.drop(path)
    draft.account(path, having[0], path, fate=Fate.RENAMED)


def _default_template(draft: Draft, context: Context, *, cluster: bool) -> None:
    """Mark the default on the profile itself, where the output has that profile."""
    path = ("spec", "defaultServiceTemplate")
    name = draft.given(*path)
    if name in ("", None):
        draft.drop(path, "an empty name marks no default")
        return
    if not isinstance(name, str):
        return
    kinds = CLUSTER_PROFILES if cluster else NAMESPACED_PROFILES
    profiles = list(context.profiles(kinds, draft, name))
    if not profiles:
        draft.leave(
            path, "the default is marked on the profile, which the input does not have", "set spec.primary of it"
        )
        return
    for profile in profiles:
        profile.put(("spec", "primary"), True)
    draft.drop(path)
    draft.account(path, profiles[0].id, ("spec", "primary"), fate=Fate.RENAMED)
