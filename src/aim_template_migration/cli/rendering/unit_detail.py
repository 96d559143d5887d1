"""One unit of a plan with everything that a reviewer must see (pure)."""

import msgspec

from aim_template_migration.cli.console import Paint
from aim_template_migration.cli.rendering.overview import finding_lines
from aim_template_migration.cli.rendering.plan_view import created_targets
from aim_template_migration.cli.rendering.proposal import proposal_lines
from aim_template_migration.cli.rendering.text import heading, pairs, wrapped
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import (
    Finding,
    Imputation,
    Pin,
    Plan,
    SecretReference,
    Unit,
    step_name,
)
from aim_template_migration.documents.plan_words import (
    describe_pin,
    describe_proofs,
    describe_stale_forecast,
    describe_step,
)


def unit_lines(plan: Plan, unit: Unit, edited_targets: frozenset[str], paint: Paint, width: int) -> list[str]:
    """Return the unit in detail: reasons, warnings, imputations, pins, steps, proposed objects, what comes later.

    Args:
        plan: the plan.
        unit: one of its units.
        edited_targets: ids of the targets that were edited since the plan was made.
        paint: colours.
        width: columns.
    """
    edited = [target for target in created_targets(unit) if target in edited_targets]
    return [
        *_head(unit, paint, width),
        *_findings("REASONS (why it is not automatic)", unit.reasons, paint, width),
        *_findings("WARNINGS", unit.warnings, paint, width),
        *_imputations(unit.imputations, paint, width),
        *_pins(unit.pins, paint, width),
        *_steps(unit, paint, width),
        *_proposal(plan, unit, paint, width),
        *_after_expiry(unit, edited, paint, width),
        *_secrets(unit.secret_refs, paint, width),
        *_evidence(unit, paint, width),
    ]


def _head(unit: Unit, paint: Paint, width: int) -> list[str]:
    summary = CODES[unit.outcome].summary if unit.outcome in CODES else ""
    rows = (
        ("disposition", unit.disposition),
        ("outcome", f"{unit.outcome}: {summary}" if summary else unit.outcome),
        ("InferenceService", unit.inference_service),
        ("target profile", unit.resolved_profile),
        *describe_proofs(unit.proofs),
    )
    return [paint(unit.id, "bold"), *pairs(rows, width, "  ")]


def _findings(title: str, findings: tuple[Finding, ...], paint: Paint, width: int) -> list[str]:
    lines = heading(title, paint) if findings else []
    for finding in findings:
        lines += finding_lines(finding, paint, width, "  ")
    return lines


def _imputations(imputations: tuple[Imputation, ...], paint: Paint, width: int) -> list[str]:
    lines = heading("IMPUTATIONS (values that the predecessor states elsewhere)", paint) if imputations else []
    for item in imputations:
        lines.append(f"  {item.field}")
        rows = (
            ("value", msgspec.json.encode(item.value).decode()),
            ("from", item.source),
            ("rule", item.rule),
            ("in", item.object),
        )
        lines += pairs(rows, width, "    ")
    return lines


def _pins(pins: tuple[Pin, ...], paint: Paint, width: int) -> list[str]:
    lines = heading("PINS (must still hold when the unit is applied)", paint) if pins else []
    for pin in pins:
        lines.append(f"  {pin.reference.id}")
        lines += wrapped(describe_pin(pin), width, "    ")
    return lines


def _steps(unit: Unit, paint: Paint, width: int) -> list[str]:
    lines = heading("STEPS", paint) if unit.steps else []
    for number, step in enumerate(unit.steps, start=1):
        lines.append(f"  {number:>2} {step_name(step)}")
        lines += wrapped(describe_step(step), width, " " * 5)
    return lines


def _proposal(plan: Plan, unit: Unit, paint: Paint, width: int) -> list[str]:
    lines = proposal_lines(plan, unit, paint, width)
    if not lines:
        return []
    note = "Everything else of the service stays as it is; the plan holds only what changes."
    return [*heading("PROPOSED OBJECTS (+ added, - removed)", paint), *wrapped(note, width), *lines]


def _after_expiry(unit: Unit, edited: list[str], paint: Paint, width: int) -> list[str]:
    changes = unit.after_expiry.changes if unit.after_expiry else ()
    stale = describe_stale_forecast(edited)
    if not changes:
        return [*heading("AFTER THE PIN EXPIRES", paint), *wrapped(stale, width, "  ")] if edited else []
    intro = (
        "A later change of the service's spec ends the pin, and normal profile rendering then changes the "
        "InferenceService (its pods roll):"
    )
    lines = [*heading("AFTER THE PIN EXPIRES", paint), *wrapped(intro, width, "  ")]
    for change in changes:
        lines += wrapped(change, width, "  - ", "    ")
    return [*lines, *(wrapped(stale, width, "  ") if edited else [])]


def _secrets(secrets: tuple[SecretReference, ...], paint: Paint, width: int) -> list[str]:
    lines = heading("SECRETS REFERENCED (never read, in no backup)", paint) if secrets else []
    for item in secrets:
        keys = f" (keys: {', '.join(item.keys)})" if item.keys else ""
        lines += wrapped(f"{item.namespace}/{item.name}{keys}", width, "  ")
    return lines


def _evidence(unit: Unit, paint: Paint, width: int) -> list[str]:
    if unit.evidence is None:
        return []
    rows = (("file", unit.evidence.file), ("SHA-256", unit.evidence.sha256))
    return [*heading("DEDICATED HANDOFF EVIDENCE (never apply it)", paint), *pairs(rows, width, "  ")]
