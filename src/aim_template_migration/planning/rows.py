"""The rows of classification, in the order in which they decide the outcome."""

from collections.abc import Callable
from dataclasses import dataclass

from aim_template_migration.documents.plan import Finding
from aim_template_migration.planning.case import Case, Findings
from aim_template_migration.planning.checks import capture, health, joins, pipeline, service_settings, targets

AUTOMATIC = "SharedNoRollout"
DISAGREEMENT = "TargetDisagreement"


@dataclass(frozen=True, slots=True)
class Row:
    """One condition of automatic handling.

    Attributes:
        codes: the reasons it can give; the first one that holds is the outcome, if no earlier row fails.
        checks: what looks at the case.
    """

    codes: tuple[str, ...]
    checks: tuple[Callable[[Case], Findings], ...]


ROWS: tuple[Row, ...] = (
    Row(("AlreadyMigrated", "PipelineAnnotation"), (pipeline.check_pipeline,)),
    Row(("DedicatedHandoffRequiresQuiescence",), (pipeline.check_caching_mode,)),
    Row(("ReducedProjectionMode",), (pipeline.check_projection_mode,)),
    Row(("BridgeNotProven", "BridgeCompatibilityWarning", "CrdVersionsUnsuitable"), (pipeline.check_bridge,)),
    Row(("AdaptersUnsupported",), (service_settings.check_adapters,)),
    Row(("OverridesPresent", "ServiceSettingNotCarried"), (service_settings.check_settings,)),
    Row(
        ("CustomModel", "ModelUnresolved", "TemplateUnresolved", "CacheUnresolved", "AmbiguousInferenceService"),
        (joins.check_joins,),
    ),
    Row(("Terminating", "Paused"), (joins.check_going_away,)),
    Row(("ExternallyManaged",), (joins.check_external_management,)),
    Row(("SecretLiteral",), (joins.check_secret_literals,)),
    Row(("PredecessorNotReady", "InferenceServiceNotCurrent", "LegacyLabelsInvalid"), (health.check_predecessor,)),
    Row(
        ("CacheNotReady", "ArtifactUnresolved", "ArtifactOwned", "PvcUnresolved"),
        (health.check_cache, health.check_artifacts),
    ),
    Row(
        ("TargetProfileConflict", "TargetNotDiscovered", "UnmappedField", "ImputationNotSafe"),
        (targets.check_profile,),
    ),
    Row(("ClusterTargetMissing",), (targets.check_cluster_target,)),
    Row(("TargetWouldCapture",), (capture.check_capture,)),
    Row(("TargetProfileOwnsCache",), (targets.check_own_cache,)),
    Row(
        ("AnotherMatchingCache", "TargetCacheOwned", "TargetCacheConflict", DISAGREEMENT),
        (targets.check_profile_cache,),
    ),
)

_RANK = {code: place for place, code in enumerate(code for row in ROWS for code in row.codes)}


def all_findings(case: Case) -> tuple[Finding, ...]:
    """Run every check of every row; the findings come in the order of the rows' codes, then of object and field."""
    found = [item for row in ROWS for check in row.checks for item in check(case)]
    return in_order(found)


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """Return findings in their fixed order, each once."""
    if not findings:
        return ()
    distinct = {(item.code, item.object, item.field, item.message): item for item in findings}
    return tuple(sorted(distinct.values(), key=lambda item: (_RANK[item.code], item.object, item.field, item.message)))


def outcome(findings: tuple[Finding, ...]) -> str:
    """Return the outcome: the first code, in the order of rows, that was found, or the automatic one."""
    return min((item.code for item in findings), key=_RANK.__getitem__, default=AUTOMATIC)
