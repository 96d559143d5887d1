"""What ``show`` knows of a plan: its own values, counted, with the units that a filter leaves (pure)."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from aim_template_migration.applying.plan_files import PlanFiles
from aim_template_migration.cli.options.show import UnitFilter
from aim_template_migration.documents.plan import (
    API_VERSION,
    ClusterIdentity,
    CreateProfile,
    CreateProfileCache,
    Document,
    Finding,
    Forecast,
    Target,
    Unit,
)

KIND = "PlanView"


class OutcomeCount(Document, frozen=True):
    """How many units have an outcome.

    Attributes:
        outcome: the code of the outcome.
        disposition: ``automatic``, ``manual`` or ``skip``.
        units: how many.
    """

    outcome: str
    disposition: str
    units: int


class ReasonCount(Document, frozen=True):
    """How many units a reason blocks, and how many of them it blocks alone.

    Attributes:
        code: the reason.
        units: how many have it.
        alone: how many have no other reason.
    """

    code: str
    units: int
    alone: int


class WarningCount(Document, frozen=True):
    """How many units carry a warning.

    Attributes:
        code: the warning.
        units: how many.
    """

    code: str
    units: int


class PlanView(Document, frozen=True):
    """A plan as ``show`` prints it; totals are those of the whole plan, ``units`` those that were asked for.

    Attributes:
        path: path of the plan.
        plan_sha256: SHA-256 of its bytes.
        edited: whether plan.json differs from its generated copy; null where there is no copy.
        plan_id: the plan's id.
        generated_at: when the plan was made, UTC.
        cluster: which cluster it was made on.
        namespaces: the namespaces that were named.
        runtime_projection_mode: what the administrator stated of the operator.
        totals: units by disposition.
        outcomes: how many units have which outcome.
        reasons: how many units each reason blocks.
        unit_warnings: how many units carry which warning.
        warnings: what was found about the whole plan.
        forecast: what a commit will ask of the API server.
        units: the units that were asked for, as in the plan.
        evidence: paths of the Dedicated evidence files.
        targets: the objects that the shown units create.
    """

    api_version: str
    kind: str
    path: str
    plan_sha256: str
    edited: bool | None
    plan_id: str
    generated_at: str
    tool_version: str
    cluster: ClusterIdentity
    namespaces: tuple[str, ...]
    runtime_projection_mode: str
    totals: dict[str, int]
    outcomes: tuple[OutcomeCount, ...]
    reasons: tuple[ReasonCount, ...]
    unit_warnings: tuple[WarningCount, ...]
    warnings: tuple[Finding, ...]
    forecast: Forecast
    evidence: tuple[str, ...]
    units: tuple[Unit, ...]
    targets: tuple[Target, ...]


def view_of(files: PlanFiles, units: tuple[Unit, ...], *, edited: bool | None) -> PlanView:
    """Return the view of a plan with the given units of it."""
    plan = files.plan
    used = {target for unit in units for target in created_targets(unit)}
    return PlanView(
        api_version=API_VERSION,
        kind=KIND,
        path=str(files.path),
        plan_sha256=files.sha256,
        edited=edited,
        plan_id=plan.plan_id,
        generated_at=plan.generated_at,
        tool_version=plan.tool_version,
        cluster=plan.cluster,
        namespaces=plan.namespaces,
        runtime_projection_mode=plan.runtime_projection_mode,
        totals=totals(plan.units),
        outcomes=outcome_counts(plan.units),
        reasons=reason_counts(plan.units),
        unit_warnings=warning_counts(plan.units),
        warnings=plan.warnings,
        forecast=plan.forecast,
        evidence=evidence_paths(plan.units, files.directory),
        units=units,
        targets=tuple(target for target in plan.targets if target.id in used),
    )


def totals(units: Iterable[Unit]) -> dict[str, int]:
    """Return the number of units by disposition, every disposition named, and of all."""
    found = Counter(unit.disposition for unit in units)
    return {"automatic": found["automatic"], "manual": found["manual"], "skip": found["skip"], "total": found.total()}


def outcome_counts(units: Iterable[Unit]) -> tuple[OutcomeCount, ...]:
    """Return the outcomes, the most frequent first, automatic ones before others."""
    found = Counter((unit.outcome, unit.disposition) for unit in units)
    counts = [OutcomeCount(outcome, disposition, number) for (outcome, disposition), number in found.items()]
    return tuple(sorted(counts, key=lambda item: (item.disposition, -item.units, item.outcome)))


def reason_counts(units: Iterable[Unit]) -> tuple[ReasonCount, ...]:
    """Return the reasons that keep units from being automatic, the one that blocks most units first."""
    blocked: Counter[str] = Counter()
    alone: Counter[str] = Counter()
    for unit in units:
        codes = {reason.code for reason in unit.reasons}
        blocked.update(codes)
        if len(codes) == 1:
            alone.update(codes)
    counts = [ReasonCount(code, number, alone[code]) for code, number in blocked.items()]
    return tuple(sorted(counts, key=lambda item: (-item.units, item.code)))


def warning_counts(units: Iterable[Unit]) -> tuple[WarningCount, ...]:
    """Return the warnings of units, the most frequent first."""
    found: Counter[str] = Counter()
    for unit in units:
        found.update({warning.code for warning in unit.warnings})
    return tuple(
        WarningCount(code, number) for code, number in sorted(found.items(), key=lambda item: (-item[1], item[0]))
    )


def evidence_paths(units: Iterable[Unit], directory: Path) -> tuple[str, ...]:
    """Return the paths of the Dedicated evidence files."""
    return tuple(str(directory / unit.evidence.file) for unit in units if unit.evidence)


def filtered(units: Iterable[Unit], chosen: UnitFilter) -> tuple[Unit, ...]:
    """Return the units that fit every filter given."""
    return tuple(unit for unit in units if _fits(unit, chosen))


def find_unit(units: Iterable[Unit], name: str) -> tuple[Unit, ...]:
    """Return the units that ``name`` can mean: ``Kind/namespace/name``, ``namespace/name`` or ``name``."""
    exact = tuple(unit for unit in units if unit.id == name)
    return exact or tuple(unit for unit in units if unit.id.endswith(f"/{name}"))


def created_targets(unit: Unit) -> tuple[str, ...]:
    """Return the ids of the targets that a unit creates."""
    return tuple(step.target for step in unit.steps if isinstance(step, CreateProfile | CreateProfileCache))


def summary_of(view: PlanView) -> PlanView:
    """Return a view without its units and targets, for a summary of a large plan."""
    return msgspec.structs.replace(view, units=(), targets=())


def _fits(unit: Unit, chosen: UnitFilter) -> bool:
    return (
        (not chosen.outcomes or unit.outcome in chosen.outcomes)
        and (not chosen.dispositions or unit.disposition in chosen.dispositions)
        and (not chosen.namespaces or unit.id.split("/")[1] in chosen.namespaces)
        and (not chosen.reasons or any(reason.code in chosen.reasons for reason in unit.reasons))
    )
