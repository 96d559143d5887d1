"""``preflight``: the runbook's prerequisites as a checklist, before anything is planned."""

import argparse
from datetime import UTC, datetime

from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, NOT_STARTED
from aim_template_migration.cli.options.preflight import read
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.preflight import preflight_lines
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.inspecting.preflight import must_stop, run_preflight


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Look at the prerequisites; return 4 where a stop condition holds, else 0.

    Raises:
        CommandStopped: the cluster can't be reached.
    """
    arguments = read(parsed)
    with translated():
        cluster = open_cluster(arguments.connection)
        try:
            preflight = run_preflight(cluster, arguments.namespaces, now=datetime.now(UTC))
        finally:
            cluster.close()
    if console.format == "table":
        console.answer("\n".join(preflight_lines(preflight, console.paint, console.width)))
    else:
        console.answer(encode(preflight, console.format))
    return NOT_STARTED.number if must_stop(preflight) else DONE.number
