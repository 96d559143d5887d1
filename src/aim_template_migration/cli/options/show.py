"""Options of ``show``."""

import argparse
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.cli.options.shared import declare_output, declare_plan

DISPOSITIONS = ("automatic", "manual", "skip")


@dataclass(frozen=True, slots=True)
class UnitFilter:
    """Which units are shown; an empty filter takes all.

    Attributes:
        outcomes: the outcomes.
        dispositions: the dispositions.
        namespaces: the namespaces.
        reasons: codes of reasons, one of which a unit has.
    """

    outcomes: tuple[str, ...] = ()
    dispositions: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Whether anything is filtered."""
        return bool(self.outcomes or self.dispositions or self.namespaces or self.reasons)


@dataclass(frozen=True, slots=True)
class ShowArguments:
    """What ``show`` was asked.

    Attributes:
        plan: plan directory or plan file.
        unit: one unit to show in detail, or empty.
        filter: which units are listed.
    """

    plan: Path
    unit: str
    filter: UnitFilter


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s --plan PLAN [UNIT] [options]"
    parser.add_argument(
        "unit",
        nargs="?",
        default="",
        metavar="UNIT",
        help="show this unit in detail: AIMService/team-a/chat, team-a/chat, or chat where only one has that name",
    )
    declare_plan(parser)
    group = parser.add_argument_group("filters (repeatable)")
    group.add_argument("--outcome", action="append", metavar="CODE", help="units with this outcome")
    group.add_argument("--disposition", action="append", choices=DISPOSITIONS, help="units with this disposition")
    group.add_argument("-n", "--namespace", action="append", metavar="NS", help="units of this namespace")
    group.add_argument(
        "--reason", action="append", metavar="CODE", help="units that have this reason, the first or another"
    )
    declare_output(parser)


def read(parsed: argparse.Namespace) -> ShowArguments:
    """Return the options."""
    chosen = UnitFilter(
        outcomes=tuple(parsed.outcome or ()),
        dispositions=tuple(parsed.disposition or ()),
        namespaces=tuple(parsed.namespace or ()),
        reasons=tuple(parsed.reason or ()),
    )
    return ShowArguments(parsed.plan, parsed.unit, chosen)
