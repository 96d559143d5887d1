"""What becomes of each field of an AIMModel or AIMClusterModel (G, "Custom models", "Resource mapping")."""

from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate


def _same(path: str, reason: str = "the field is the same in v1alpha2") -> FieldFate:
    return FieldFate(path, Fate.MAPPED, f"AIMModel.{path.removesuffix('.**')}", reason)


_STAYS = tuple(
    _same(path)
    for path in (
        "spec.image",
        "spec.aimId",
        "spec.modelId",
        "spec.source.**",
        "spec.accelerator.**",
        "spec.profiles.**",
        "spec.discovery.**",
        "spec.imageMetadata.**",
        "spec.runtimeConfigName",
        "spec.imagePullSecrets.**",
        "spec.serviceAccountName",
        "spec.env.**",
        "spec.resources.**",
    )
)
_MOVES = (
    FieldFate(
        "spec.defaultServiceTemplate",
        Fate.RENAMED,
        "AIMProfile.spec.primary",
        "the default is marked on the profile itself",
    ),
    FieldFate("spec.modelSources[].**", Fate.RENAMED, "AIMProfile.spec.modelSources", "sources live on each profile"),
    FieldFate(
        "spec.custom.image", Fate.RENAMED, "AIMModel.spec.image", "the base image has a model of its own", served=False
    ),
    FieldFate("spec.custom.versionPolicy", Fate.TYPED, "AIMModel.spec.profiles.versionPolicy", "any is called all"),
    FieldFate("spec.custom.type", Fate.RENAMED, "AIMProfile.spec.type", "the type is stated on each profile"),
    FieldFate(
        "spec.custom.hardware.**",
        Fate.RENAMED,
        "AIMModel.spec.profiles.overrides",
        "hardware is stated in the overrides",
    ),
    FieldFate(
        "spec.customTemplates[].**",
        Fate.RENAMED,
        "AIMProfileSet.spec",
        "a profile set, or profiles, replace custom templates",
    ),
    FieldFate(
        "spec.profileCopy.selector.**",
        Fate.RENAMED,
        "AIMModel.spec.profiles.derivedFrom.selector",
        "selector and sourceRef move below derivedFrom",
    ),
    FieldFate(
        "spec.profileCopy.sourceRef.**",
        Fate.RENAMED,
        "AIMModel.spec.profiles.derivedFrom.sourceRef",
        "selector and sourceRef move below derivedFrom",
    ),
    FieldFate(
        "spec.profileCopy.**", Fate.RENAMED, "AIMModel.spec.profiles", "profile copies are derivations in v1alpha2"
    ),
    FieldFate(
        "spec.derivedFrom.**",
        Fate.RENAMED,
        "AIMModel.spec.profiles.derivedFrom",
        "the flat form is refused in v1alpha2",
    ),
)

MODEL_FATES = FateTable("AIMModel", (*_STAYS, *_MOVES))
"""A migration in place leaves models as they are; the fates are what a converted manifest states."""
