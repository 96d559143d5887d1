"""``rehearse``: the whole migration on a local API, with no cluster at risk."""

import argparse
import contextlib
import shlex
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from aim_rehearsal.faults import Trouble
from aim_rehearsal.worlds import RefusedError
from aim_template_migration.applying.events import Event, Listener, nobody
from aim_template_migration.cli.catalogues import list_faults, list_worlds
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, INTERRUPTED, first_of
from aim_template_migration.cli.failures import not_started, wrong_usage
from aim_template_migration.cli.interrupts import stopping_on_signals
from aim_template_migration.cli.options.rehearse import RehearseArguments, read
from aim_template_migration.cli.parser import PROG
from aim_template_migration.cli.progress import progress_of
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.serving import serving_lines
from aim_template_migration.cli.rendering.story import chapter_lines
from aim_template_migration.cli.subjects import subject_of, told
from aim_template_migration.cli.translation import translated
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.documents.private_files import require_absent
from aim_template_migration.rehearsing.events import Chapter, FaultAnswered, RehearsalClosed, RunBegins, RunEnded
from aim_template_migration.rehearsing.faults import ChosenFault, FaultError, choose_fault
from aim_template_migration.rehearsing.rehearsal import Rehearsal, RehearsalOptions, RehearsalOutcome, RunTuning
from aim_template_migration.rehearsing.subject import Subject

_PLAN_DIRECTORY = "migration-plan"
_STOPPING = "stopping the local API and its operator"


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Rehearse; return the run's exit code.

    Raises:
        CommandStopped: there is no such world, or nothing was started.
    """
    arguments = read(parsed)
    if arguments.list_worlds:
        return list_worlds(console)
    if arguments.list_faults:
        return list_faults(console)
    fault = _fault(arguments)
    stop = threading.Event()
    with translated(), _directories(arguments, console) as places:
        subject = subject_of(arguments, console)
        with (
            # Before the run a signal just ends the command; from then on it ends what is under way.
            _started(_options(arguments, subject, fault, places, console)) as rehearsal,
            stopping_on_signals(stop, console),
        ):
            if arguments.by_hand and fault is not None:
                rehearsal.arm()
            code = DONE.number if arguments.by_hand else _run(rehearsal, arguments, console, stop)
            if arguments.serve and not stop.is_set():
                _serve(rehearsal, arguments, console, stop)
            return code


@contextlib.contextmanager
def _started(options: RehearsalOptions) -> Iterator[Rehearsal]:
    """Yield the rehearsal with its local API up; the server may refuse objects that stood in files."""
    subject = options.subject
    with contextlib.ExitStack() as stack:
        try:
            rehearsal = stack.enter_context(Rehearsal(options))
        except RefusedError as error:
            raise not_started(f"{subject.places.get(error.reference, subject.world.name)}: {error}") from error
        except TimeoutError as error:
            raise not_started(f"the simulation does not come to rest: {error}") from error
        yield rehearsal


class _Telling:
    """Tells the chapters to the console, with the progress of each run drawn between its beginning and its end."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._drawing = contextlib.ExitStack()
        self._listener: Listener = nobody

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._drawing.close()

    def chapter(self, chapter: Chapter) -> None:
        """Tell one chapter."""
        if isinstance(chapter, RunEnded | FaultAnswered | RehearsalClosed):
            self._drawing.close()
        if self._console.format == "table":
            self._console.answer("\n".join(chapter_lines(chapter, self._console.paint, self._console.width)))
        if isinstance(chapter, RunBegins):
            self._listener = self._drawing.enter_context(progress_of(self._console))

    def progress(self, event: Event) -> None:
        """Pass on one event of the run under way."""
        self._listener(event)


def _run(rehearsal: Rehearsal, arguments: RehearseArguments, console: Console, stop: threading.Event) -> int:
    with _Telling(console) as telling:
        outcome = rehearsal.run(telling.chapter, telling.progress, stop)
    if console.format != "table":
        console.answer(encode(outcome.report, console.format))
    elif arguments.output_dir is None:
        console.hint("the plan directory was temporary; keep it with --output-dir DIR")
    return _exit_code(outcome)


def _exit_code(outcome: RehearsalOutcome) -> int:
    """Return the code of the run: of dry run and commit, after a fault the rerun, what comes first in the table."""
    codes = [outcome.dry_run.exit_code, *([outcome.commit.exit_code] if outcome.commit else [])]
    if outcome.stopped:
        codes.append(INTERRUPTED.number)
    return first_of(*codes)


def _fault(arguments: RehearseArguments) -> ChosenFault | None:
    """Return the fault that was asked for.

    Raises:
        CommandStopped: there is none of this name, or it can't come up there.
    """
    if not arguments.fault:
        return None
    try:
        chosen = choose_fault(arguments.fault)
    except FaultError as error:
        raise wrong_usage(str(error), hint=f"{PROG} rehearse --list-faults") from error
    if arguments.by_hand and chosen.fault.trouble is Trouble.KILL:
        raise wrong_usage("--fault kill needs the run: it kills the apply that the rehearsal itself starts")
    return chosen


def _serve(rehearsal: Rehearsal, arguments: RehearseArguments, console: Console, stop: threading.Event) -> None:
    lines = serving_lines(
        rehearsal.load(),
        admin_kubeconfig=rehearsal.admin_kubeconfig(),
        tool_kubeconfig=rehearsal.tool_kubeconfig(),
        mode=arguments.mode,
        by_hand=arguments.by_hand,
        paint=console.paint,
        width=console.width,
    )
    tell = console.answer if console.format == "table" else console.note
    with stopping_on_signals(stop, console, first=_STOPPING, again=_STOPPING):
        tell("\n".join(lines))
        stop.wait()


def _options(
    arguments: RehearseArguments,
    subject: Subject,
    fault: ChosenFault | None,
    places: tuple[Path, Path],
    console: Console,
) -> RehearsalOptions:
    run_arguments = arguments.run
    work_dir, directory = places
    return RehearsalOptions(
        subject=subject,
        mode=arguments.mode,
        directory=directory,
        work_dir=work_dir,
        tuning=RunTuning(
            only=run_arguments.only,
            limit=run_arguments.limit,
            fail_fast=run_arguments.fail_fast,
            stop_before=run_arguments.stop_before,
            parallel=run_arguments.parallel,
            soak_seconds=run_arguments.soak_seconds,
            cutover_deadline_seconds=run_arguments.cutover_deadline_seconds,
        ),
        fault=fault,
        command=shlex.join([PROG, *sys.argv[1:]]),
        progress=told(console),
    )


@contextlib.contextmanager
def _directories(arguments: RehearseArguments, console: Console) -> Iterator[tuple[Path, Path]]:
    """Yield a private temporary directory and the plan directory to make, which is in it unless one was named."""
    if arguments.output_dir is not None:
        require_absent(arguments.output_dir)
        warning = work_tree_warning(arguments.output_dir)
        if warning:
            console.warn(warning)
    with tempfile.TemporaryDirectory(prefix="aim-rehearsal-") as name:
        yield Path(name), arguments.output_dir or Path(name) / _PLAN_DIRECTORY
