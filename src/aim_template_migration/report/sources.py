"""Reads what a report is made of (shell): each plan with its result, journal and backup; nothing is changed."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.applying.plan_files import PlanFiles, PlanRejected, read_plan
from aim_template_migration.documents.private_files import PrivateFileError, read
from aim_template_migration.documents.result import ResultError, decode_result
from aim_template_migration.inspecting.backup import Backup
from aim_template_migration.inspecting.run_files import RunFiles, read_backup, read_run


@dataclass(frozen=True, slots=True)
class Source:
    """One plan with what is on disk of its run.

    Attributes:
        files: the plan.
        run: result and journal; both may be absent.
        backup: the predecessors' desired state, empty where it can't be read.
    """

    files: PlanFiles
    run: RunFiles
    backup: Backup


def read_sources(plans: Sequence[Path], results: Sequence[Path]) -> tuple[Source, ...]:
    """Read plans and their runs; a result goes with the plan that it names, any other plan with the one beside it.

    Raises:
        PlanRejected: a plan or a named result can't be read, or a result belongs to none of the plans.
    """
    read_plans = tuple(read_plan(location) for location in plans)
    by_plan = _results_by_plan(results, read_plans)
    return tuple(_source(files, by_plan.get(files.plan.plan_id)) for files in read_plans)


def _source(files: PlanFiles, result: Path | None) -> Source:
    return Source(files, read_run(files, result), read_backup(files)[0])


def _results_by_plan(results: Sequence[Path], plans: Sequence[PlanFiles]) -> dict[str, Path]:
    known = {files.plan.plan_id for files in plans}
    found: dict[str, Path] = {}
    for path in results:
        plan_id = _plan_id(path)
        if plan_id not in known:
            raise PlanRejected(f"{path} is the result of plan {plan_id}, which is not in this report; add it to --plan")
        if plan_id in found:
            raise PlanRejected(f"{path} and {found[plan_id]} are results of one plan; name one of them with --result")
        found[plan_id] = path
    return found


def _plan_id(path: Path) -> str:
    try:
        return decode_result(read(path)).plan_id
    except PrivateFileError as error:
        raise PlanRejected(f"{error}; name the result of a run with --result") from error
    except ResultError as error:
        raise PlanRejected(f"{path} is no readable result: {error}; name the result of a run with --result") from error
