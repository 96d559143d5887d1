"""The plan that ``convert --plan`` follows, and the result of its commit."""

from collections.abc import Sequence
from pathlib import Path

from aim_template_migration.applying.plan_files import RESULT_NAME, PlanFiles, read_plan
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.failures import not_started
from aim_template_migration.cli.translation import translated
from aim_template_migration.documents import private_files
from aim_template_migration.documents.result import ResultError, decode_result
from aim_template_migration.manifests.converting import Conversion
from aim_template_migration.manifests.following import Followed, follow_plan
from aim_template_migration.manifests.located import ManifestFile

_COMMIT = "commit"


def follow(
    files: Sequence[ManifestFile], plan_path: Path, result: Path | None, namespace: str, console: Console
) -> Conversion:
    """Return the files as the cluster is after the cutover of a plan.

    Args:
        files: the manifests.
        plan_path: the plan.
        result: the result of its commit, None for the default beside the plan.
        namespace: the namespace of objects that state none.
        console: where it is said that there is no result.

    Raises:
        CommandStopped: the plan or the result can't be read, or they do not belong together.
    """
    with translated():
        plan = read_plan(plan_path)
    statuses = _statuses(result, plan)
    if statuses is None:
        console.warn(
            f"there is no result of a commit of {plan.path}, so these are the manifests of after the cutover, not of "
            "the cluster as it is: apply none of them before apply --commit has cut over its unit (--result names the "
            "result)"
        )
    return follow_plan(files, Followed(plan.plan, statuses, namespace))


def _statuses(named: Path | None, plan: PlanFiles) -> dict[str, str] | None:
    """Return the units' status of a committed run of this plan, None where there was none.

    Raises:
        CommandStopped: the result can't be read, or is one of another plan, whose pins are others.
    """
    path = named or plan.directory / RESULT_NAME
    if named is None and not path.exists():
        return None
    with translated():
        data = private_files.read(path)
    try:
        result = decode_result(data)
    except ResultError as error:
        raise not_started(f"{path} is no result: {error}") from error
    if result.mode != _COMMIT:
        return None
    if result.plan_sha256 != plan.sha256:
        raise not_started(
            f"{path} is the result of a plan with SHA-256 {result.plan_sha256}, and {plan.path} has {plan.sha256}",
            hint="name the plan and the result of one run with --plan and --result",
        )
    return {unit.id: unit.status for unit in result.units}
