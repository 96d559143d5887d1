"""An inspection for people: the run, the units that need attention in detail, the others by their finding (pure)."""

from collections.abc import Iterator
from itertools import groupby

from aim_template_migration.cli.console import Paint, Tone
from aim_template_migration.cli.rendering.text import count, heading, listed, pairs, table, wrapped
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.codes.situations import page_of
from aim_template_migration.documents.inspection import InspectedObject, InspectedRun, InspectedUnit, Inspection

_LISTED = 20
_DETAILED = 50
_SHOWN_FIELDS = 6
_AS_IT_SHOULD = frozenset({"asPlanned", "absent"})
_HOW_FAR = frozenset({"PartlyApplied", "CutOverUnconfirmed"})
_OUR_EFFECTS = {
    "asPlanned": "as planned",
    "asCutOver": "as the cutover leaves it",
    "equal": "exists and equals the plan's",
}


def inspection_lines(inspection: Inspection, paint: Paint, width: int) -> list[str]:
    """Return the whole inspection."""
    loud = [unit for unit in inspection.units if unit.attention]
    quiet = [unit for unit in inspection.units if not unit.attention]
    lines = [
        *_head(inspection, paint, width),
        *_run(inspection.run, paint, width),
        *_counts(inspection, paint),
    ]
    for unit in loud[:_DETAILED]:
        lines += _detail(unit, paint, width)
    if len(loud) > _DETAILED:
        lines += ["", f"and {count(len(loud) - _DETAILED, 'more unit')} that need attention; -o json shows all"]
    lines += _quiet(quiet, paint, width)
    if inspection.recovery:
        lines += heading("WHAT TO DO WITH A FAILED UNIT (the runbook, Partial recovery)", paint)
        for number, sentence in enumerate(inspection.recovery, start=1):
            lines += wrapped(sentence, width, f"  {number}. ", "     ")
    lines += _archive(inspection.run, width)
    if inspection.backup:
        lines += ["", *wrapped(f"note: {inspection.backup}", width)]
    return lines


def _head(inspection: Inspection, paint: Paint, width: int) -> list[str]:
    rows = (
        ("plan", inspection.plan),
        ("SHA-256", inspection.plan_sha256),
        ("server", inspection.server),
        ("read at", inspection.inspected_at),
    )
    return [paint("Inspection (read-only)", "bold"), *pairs(rows, width, "  ")]


def _run(run: InspectedRun, paint: Paint, width: int) -> list[str]:
    if run.state == "none":
        what = "no result and no journal: nothing was started under this name"
        rows: tuple[tuple[str, str], ...] = (("result", run.result), ("found", what))
    else:
        ended = f", ended {run.finished_at}" if run.finished_at else ""
        torn = f"; its last line is unfinished ({run.torn_bytes} bytes), so that its request had not left"
        entries = count(run.journal_entries, "entry", "entries")
        rows = (
            ("run", f"{run.run_id or 'unknown'} ({run.mode or 'unknown mode'})"),
            ("result", f"{run.result} ({run.state})"),
            ("started", f"{run.started_at or 'unknown'}{ended}"),
            ("stopped", run.stopped),
            ("journal", f"{entries}{torn if run.torn_bytes else ''}"),
        )
    lines = [*heading("THE RUN", paint), *pairs(rows, width, "  ")]
    for problem in run.problems:
        lines += wrapped(f"{paint('problem:', 'red')} {problem}", width, "  ", "    ")
    if run.lock:
        lines += wrapped(f"{paint('lock:', 'yellow')} {run.lock}", width, "  ", "    ")
    return lines


def _counts(inspection: Inspection, paint: Paint) -> list[str]:
    rows = [(code, f"{number}") for code, number in inspection.counts.items()]
    return ["", *table(("FINDING", "UNITS"), [*rows, ("total", f"{len(inspection.units)}")], paint)]


