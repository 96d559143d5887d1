"""The lines of the checklist that come from what was read (pure; R, "Prerequisites").

What stops is what the runbook says to stop for: a predecessor that does not serve, a bridge that reports trouble or is
not proven, missing CRDs. What only keeps single units manual, or a later command from working, asks for attention.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from aim_api.kinds import AIM_SERVICE
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import ClusterIdentity, Finding, Unit
from aim_template_migration.documents.preflight import Answer, CheckedService, Prerequisite, RecordedIdentity
from aim_template_migration.inspecting.access import Access, Question
from aim_template_migration.inspecting.webhooks import Refusing
from aim_template_migration.planning.case import Case
from aim_template_migration.planning.checks.pipeline import (
    accepts_observed_generation,
    crd_faults,
    owning_pipeline,
)
from aim_template_migration.planning.currency import currency
from aim_template_migration.planning.steps import pins_of

EXCLUSION = (
    "The bridge is judged by the shape of what it reports on each AIMService: a condition and generations. What its "
    "code does is excluded from that proof: only a cutover shows that an InferenceService is really preserved. "
    "Removing the pin's annotations later, or running an operator that is not the bridge, resumes normal rendering "
    "with no change of spec."
)
_RECORDED = ("service", "inferenceService", "templateCache", "artifact", "pvc")
_BRIDGE = frozenset({"BridgeNotProven", "BridgeCompatibilityWarning"})


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the checklist that planning's own findings answer.

    Attributes:
        code: the prerequisite.
        stops: findings for which the runbook says to stop.
        warns: findings that keep a unit manual.
        good: what is said where there are none.
        notes: warnings that the line names: they keep no unit manual, and the line is not true without them.
        noted: what is said of the objects that these warnings are about.
        beside: fields whose findings are no concern of the line: a Dedicated cache may be as whole as a Shared one.
    """

    code: str
    stops: frozenset[str]
    warns: frozenset[str]
    good: str
    beside: frozenset[str] = frozenset()
    notes: frozenset[str] = frozenset()
    noted: str = ""


LINES: tuple[Line, ...] = (
    Line(
        "PredecessorsServing",
        frozenset({"PredecessorNotReady", "InferenceServiceNotCurrent"}),
        frozenset(),
        "every service and its InferenceService are Ready and current",
    ),
    Line(
        "OneInferenceService",
        frozenset({"AmbiguousInferenceService"}),
        frozenset(),
        "every service controls exactly one InferenceService",
    ),
    Line(
        "ClosureResolved",
        frozenset(),
        frozenset(
            {
                "ModelUnresolved",
                "TemplateUnresolved",
                "CacheUnresolved",
                "CacheNotReady",
                "ArtifactUnresolved",
                "PvcUnresolved",
            }
        ),
        "every service has one model, template, Ready cache, and artifacts on Bound claims",
        beside=frozenset({"spec.mode", "metadata.ownerReferences"}),
    ),
    Line(
        "NothingGoingAway",
        frozenset(),
        frozenset({"Terminating", "Paused"}),
        "nothing that the services depend on is terminating or paused",
    ),
    Line(
        "NotManagedElsewhere",
        frozenset(),
        frozenset({"ExternallyManaged"}),
        "no marker, field manager or owner of GitOps or another tool was found",
        notes=frozenset({"ClusterObjectManagedElsewhere"}),
        noted="managed from outside, cluster-scoped and only read, so that they keep no unit manual",
    ),
)


def crd_line(identity: ClusterIdentity) -> Prerequisite:
    """Return whether the CRDs serve and store what the migration needs."""
    faults = list(crd_faults(identity))
    evidence = tuple(
        f"{crd.name}: serves {', '.join(crd.served_versions)}; stores {crd.storage_version}; UID {crd.uid}"
        for crd in identity.crds
    )
    if not faults:
        return Prerequisite("CrdsSuitable", "ok", f"{len(identity.crds)} CRDs serve and store what is needed", evidence)
    findings = tuple(_finding("CrdVersionsUnsuitable", kind.crd_name, message) for kind, message in faults)
    return Prerequisite("CrdsSuitable", "stop", f"{findings[0].object}: {findings[0].message}", evidence, findings)


