"""``preflight``: the runbook's prerequisites as a checklist, before anything is planned."""

import argparse
import shlex
from datetime import UTC, datetime

from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, NOT_STARTED
from aim_template_migration.cli.options.preflight import PreflightArguments, read
from aim_template_migration.cli.parser import PROG
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.preflight import preflight_lines
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.documents.preflight import Preflight
from aim_template_migration.inspecting.preflight import must_stop, run_preflight
from aim_template_migration.kube.permissions import OPERATOR, OperatorPlace

_OF_ACCESS = frozenset({"ReadsPermitted", "WritesPermitted"})


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Look at the prerequisites; return 4 where a stop condition holds, else 0.

    Raises:
        CommandStopped: the cluster can't be reached.
    """
    arguments = read(parsed)
    operator = OperatorPlace(*arguments.operator) if arguments.operator else OPERATOR
    with translated():
        cluster = open_cluster(arguments.connection, console)
        try:
            preflight = run_preflight(cluster, arguments.namespaces, now=datetime.now(UTC), operator=operator)
        finally:
            cluster.close()
    if console.format == "table":
        lines = preflight_lines(preflight, console.paint, console.width)
        console.answer("\n".join([*lines, *_next(preflight, arguments)]))
    else:
        console.answer(encode(preflight, console.format))
    return NOT_STARTED.number if must_stop(preflight) else DONE.number


def _next(preflight: Preflight, arguments: PreflightArguments) -> list[str]:
    """Return the commands that come next, with the same namespaces, operator and connection."""
    where, operator = arguments.namespace_words(), arguments.operator_words()
    connection = arguments.connection.words()
    lacking = any(item.code in _OF_ACCESS and item.answer in ("stop", "attention") for item in preflight.prerequisites)
    commands = [["rbac", role, *where, *operator] for role in ("read", "apply")] if lacking else []
    if must_stop(preflight):
        commands.append(["preflight", *where, *operator, *connection])
    else:
        modes = ["--runtime-projection-mode", "MODE", "--output-dir", "DIR"]
        commands.append(["plan", *where, *modes, *connection])
    return ["", "Next:", *(f"  {PROG} {shlex.join(words)}" for words in commands)]
