"""Options of ``completion``."""

import argparse
from typing import Literal

Shell = Literal["bash", "zsh", "fish"]
SHELLS: tuple[Shell, ...] = ("bash", "zsh", "fish")


def declare(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.usage = "%(prog)s bash|zsh|fish"
    parser.add_argument("shell", choices=SHELLS, help="the shell to complete in")
    parser.add_argument("-v", "--verbose", action="store_true", help="tracebacks of unexpected errors")


def read(parsed: argparse.Namespace) -> Shell:
    """Return the shell."""
    return next(shell for shell in SHELLS if shell == parsed.shell)
