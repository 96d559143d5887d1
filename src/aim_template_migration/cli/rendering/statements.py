"""The runbook's limits, in the same words wherever they are printed (R, "Controlled-development limitations")."""

from aim_template_migration.cli.rendering.text import listed, wrapped
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.plan import Plan

CONTROLLED_DEVELOPMENT = (
    "This is a controlled-development tool. Commit only to disposable, non-production resources in isolated namespaces "
    "without real credentials."
)
SAME_PERMISSIONS = "A dry run needs the same permissions as a commit, because admission validates every write."


def limits_lines(width: int) -> list[str]:
    """Return the closing statement."""
    return ["", *wrapped(LIMITS, width)]


def commit_notice(plan: Plan) -> list[str]:
    """Return what ``apply --commit`` states once before it starts, and where closures reference Secrets."""
    namespaces = sorted({item.namespace for unit in plan.units for item in unit.secret_refs})
    if not namespaces:
        return [CONTROLLED_DEVELOPMENT]
    return [CONTROLLED_DEVELOPMENT, f"Namespaces whose closures reference Secrets: {listed(namespaces, most=20)}."]
