"""Options of ``preflight``."""

import argparse
from dataclasses import dataclass

from aim_template_migration.cli.options.plan import declare_namespaces
from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    declare_connection,
    declare_operator,
    declare_output,
    operator_words,
    read_connection,
)
from aim_template_migration.cli.options.values import explicit_namespaces


@dataclass(frozen=True, slots=True)
class PreflightArguments:
    """What ``preflight`` was asked.

    Attributes:
        namespaces: the selected namespaces.
        operator: namespace and name of the operator's Deployment, None for the place of its chart.
        connection: how to reach the cluster.
    """

    namespaces: tuple[str, ...]
    operator: tuple[str, str] | None
    connection: ConnectionArguments

    def namespace_words(self) -> list[str]:
        """Return the options that select namespaces, as they would be typed again."""
        return [word for name in self.namespaces for word in ("--namespace", name)]

    def operator_words(self) -> list[str]:
        """Return the option that names the operator, as it would be typed again."""
        return operator_words(self.operator)


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s --namespace NS [--namespace NS ...]\n         [options]"
    group = parser.add_argument_group("where")
    declare_namespaces(group)
    declare_operator(group)
    declare_connection(parser)
    declare_output(parser)


def read(parsed: argparse.Namespace) -> PreflightArguments:
    """Return the options.

    Raises:
        CommandStopped: no namespace is named.
    """
    namespaces = explicit_namespaces(parsed.namespace, every=parsed.all_namespaces)
    return PreflightArguments(namespaces, parsed.operator, read_connection(parsed))
