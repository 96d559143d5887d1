"""Options of ``preflight``."""

import argparse
from dataclasses import dataclass

from aim_template_migration.cli.options.plan import declare_namespaces
from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    declare_connection,
    declare_output,
    read_connection,
)
from aim_template_migration.cli.options.values import explicit_namespaces


@dataclass(frozen=True, slots=True)
class PreflightArguments:
    """What ``preflight`` was asked.

    Attributes:
        namespaces: the selected namespaces.
        connection: how to reach the cluster.
    """

    namespaces: tuple[str, ...]
    connection: ConnectionArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s --namespace NS [--namespace NS ...]\n         [options]"
    declare_namespaces(parser.add_argument_group("where"))
    declare_connection(parser)
    declare_output(parser)


def read(parsed: argparse.Namespace) -> PreflightArguments:
    """Return the options.

    Raises:
        CommandStopped: no namespace is named.
    """
    namespaces = explicit_namespaces(parsed.namespace, every=parsed.all_namespaces)
    return PreflightArguments(namespaces, read_connection(parsed))
