"""``completion``: a completion script made from the parser, so that it never lags behind it."""

import argparse

import shtab

from aim_template_migration.cli.console import Console
from aim_template_migration.cli.exit_codes import DONE
from aim_template_migration.cli.options.completion import read
from aim_template_migration.cli.parser import NAME, build_parser

_FILES = frozenset({"FILE", "PATH", "PLAN"})
_DIRECTORIES = frozenset({"DIR"})


def run(parsed: argparse.Namespace, console: Console) -> int:
    """Print the script; return 0."""
    parser = build_parser(NAME)
    _complete_paths(parser)
    console.answer(shtab.complete(parser, shell=read(parsed)))
    return DONE.number


def _complete_paths(parser: argparse.ArgumentParser) -> None:
    """Tell the generator which options take paths; it looks for an attribute of each action."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to look at its actions
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for sub in action.choices.values():
                _complete_paths(sub)
        elif action.metavar in _FILES:
            vars(action)["complete"] = shtab.FILE
        elif action.metavar in _DIRECTORIES:
            vars(action)["complete"] = shtab.DIRECTORY
