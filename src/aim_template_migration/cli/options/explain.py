"""Options of ``explain``."""

import argparse
from dataclasses import dataclass

from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options.shared import declare_output


@dataclass(frozen=True, slots=True)
class ExplainArguments:
    """What ``explain`` was asked: the codes to explain, or all."""

    codes: tuple[str, ...]
    all: bool


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s CODE ... | --all"
    parser.add_argument(
        "code", nargs="*", metavar="CODE", help="outcome, reason, warning, imputation rule, failure, or exit code"
    )
    parser.add_argument("--all", action="store_true", help="explain every code")
    declare_output(parser)


def read(parsed: argparse.Namespace) -> ExplainArguments:
    """Return the options.

    Raises:
        CommandStopped: neither a code nor ``--all`` is given, or both are.
    """
    if bool(parsed.code) == parsed.all:
        problem = "both codes and --all are given" if parsed.all else "no code is named"
        raise wrong_usage(problem, hint="explain CODE …, or explain --all for the whole list")
    return ExplainArguments(tuple(parsed.code), parsed.all)
