"""Options of ``inspect``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    declare_connection,
    declare_output,
    declare_plan,
    read_connection,
)
from aim_template_migration.cli.options.values import file_path


@dataclass(frozen=True, slots=True)
class InspectArguments:
    """What ``inspect`` was asked.

    Attributes:
        plan: plan directory or plan file.
        result: the result to read, None for the one beside the plan.
        only: ids of units, empty for all.
        connection: how to reach the cluster.
    """

    plan: Path
    result: Path | None
    only: tuple[str, ...]
    connection: ConnectionArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    declare_plan(parser)
    declare_run_files(parser, "inspect")
    declare_connection(parser)
    declare_output(parser)


def declare_run_files(parser: argparse.ArgumentParser, verb: str) -> None:
    """Add the options that name a run's result and the units to look at."""
    parser.add_argument(
        "--result",
        type=file_path,
        metavar="FILE",
        help="result of the run, also an archived one (default: apply-result.json beside the plan)",
    )
    parser.add_argument(
        "--only",
        action="append",
        metavar="UNIT",
        help=f"{verb} this unit only, for example AIMService/team-a/chat; repeatable",
    )


def read(parsed: argparse.Namespace) -> InspectArguments:
    """Return the options."""
    return InspectArguments(parsed.plan, parsed.result, tuple(parsed.only or ()), read_connection(parsed))
