"""Options of ``rbac``."""

import argparse
from dataclasses import dataclass

from aim_template_migration.cli.options.plan import declare_namespaces
from aim_template_migration.cli.options.shared import declare_operator
from aim_template_migration.cli.options.values import explicit_namespaces

ROLES = ("read", "apply")


@dataclass(frozen=True, slots=True)
class RbacArguments:
    """What ``rbac`` was asked.

    Attributes:
        role: ``read`` or ``apply``.
        namespaces: the namespaces that the role is for.
        operator: namespace and name of the operator's Deployment, None for the place of its chart.
    """

    role: str
    namespaces: tuple[str, ...]
    operator: tuple[str, str] | None = None


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s read|apply --namespace NS [-o yaml|json]"
    parser.add_argument(
        "role", choices=ROLES, help="read serves every read-only command; apply also dry run and commit"
    )
    where = parser.add_argument_group("where")
    declare_namespaces(where)
    declare_operator(where)
    group = parser.add_argument_group("output")
    group.add_argument("-o", "--output", choices=("yaml", "json"), default="yaml", help="format (default: yaml)")
    group.add_argument("--no-color", action="store_true", help="no effect: the answer has no colour")
    group.add_argument("-v", "--verbose", action="store_true", help="tracebacks of unexpected errors")


def read(parsed: argparse.Namespace) -> RbacArguments:
    """Return the options.

    Raises:
        CommandStopped: no namespace is named.
    """
    namespaces = explicit_namespaces(parsed.namespace, every=parsed.all_namespaces)
    return RbacArguments(parsed.role, namespaces, parsed.operator)
