"""What becomes of each field of an AIMModel or AIMClusterModel (G, "Custom models", "Resource mapping")."""

from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate, field_of


def _same(path: str, reason: str = "the field is the same in v1alpha2") -> FieldFate:
    return FieldFate(path, Fate.MAPPED, f"AIMModel.{field_of(path)}", reason)


_SAME = tuple(
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
        "spec.imagePullSecrets[].**",
        "spec.serviceAccountName",
        "spec.resources.**",
    )
)
_STAYS = (
    *_SAME,
    _same(
        "spec.runtimeConfigName",
        "the field is the same in v1alpha2; that of a model with own weights goes to the model of the base image",
    ),
    _same(
        "spec.env[].**",
        "the field is the same in v1alpha2; that of a model with own weights becomes containerEnv of its profiles, and "
        "AIM_ENGINE_ARGS in it their engineArgs",
    ),
)
_SELECTOR = "AIMModel.spec.profiles.derivedFrom.selector"
_NOT_SELECTED = "a selector states no minimum of video memory, no device resource and no quantity of CPU"
_SET = "AIMProfileSet.spec"
_SELECTED = (
    "a profile set selects by it; the model's derivation covers a template without settings of its own, whose hardware "
    "lies within that of the model"
)
_OWN_PROFILE = "a template with an engine profile of its own becomes an AIMProfile"


def _template(field: str, target: str, reason: str, fate: Fate = Fate.RENAMED, *, served: bool = True) -> FieldFate:
    return FieldFate(f"spec.customTemplates[].{field}", fate, target, reason, served=served)


_CUSTOM_TEMPLATES = (
    _template("name", "AIMProfileSet.metadata.name", "the object that replaces the template is named like it"),
    _template("type", "AIMProfile.spec.type", "derived profiles have the type of their sources"),
    _template(
        "env[].**",
        f"{_SET}.overrides.containerEnv",
        "it is the container's environment; AIM_ENGINE_ARGS in it becomes engineArgs",
    ),
    _template("hardware.gpu.model", f"{_SET}.selector.acceleratorModel", _SELECTED),
    _template("hardware.gpu.requests", f"{_SET}.selector.acceleratorCount", _SELECTED),
    _template("hardware.**", f"{_SET}.selector", _NOT_SELECTED, Fate.NEEDS_DECISION),
    _template("profile.metric", f"{_SET}.selector.metric", _SELECTED),
    _template("profile.precision", f"{_SET}.selector.precision", f"{_SELECTED}; no profile has the precision auto"),
    _template("aimId", f"{_SET}.overrides.aimId", "it names the profiles"),
    _template("modelId", f"{_SET}.overrides.modelId", "it names the profiles"),
    _template("customProfile.engineArgs.**", "AIMProfile.spec.engineArgs", _OWN_PROFILE),
    _template("customProfile.envVars.*", "AIMProfile.spec.engineEnv", _OWN_PROFILE),
    *(
        _template(field, f"{_SET}.selector.{field}", _SELECTED, served=False)
        for field in ("acceleratorModel", "acceleratorType", "acceleratorCount", "precision", "metric", "engine")
    ),
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
        "spec.custom.hardware.gpu.model",
        Fate.RENAMED,
        f"{_SELECTOR}.acceleratorModel",
        "definitions for it are selected; custom templates that state none inherit it",
    ),
    FieldFate(
        "spec.custom.hardware.gpu.requests",
        Fate.RENAMED,
        f"{_SELECTOR}.acceleratorCount",
        "definitions for so many are selected; custom templates that state none inherit it",
    ),
    FieldFate("spec.custom.hardware.**", Fate.NEEDS_DECISION, _SELECTOR, _NOT_SELECTED),
    *_CUSTOM_TEMPLATES,
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
