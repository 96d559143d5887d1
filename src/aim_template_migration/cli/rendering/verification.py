"""A verification for people: what differs in detail, what holds in short, what remains, and the limits (pure)."""

from itertools import groupby

from aim_template_migration.cli.console import Paint
from aim_template_migration.cli.rendering.text import count, heading, listed, pairs, table, wrapped
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.verification import (
    STANDINGS,
    Remaining,
    Removal,
    Standing,
    Verification,
    VerifiedUnit,
)

_MEANING: dict[Standing, str] = {
    "holding": "every fact holds",
    "differing": "some fact does not hold",
    "notCutOver": "the service is still on its template, as planned",
    "unreadable": "something can't be read",
}
_LISTED = 20
_REMAINING_SHOWN = 5
_OTHERS: tuple[tuple[Standing, str], ...] = (
    ("differing", "differing"),
    ("notCutOver", "not cut over"),
    ("unreadable", "unreadable"),
)


def verification_lines(verification: Verification, paint: Paint, width: int) -> list[str]:
    """Return the whole verification."""
    lines = [*_head(verification, paint, width), *_counts(verification, paint)]
    for unit in verification.units:
        lines += _troubled(unit, paint, width) if unit.standing != "holding" else ()
    lines += _holding([unit for unit in verification.units if unit.standing == "holding"], paint, width)
    lines += _remaining(verification.remaining, paint, width)
    lines += _removals(verification.removals, paint, width)
    return [*lines, *_closing(verification, width)]


def _head(verification: Verification, paint: Paint, width: int) -> list[str]:
    rows = (
        ("plan", verification.plan),
        ("SHA-256", verification.plan_sha256),
        ("server", verification.server),
        ("compared with", verification.result or "no result at hand, so that pods are not compared"),
        ("run", verification.run_id),
        ("read at", verification.verified_at),
    )
    lines = [paint("Verification (read-only)", "bold"), *pairs(rows, width, "  ")]
    for problem in verification.problems:
        lines += wrapped(f"{paint('problem:', 'red')} {problem}", width, "  ", "    ")
    return lines


def _counts(verification: Verification, paint: Paint) -> list[str]:
    counts = verification.counts
    rows = [(standing, f"{counts[standing]}", _MEANING[standing]) for standing in STANDINGS if counts[standing]]
    return ["", *table(("STANDING", "UNITS", ""), rows, paint)]


def _troubled(unit: VerifiedUnit, paint: Paint, width: int) -> list[str]:
    lines = heading(f"{unit.id}: {paint(unit.standing, 'red')}", paint)
    lines += wrapped(unit.message, width, "  ") if unit.message else []
    for fact in unit.facts:
        if not fact.holds:
            found = fact.message.removeprefix(f"{fact.object} ")
            rows = (("object", fact.object), ("found", found), ("advice", CODES[fact.code].advice))
            lines += [f"  {paint(fact.code, 'red')}", *pairs(rows, width, "    ")]
    held = ", ".join(dict.fromkeys(fact.code for fact in unit.facts if fact.holds))
    lines += wrapped(f"holds: {held}", width, "  ", "    ") if held else []
    return [*lines, *_warnings([unit], paint, width)]


def _holding(units: list[VerifiedUnit], paint: Paint, width: int) -> list[str]:
    if not units:
        return []
    facts = dict.fromkeys(fact.code for unit in units for fact in unit.facts)
    lines = [*heading(f"HOLDING ({count(len(units), 'unit')})", paint), *wrapped(", ".join(facts), width, "  ")]
    lines += [f"  {paint(unit.id, 'green')}" for unit in units[:_LISTED]]
    lines += [f"  and {len(units) - _LISTED:,} more"] if len(units) > _LISTED else []
    return [*lines, *_warnings(units, paint, width)]


def _warnings(units: list[VerifiedUnit], paint: Paint, width: int) -> list[str]:
    found: dict[tuple[str, str], int] = {}
    for unit in units:
        for warning in unit.warnings:
            found[warning.code, warning.message] = found.get((warning.code, warning.message), 0) + 1
    return [
        line
        for (code, message), number in found.items()
        for line in wrapped(f"{paint(code, 'yellow')} ({count(number, 'unit')}): {message}", width, "  ", "    ")
    ]


def _remaining(items: tuple[Remaining, ...], paint: Paint, width: int) -> list[str]:
    lines = (
        heading("WHAT REMAINS (not this tool's to remove; each needs an approval of its own)", paint) if items else []
    )
    for code, group in groupby(items, key=lambda item: item.code):
        members = list(group)
        lines.append(f"  {paint(code, 'yellow')} ({len(members)})")
        for message, same in groupby(members, key=lambda item: item.message):
            objects = [item.object for item in same]
            lines += wrapped(listed(objects, most=_REMAINING_SHOWN), width, "    ")
            lines += wrapped(message, width, "      ")
        lines += wrapped(CODES[code].advice, width, "    advice: ", "    ")
    return lines


def _removals(items: tuple[Removal, ...], paint: Paint, width: int) -> list[str]:
    lines = heading("IF THE v1alpha1 API WERE REMOVED (nobody has authorised that)", paint) if items else []
    for item in items:
        said = paint("would cascade", "red") if item.cascades else "would not cascade"
        lines.append(f"  {item.crd}: {said}")
        lines += wrapped(item.message, width, "    ")
    return lines


def _closing(verification: Verification, width: int) -> list[str]:
    counts, total = verification.counts, len(verification.units)
    parts = [f"{counts[standing]} {word}" for standing, word in _OTHERS if counts[standing]]
    others = f" ({', '.join(parts)})" if parts else ""
    verb = "holds" if total == 1 else "hold"
    sentence = f"{counts['holding']} of {count(total, 'unit')} {verb}{others}. {verification.limits}"
    return ["", *wrapped(sentence, width)]
