"""The exit codes: one table for ``--help``, the reference page and the tests."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExitCode:
    """One exit code.

    Attributes:
        number: what the process returns.
        word: its short name.
        meaning: when it is returned, as one phrase.
    """

    number: int
    word: str
    meaning: str


INTERRUPTED = ExitCode(130, "interrupted", "interrupted safely: the request in flight was finished and journaled")
UNEXPECTED = ExitCode(
    1, "unexpected", "unexpected error, or nothing else failed but the answer could not be written to stdout"
)
UNKNOWN = ExitCode(5, "unknown", "an outcome is unknown and must be looked at")
FINDINGS = ExitCode(3, "findings", "finished, but a unit or file failed, was refused, differs or has findings")
NOT_STARTED = ExitCode(
    4,
    "not started",
    "nothing was started: lock, existing result or journal, plan rejected, prerequisites, unreachable server, "
    "bad credentials, no service selected",
)
USAGE = ExitCode(2, "usage", "wrong usage")
DONE = ExitCode(0, "done", "all done")

EXIT_CODES: tuple[ExitCode, ...] = (INTERRUPTED, UNEXPECTED, UNKNOWN, FINDINGS, NOT_STARTED, USAGE, DONE)
"""In the order of precedence: of those that apply, the first is returned."""


def first_of(*numbers: int) -> int:
    """Return the number that comes first in the order of precedence.

    Raises:
        ValueError: no number is given, or one is not in the table.
    """
    order = [code.number for code in EXIT_CODES]
    return min(numbers, key=order.index)
