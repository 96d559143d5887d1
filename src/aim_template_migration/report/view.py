"""The page's values from plans, runs and backups (pure)."""

from collections import Counter
from collections.abc import Iterator, Sequence

from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.plan import Plan
from aim_template_migration.inspecting.records import NOTHING
from aim_template_migration.report.changes import Surroundings
from aim_template_migration.report.charts import MOST_BARS, namespace_bars, timeline
from aim_template_migration.report.history import UnitHistory, unit_histories
from aim_template_migration.report.model import CodeView, PlanSection, Report, UnitDetail, UnitRow
from aim_template_migration.report.sources import Source
from aim_template_migration.report.states import counted
from aim_template_migration.report.unit_view import UnitSource, finding_view, unit_detail, unit_row

_STATES = {"none": "not run", "incomplete": "broke off, or still goes on"}


def report_of(sources: Sequence[Source], *, made_at: str, tool_version: str) -> Report:
    """Return the report of some plans and what is on disk of their runs."""
    sections: list[PlanSection] = []
    rows: list[UnitRow] = []
    details: list[UnitDetail] = []
    labels = _labels(sources)
    for number, source in enumerate(sources):
        histories = unit_histories(source.run.journal.entries if source.run.journal else ())
        units = _unit_sources(source, histories)
        around = Surroundings({target.id: target.body for target in source.files.plan.targets}, source.backup)
        own = [unit_row(unit, number) for unit in units]
        details += [unit_detail(unit, around) for unit in units]
        sections.append(_section(labels[number], source, own, histories))
        rows += own
    return Report(
        made_at=made_at,
        tool_version=tool_version,
        plans=tuple(sections),
        rows=tuple(rows),
        details=tuple(details),
        codes=_codes(rows, details, sections),
        limits=LIMITS,
    )


def _labels(sources: Sequence[Source]) -> list[str]:
    """Return the names of the plan directories, or their whole paths where two have one name or one has none."""
    names = [source.files.directory.name for source in sources]
    if "" in names or len(set(names)) < len(names):
        return [str(source.files.path) for source in sources]
    return names


def _unit_sources(source: Source, histories: dict[str, UnitHistory]) -> list[UnitSource]:
    result = source.run.result
    endings = {unit.id: unit for unit in result.units} if result else {}
    return [
        UnitSource(
            unit,
            source.run.records.get(unit.id, NOTHING),
            endings.get(unit.id),
            histories.get(unit.id) or UnitHistory(),
        )
        for unit in source.files.plan.units
    ]


def _section(label: str, source: Source, rows: list[UnitRow], histories: dict[str, UnitHistory]) -> PlanSection:
    plan, bars = source.files.plan, namespace_bars(rows)
    outcomes = Counter((row.namespace or "(cluster)", row.outcome) for row in rows)
    return PlanSection(
        label=label,
        facts=tuple((label, value) for label, value in _facts(source) if value),
        problems=source.run.described.problems,
        warnings=tuple(finding_view(item) for item in plan.warnings),
        states=counted(row.state for row in rows),
        namespaces=bars[:MOST_BARS],
        more_namespaces=max(len(bars) - MOST_BARS, 0),
        outcomes=tuple((namespace, outcome, number) for (namespace, outcome), number in sorted(outcomes.items())),
        timeline=timeline(rows, histories),
    )


def _facts(source: Source) -> Iterator[tuple[str, str]]:
    files, plan, run = source.files, source.files.plan, source.run.described
    yield "plan", str(files.path)
    yield "SHA-256", files.sha256
    yield "plan id", plan.plan_id
    yield "made", f"{plan.generated_at} by version {plan.tool_version}"
    yield "cluster", _cluster(plan)
    yield "namespaces", ", ".join(plan.namespaces)
    yield "mode", plan.runtime_projection_mode
    yield "run", _STATES.get(run.state, run.state)
    if run.state == "none":
        return
    yield "writes", "dry run, nothing was stored" if run.mode == "dry-run" else run.mode
    yield "run id", run.run_id
    yield "started", run.started_at
    yield "finished", run.finished_at
    yield "stopped", run.stopped
    yield "lock", run.lock
    yield "result", run.result
    yield "journal", f"{run.journal} ({run.journal_entries} entries)"


def _cluster(plan: Plan) -> str:
    uid = plan.cluster.kube_system_uid or "known by its CRDs alone"
    return f"{uid} ({plan.cluster.server_version})" if plan.cluster.server_version else uid


def _codes(rows: list[UnitRow], details: list[UnitDetail], sections: list[PlanSection]) -> dict[str, CodeView]:
    used = {row.outcome for row in rows}
    for detail in details:
        used |= {finding.code for finding in (*detail.reasons, *detail.warnings)}
        used |= {item.rule for item in detail.imputations}
        used |= {value for label, value in detail.facts if label == "code"}
    for section in sections:
        used |= {finding.code for finding in section.warnings}
    return {code: CodeView(CODES[code].summary, CODES[code].advice) for code in sorted(used) if code in CODES}