def namespace_line(namespaces: Sequence[str], faults: Mapping[str, str], services: Mapping[str, int]) -> Prerequisite:
    """Return whether the namespaces can be read and hold services.

    Args:
        namespaces: the selected ones.
        faults: why a namespace can't be read or is going away, by name.
        services: how many services a namespace holds, by name.
    """
    findings = [_finding("NamespacesReadable", f"Namespace/{name}", fault) for name, fault in sorted(faults.items())]
    empty = [name for name in namespaces if name not in faults and not services.get(name)]
    evidence = tuple(f"services in {name}: {number}" for name, number in sorted(services.items()))
    total = sum(services.values())
    if findings or not total:
        message = findings[0].message if findings else f"no {AIM_SERVICE.name} was found, so there is nothing to plan"
        return Prerequisite("NamespacesReadable", "stop", message, evidence, tuple(findings))
    if empty:
        warned = tuple(_finding("NamespaceWithoutServices", f"Namespace/{name}", "it has no service") for name in empty)
        return Prerequisite("NamespacesReadable", "attention", f"no service in {', '.join(empty)}", evidence, warned)
    return Prerequisite("NamespacesReadable", "ok", "every namespace can be read and holds a service", evidence)


def pipeline_line(units: Iterable[Unit]) -> Prerequisite:
    """Return which services are on the template pipeline."""
    chosen = tuple(units)
    moved = [unit for unit in chosen if unit.outcome == "AlreadyMigrated"]
    legacy = len(chosen) - len(moved)
    findings = _of(chosen, frozenset({"AlreadyMigrated", "PipelineAnnotation", "LegacyLabelsInvalid"}))
    message = f"on the template pipeline: {legacy} of {len(chosen)} services"
    odd = bool(findings) and (len(findings) > len(moved) or not legacy)
    return Prerequisite("TemplatePipeline", "attention" if odd else "ok", message, (), findings)


def bridge_line(cases: Iterable[Case], units: Mapping[str, Unit]) -> Prerequisite:
    """Return whether the operator has proven for each service of the template pipeline that it is the bridge."""
    chosen = [case for case in cases if _is_legacy(units[case.service.id])]
    findings = _of((units[case.service.id] for case in chosen), _BRIDGE)
    evidence = tuple(f"{case.service.id}: {bridge_proof(case, units[case.service.id]) or 'none'}" for case in chosen)
    if findings:
        return Prerequisite("BridgeProven", "stop", _first(findings), evidence, findings)
    observed = sum(accepts_observed_generation(case) for case in chosen)
    if observed:
        message = (
            f"{observed} of {len(chosen)} services are proven by status.observedGeneration alone, which plan takes "
            "with --accept-observed-generation only"
        )
        return Prerequisite("BridgeProven", "attention", message, evidence)
    return Prerequisite("BridgeProven", "ok", "the bridge reports every service as compatible", evidence)


def finding_lines(units: Iterable[Unit]) -> tuple[Prerequisite, ...]:
    """Return the lines that planning's own findings answer."""
    chosen = tuple(unit for unit in units if _is_legacy(unit))
    return tuple(_line(line, chosen) for line in LINES)


def access_lines(access: Access) -> tuple[Prerequisite, ...]:
    """Return whether the identity may do what reading and applying ask."""
    if access.unanswered:
        return (
            Prerequisite("ReadsPermitted", "unchecked", access.unanswered),
            Prerequisite("WritesPermitted", "unchecked", access.unanswered),
        )
    spared = tuple(f"not permitted, and not required: {item}" for item in access.lacks("read", optional=True))
    return (
        _permitted("ReadsPermitted", "stop", access.lacks("read"), spared),
        _permitted("WritesPermitted", "attention", access.lacks("apply"), ()),
    )


