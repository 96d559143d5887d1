"""What becomes of each field of an AIMRuntimeConfig or AIMClusterRuntimeConfig: the kinds stay, at v1alpha1."""

from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate, field_of


def _same(path: str) -> FieldFate:
    return FieldFate(path, Fate.MAPPED, f"AIMRuntimeConfig.{field_of(path)}", "both pipelines read it")


RUNTIME_CONFIG_FATES = FateTable(
    "AIMRuntimeConfig",
    (
        *(
            _same(f"spec.{name}")
            for name in (
                "storage.**",
                "routing.**",
                "adapterRuntime.**",
                "scaleFromZero.**",
                "model.**",
                "artifact.**",
                "labelPropagation.**",
                "defaultStorageClassName",
                "pvcHeadroomPercent",
                "artifactStorageQuota.**",
            )
        ),
        FieldFate(
            "spec.env[].**",
            Fate.IMPUTED,
            "AIMProfile.spec.containerEnv",
            "the profile pipeline does not merge it, so it is written into the profile",
        ),
        FieldFate("spec.artifactCache.**", Fate.DEFAULTED, "", "no operator reads it any more"),
    ),
)
