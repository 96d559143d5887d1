"""Options of ``validate``."""

import argparse
from dataclasses import dataclass
from typing import Literal

Output = Literal["text", "json", "sarif", "github"]


@dataclass(frozen=True, slots=True)
class ValidateArguments:
    """What ``validate`` was asked.

    Attributes:
        inputs: files, directories, and ``-`` for standard input.
        output: how the answer is written.
    """

    inputs: tuple[str, ...]
    output: Output


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s FILE|DIR|- ... [options]"
    parser.add_argument(
        "inputs", nargs="+", metavar="PATH", help="file, directory with all below it, or - for standard input"
    )
    group = parser.add_argument_group("output")
    group.add_argument(
        "-o",
        "--output",
        choices=("text", "json", "sarif", "github"),
        default="text",
        help="text for people, sarif and github for annotations in CI (default: text)",
    )
    group.add_argument("--no-color", action="store_true", help="no colour; the variable NO_COLOR does the same")
    group.add_argument(
        "-v", "--verbose", action="store_true", help="details on stderr, and tracebacks of unexpected errors"
    )


def read(parsed: argparse.Namespace) -> ValidateArguments:
    """Return the options."""
    return ValidateArguments(tuple(parsed.inputs), parsed.output)
