"""What the parser declares, as values: the reference pages and the manual page are made from it."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aim_template_migration.cli.parser import NAME, build_parser


@dataclass(frozen=True, slots=True)
class Option:
    """One option or argument.

    Attributes:
        names: its names, empty for an argument.
        value: what stands for its value, empty for a switch.
        help: what it does.
    """

    names: tuple[str, ...]
    value: str
    help: str


@dataclass(frozen=True, slots=True)
class Group:
    """Options under one heading."""

    title: str
    options: tuple[Option, ...]


def commands() -> Mapping[str, argparse.ArgumentParser]:
    """Return the parser of every command by name, in the order of ``--help``."""
    for action in build_parser(NAME)._actions:  # noqa: SLF001 - argparse has no public way to look at its actions
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            return action.choices
    return {}


def usage(parser: argparse.ArgumentParser) -> str:
    """Return a command's usage without its heading."""
    return parser.format_usage().removeprefix("usage: ").strip()


def description(parser: argparse.ArgumentParser) -> str:
    """Return a command's description as one line."""
    return " ".join((parser.description or "").split())


def groups(parser: argparse.ArgumentParser) -> Iterator[Group]:
    """Yield the options of a command by their headings, empty headings left out."""
    for group in parser._action_groups:  # noqa: SLF001
        shown = tuple(_option(action) for action in group._group_actions if _is_shown(action))  # noqa: SLF001
        if shown:
            yield Group((group.title or "").capitalize(), shown)


def _is_shown(action: argparse.Action) -> bool:
    return action.help != argparse.SUPPRESS and not isinstance(action, argparse._HelpAction)  # noqa: SLF001


def _option(action: argparse.Action) -> Option:
    value = action.metavar if isinstance(action.metavar, str) else ""
    if action.choices and not value:
        value = "|".join(str(choice) for choice in action.choices)
    if not action.option_strings and not value:
        value = action.dest
    return Option(tuple(action.option_strings), value, action.help or "")
