"""What becomes of each field of an AIM(Cluster)ServiceTemplate (G, "AIMServiceTemplate → AIMProfile")."""

from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate, field_of


def _same(path: str, reason: str = "the profile has the same field") -> FieldFate:
    return FieldFate(path, Fate.MAPPED, f"AIMProfile.{field_of(path)}", reason)


_RENAMED = (
    FieldFate(
        "spec.env[].**",
        Fate.RENAMED,
        "AIMProfile.spec.containerEnv",
        "it is the container's environment; AIM_ENGINE_ARGS becomes engineArgs",
    ),
    FieldFate(
        "spec.hardware.gpu.model",
        Fate.RENAMED,
        "AIMProfile.spec.acceleratorModel",
        "the accelerator fields are flat on a profile",
    ),
    FieldFate(
        "spec.hardware.gpu.requests",
        Fate.RENAMED,
        "AIMProfile.spec.acceleratorCount",
        "the accelerator fields are flat on a profile",
    ),
    FieldFate(
        "spec.customProfile.engineArgs.**",
        Fate.RENAMED,
        "AIMProfile.spec.engineArgs",
        "a profile holds its own engine arguments",
    ),
    FieldFate(
        "spec.customProfile.envVars.*",
        Fate.RENAMED,
        "AIMProfile.spec.engineEnv",
        "a profile holds its own engine environment",
    ),
)
_LOOKED_UP = (
    FieldFate(
        "spec.modelName",
        Fate.IMPUTED,
        "AIMProfile.spec.image",
        "a profile names no model; the model's image is written into it",
    ),
    FieldFate(
        "spec.runtimeConfigName",
        Fate.IMPUTED,
        "AIMProfile.spec.containerEnv",
        "a profile names no runtime config; its environment is written into the profile",
    ),
    FieldFate(
        "spec.hardware.gpu.resourceName", Fate.DEFAULTED, "", "amd.com/gpu is what a profile without a vendor asks for"
    ),
)
_DECISIONS = (
    FieldFate(
        "spec.hardware.gpu.minVram",
        Fate.NEEDS_DECISION,
        "AIMProfile.spec.acceleratorModel",
        "no profile field states a minimum of video memory",
        "UnmappedField",
    ),
    FieldFate(
        "spec.hardware.cpu.**",
        Fate.NEEDS_DECISION,
        "AIMProfile.spec.resources",
        "CPU quantities have no accelerator field",
        "UnmappedField",
    ),
)
_CACHING = (
    FieldFate(
        "spec.caching.enabled",
        Fate.MAPPED,
        "AIMProfile.spec.caching.enabled",
        "such a profile makes a cache of its own",
    ),
    FieldFate(
        "spec.caching.env[].**", Fate.MAPPED, "AIMProfile.spec.caching.env", "it is the environment of downloads"
    ),
)
_GUIDE_ONLY = tuple(
    FieldFate(
        f"spec.{name}",
        Fate.MAPPED,
        f"AIMProfile.spec.{field_of(name)}",
        "the profile has the same field",
        "UnmappedField",
        served=False,
    )
    for name in (
        "acceleratorModel",
        "acceleratorType",
        "acceleratorCount",
        "acceleratorVendor",
        "engine",
        "engineArgs.**",
        "image",
    )
)

TEMPLATE_FATES = FateTable(
    "AIMServiceTemplate",
    (
        *(_same(path) for path in ("spec.aimId", "spec.modelId", "spec.profileId", "spec.type", "spec.metric")),
        FieldFate(
            "spec.precision",
            Fate.TYPED,
            "AIMProfile.spec.precision",
            "a profile states a real precision; auto is replaced by what discovery found",
        ),
        *(
            _same(path)
            for path in (
                "spec.resources.**",
                "spec.modelSources[].**",
                "spec.imagePullSecrets[].**",
                "spec.serviceAccountName",
            )
        ),
        *_RENAMED,
        *_LOOKED_UP,
        *_DECISIONS,
        *_CACHING,
        *_GUIDE_ONLY,
    ),
)
