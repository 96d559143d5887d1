"""``inspect``: after a failure, result, journal, plan, backup and live state side by side."""

import argparse
from datetime import UTC, datetime

from aim_template_migration.cli.console import Console
from aim_template_migration.cli.options.inspect import read
from aim_template_migration.cli.rendering.inspection import inspection_lines
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.inspecting.inspection import InspectOptions, inspect_plan


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Inspect a plan; return 5 where a write's outcome can't be told, 3 where something needs attention, else 0.

    Raises:
        CommandStopped: the plan or the cluster can't be read.
    """
    arguments = read(parsed)
    options = InspectOptions(arguments.plan, arguments.result, arguments.only)
    with translated():
        outcome = inspect_plan(options, lambda: open_cluster(arguments.connection, console), now=datetime.now(UTC))
    if console.format == "table":
        console.answer("\n".join(inspection_lines(outcome.inspection, console.paint, console.width)))
    else:
        console.answer(encode(outcome.inspection, console.format))
    return outcome.exit_code
