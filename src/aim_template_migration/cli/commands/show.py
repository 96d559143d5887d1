"""``show``: review a plan, or one unit of it."""

import argparse
import shlex

from aim_template_migration.applying.edits import edited_bodies
from aim_template_migration.applying.plan_files import PlanFiles, PlanRejected, read_generated, read_plan
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE
from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options.show import ShowArguments, read
from aim_template_migration.cli.parser import PROG
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.overview import (
    count_lines,
    evidence_lines,
    forecast_lines,
    header_lines,
    unit_list_lines,
)
from aim_template_migration.cli.rendering.plan_view import filtered, find_unit, view_of
from aim_template_migration.cli.rendering.text import count
from aim_template_migration.cli.rendering.unit_detail import unit_lines
from aim_template_migration.cli.translation import translated
from aim_template_migration.documents.plan import GENERATED_NAME, Unit
from aim_template_migration.documents.private_files import PrivateFileError
from aim_template_migration.documents.private_files import read as read_private

_LISTED_UNFILTERED = 40


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Show a plan; return 0.

    Raises:
        CommandStopped: the plan can't be read, or it has no such unit.
    """
    arguments = read(parsed)
    with translated():
        files = read_plan(arguments.plan)
    if arguments.unit:
        _show_unit(files, _one_unit(files, arguments.unit), console)
    else:
        _show_all(files, arguments, console)
    return DONE.number


def _show_unit(files: PlanFiles, unit: Unit, console: Console) -> None:
    if console.format != "table":
        console.answer(encode(view_of(files, (unit,), edited=_edited(files)), console.format))
        return
    console.answer("\n".join(unit_lines(files.plan, unit, _edited_targets(files), console.paint, console.width)))


def _show_all(files: PlanFiles, arguments: ShowArguments, console: Console) -> None:
    units = filtered(files.plan.units, arguments.filter)
    edited = _edited(files)
    view = view_of(files, units, edited=edited)
    if console.format != "table":
        console.answer(encode(view, console.format))
        return
    paint, width = console.paint, console.width
    lines = header_lines(view, width)
    if arguments.filter:
        lines += ["", f"{count(len(units), 'unit fits', 'units fit')} the filters"]
    else:
        lines += count_lines(view, paint, width)
        lines += forecast_lines(view.forecast, paint, width)
        lines += evidence_lines(view.evidence, paint, width)
    if arguments.filter or len(units) <= _LISTED_UNFILTERED:
        lines += unit_list_lines(units, paint, width)
    console.answer("\n".join(lines))
    _hints(files, units, listed=bool(arguments.filter) or len(units) <= _LISTED_UNFILTERED, console=console)
    if edited is None:
        console.warn(
            f"{GENERATED_NAME} beside {files.path} can't be read, so that edits can't be shown, and apply would refuse "
            "the plan; restore it or plan again"
        )
    elif edited:
        console.warn(f"{files.path} was edited since it was made; see {PROG} check --plan {_quoted(files)}")


def _hints(files: PlanFiles, units: tuple[Unit, ...], *, listed: bool, console: Console) -> None:
    if not listed:
        console.hint(f"list its {len(units):,} units with --disposition, --outcome, --namespace or --reason")
    if units:
        console.hint(f"one unit in detail: {PROG} show --plan {_quoted(files)} {units[0].id}")


def _one_unit(files: PlanFiles, name: str) -> Unit:
    found = find_unit(files.plan.units, name)
    if not found:
        hint = f"{PROG} show --plan {_quoted(files)} lists the units"
        raise wrong_usage(f"the plan has no unit {name}", hint=hint)
    if len(found) > 1:
        names = ", ".join(unit.id for unit in found[:5])
        raise wrong_usage(f"{name} could be any of {len(found)} units: {names}", hint="name one of them in full")
    return found[0]


def _edited(files: PlanFiles) -> bool | None:
    """Return whether the plan differs from its generated copy, None where that can't be read."""
    try:
        generated = read_private(files.directory / GENERATED_NAME)
        return generated != read_private(files.path)
    except PrivateFileError:
        return None


def _edited_targets(files: PlanFiles) -> frozenset[str]:
    """Return the ids of the targets that were edited since the plan was made, none where that can't be read."""
    try:
        return frozenset(edited_bodies(read_generated(files), files.plan))
    except PlanRejected:
        return frozenset()


def _quoted(files: PlanFiles) -> str:
    return shlex.quote(str(files.directory))
