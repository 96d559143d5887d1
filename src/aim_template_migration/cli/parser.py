"""The parser: one table of commands, each declared by its options module and run by its command module."""

import argparse
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from aim_template_migration.cli.exit_codes import EXIT_CODES
from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options import (
    apply,
    check,
    completion,
    convert,
    explain,
    handoff,
    inspect,
    plan,
    preflight,
    rbac,
    rehearse,
    report,
    show,
    validate,
    verify,
)
from aim_template_migration.version import __version__, build_commit

NAME = "aim-template-migration"
_PLUGIN = "kubectl-aim_template_migration"
PROG = f"kubectl {NAME}" if Path(sys.argv[0]).name == _PLUGIN else NAME
"""How this program was called, and is to be called again: by its own name, or as kubectl's plugin."""
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    Attributes:
        name: its word on the command line.
        summary: one phrase for the list of commands.
        description: what it does, writes and never does.
        declare: adds its options to a parser.
        module: the module with ``run(parsed, console) -> int``, imported when the command runs.
    """

    name: str
    summary: str
    description: str
    declare: Callable[[argparse.ArgumentParser], None]
    module: str


def _command(name: str, summary: str, description: str, declare: Callable[[argparse.ArgumentParser], None]) -> Command:
    return Command(name, summary, description, declare, f"aim_template_migration.cli.commands.{name}")


COMMANDS: tuple[Command, ...] = (
    _command(
        "rehearse",
        "practise the whole migration on a local API, with no cluster at risk",
        "Start a local Kubernetes API with a simulated bridge operator, load a sample fleet, and run plan, dry run and "
        "commit on it through the code that a real cluster gets. Exits with the run's code.",
        rehearse.declare,
    ),
    _command(
        "preflight",
        "check the prerequisites before anything is planned",
        "Look at the runbook's prerequisites in the named namespaces: CRDs and their versions, the bridge, serving "
        "health, permissions, admission webhooks, other managers. Lists the UIDs to record. Reads only; exits 4 where "
        "the runbook says to stop.",
        preflight.declare,
    ),
    _command(
        "plan",
        "read the named namespaces and write a private plan directory",
        "Read the named namespaces and write the plan directory: plan.json, its generated copy, backup.yaml, and an "
        "evidence file for each Dedicated unit. Reads the cluster only; never reads a Secret.",
        plan.declare,
    ),
    _command(
        "show",
        "review a plan: totals, reasons, and every proposed object as a diff",
        "Review a plan: totals and reasons for the whole fleet, or one unit with its reasons, pins, steps and a diff "
        "of every proposed object. Contacts no cluster.",
        show.declare,
    ),
    _command(
        "check",
        "lint a plan that was edited by hand",
        "Check a plan as apply will: its schema, every edit since it was generated and whether it is allowed, its "
        "structural safety, and its evidence files. Contacts no cluster, unless --live asks it to revalidate every "
        "unit. Exits 3 where apply would refuse the plan or stop a unit.",
        check.declare,
    ),
    _command(
        "apply",
        "revalidate and dry-run a plan; with --commit, migrate",
        "Re-read and revalidate each unit and ask admission to validate each write (server-side dry run). With "
        "--commit the writes are real. Writes a private result and journal beside the plan; a dry run needs the same "
        "permissions as a commit.",
        apply.declare,
    ),
    _command(
        "handoff",
        "check a manual Dedicated handoff at one phase, from its evidence file",
        "Compare a Dedicated unit with its planning-time evidence, and with the record so far, at one of the ten "
        "phases of the manual handoff. Reads only; the record is the only file it writes. It never says more than "
        "GO IF: what people must confirm remains.",
        handoff.declare,
    ),
    _command(
        "inspect",
        "after a failure: result, journal, plan, backup and live state side by side",
        "Show for every unit how far it came, what exists, what differs from plan and backup, and what the runbook "
        "says to do next. Settles a write whose outcome is on no record by reading. Writes nothing; works without a "
        "result and after a crash.",
        inspect.declare,
    ),
    _command(
        "verify",
        "after a success: what holds of each migrated unit, and what remains",
        "Read every automatic unit again and state what holds: the service observed at its pin, InferenceService and "
        "pods unchanged, artifacts and claims in place, targets Ready. List what remains. Reads only; --emit-script "
        "writes a shell script for the live validation. Exits 4 where nothing was applied.",
        verify.declare,
    ),
    _command(
        "report",
        "write one HTML page of plans and their runs, for reading and printing",
        "Write one self-contained HTML page of one or many plans and their runs: the fleet at a glance, the timeline, "
        "every unit with its diff, pins, steps and evidence. The page loads nothing. Contacts no cluster.",
        report.declare,
    ),
    _command(
        "rbac",
        "print least-privilege roles for reading or applying",
        "Print the ClusterRole and the Roles that the tool's own requests need in the named namespaces, and nothing "
        "more. Installs nothing and contacts no cluster.",
        rbac.declare,
    ),
    _command(
        "convert",
        "turn v1alpha1 manifests into v1alpha2 manifests",
        "Convert manifests by the recipes of the migration guide, offline. Comments, order, quoting and foreign "
        "documents stay as they are. What is dropped or has to be decided is named on stderr by file, line and field, "
        "and the exit code is then 3.",
        convert.declare,
    ),
    _command(
        "validate",
        "check v1alpha2 manifests against schema, rules and the guide's traps",
        "Say what a server would refuse in manifests, offline: file, line, column, field, reason, and what v1alpha2 "
        "has instead. The same definitions and rules decide as on a server. Exits 3 where an object would be refused, "
        "or hardly means what it says.",
        validate.declare,
    ),
    _command(
        "explain",
        "say what a code means and what to do about it",
        "Say what an outcome, reason, warning, imputation rule, failure or exit code means, and what an "
        "administrator does.",
        explain.declare,
    ),
    _command(
        "completion",
        "print a completion script for bash, zsh or fish",
        "Print a completion script. For bash: source <(aim-template-migration completion bash)",
        completion.declare,
    ),
)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one sentence and a hint, and that takes no abbreviated options."""

    def __init__(self, prog: str, description: str, *, usage: str | None = None, epilog: str | None = None) -> None:
        super().__init__(
            prog,
            usage,
            description,
            epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Raise the ending for wrong usage."""
        raise wrong_usage(message, hint=f"{self.prog} --help")

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """Name the nearest choice where there is one, and all of them only elsewhere."""
        import difflib  # only for a word that is no choice, so that --help stays quick

        choices = action.choices
        if choices is None or value in choices:  # as they are declared: the choices of a number are numbers
            return
        near = difflib.get_close_matches(value, map(str, choices), n=1) if isinstance(value, str) else []
        if near:
            raise argparse.ArgumentError(action, f"invalid choice: {value!r}; did you mean {near[0]!r}?")
        super()._check_value(action, value)


def build_parser(prog: str = PROG) -> Parser:
    """Return the parser of all commands."""
    parser = Parser(
        prog=prog,
        usage=f"{prog} COMMAND [options]",
        description=_wrapped(
            "Move AMD AIM Engine inference services from the v1alpha1 template pipeline to the v1alpha2 profile "
            "pipeline without restarting a pod: plan, review, apply."
        ),
        epilog=f"exit codes (of those that apply, the first):\n{exit_code_lines()}",
    )
    parser.add_argument("--version", action="version", version=_version_facts())
    commands = parser.add_subparsers(title="commands", dest="command", metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        sub = commands.add_parser(
            command.name, help=command.summary, description=_wrapped(command.description), prog=f"{prog} {command.name}"
        )
        command.declare(sub)
    return parser


def _version_facts() -> str:
    python = ".".join(str(part) for part in sys.version_info[:3])
    commit = build_commit()
    return f"{NAME} {__version__} ({f'commit {commit}, ' if commit else ''}Python {python})"


def exit_code_lines() -> str:
    """Return the table of exit codes for ``--help``."""
    return "\n".join(
        textwrap.fill(code.meaning, _WIDTH, initial_indent=f"  {code.number:>3}  ", subsequent_indent=" " * 7)
        for code in EXIT_CODES
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(text, _WIDTH, break_on_hyphens=False)
