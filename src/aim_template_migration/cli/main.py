"""From argv to the exit code."""

import argparse
import contextlib
import importlib
import io
import os
import signal
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from aim_template_migration.cli.console import Console, Format, standard_console
from aim_template_migration.cli.exit_codes import DONE, INTERRUPTED, UNEXPECTED, USAGE
from aim_template_migration.cli.failures import CommandStopped, wrong_usage
from aim_template_migration.cli.parser import COMMANDS, PROG, build_parser

_WITHOUT_COMMAND = frozenset({"-h", "--help", "--version"})


def run() -> None:
    """Run the command line of this process and exit with its code."""
    _open_closed_streams()
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # so it was left while the modules were imported
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # under nohup it stays ignored
        signal.signal(signal.SIGHUP, _interrupt)
    sys.exit(_close_streams(main(sys.argv[1:])))


def main(argv: Sequence[str], *, prog: str = PROG) -> int:
    """Run one command and return its exit code."""
    console = standard_console()
    try:
        parsed = _parse(argv, prog, console)
        if isinstance(parsed, int):
            return parsed
        console = _console_of(parsed)
        code = _command_of(parsed)(parsed, console)
        console.warn_what_is_owed()
        return _with_answer_kept(code, console)
    except CommandStopped as stopped:
        console.warn_what_is_owed()
        _show(stopped, console, prog)
        return stopped.exit_code
    except KeyboardInterrupt:
        console.note("interrupted")
        return INTERRUPTED.number
    except Exception as error:  # noqa: BLE001 - the last line of defence: one sentence instead of a traceback
        _show_unexpected(error, console)
        return UNEXPECTED.number


def _parse(argv: Sequence[str], prog: str, console: Console) -> argparse.Namespace | int:
    parser = build_parser(prog)
    if argv and argv[0].startswith("-") and argv[0] not in _WITHOUT_COMMAND:
        raise wrong_usage(
            f"{argv[0]} stands before the command; options come after it", hint=f"{prog} COMMAND [options]"
        )
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):  # argparse would hide that its text can't be written
            parsed = parser.parse_args(argv)
    except SystemExit as ended:  # of --help and --version
        console.answer(said.getvalue())
        return _with_answer_kept(ended.code if isinstance(ended.code, int) else DONE.number, console)
    if not parsed.command:
        parser.print_help(sys.stderr)
        return USAGE.number
    return parsed


def _console_of(parsed: argparse.Namespace) -> Console:
    answer_format: Format = getattr(parsed, "output", "table")
    return standard_console(
        no_color=getattr(parsed, "no_color", False), answer_format=answer_format, verbose=parsed.verbose
    )


def _command_of(parsed: argparse.Namespace) -> Callable[[argparse.Namespace, Console], int]:
    command = next(item for item in COMMANDS if item.name == parsed.command)
    chosen: Callable[[argparse.Namespace, Console], int] = importlib.import_module(command.module).run
    return chosen


def _with_answer_kept(code: int, console: Console) -> int:
    """Return the code, or that of an unexpected error where all went well but the answer could not be written."""
    if console.lost:
        console.note(_lost(console.lost))
    return code or (UNEXPECTED.number if console.lost else DONE.number)


def _lost(why: str) -> str:
    return f"error: the answer could not be written to stdout: {why}"


def _show(stopped: CommandStopped, console: Console, prog: str) -> None:
    console.error(str(stopped))
    if stopped.hint:
        console.hint(stopped.hint)
    if stopped.code:
        console.note(f"more: {prog} explain {stopped.code}")
    if console.verbose and stopped.__cause__ is not None:
        console.note(f"cause: {type(stopped.__cause__).__name__}")


def _show_unexpected(error: Exception, console: Console) -> None:
    """Name the kind of error and where it arose; its text may quote anything, so it takes ``-v`` and is redacted."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" in {Path(frames[-1].filename).name}, line {frames[-1].lineno}" if frames else ""
    console.error(f"unexpected {type(error).__name__}{where}; this is a fault of the tool")
    if not console.verbose:
        console.hint("set -v for details")
        return
    from aim_template_migration.planning.secret_scan import redact

    # As a whole: a secret may go on over several lines.
    for line in redact("".join(traceback.format_exception(error))).splitlines():
        console.note(line)


def _interrupt(signum: int, frame: FrameType | None) -> None:
    del signum, frame
    raise KeyboardInterrupt


def _open_closed_streams() -> None:
    """Replace standard streams that were closed before the start, or the next file opened would take their number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
                os.close(nothing)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def _close_streams(code: int) -> int:
    """Flush, leave nothing for the interpreter to complain about where a reader went away, and return the exit code."""
    for stream in (sys.stderr, sys.stdout):
        try:
            stream.flush()
        except (OSError, ValueError) as error:
            if stream is sys.stdout and code == DONE.number and not isinstance(error, BrokenPipeError):
                code = UNEXPECTED.number
                with contextlib.suppress(OSError, ValueError):
                    sys.stderr.write(f"{_lost(str(error))}\n")
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    return code
