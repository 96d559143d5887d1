"""Options of ``check``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.shared import declare_output, declare_plan


@dataclass(frozen=True, slots=True)
class CheckArguments:
    """What ``check`` was asked: the plan directory or plan file."""

    plan: Path


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s --plan PLAN [options]"
    declare_plan(parser)
    declare_output(parser)


def read(parsed: argparse.Namespace) -> CheckArguments:
    """Return the options."""
    return CheckArguments(parsed.plan)
