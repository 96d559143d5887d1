"""``plan``: read the named namespaces, write the plan directory, say what to do next."""

import argparse
import secrets
import shlex
from datetime import UTC, datetime
from pathlib import Path

from aim_api.kinds import AIM_SERVICE
from aim_template_migration.applying.plan_files import PlanFiles
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, FINDINGS
from aim_template_migration.cli.failures import not_started
from aim_template_migration.cli.options.plan import PlanArguments, read
from aim_template_migration.cli.parser import PROG
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.overview import count_lines, evidence_lines, header_lines
from aim_template_migration.cli.rendering.plan_view import PlanView, summary_of, view_of
from aim_template_migration.cli.rendering.text import count
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.documents.plan import PLAN_NAME
from aim_template_migration.documents.private_files import new_directory, require_absent
from aim_template_migration.planning.make import PlanOutline, Settings, write_plan


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Make a plan; return 0, or 3 where ``--require-automatic`` finds manual units.

    Raises:
        CommandStopped: nothing was written.
    """
    arguments = read(parsed)
    with translated():
        require_absent(arguments.output_dir)
        outline = _write(arguments, console)
    view = _view(outline, arguments.output_dir)
    warning = work_tree_warning(arguments.output_dir)
    if warning:
        console.warn(warning)
    _answer(view, arguments.output_dir, console)
    manual = view.totals["manual"]
    if arguments.require_automatic and manual:
        console.note(f"{count(manual, 'unit is', 'units are')} manual, and --require-automatic was given")
        return FINDINGS.number
    return DONE.number


def _write(arguments: PlanArguments, console: Console) -> PlanOutline:
    cluster = open_cluster(arguments.connection, console)
    settings = Settings(
        namespaces=arguments.namespaces,
        runtime_projection_mode=arguments.mode,
        accept_observed_generation=arguments.accept_observed_generation,
    )
    try:
        with new_directory(arguments.output_dir) as directory:
            outline = write_plan(
                cluster,
                settings,
                directory,
                now=datetime.now(UTC),
                plan_id=secrets.token_hex(8),
                workers=arguments.workers,
            )
            _require_services(outline, arguments.namespaces)
        return outline
    finally:
        cluster.close()


def _require_services(outline: PlanOutline, namespaces: tuple[str, ...]) -> None:
    if not any(unit.id.startswith(f"{AIM_SERVICE.name}/") for unit in outline.plan.units):
        raise not_started(
            f"no AIMService was found in {', '.join(namespaces)}, so there is nothing to plan and nothing was written",
            hint="check the namespaces and the kubeconfig's context: kubectl get aimservice -n <namespace>",
        )


def _view(outline: PlanOutline, directory: Path) -> PlanView:
    files = PlanFiles(directory / PLAN_NAME, outline.plan, outline.sha256)
    return summary_of(view_of(files, (), edited=False))


def _answer(view: PlanView, directory: Path, console: Console) -> None:
    if console.format != "table":
        console.answer(encode(view, console.format))
        return
    paint, width = console.paint, console.width
    lines = [
        f"{paint('Plan written', 'bold')} to {directory} (private; nothing was written to the cluster)",
        *header_lines(view, width),
        *count_lines(view, paint, width),
        *evidence_lines(view.evidence, paint, width),
        "",
        "Review it next:",
        f"  {PROG} show --plan {shlex.quote(str(directory))}",
    ]
    console.answer("\n".join(lines))
