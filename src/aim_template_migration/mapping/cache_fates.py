"""What becomes of each field of an AIMTemplateCache (G, "AIMTemplateCache → AIMProfileCache")."""

from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate

_ENABLED = "AIMProfile.spec.caching.enabled"
_BY_SERVICE = "the service controller derives the cache from the profile and the service"

TEMPLATE_CACHE_FATES = FateTable(
    "AIMTemplateCache",
    (
        FieldFate(
            "spec.templateName",
            Fate.RENAMED,
            _ENABLED,
            "caching is enabled on the profile; the cache is created by the controller",
        ),
        FieldFate("spec.templateScope", Fate.RENAMED, "AIMProfileCache.spec.profileScope", _BY_SERVICE),
        FieldFate("spec.env[].**", Fate.RENAMED, "AIMProfile.spec.caching.env", "it is the environment of downloads"),
        FieldFate("spec.mode", Fate.MAPPED, "AIMProfileCache.spec.mode", _BY_SERVICE),
        FieldFate("spec.runtimeConfigName", Fate.MAPPED, "AIMProfileCache.spec.runtimeConfigName", _BY_SERVICE),
        FieldFate(
            "spec.storageClassName",
            Fate.NEEDS_DECISION,
            "AIMService.spec.storage.defaultStorageClassName",
            "a cache takes its class from the service alone",
        ),
        FieldFate("spec.modelSources[].**", Fate.DEFAULTED, "", "no operator reads it; sources come from the profile"),
        FieldFate("spec.downloadImage", Fate.DEFAULTED, "", "no operator reads it"),
        FieldFate("spec.imagePullSecrets[].**", Fate.DEFAULTED, "", "no operator reads it"),
    ),
)
