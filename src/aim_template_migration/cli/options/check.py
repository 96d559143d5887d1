"""Options of ``check``."""

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


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """What ``check`` was asked.

    Attributes:
        plan: plan directory or plan file.
        live: also revalidate every automatic unit on the cluster.
        connection: how to reach the cluster.
    """

    plan: Path
    live: bool
    connection: ConnectionArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s --plan PLAN [options]"
    declare_plan(parser)
    parser.add_argument(
        "--live", action="store_true", help="also revalidate every automatic unit on the cluster, as apply will"
    )
    declare_connection(parser)
    declare_output(parser)


def read(parsed: argparse.Namespace) -> CheckArguments:
    """Return the options."""
    return CheckArguments(parsed.plan, parsed.live, read_connection(parsed))