def webhook_line(found: Sequence[Refusing] | None, read: int, why: str) -> Prerequisite:
    """Return whether a webhook would refuse dry runs.

    Args:
        found: those that would, None where the configurations can't be read.
        read: how many configurations were read.
        why: why they can't be read.
    """
    if found is None:
        return Prerequisite("DryRunsPossible", "unchecked", f"webhook configurations can't be read: {why}")
    findings = tuple(
        _finding(
            "DryRunsPossible",
            item.configuration,
            f"webhook {item.webhook} declares side effects ({item.side_effects or 'none declared'}) and sees "
            f"{', '.join(item.writes)}{'' if item.certain else ', unless its selectors leave them out'}",
        )
        for item in found
    )
    if not findings:
        return Prerequisite("DryRunsPossible", "ok", f"{read} webhook configurations, none of which refuses dry runs")
    answer: Answer = "stop" if any(item.certain for item in found) else "attention"
    return Prerequisite("DryRunsPossible", answer, _first(findings), (), findings)


def checked_service(case: Case, unit: Unit) -> CheckedService:
    """Return one service with what the runbook wants recorded of it."""
    recorded = (
        RecordedIdentity(pin.role, pin.reference, pin.uid)
        for pin in pins_of(case)
        if pin.role in _RECORDED and not pin.absent
    )
    return CheckedService(
        id=unit.id,
        pipeline=owning_pipeline(case.service),
        bridge=bridge_proof(case, unit),
        inference_service_current=currency(case.closure)[0] or "",
        codes=tuple(dict.fromkeys(reason.code for reason in unit.reasons)),
        recorded=tuple(recorded),
    )


def bridge_proof(case: Case, unit: Unit) -> str:
    """Return by what it is known that the operator is the bridge, or an empty string."""
    if not _is_legacy(unit) or any(reason.code in _BRIDGE for reason in unit.reasons):
        return ""
    return "observedGeneration" if accepts_observed_generation(case) else "BridgeCompatible"


def _is_legacy(unit: Unit) -> bool:
    return unit.outcome != "AlreadyMigrated"


def _line(line: Line, units: Sequence[Unit]) -> Prerequisite:
    findings = tuple(item for item in _of(units, line.stops | line.warns) if item.field not in line.beside)
    # Services share what is cluster-scoped: each object is named once.
    notes = tuple(dict.fromkeys(item for unit in units for item in unit.warnings if item.code in line.notes))
    evidence = (f"services looked at: {len(units)}",)
    if not findings and not notes:
        return Prerequisite(line.code, "ok", line.good, evidence)
    answer: Answer = "stop" if any(item.code in line.stops for item in findings) else "attention"
    noted = f"{line.noted}: {', '.join(dict.fromkeys(item.object for item in notes))}" if notes else ""
    message = "; ".join(part for part in (_first(findings) if findings else "", noted) if part)
    return Prerequisite(line.code, answer, message, evidence, (*findings, *notes))


def _permitted(code: str, answer: Answer, denied: Sequence[Question], evidence: tuple[str, ...]) -> Prerequisite:
    if not denied:
        return Prerequisite(code, "ok", "everything asked for is permitted", evidence)
    findings = tuple(_finding("Forbidden", _resource(item), f"the identity may not {item}") for item in denied)
    return Prerequisite(code, answer, _first(findings), evidence, findings)


def _resource(question: Question) -> str:
    return f"{question.row.kind.name}/{question.namespace or ''}".rstrip("/")


def _of(units: Iterable[Unit], codes: frozenset[str]) -> tuple[Finding, ...]:
    return tuple(reason for unit in units for reason in unit.reasons if reason.code in codes)


def _first(findings: Sequence[Finding]) -> str:
    more = f" (and {len(findings) - 1} more)" if len(findings) > 1 else ""
    return f"{findings[0].object}: {findings[0].message}{more}"


def _finding(code: str, object_id: str, message: str) -> Finding:
    return Finding(code=code, object=object_id, message=message, advice=CODES[code].advice)
