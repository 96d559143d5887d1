"""``verify``: after a success, what holds of each migrated unit, and what remains."""

import argparse
import shlex
from datetime import UTC, datetime
from pathlib import Path

from aim_template_migration.applying.plan_files import read_plan
from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE, FINDINGS
from aim_template_migration.cli.options.verify import VerifyArguments, read
from aim_template_migration.cli.rendering.machine import encode
from aim_template_migration.cli.rendering.verification import verification_lines
from aim_template_migration.cli.translation import open_cluster, translated
from aim_template_migration.cli.work_tree import work_tree_warning
from aim_template_migration.documents.private_files import write_new
from aim_template_migration.inspecting.live_script import live_script
from aim_template_migration.inspecting.reading import require_readable, select
from aim_template_migration.inspecting.verification import VerifyOptions, all_hold, verify_plan
from aim_template_migration.version import __version__


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Verify a plan; return 0 where everything holds, else 3.

    Raises:
        CommandStopped: there is nothing to verify, or the plan or the cluster can't be read.
    """
    arguments = read(parsed)
    options = VerifyOptions(arguments.plan, arguments.result, arguments.only)
    with translated():
        if arguments.emit_script is not None:
            _emit(arguments, arguments.emit_script, console)
        verification = verify_plan(options, lambda: open_cluster(arguments.connection, console), now=datetime.now(UTC))
    if console.format == "table":
        console.answer("\n".join(verification_lines(verification, console.paint, console.width)))
    else:
        console.answer(encode(verification, console.format))
    return DONE.number if all_hold(verification) else FINDINGS.number


def _emit(arguments: VerifyArguments, path: Path, console: Console) -> None:
    """Write the live validation script.

    Raises:
        PlanRejected: the plan can't be read or is unsound.
        PrivateFileError: the file exists, or can't be written.
    """
    files = read_plan(arguments.plan)
    require_readable(files)
    script = live_script(files, select(files.plan, arguments.only), version=__version__)
    write_new(path, script.encode())
    warning = work_tree_warning(path)
    if warning:
        console.warn(warning)
    console.note(
        f"live validation script written to {path} (private); review it, then run: sh {shlex.quote(str(path))}"
    )
