"""What becomes of each field of an AIMService (G, "AIMService"; profile pipeline facts, field mapping)."""

from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate, field_of

_SELECTOR = "AIMService.spec.profile.selector"
_OVERRIDES = "AIMService.spec.profileOverrides"


def _same(path: str, reason: str, refusal: str = "") -> FieldFate:
    return FieldFate(path, Fate.MAPPED, f"AIMService.{field_of(path)}", reason, refusal)


_BOTH = "both pipelines read it"
_NO_INLINE_CUSTOM = (
    "the profile pipeline has no inline custom model: a base-image AIMModel and a derived AIMModel replace it"
)
_ADAPTERS = "adapters on the target profile and their storage are not migrated in place"

_MODEL = (
    _same("spec.model.name", "it stays; spec.profile.name decides which profile is used"),
    _same("spec.model.image", "it stays in place; a manifest gets an explicit AIMModel instead"),
    *(
        FieldFate(
            f"spec.model.custom.{path}", Fate.RENAMED, f"AIMModel.spec.{target}", _NO_INLINE_CUSTOM, "CustomModel"
        )
        for path, target in (
            ("baseImage", "image"),
            ("modelSources[].**", "profiles.overrides.modelSources"),
            ("hardware.gpu.model", "profiles.derivedFrom.selector.acceleratorModel"),
            ("hardware.gpu.requests", "profiles.derivedFrom.selector.acceleratorCount"),
        )
    ),
    FieldFate(
        "spec.model.custom.hardware.**",
        Fate.NEEDS_DECISION,
        "AIMModel.spec.profiles.derivedFrom.selector",
        "a selector states no minimum of video memory, no device resource and no quantity of CPU",
        "CustomModel",
    ),
)
_TEMPLATE = (
    FieldFate(
        "spec.template.name", Fate.RENAMED, "AIMService.spec.profile.name", "a profile is named like its template"
    ),
    FieldFate(
        "spec.template.allowUnoptimized",
        Fate.TYPED,
        f"{_SELECTOR}.minimumType",
        "true means minimumType any; a profile that is named needs no minimum",
    ),
    *(
        FieldFate(
            f"spec.template.selectionCriteria.{name}",
            Fate.RENAMED,
            f"{_SELECTOR}.{name}",
            "the selector has the same field",
            served=False,
        )
        for name in ("precision", "acceleratorModel", "acceleratorCount", "metric", "engine", "type")
    ),
)
_PROFILE = (
    _same("spec.profile.**", "it belongs to the profile pipeline already"),
    _same("spec.profileOverrides.**", "it belongs to the profile pipeline already", "OverridesPresent"),
)
_REFUSED_OVERRIDES = (
    ("metric", "metric", "a value that selects goes to the selector"),
    ("precision", "precision", "a value that selects goes to the selector; auto is left out"),
)
_LEGACY_OVERRIDES = (
    *(
        FieldFate(f"spec.overrides.{name}", Fate.RENAMED, f"{_SELECTOR}.{target}", reason, "OverridesPresent")
        for name, target, reason in _REFUSED_OVERRIDES
    ),
    FieldFate(
        "spec.overrides.hardware.gpu.model",
        Fate.RENAMED,
        f"{_SELECTOR}.acceleratorModel",
        "it selects hardware",
        "OverridesPresent",
    ),
    FieldFate(
        "spec.overrides.hardware.gpu.requests",
        Fate.RENAMED,
        f"{_SELECTOR}.acceleratorCount",
        "it selects hardware",
        "OverridesPresent",
    ),
    FieldFate(
        "spec.overrides.hardware.gpu.minVram",
        Fate.NEEDS_DECISION,
        f"{_SELECTOR}.acceleratorModel",
        "no profile field states a minimum of video memory",
        "OverridesPresent",
    ),
    FieldFate(
        "spec.overrides.hardware.gpu.resourceName",
        Fate.NEEDS_DECISION,
        f"{_SELECTOR}.acceleratorVendor",
        "the device resource follows from the accelerator's vendor",
        "OverridesPresent",
    ),
    FieldFate(
        "spec.overrides.hardware.cpu.**",
        Fate.NEEDS_DECISION,
        "AIMService.spec.resources",
        "CPU quantities have no selector field",
        "OverridesPresent",
    ),
    FieldFate(
        "spec.overrides.engineArgs.**",
        Fate.TYPED,
        f"{_OVERRIDES}.engineArgs",
        "strings that are plain integers become integers",
        "OverridesPresent",
        served=False,
    ),
    FieldFate(
        "spec.overrides.modelSources[].**",
        Fate.RENAMED,
        f"{_OVERRIDES}.modelSources",
        "own weights for one service are an overlay of its named profile",
        "OverridesPresent",
        served=False,
    ),
    FieldFate(
        "spec.overrides.env[].**",
        Fate.NEEDS_DECISION,
        f"{_OVERRIDES}.containerEnv",
        "containerEnv and engineEnv are two different targets",
        "OverridesPresent",
        served=False,
    ),
    FieldFate(
        "spec.overrides.**",
        Fate.REFUSED,
        "",
        "the profile pipeline has profileOverrides, which are another shape",
        "OverridesPresent",
    ),
)
_CACHING = (
    FieldFate(
        "spec.caching.mode",
        Fate.TYPED,
        "AIMService.spec.caching.mode",
        "Auto and Always mean Shared, Never means Dedicated",
    ),
    _same("spec.caching.env[].**", "it is the environment of downloads in both pipelines"),
    FieldFate("spec.cacheModel", Fate.DEFAULTED, "", "no operator reads it any more"),
)
_ADAPTER_FIELDS = (
    _same("spec.adapterMode", _ADAPTERS),
    _same("spec.adapters[].**", _ADAPTERS),
    _same("spec.adapterRuntime.**", _ADAPTERS, "AdaptersUnsupported"),
)
_CARRIED = tuple(
    _same(path, _BOTH)
    for path in (
        "spec.replicas",
        "spec.minReplicas",
        "spec.maxReplicas",
        "spec.autoScaling.**",
        "spec.scaleFromZero.**",
        "spec.runtimeConfigName",
        "spec.storage.**",
        "spec.routing.**",
        "spec.resources.**",
        "spec.imagePullSecrets[].**",
        "spec.serviceAccountName",
        "spec.priorityClassName",
    )
)
_NOT_CARRIED = (
    FieldFate(
        "spec.env[].**",
        Fate.NEEDS_DECISION,
        "AIMProfile.spec.containerEnv",
        "the profile pipeline does not merge a service's env: it belongs into containerEnv or engineEnv of a profile",
        "ServiceSettingNotCarried",
    ),
    FieldFate(
        "spec.kvCache.**", Fate.REFUSED, "", "no released operator has it", "ServiceSettingNotCarried", served=False
    ),
)

SERVICE_FATES = FateTable(
    "AIMService",
    (*_MODEL, *_TEMPLATE, *_PROFILE, *_LEGACY_OVERRIDES, *_CACHING, *_ADAPTER_FIELDS, *_CARRIED, *_NOT_CARRIED),
)
