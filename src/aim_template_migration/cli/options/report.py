"""Options of ``report``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.shared import declare_output
from aim_template_migration.cli.options.values import file_path


@dataclass(frozen=True, slots=True)
class ReportArguments:
    """What ``report`` was asked.

    Attributes:
        plans: plan directories or plan files, without repetitions.
        results: results of runs; a plan that none of them names has the one beside it.
        file: the page to write.
    """

    plans: tuple[Path, ...]
    results: tuple[Path, ...]
    file: Path


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s --plan PLAN... --file FILE.html [options]"
    parser.add_argument(
        "--plan",
        required=True,
        type=Path,
        nargs="+",
        action="extend",
        metavar="PLAN",
        help="plan directory, or its plan.json; several make one report",
    )
    parser.add_argument(
        "--result",
        type=file_path,
        nargs="+",
        action="extend",
        metavar="FILE",
        help="result of a run of one of the plans, also an archived one or a dry run's (default: apply-result.json "
        "beside each plan)",
    )
    parser.add_argument(
        "--file",
        required=True,
        type=file_path,
        metavar="FILE.html",
        help="the page; it may replace an earlier report, never another file",
    )
    declare_output(parser)


def read(parsed: argparse.Namespace) -> ReportArguments:
    """Return the options."""
    return ReportArguments(tuple(dict.fromkeys(parsed.plan)), tuple(dict.fromkeys(parsed.result or ())), parsed.file)
