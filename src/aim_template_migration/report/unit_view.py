"""One unit of the report, from its plan, its record and its history (pure)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest

import msgspec

from aim_template_migration.documents.plan import Finding, SecretReference, Unit, step_name
from aim_template_migration.documents.plan_words import describe_pin, describe_proofs, describe_step
from aim_template_migration.documents.result import PodFacts, UnitResult, WorkloadFacts
from aim_template_migration.inspecting.records import UnitRecord
from aim_template_migration.report.changes import Surroundings, changes_of
from aim_template_migration.report.history import UnitHistory, rfc3339
from aim_template_migration.report.model import (
    ComparisonView,
    FindingView,
    ImputationView,
    PinView,
    StepView,
    UnitDetail,
    UnitRow,
)
from aim_template_migration.report.states import state_of


@dataclass(frozen=True, slots=True)
class UnitSource:
    """What is known of one unit: its plan, what is on record, how it ended, and when its steps ran."""

    unit: Unit
    record: UnitRecord
    result: UnitResult | None
    history: UnitHistory


def unit_row(source: UnitSource, plan: int) -> UnitRow:
    """Return the unit's line of the table."""
    unit, record = source.unit, source.record
    kind, *namespace = unit.id.split("/")[:-1] or [""]
    return UnitRow(
        plan=plan,
        id=unit.id,
        kind=kind,
        namespace="/".join(namespace),
        name=unit.id.rpartition("/")[2],
        disposition=unit.disposition,
        outcome=unit.outcome,
        state=state_of(unit, record),
        step=record.completed[-1] if record.completed else "",
        seconds=source.history.seconds,
        warnings=len(unit.warnings) + len(source.result.warnings if source.result else ()),
    )


def unit_detail(source: UnitSource, around: Surroundings) -> UnitDetail:
    """Return everything else about the unit."""
    unit, result = source.unit, source.result
    return UnitDetail(
        facts=tuple((label, value) for label, value in _facts(source) if value),
        reasons=tuple(finding_view(item) for item in unit.reasons),
        warnings=tuple(finding_view(item) for item in (*unit.warnings, *(result.warnings if result else ()))),
        steps=tuple(_steps(source)),
        changes=tuple(changes_of(unit, around)),
        comparisons=tuple(_comparisons(result)) if result else (),
        pins=tuple(PinView(pin.reference.id, describe_pin(pin)) for pin in unit.pins),
        imputations=tuple(
            ImputationView(item.object, item.field, msgspec.json.encode(item.value).decode(), item.source, item.rule)
            for item in unit.imputations
        ),
        not_checked=result.not_checked if result else (),
        after_expiry=unit.after_expiry.changes if unit.after_expiry else (),
        secrets=tuple(_secret(item) for item in unit.secret_refs),
    )


def finding_view(finding: Finding) -> FindingView:
    """Return a reason or a warning."""
    return FindingView(finding.code, finding.object, finding.message, finding.field, finding.advice)


def _secret(reference: SecretReference) -> str:
    keys = f" (keys: {', '.join(reference.keys)})" if reference.keys else ""
    return f"{reference.namespace}/{reference.name}{keys}"


def _facts(source: UnitSource) -> Iterator[tuple[str, str]]:
    unit, record, result = source.unit, source.record, source.result
    yield "disposition", unit.disposition
    yield "outcome", unit.outcome
    yield "status", record.status
    yield "code", record.code
    yield "message", record.message
    yield "HTTP status", "" if record.http_status is None else str(record.http_status)
    yield "server's message", record.server_message
    yield "next step", result.next_step if result else ""
    yield "InferenceService", unit.inference_service
    yield "target profile", unit.resolved_profile
    yield "reported profile", result.resolved_profile if result else ""
    yield from describe_proofs(unit.proofs)
    for attempt in record.attempts:
        yield "outcome unknown of", f"the write of {attempt.object} in {attempt.step}, begun {attempt.at}"
    if unit.evidence is not None:
        yield "Dedicated evidence", f"{unit.evidence.file} (SHA-256 {unit.evidence.sha256}); never apply it"


def _steps(source: UnitSource) -> Iterator[StepView]:
    """Steps of one name occur in the order of the plan; a journal can name steps that an edited plan has lost."""
    record, ran = source.record, list(source.history.steps)
    attempted, completed = list(record.attempted), list(record.completed)
    for step in source.unit.steps:
        name = step_name(step)
        done, begun = _taken(completed, name), _taken(attempted, name)
        times = next((item for item in ran if item.name == name), None)
        if times is not None:
            ran.remove(times)
        yield StepView(
            name=name,
            text=describe_step(step),
            state="completed" if done else "begun" if begun else "planned",
            started=rfc3339(times.begun) if times else "",
            seconds=times.seconds if times else None,
            requests=tuple(times.requests) if times else (),
        )


def _taken(names: list[str], name: str) -> bool:
    """Return whether ``name`` is there, and take it out once."""
    if name not in names:
        return False
    names.remove(name)
    return True


def _comparisons(result: UnitResult) -> Iterator[ComparisonView]:
    before, after = result.workload_before, result.workload_after
    if before is None and after is None:
        return
    pairs = zip_longest(_workload(before, after), _workload(after, before), fillvalue=("", ""))
    for (label, old), (other, new) in pairs:
        verdict = "" if before is None or after is None else "same" if old == new else "differs"
        yield ComparisonView(label or other, old, new, verdict)


def _workload(facts: WorkloadFacts | None, other: WorkloadFacts | None) -> Iterator[tuple[str, str]]:
    """Yield the facts of one side; both sides name the same pods, so that they stand beside each other."""
    yield "InferenceService", facts.inference_service if facts else ""
    yield "UID", facts.uid if facts else ""
    yield "generation", str(facts.generation) if facts else ""
    yield "desired spec", facts.spec_digest if facts else ""
    yield "desired metadata", facts.metadata_digest if facts else ""
    yield "Ready", str(facts.ready) if facts else ""
    yield "pod template", facts.template_hash if facts else ""
    own = {pod.name: pod for pod in facts.pods} if facts else {}
    for name in sorted({*own, *_names(other.pods if other else ())}):
        yield f"pod {name}", _pod(own.get(name))


def _names(pods: Iterable[PodFacts]) -> set[str]:
    return {pod.name for pod in pods}


def _pod(pod: PodFacts | None) -> str:
    return f"UID {pod.uid}, {pod.restarts} restarts, template {pod.template_hash}" if pod else "absent"
