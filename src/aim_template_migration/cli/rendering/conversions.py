"""The ``convert`` command that comes next after a finding (pure)."""

import shlex

from aim_api.kinds import (
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    LEGACY_VERSION,
)
from aim_template_migration.cli.parser import PROG
from aim_template_migration.documents.codes.situations import CONVERTED
from aim_template_migration.documents.plan import Finding

_LAST_APPLIED = "LastAppliedPresent"
_KINDS = {
    kind.name: kind
    for kind in (
        AIM_SERVICE,
        AIM_MODEL,
        AIM_CLUSTER_MODEL,
        AIM_SERVICE_TEMPLATE,
        AIM_CLUSTER_SERVICE_TEMPLATE,
        AIM_TEMPLATE_CACHE,
    )
}


def convert_command(finding: Finding) -> str:
    """Return the command that shows what the object of a finding becomes, or an empty string where none helps.

    The live object is read at v1alpha1, as its manifest would state it; nothing is written.
    """
    if finding.code == _LAST_APPLIED:
        return general_convert_command(finding.code)
    kind_name, _, rest = finding.object.partition("/")
    kind = _KINDS.get(kind_name)
    if finding.code not in CONVERTED or kind is None:
        return ""
    namespace, _, name = rest.rpartition("/")
    where = ["-n", namespace] if namespace else []
    get = ["kubectl", "get", f"{kind.plural}.{LEGACY_VERSION}.{kind.group}", name, *where, "-o", "yaml"]
    return f"{shlex.join(get)} | {PROG} convert - --from-cluster"


def general_convert_command(code: str) -> str:
    """Return the command for a code without an object, or an empty string where none helps."""
    if code == _LAST_APPLIED:
        return f"{PROG} convert MANIFESTS --in-place --plan PLAN"
    return f"{PROG} convert MANIFESTS --from-cluster --diff" if code in CONVERTED else ""
