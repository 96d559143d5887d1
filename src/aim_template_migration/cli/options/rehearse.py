"""Options of ``rehearse``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.failures import wrong_usage
from aim_template_migration.cli.options.plan import Mode, read_mode
from aim_template_migration.cli.options.shared import RunArguments, declare_output, declare_run, read_run

DEFAULT_WORLD = "shared-happy-path"


@dataclass(frozen=True, slots=True)
class RehearseArguments:
    """What ``rehearse`` was asked.

    Attributes:
        world: the sample fleet.
        list_worlds: list the sample fleets instead.
        mode: the simulated operator's runtime projection mode.
        output_dir: the plan directory to make and keep, None for a temporary one.
        serve: stay up after the run.
        by_hand: stay up instead of the run.
        run: how dry run and commit go.
    """

    world: str
    list_worlds: bool
    mode: Mode
    output_dir: Path | None
    serve: bool
    by_hand: bool
    run: RunArguments


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s [options]"
    group = parser.add_argument_group("the rehearsal")
    group.add_argument(
        "--world", default=DEFAULT_WORLD, metavar="NAME", help=f"sample fleet (default: {DEFAULT_WORLD})"
    )
    group.add_argument("--list-worlds", action="store_true", help="list the sample fleets and what each shows")
    group.add_argument(
        "--runtime-projection-mode",
        default="Both",
        metavar="MODE",
        help="the simulated operator's mode: Exhaustive, Reduced or Both, case-sensitive (default: Both)",
    )
    group.add_argument(
        "--output-dir",
        type=Path,
        metavar="DIR",
        help="plan directory to make and keep (default: a temporary one, removed)",
    )
    group.add_argument(
        "--serve",
        action="store_true",
        help="after plan, dry run and commit keep the local API and its operator up for kubectl, until Ctrl-C",
    )
    group.add_argument(
        "--by-hand",
        action="store_true",
        help="with --serve: skip the run, so that you make it yourself from a second terminal",
    )
    declare_run(parser, parallel=8, soak="2s")
    declare_output(parser)


def read(parsed: argparse.Namespace) -> RehearseArguments:
    """Return the options.

    Raises:
        CommandStopped: the mode is unknown, or options do not go together.
    """
    if parsed.by_hand and not parsed.serve:
        raise wrong_usage("--by-hand needs --serve: without the run there is nothing else to do")
    if parsed.by_hand and parsed.output == "json":
        raise wrong_usage("--by-hand has no report to print, so it takes no -o json")
    return RehearseArguments(
        world=parsed.world,
        list_worlds=parsed.list_worlds,
        mode=read_mode(parsed.runtime_projection_mode),
        output_dir=parsed.output_dir,
        serve=parsed.serve,
        by_hand=parsed.by_hand,
        run=read_run(parsed),
    )
