"""A rehearsal told for a newcomer, chapter by chapter (pure)."""

from collections.abc import Iterable, Mapping

from aim_template_migration.cli.console import Paint
from aim_template_migration.cli.rendering.overview import count_lines as plan_count_lines
from aim_template_migration.cli.rendering.overview import evidence_lines
from aim_template_migration.cli.rendering.plan_view import summary_of, view_of
from aim_template_migration.cli.rendering.run_result import count_lines, trouble_lines
from aim_template_migration.cli.rendering.statements import limits_lines
from aim_template_migration.cli.rendering.text import count, heading, pairs, wrapped
from aim_template_migration.documents.inspection import InspectedUnit
from aim_template_migration.documents.plan import Unit
from aim_template_migration.documents.rehearsal import InferenceServiceFacts, RehearsalReport
from aim_template_migration.documents.result import ApplyResult, UnitResult
from aim_template_migration.rehearsing.events import (
    Chapter,
    FaultAnswered,
    FleetLoaded,
    PlanMade,
    RehearsalClosed,
    RunBegins,
    RunEnded,
)
from aim_template_migration.rehearsing.observation import ServiceFacts
from aim_template_migration.rehearsing.reporting import is_untouched

_TOLD = 12
_NOTHING = "nothing"
_STATUS_WORDS = {"inFlight": "under way when the process was killed"}


def chapter_lines(chapter: Chapter, paint: Paint, width: int) -> list[str]:
    """Return one chapter as text."""
    match chapter:
        case FleetLoaded():
            return _fleet(chapter, paint, width)
        case PlanMade():
            return _plan(chapter, paint, width)
        case RunBegins():
            return _run_begins(chapter, paint, width)
        case RunEnded():
            return _run_ended(chapter, paint, width)
        case FaultAnswered():
            return _fault_answered(chapter, paint, width)
        case RehearsalClosed():
            return _closing(chapter, paint, width)


def _fleet(chapter: FleetLoaded, paint: Paint, width: int) -> list[str]:
    text = (
        f"A local Kubernetes API with a simulated bridge operator is up at {chapter.server}; no real cluster is "
        f"touched. It holds {chapter.world}: {chapter.summary}"
    )
    lines = [*heading("1. THE CLUSTER", paint), *wrapped(text, width), ""]
    for facts in list(chapter.services.values())[:_TOLD]:
        lines += _service(facts, paint, width)
    lines += _and_more(len(chapter.services))
    if chapter.not_rehearsed:
        lines += ["", paint("What this rehearsal cannot show of it:", "bold")]
        lines += [line for sentence in chapter.not_rehearsed for line in wrapped(sentence, width, "  - ", "    ")]
    return lines


def _service(facts: ServiceFacts, paint: Paint, width: int) -> list[str]:
    serving = facts.inference_service
    rows = (
        ("template", facts.template),
        ("profile", facts.profile),
        (
            "served by",
            f"InferenceService {facts.inference_service_name}, {_identity(serving)}" if serving else _NOTHING,
        ),
        ("pods", f"{len(facts.pods)}"),
    )
    return [f"  {paint(facts.id, 'bold')} is {facts.status or 'without a status'}", *pairs(rows, width, "    ")]


def _plan(chapter: PlanMade, paint: Paint, width: int) -> list[str]:
    files = chapter.files
    text = (
        "plan has read these namespaces and written a private plan directory. Automatic units can be cut over without "
        "touching their InferenceService; manual ones are left to people, each with its reasons."
    )
    lines = [*heading("2. THE PLAN", paint), *wrapped(text, width)]
    lines += pairs((("directory", str(files.directory)), ("SHA-256", files.sha256)), width, "  ")
    view = summary_of(view_of(files, (), edited=False))
    lines += [*plan_count_lines(view, paint, width), ""]
    for unit in files.plan.units[:_TOLD]:
        lines += _planned(unit, paint, width)
    return [*lines, *_and_more(len(files.plan.units)), *evidence_lines(view.evidence, paint, width)]


def _planned(unit: Unit, paint: Paint, width: int) -> list[str]:
    lines = [f"  {paint(unit.id, 'bold')}: {unit.disposition}, {unit.outcome}"]
    if unit.steps:
        lines += wrapped(f"{len(unit.steps)} steps lead to profile {unit.resolved_profile}", width, "    ")
    for reason in unit.reasons:
        lines += wrapped(f"{reason.code}: {reason.message}", width, "    ", "      ")
    return lines


def _run_begins(chapter: RunBegins, paint: Paint, width: int) -> list[str]:
    if chapter.rerun:
        text = (
            "apply --commit once more. A rerun is no resumption: it reads and validates what is there now, and goes on "
            "from that."
        )
        return [*heading("6. THE RERUN", paint), *wrapped(text, width)]
    if not chapter.commit:
        text = (
            "apply re-reads and revalidates every unit, then sends every write with dryRun=All: the API server "
            "validates it and stores nothing."
        )
        return [*heading("3. THE DRY RUN", paint), *wrapped(text, width)]
    text = (
        "For each automatic unit, apply --commit creates its profile and its cache, waits until the operator has "
        "adopted the weights that are there, then moves the service with one patch whose pin tells the operator to "
        "leave the InferenceService alone."
    )
    lines = [*heading("4. THE COMMIT", paint), *wrapped(text, width)]
    if chapter.fault is not None:
        lines += ["", *wrapped(f"Fault {chapter.fault.text}: {chapter.fault.fault.happens}", width)]
    return lines


