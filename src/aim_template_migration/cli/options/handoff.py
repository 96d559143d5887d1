"""Options of ``handoff check``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.shared import (
    ConnectionArguments,
    declare_connection,
    declare_output,
    read_connection,
)
from aim_template_migration.cli.options.values import file_path

PHASES = range(1, 11)


@dataclass(frozen=True, slots=True)
class HandoffArguments:
    """What ``handoff check`` was asked.

    Attributes:
        evidence: the evidence file.
        phase: the phase to check, None to detect it.
        record: the record to compare with and to append to, if any.
        connection: how to reach the cluster.
    """

    evidence: Path
    phase: int | None
    record: Path | None
    connection: ConnectionArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s check --evidence FILE\n         [--phase 1..10] [--record FILE] [options]"
    parser.add_argument("action", choices=("check",), help="compare the unit with its evidence; writes the record only")
    group = parser.add_argument_group("what to check")
    group.add_argument(
        "--evidence",
        type=file_path,
        required=True,
        metavar="FILE",
        help="dedicated-handoff-*.json of the plan directory",
    )
    group.add_argument(
        "--phase",
        type=int,
        choices=PHASES,
        metavar="1..10",
        help="phase of the procedure (default: found by reading, which can't tell 2, 8 and 10: name these)",
    )
    group.add_argument(
        "--record", type=file_path, metavar="FILE", help="record of the checks: read if it exists, then appended to"
    )
    declare_connection(parser)
    declare_output(parser)


def read(parsed: argparse.Namespace) -> HandoffArguments:
    """Return the options."""
    return HandoffArguments(parsed.evidence, parsed.phase, parsed.record, read_connection(parsed))
