"""Which units a run takes, and how those end that it does not take (pure)."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.applying.plan_files import PlanRejected
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.deadlines import LONGEST_CUTOVER_DEADLINE_SECONDS
from aim_template_migration.documents.plan import STEP_NAMES, Plan, Unit
from aim_template_migration.documents.private_files import PrivateFileError, read
from aim_template_migration.documents.result import ResultError, UnitResult, WorkloadFacts, decode_result


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """What was asked of apply; see the command's own help for each.

    Attributes:
        plan: plan directory or plan file.
        commit: write for real.
        result: where the result goes; None for the default beside the plan.
        plan_sha256: the approved SHA-256 of the plan file, or empty.
        only: unit ids to run, empty for all.
        limit: at most so many automatic units, None for all.
        fail_fast: start no unit after one has failed.
        stop_before: step before which units stop, or empty.
        parallel: units side by side.
        soak_seconds: when the pods are looked at again.
        cutover_deadline_seconds: how long an operator may take to observe a cutover, at most 600; None for what the
            plan says.
        baseline: an archived result whose pods a rerun compares with.
        command: the command line, for the lock.

    Raises:
        ValueError: a number is out of its range.
    """

    plan: Path
    commit: bool = False
    result: Path | None = None
    plan_sha256: str = ""
    only: tuple[str, ...] = ()
    limit: int | None = None
    fail_fast: bool = False
    stop_before: str = ""
    parallel: int = 1
    soak_seconds: float = 30.0
    cutover_deadline_seconds: float | None = None
    baseline: Path | None = None
    command: str = ""

    def __post_init__(self) -> None:
        if self.parallel < 1:
            raise ValueError(f"parallel is {self.parallel}, and must be at least 1")
        if self.limit is not None and self.limit < 1:
            raise ValueError(f"limit is {self.limit}, and must be at least 1")
        if not self.soak_seconds >= 0:
            raise ValueError(f"the soak is {self.soak_seconds:g} s, and can't be negative")
        deadline = self.cutover_deadline_seconds
        if deadline is not None and not 0 < deadline <= LONGEST_CUTOVER_DEADLINE_SECONDS:
            raise ValueError(
                f"the cutover deadline is {deadline:g} s, and must be at most {LONGEST_CUTOVER_DEADLINE_SECONDS}"
            )


def select_units(plan: Plan, options: ApplyOptions) -> tuple[Unit, ...]:
    """Return the automatic units to run, in plan order.

    Raises:
        PlanRejected: the plan has no units, ``only`` names none of them, or it can't stop before ``stop_before``.
    """
    if options.stop_before and options.stop_before not in STEP_NAMES:
        raise PlanRejected(f"--stop-before {options.stop_before} is no step; the steps are {', '.join(STEP_NAMES)}")
    if options.stop_before == "ConfirmNoRollout":
        raise PlanRejected(
            "--stop-before ConfirmNoRollout would cut services over without the proof that nothing rolled; "
            "stop before CutOver, or run to the end"
        )
    if not plan.units:
        raise PlanRejected("the plan has no units, so there is nothing to apply; plan other namespaces")
    known, only = {unit.id for unit in plan.units}, frozenset(options.only)
    unknown = sorted(only - known)
    if unknown:
        raise PlanRejected(f"--only {unknown[0]} is no unit of the plan; units are named like {plan.units[0].id}")
    chosen = [unit for unit in plan.units if unit.disposition == "automatic" and (not only or unit.id in only)]
    if only and not chosen:
        raise PlanRejected("--only selects no automatic unit, so there is nothing to apply")
    return tuple(chosen[: options.limit])


def endings_of_others(plan: Plan, selected: Iterable[Unit], made_manual: frozenset[str]) -> tuple[UnitResult, ...]:
    """Return the endings of units that are not run: manual ones, ones to skip, and ones that were not selected.

    Args:
        plan: the plan.
        selected: the units that are run.
        made_manual: ids of units that an administrator made manual.
    """
    chosen = {unit.id for unit in selected}
    return tuple(_ending(unit, unit.id in made_manual) for unit in plan.units if unit.id not in chosen)


def baseline_of(plan: Plan, path: Path | None) -> dict[str, WorkloadFacts]:
    """Return the workload facts of an archived result, by unit id.

    Raises:
        PlanRejected: it can't be read, is no result, not one of a commit of this plan, or holds no pods.
    """
    if path is None:
        return {}
    try:
        result = decode_result(read(path))
    except (PrivateFileError, ResultError) as error:
        raise PlanRejected(
            f"--baseline {path} can't be used: {error}; name the archived result of the commit that cut over"
        ) from error
    if result.plan_id != plan.plan_id or result.mode != "commit":
        raise PlanRejected(f"--baseline {path} can't be used: it is no result of a commit of this plan")
    found = {unit.id: unit.workload_before for unit in result.units if unit.workload_before is not None}
    if not found:
        raise PlanRejected(
            f"--baseline {path} can't be used: it is {result.state} and holds no pods of any unit, as after a crash "
            "before the first unit ended; compare with inspect --result, which also reads the journal, or leave "
            "--baseline out"
        )
    return found


def _ending(unit: Unit, made_manual: bool) -> UnitResult:  # noqa: FBT001 - one fact about the unit
    if unit.disposition == "manual":
        code = "MadeManual" if made_manual else unit.outcome
        reason = next((finding.message for finding in unit.reasons if finding.code == code), "")
        return _untouched(unit, "manual", code, reason)
    code = unit.outcome if unit.disposition == "skip" else "NotSelected"
    return _untouched(unit, "skipped", code, "")


def _untouched(unit: Unit, status: str, code: str, message: str) -> UnitResult:
    known = CODES.get(code)
    return UnitResult(
        id=unit.id,
        disposition=unit.disposition,
        status="manual" if status == "manual" else "skipped",
        code=code,
        message=message or (known.summary if known else ""),
        next_step=known.advice if known else "",
    )
