"""Fields of the closure that no fate table knows (pure): a newer operator may have added them."""

from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_MODEL,
    AIM_RUNTIME_CONFIG,
    AIM_TEMPLATE_CACHE,
)
from aim_api.tree import field_path
from aim_template_migration.derived import kept
from aim_template_migration.mapping.cache_fates import TEMPLATE_CACHE_FATES
from aim_template_migration.mapping.fates import FateTable
from aim_template_migration.mapping.model_fates import MODEL_FATES
from aim_template_migration.mapping.runtime_config_fates import RUNTIME_CONFIG_FATES
from aim_template_migration.planning.case import Case, Findings, finding
from aim_template_migration.planning.snapshot import Observed

_TABLES: dict[str, FateTable] = {
    AIM_MODEL.name: MODEL_FATES,
    AIM_CLUSTER_MODEL.name: MODEL_FATES,
    AIM_TEMPLATE_CACHE.name: TEMPLATE_CACHE_FATES,
    AIM_RUNTIME_CONFIG.name: RUNTIME_CONFIG_FATES,
    AIM_CLUSTER_RUNTIME_CONFIG.name: RUNTIME_CONFIG_FATES,
}


def unknown_fields(case: Case) -> Findings:
    """Yield a finding for every field of the model, the template cache and the runtime configs that no table knows."""
    for item in case.closure.objects:
        for where in _unknown(item):
            message = f"{where} is not known to this tool, so its meaning might be lost"
            yield finding("UnmappedField", item, message, where)


@kept
def _unknown(item: Observed) -> tuple[str, ...]:
    table = _TABLES.get(item.kind.name)
    if table is None:
        return ()
    found = table.exceptions({"spec": item.obj.get("spec")})
    return tuple(field_path(path) for path, _, fate in found if fate is None and len(path) > 1)
