"""Options of ``verify``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.inspect import declare_run_files
from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    declare_connection,
    declare_output,
    declare_plan,
    read_connection,
)
from aim_template_migration.cli.options.values import file_path


@dataclass(frozen=True, slots=True)
class VerifyArguments:
    """What ``verify`` was asked.

    Attributes:
        plan: plan directory or plan file.
        result: the result whose pods are compared with, None for the one beside the plan.
        only: ids of units, empty for all.
        emit_script: where the live validation script goes, None for none.
        connection: how to reach the cluster.
    """

    plan: Path
    result: Path | None
    only: tuple[str, ...]
    emit_script: Path | None
    connection: ConnectionArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    declare_plan(parser)
    declare_run_files(parser, "verify")
    parser.add_argument(
        "--emit-script",
        type=file_path,
        metavar="FILE",
        help="also write a reviewable shell script for the live validation, made from the plan",
    )
    declare_connection(parser)
    declare_output(parser)


def read(parsed: argparse.Namespace) -> VerifyArguments:
    """Return the options."""
    return VerifyArguments(
        plan=parsed.plan,
        result=parsed.result,
        only=tuple(parsed.only or ()),
        emit_script=parsed.emit_script,
        connection=read_connection(parsed),
    )