def _fault_answered(chapter: FaultAnswered, paint: Paint, width: int) -> list[str]:
    fault, answered = chapter.chosen.fault, chapter.answered
    lines = [*heading("5. THE ANSWER", paint)]
    if not answered.happened:
        return [*lines, *wrapped(f"The fault did not come up: no request of {answered.step} was sent.", width)]
    lines += wrapped(fault.answer, width)
    for answer in answered.answers[:_TOLD]:
        code = f" ({answer.code})" if answer.code else ""
        lines.append(f"  {paint(answer.id, 'bold')}: {_STATUS_WORDS.get(answer.status, answer.status)}{code}")
    lines += _and_more(len(answered.answers))
    if chapter.inspected:
        lines += ["", *wrapped("inspect, which only looks, says:", width)]
        lines += [line for unit in chapter.inspected[:_TOLD] for line in _inspected(unit, width)]
    if chapter.refusal:
        lines += ["", *wrapped("The next apply refuses to start:", width)]
        lines += [line for text in chapter.refusal.splitlines() for line in wrapped(text, width, "  ")]
    if fault.mending:
        lines += ["", *wrapped(f"What an administrator does now: {fault.mending}", width)]
    did = "That is done" if fault.mending else "Before a rerun an administrator archives result and journal, as is done"
    text = f"{did}; they are in {chapter.archive}."
    return [*lines, "", *wrapped(text, width)]


def _run_ended(chapter: RunEnded, paint: Paint, width: int) -> list[str]:
    result = chapter.outcome.result
    lines = [*count_lines(result, paint), *trouble_lines(result, paint, width)]
    if chapter.outcome.fault:
        lines += wrapped(f"The run was stopped: {chapter.outcome.fault.message}", width)
    if not chapter.commit:
        return [*lines, *_dry_run_verdict(result, width)]
    cut_over = [unit for unit in result.units if unit.disposition == "automatic" and unit.attempted_steps]
    lines += [""] if cut_over else []
    for unit in cut_over[:_TOLD]:
        lines += _cutover(unit, chapter.before, chapter.after, paint, width)
    return [*lines, *_and_more(len(cut_over))]


def _dry_run_verdict(result: ApplyResult, width: int) -> list[str]:
    proven = result.counts["succeeded"]
    if not proven:
        return ["", *wrapped("No unit would be migrated, so the commit will write nothing.", width)]
    text = (
        f"{count(proven, 'unit')} would migrate as planned: nothing has changed since the plan, the tool has every "
        "permission that it needs, and admission accepts every write. What an operator makes of them, no dry run "
        "can show."
    )
    return ["", *wrapped(text, width)]


def _inspected(unit: InspectedUnit, width: int) -> list[str]:
    lines = wrapped(f"{unit.id}: {unit.finding}: {unit.message}", width, "  ", "    ")
    for attempt in unit.attempts:
        lines += wrapped(f"{attempt.step} of {attempt.object}: {attempt.code}: {attempt.message}", width, "    ")
    return lines


def _cutover(
    unit: UnitResult,
    before: Mapping[str, ServiceFacts],
    after: Mapping[str, ServiceFacts],
    paint: Paint,
    width: int,
) -> list[str]:
    old, new = before.get(unit.id), after.get(unit.id)
    same = is_untouched(old, new)
    verdict = paint("unchanged", "green") if same else paint("CHANGED", "red")
    rows = (
        (
            "profile",
            f"{old.profile if old and old.profile else 'none'} -> {new.profile if new and new.profile else 'none'}",
        ),
        ("before", _serving(old)),
        ("after", _serving(new)),
    )
    return [
        f"  {paint(unit.id, 'bold')}: {unit.status}, InferenceService and pods {verdict}",
        *pairs(rows, width, "    "),
    ]


def _serving(facts: ServiceFacts | None) -> str:
    if facts is None or facts.inference_service is None:
        return _NOTHING
    return f"{_identity(facts.inference_service)}, {count(len(facts.pods), 'pod')}"


def _identity(facts: InferenceServiceFacts) -> str:
    return f"UID {facts.uid}, generation {facts.generation}"


def _closing(chapter: RehearsalClosed, paint: Paint, width: int) -> list[str]:
    report = chapter.report
    audit = report.audit
    text = (
        "The API server's own audit log of the tool's identity, and the objects as the rehearsal itself read them "
        "before and after:"
    )
    rows = (
        ("writes stored", f"{audit.mutations}"),
        ("dry runs", f"{audit.dry_runs}"),
        ("deletes", f"{audit.deletes}"),
        ("Secret reads", f"{audit.secret_reads}"),
        ("unchanged", f"{_unchanged(report)} of {count(_serving_units(report), 'InferenceService')} and their pods"),
        ("on a profile", count(sum(bool(unit.resolved_profile) for unit in report.units), "service")),
    )
    return [
        *heading("5. THE PROOF" if report.fault is None else "7. THE PROOF", paint),
        *wrapped(text, width),
        *pairs(rows, width, "  "),
        "",
        *wrapped("Supplied by the simulation, so not proven for any real cluster:", width),
        *(line for proof in report.supplied_by_simulation for line in wrapped(proof, width, "  - ", "    ")),
        *limits_lines(width),
    ]


def _unchanged(report: RehearsalReport) -> int:
    return sum(
        unit.inference_service.before is not None
        and unit.inference_service.before == unit.inference_service.after
        and unit.pods.before == unit.pods.after
        for unit in report.units
    )


def _serving_units(report: RehearsalReport) -> int:
    return sum(unit.inference_service.before is not None for unit in report.units)


def _and_more(number: int) -> Iterable[str]:
    return [f"  and {number - _TOLD:,} more"] if number > _TOLD else []
