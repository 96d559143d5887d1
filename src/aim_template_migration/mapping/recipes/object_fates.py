"""What becomes of the fields that every object has."""

from aim_template_migration.mapping.fates import Fate, FateTable, FieldFate

OBJECT_FATES = (
    FieldFate("apiVersion", Fate.TYPED, "apiVersion", "it names v1alpha2"),
    FieldFate("kind", Fate.MAPPED, "kind", "it stays where both versions have the kind; templates become profiles"),
    FieldFate("metadata.**", Fate.MAPPED, "metadata", "names, labels and annotations stay"),
    FieldFate("status.**", Fate.MAPPED, "status", "an API server takes no status from a manifest"),
)


def whole_object(table: FateTable) -> FateTable:
    """Return a table of a kind's spec together with the fields that every object has."""
    return FateTable(table.kind, (*table.fates, *OBJECT_FATES))
