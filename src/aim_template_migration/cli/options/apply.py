"""Options of ``apply``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    RunArguments,
    declare_connection,
    declare_output,
    declare_plan,
    declare_run,
    read_connection,
    read_run,
)
from aim_template_migration.cli.options.values import duration, duration_text, file_path, sha256

_PARALLEL = 1
_SOAK = "30s"


@dataclass(frozen=True, slots=True)
class ApplyArguments:
    """What ``apply`` was asked.

    Attributes:
        plan: plan directory or plan file.
        commit: write for real.
        result: where the result goes, None for beside the plan.
        plan_sha256: the approved SHA-256, or empty.
        baseline: an archived result whose pods a rerun compares with.
        run: how the run goes.
        connection: how to reach the cluster.
    """

    plan: Path
    commit: bool
    result: Path | None
    plan_sha256: str
    baseline: Path | None
    run: RunArguments
    connection: ConnectionArguments

    def repeated_words(self) -> list[str]:
        """Return the options that say what is run, how, and where to, as they would be typed again."""
        run = self.run
        given = (
            ("--limit", "" if run.limit is None else str(run.limit)),
            ("--stop-before", run.stop_before),
            ("--parallel", "" if run.parallel == _PARALLEL else str(run.parallel)),
            ("--soak", "" if run.soak_seconds == duration(_SOAK) else duration_text(run.soak_seconds)),
            (
                "--cutover-deadline",
                "" if run.cutover_deadline_seconds is None else duration_text(run.cutover_deadline_seconds),
            ),
            ("--result", str(self.result or "")),
            ("--baseline", str(self.baseline or "")),
        )
        return [
            *(word for unit in run.only for word in ("--only", unit)),
            *(["--fail-fast"] if run.fail_fast else []),
            *(word for option, value in given if value for word in (option, value)),
        ]


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s --plan PLAN [--commit] [options]"
    declare_plan(parser)
    parser.add_argument(
        "--commit", action="store_true", help="write to the cluster; without it every write is a server-side dry run"
    )
    parser.add_argument("--plan-sha256", type=sha256, metavar="HEX", help="refuse any plan file but the approved one")
    parser.add_argument(
        "--result",
        type=file_path,
        metavar="FILE",
        help="result file to make (default: apply-result.json beside the plan)",
    )
    parser.add_argument(
        "--baseline",
        type=file_path,
        metavar="FILE",
        help="archived result of an earlier run, whose pods a rerun compares with",
    )
    declare_run(parser, parallel=_PARALLEL, soak=_SOAK)
    declare_connection(parser)
    declare_output(parser)


def read(parsed: argparse.Namespace) -> ApplyArguments:
    """Return the options."""
    return ApplyArguments(
        plan=parsed.plan,
        commit=parsed.commit,
        result=parsed.result,
        plan_sha256=parsed.plan_sha256 or "",
        baseline=parsed.baseline,
        run=read_run(parsed),
        connection=read_connection(parsed),
    )
