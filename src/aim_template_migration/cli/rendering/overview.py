"""A plan at a glance, for a fleet of any size (pure)."""

from collections import Counter
from itertools import groupby

from aim_template_migration.cli.console import Paint
from aim_template_migration.cli.rendering.conversions import convert_command
from aim_template_migration.cli.rendering.plan_view import PlanView
from aim_template_migration.cli.rendering.text import count, heading, listed, pairs, table, wrapped
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import Finding, Forecast, Unit

_MEANING = {
    "automatic": "apply migrates them",
    "manual": "no writes are made for them",
    "skip": "nothing is left to do",
    "total": "",
}
_TOP_REASONS = 10
_HANDOFF = "Follow docs/how-to/runbook.md#manual-dedicated-handoff, and run handoff check at every phase."
_DRY_RUN = " (dry run)"


def header_lines(view: PlanView, width: int) -> list[str]:
    """Return where the plan came from."""
    cluster = view.cluster.kube_system_uid or "known by its CRDs alone"
    rows = (
        ("plan", view.path),
        ("SHA-256", view.plan_sha256),
        ("made", f"{view.generated_at} by version {view.tool_version}"),
        ("cluster", f"{cluster} ({view.cluster.server_version})" if view.cluster.server_version else cluster),
        ("namespaces", listed(view.namespaces)),
        ("mode", view.runtime_projection_mode),
    )
    return pairs(rows, width)


def count_lines(view: PlanView, paint: Paint, width: int) -> list[str]:
    """Return totals by disposition and outcome, top reasons, and warnings."""
    rows = [(name, f"{number}", _MEANING[name]) for name, number in view.totals.items()]
    lines = ["", *table(("UNITS", "COUNT", ""), rows, paint)]
    outcomes = [(item.outcome, item.disposition, f"{item.units}") for item in view.outcomes]
    if outcomes:
        lines += ["", *table(("OUTCOME", "DISPOSITION", "UNITS"), outcomes, paint)]
    reasons = [(item.code, f"{item.units}", f"{item.alone}") for item in view.reasons[:_TOP_REASONS]]
    if reasons:
        lines += ["", *table(("TOP REASONS", "BLOCKS UNITS", "ALONE"), reasons, paint)]
    if len(view.reasons) > _TOP_REASONS:
        lines.append(f"and {count(len(view.reasons) - _TOP_REASONS, 'more reason')}; -o json lists all")
    warnings = [(item.code, f"{item.units}") for item in view.unit_warnings]
    if warnings:
        lines += ["", *table(("WARNINGS", "UNITS"), warnings, paint)]
    for finding in view.warnings:
        lines += finding_lines(finding, paint, width, "")
    return lines


def forecast_lines(forecast: Forecast, paint: Paint, width: int) -> list[str]:
    """Return what a commit will ask of the API server."""
    verbs: Counter[str] = Counter()
    for request, number in forecast.requests.items():
        verbs[f"{request.split()[0]}{_DRY_RUN if request.endswith(_DRY_RUN) else ''}"] += number
    requests = ", ".join(f"{number:,} {verb}" for verb, number in sorted(verbs.items())) or "none"
    rows = (
        ("requests", requests),
        ("sent", f"about {forecast.bytes:,} bytes in writes"),
        ("waits", f"at most {count(forecast.deadline_seconds, 'second')} in deadlines, one unit after another"),
    )
    return [*heading("FORECAST OF A COMMIT", paint), *pairs(rows, width, "  ")]


def evidence_lines(evidence: tuple[str, ...], paint: Paint, width: int) -> list[str]:
    """Return the evidence files, each with its path, and where the manual handoff is described; nothing without any."""
    if not evidence:
        return []
    lines = heading("DEDICATED HANDOFF EVIDENCE (never apply these files)", paint)
    lines += [f"  {path}" for path in evidence]
    return [*lines, *wrapped(_HANDOFF, width, "  ")]


def unit_list_lines(units: tuple[Unit, ...], paint: Paint, width: int) -> list[str]:
    """Return the units below their outcomes, each with its further reasons."""
    lines: list[str] = []
    ordered = sorted(units, key=lambda unit: (unit.disposition, unit.outcome))
    for (disposition, outcome), group in groupby(ordered, key=lambda unit: (unit.disposition, unit.outcome)):
        members = tuple(group)
        lines += heading(f"{outcome} ({disposition}, {count(len(members), 'unit')})", paint)
        for unit in members:
            lines.append(f"  {unit.id}")
            others = sorted({reason.code for reason in unit.reasons} - {outcome})
            if others:
                lines += wrapped(f"also: {', '.join(others)}", width, " " * 6)
    return lines


def finding_lines(finding: Finding, paint: Paint, width: int, indent: str) -> list[str]:
    """Return one reason or warning: what was found, where, and what to do."""
    advice = finding.advice or (CODES[finding.code].advice if finding.code in CODES else "")
    rows = (("object", finding.object), ("field", finding.field), ("found", finding.message), ("advice", advice))
    command = convert_command(finding)
    # A command to copy is one line, however long.
    shown = [f"{indent}  convert  {command}"] if command else []
    return [f"{indent}{paint(finding.code, 'yellow')}", *pairs(rows, width, f"{indent}  "), *shown]
