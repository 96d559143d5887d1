"""``apply``: revalidate and dry-run a plan; with ``--commit``, migrate."""

import argparse
import shlex
import sys
import threading

from aim_template_migration.applying.events import Event, Listener, RunStarted
from aim_template_migration.applying.plan_files import PlanFiles, journal_path, read_plan
from aim_template_migration.applying.preflight import archive_command
from aim_template_migration.applying.run import ApplyOptions, ApplyOutcome, apply_plan
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE
from aim_template_migration.cli.interrupts import stopping_on_signals
from aim_template_migration.cli.options.apply import ApplyArguments, read
from aim_template_migration.cli.parser import PROG
from aim_template_migration.cli.progress import progress_of
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.run_result import ALREADY_CUT_OVER, outcome_lines
from aim_template_migration.cli.rendering.statements import SAME_PERMISSIONS, commit_notice, limits_lines
from aim_template_migration.cli.rendering.text import wrapped
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.documents.plan import PLAN_NAME
from aim_template_migration.documents.result import with_limits


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Apply a plan; return the run's exit code.

    Raises:
        CommandStopped: nothing was started.
    """
    arguments = read(parsed)
    stop = threading.Event()
    with translated(), stopping_on_signals(stop, console):
        files = read_plan(arguments.plan)
        _announce(files, arguments, console)
        with progress_of(console) as progress:
            outcome = apply_plan(
                _options(arguments, files),
                lambda: open_cluster(arguments.connection, console, stop=stop, in_flight=arguments.run.parallel),
                listener=_warned_at_the_start(progress, console),
                stop=stop,
            )
    _answer(outcome, files, arguments, console)
    return outcome.exit_code


def _warned_at_the_start(progress: Listener, console: Console) -> Listener:
    def listen(event: Event) -> None:
        if isinstance(event, RunStarted):
            for notice in event.notices:
                console.warn(notice)
        progress(event)

    return listen


def _announce(files: PlanFiles, arguments: ApplyArguments, console: Console) -> None:
    warning = work_tree_warning(arguments.result or files.path)
    if warning:
        console.warn(warning)
    notice = commit_notice(files.plan) if arguments.commit else [SAME_PERMISSIONS]
    for sentence in (f"Plan SHA-256 {files.sha256}", *notice):
        for line in wrapped(sentence, console.width):
            console.note(line)


def _options(arguments: ApplyArguments, files: PlanFiles) -> ApplyOptions:
    run_arguments = arguments.run
    return ApplyOptions(
        plan=arguments.plan,
        commit=arguments.commit,
        result=arguments.result,
        # What was announced is what runs: a file that changes in between is refused.
        plan_sha256=arguments.plan_sha256 or files.sha256,
        only=run_arguments.only,
        limit=run_arguments.limit,
        fail_fast=run_arguments.fail_fast,
        stop_before=run_arguments.stop_before,
        parallel=run_arguments.parallel,
        soak_seconds=run_arguments.soak_seconds,
        cutover_deadline_seconds=run_arguments.cutover_deadline_seconds,
        baseline=arguments.baseline,
        command=shlex.join([PROG, *sys.argv[1:]]),
    )


def _answer(outcome: ApplyOutcome, files: PlanFiles, arguments: ApplyArguments, console: Console) -> None:
    if console.format != "table":
        console.answer(encode(with_limits(outcome.result), console.format))
        return
    lines = outcome_lines(outcome, console.paint, console.width)
    if outcome.result.mode == "commit":
        lines += limits_lines(console.width)
    elif outcome.exit_code == DONE.number:
        lines += _after_dry_run(outcome, files, arguments)
    if outcome.result.counts["interrupted"]:
        lines += ["", "Before applying again, and after inspect where needed, archive this run:"]
        lines += [f"  {_archiving(outcome)}"]
    console.answer("\n".join(lines))


def _after_dry_run(outcome: ApplyOutcome, files: PlanFiles, arguments: ApplyArguments) -> list[str]:
    succeeded = [unit for unit in outcome.result.units if unit.status == "succeeded"]
    if not succeeded:
        return []
    if all(unit.code == ALREADY_CUT_OVER for unit in succeeded):
        return ["", "There is nothing to commit: every unit that was run carries this plan's cutover already."]
    return ["", "Commit this very plan next:", *(f"  {line}" for line in _commit_commands(outcome, files, arguments))]


def _archiving(outcome: ApplyOutcome) -> str:
    result = outcome.result_path
    return archive_command((result, journal_path(result)), outcome.result.run_id)


def _commit_commands(outcome: ApplyOutcome, files: PlanFiles, arguments: ApplyArguments) -> list[str]:
    """Return the commands that commit what was just dry-run, and no more; the dry run's result is archived first."""
    plan = files.directory if files.path.name == PLAN_NAME else files.path
    words = ["--plan", str(plan), *arguments.repeated_words(), *arguments.connection.words()]
    return [
        _archiving(outcome),
        f"{PROG} apply {shlex.join(words)} --commit \\",
        f"  --plan-sha256 {files.sha256}",
    ]
