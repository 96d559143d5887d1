"""How an apply ended, for people: counts, every unit that needs attention, and what comes next (pure)."""

from itertools import groupby

from aim_template_migration.applying.plan_files import journal_path
from aim_template_migration.applying.run import ApplyOutcome
from aim_template_migration.cli.console import Paint, Tone
from aim_template_migration.cli.rendering.text import count, heading, listed, pairs, table, wrapped
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.codes.situations import page_of
from aim_template_migration.documents.result import UNIT_STATUSES, ApplyResult, UnitResult, UnitStatus

ALREADY_CUT_OVER = "AlreadyCutOver"
_LISTED = 40
_TONES: dict[UnitStatus, Tone] = {"failed": "red", "unknown": "red", "interrupted": "yellow", "skipped": "yellow"}
_LOUD: tuple[UnitStatus, ...] = ("unknown", "failed", "interrupted")
_QUIET: tuple[UnitStatus, ...] = ("skipped", "manual")


def outcome_lines(outcome: ApplyOutcome, paint: Paint, width: int) -> list[str]:
    """Return the ending of a run: its counts, its trouble, its successes and its files."""
    result = outcome.result
    return [
        *_head(outcome, paint, width),
        *count_lines(result, paint),
        *_successes(result, paint, width),
        *trouble_lines(result, paint, width),
        *_quiet_units(result, paint, width),
        *_server_warnings(result, paint, width),
        *_not_checked(result, paint, width),
        *_files(outcome, width),
    ]


def count_lines(result: ApplyResult, paint: Paint) -> list[str]:
    """Return the counts by status."""
    rows = [(status, f"{result.counts[status]}") for status in UNIT_STATUSES]
    return ["", *table(("STATUS", "UNITS"), [*rows, ("total", f"{sum(result.counts.values())}")], paint)]


def trouble_lines(result: ApplyResult, paint: Paint, width: int) -> list[str]:
    """Return every unit whose outcome is unknown, that failed or that was interrupted, with all that is known of it."""
    lines: list[str] = []
    for status in _LOUD:
        units = [unit for unit in result.units if unit.status == status]
        lines += heading(f"{status.upper()} ({count(len(units), 'unit')})", paint) if units else []
        for unit in units:
            lines += _trouble(unit, paint, width)
    return lines


def _head(outcome: ApplyOutcome, paint: Paint, width: int) -> list[str]:
    result = outcome.result
    what = "Commit" if result.mode == "commit" else "Dry run"
    ending = "interrupted" if outcome.interrupted else "stopped" if outcome.fault else "finished"
    stored = "" if result.mode == "commit" else "; nothing was stored in the cluster"
    lines = [paint(f"{what} {ending}{stored}", "bold")]
    rows = (("run", result.run_id), ("plan SHA-256", result.plan_sha256))
    lines += pairs(rows, width, "  ")
    if outcome.fault:
        code = outcome.fault.code
        advice = CODES[code].advice if code in CODES else ""
        fault = (
            ("stopped by", code),
            ("because", outcome.fault.message),
            ("next step", advice),
            ("read", page_of(code)),
        )
        lines += pairs(fault, width, "  ")
    return lines


def _successes(result: ApplyResult, paint: Paint, width: int) -> list[str]:
    succeeded = [unit for unit in result.units if unit.status == "succeeded"]
    before = [unit for unit in succeeded if unit.code == ALREADY_CUT_OVER]
    now = [unit for unit in succeeded if unit.code != ALREADY_CUT_OVER]
    verb = "MIGRATED" if result.mode == "commit" else "WOULD MIGRATE"
    return [*_migrated(verb, now, paint, width), *_migrated("MIGRATED BEFORE THIS RUN", before, paint, width)]


def _migrated(title: str, units: list[UnitResult], paint: Paint, width: int) -> list[str]:
    if not units:
        return []
    lines = heading(f"{title} ({count(len(units), 'unit')})", paint)
    for unit in units[:_LISTED]:
        profile = f"profile {unit.resolved_profile}" if unit.resolved_profile else ""
        note = ", ".join(text for text in (unit.code, profile) if text)
        lines += [f"  {unit.id}", *(wrapped(note, width, "    ") if note else ())]
    return [*lines, f"  and {len(units) - _LISTED:,} more"] if len(units) > _LISTED else lines


def _trouble(unit: UnitResult, paint: Paint, width: int) -> list[str]:
    rows = (
        ("code", unit.code),
        ("message", unit.message),
        ("HTTP status", f"{unit.http_status}" if unit.http_status is not None else ""),
        ("server", unit.server_message),
        ("attempted", unit.last_attempted_step or "nothing"),
        ("completed", unit.last_completed_step or "nothing"),
        ("next step", unit.next_step),
        ("read", page_of(unit.code)),
    )
    return [f"  {paint(unit.id, _TONES.get(unit.status, 'bold'))}", *pairs(rows, width, "    ")]


def _quiet_units(result: ApplyResult, paint: Paint, width: int) -> list[str]:
    """Return skipped and manual units by code, with the next step once for each code."""
    lines: list[str] = []
    units = sorted((unit for unit in result.units if unit.status in _QUIET), key=lambda unit: (unit.status, unit.code))
    for (status, code), group in groupby(units, key=lambda unit: (unit.status, unit.code)):
        members = list(group)
        lines += heading(f"{status.upper()}: {code} ({count(len(members), 'unit')})", paint)
        lines += pairs((("next step", members[0].next_step),), width, "  ")
        shown = members if status == "skipped" else members[:_LISTED]
        for unit in shown:
            done = f" (attempted {unit.last_attempted_step})" if unit.last_attempted_step else ""
            lines += [f"  {unit.id}{done}", *wrapped(unit.message, width, "    ")]
        if len(shown) < len(members):
            lines.append(f"  and {len(members) - len(shown):,} more")
    return lines


def _server_warnings(result: ApplyResult, paint: Paint, width: int) -> list[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for unit in result.units:
        for warning in unit.warnings:
            found.setdefault((warning.code, warning.message), []).append(unit.id)
    lines = heading("WARNINGS", paint) if found else []
    for (code, message), units in found.items():
        lines += [f"  {paint(code, 'yellow')}: {listed(units, most=3)}", *wrapped(message, width, "    ")]
    return lines


def _not_checked(result: ApplyResult, paint: Paint, width: int) -> list[str]:
    sentences = sorted({sentence for unit in result.units for sentence in unit.not_checked})
    lines = heading("NOT CHECKED BY THIS RUN", paint) if sentences else []
    for sentence in sentences:
        lines += wrapped(sentence, width, "  - ", "    ")
    return lines


def _files(outcome: ApplyOutcome, width: int) -> list[str]:
    rows = (("result", str(outcome.result_path)), ("journal", str(journal_path(outcome.result_path))))
    return ["", *pairs(rows, width)]