def _detail(unit: InspectedUnit, paint: Paint, width: int) -> list[str]:
    recorded = f"{unit.status}{f', {unit.code}' if unit.code else ''}" if unit.status else "no ending on record"
    rows = (
        ("finding", f"{unit.finding}: {unit.message}"),
        ("on record", recorded),
        ("message", unit.recorded_message),
        ("HTTP status", f"{unit.http_status}" if unit.http_status is not None else ""),
        ("server", unit.server_message),
        ("attempted", unit.last_attempted_step or "nothing"),
        ("completed", unit.last_completed_step or "nothing"),
    )
    lines = [*heading(unit.id, paint), *pairs(rows, width, "  ")]
    for attempt in unit.attempts:
        lines += ["  open attempt", *pairs((("at", attempt.at), (attempt.code, attempt.message)), width, "    ")]
    lines += list(_objects(unit, paint, width))
    lines += ["  next"]
    for step in unit.next_steps:
        lines += wrapped(step, width, "    - ", "      ")
    pages = dict.fromkeys(page for code in _codes(unit) if (page := page_of(code)))
    return [*lines, *pairs([("read", page) for page in pages], width, "  ")]


def _codes(unit: InspectedUnit) -> Iterator[str]:
    """Yield the codes that say what became of a unit, what it ended with first.

    How far it came tells something new only where no record says why it ended.
    """
    yield unit.code
    yield from (attempt.code for attempt in unit.attempts)
    if unit.finding not in _HOW_FAR or not page_of(unit.code):
        yield unit.finding


def _objects(unit: InspectedUnit, paint: Paint, width: int) -> Iterator[str]:
    """Yield what differs or was made, with who it is now (R, "Partial recovery"); the rest is only counted."""
    if not unit.objects:
        return
    yield "  objects"
    for item in unit.objects:
        if item.condition in _AS_IT_SHOULD and not item.message:
            continue
        yield f"    {item.reference.id}"
        tone: Tone = "green" if item.condition in _OUR_EFFECTS else "red"
        said = ", ".join(part for part in (_OUR_EFFECTS.get(item.condition, item.condition), _short(item)) if part)
        yield from (paint(line, tone) for line in wrapped(said, width, " " * 6))
        yield from _identity(item, width)
    quiet = [item for item in unit.objects if item.condition in _AS_IT_SHOULD and not item.message]
    targets = sum(item.condition == "absent" and item.role.startswith("target") for item in quiet)
    missing = f", {count(targets, 'target')} not there yet" if targets else ""
    yield f"    {count(len(quiet) - targets, 'other object')} as planned{missing}"
    yield from _backup(unit, width)


def _short(item: InspectedObject) -> str:
    return item.message.removeprefix(f"{item.reference.id} ")


def _identity(item: InspectedObject, width: int) -> list[str]:
    if item.identity is None:
        return []
    owners = ", ".join(f"{owner.kind} {owner.name} ({owner.uid})" for owner in item.identity.owner_references)
    rows = (
        ("UID", item.identity.uid),
        ("owners", owners or "none"),
        ("paused", "yes" if item.identity.paused else "no"),
    )
    return pairs(rows, width, " " * 6)


def _backup(unit: InspectedUnit, width: int) -> Iterator[str]:
    differing = [item for item in unit.objects if item.backup == "differs"]
    equal = sum(item.backup == "equal" for item in unit.objects)
    if equal or differing:
        yield f"    {count(equal, 'object')} equal to backup.yaml, {len(differing)} not"
    for item in differing:
        fields = listed(item.backup_differences, most=_SHOWN_FIELDS) or "it does not exist, or the fields can't be told"
        yield from wrapped(f"{item.reference.id} differs from backup.yaml in: {fields}", width, " " * 6, " " * 8)


def _quiet(units: list[InspectedUnit], paint: Paint, width: int) -> list[str]:
    lines: list[str] = []
    ordered = sorted(units, key=lambda unit: unit.finding)
    for finding, group in groupby(ordered, key=lambda unit: unit.finding):
        members = list(group)
        lines += heading(f"{finding} ({count(len(members), 'unit')})", paint)
        lines += wrapped(CODES[finding].advice, width, "  ")
        lines += [f"  {unit.id}" for unit in members[:_LISTED]]
        if len(members) > _LISTED:
            lines.append(f"  and {len(members) - _LISTED:,} more")
    return lines


def _archive(run: InspectedRun, width: int) -> list[str]:
    if not run.archive:
        return []
    said = "Before a later apply with the same result file, and once it is decided, archive this run:"
    return ["", *wrapped(said, width), f"  {run.archive}"]
