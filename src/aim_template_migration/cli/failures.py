"""How a command ends early: one sentence, a hint, a code to explain, and the exit code."""

from aim_template_migration.cli.exit_codes import NOT_STARTED, USAGE


class CommandStopped(Exception):  # noqa: N818 - an ending of the command, not an error of the program
    """The command ends; ``str()`` is one sentence without secrets.

    Attributes:
        exit_code: what the process returns.
        hint: what to do next, or empty.
        code: a code that ``explain`` knows, or empty.
    """

    def __init__(self, exit_code: int, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.hint = hint
        self.code = code


def wrong_usage(message: str, *, hint: str = "") -> CommandStopped:
    """Return the ending for arguments that make no sense."""
    return CommandStopped(USAGE.number, message, hint=hint)


def not_started(message: str, *, hint: str = "", code: str = "") -> CommandStopped:
    """Return the ending where nothing was started and nothing was changed."""
    return CommandStopped(NOT_STARTED.number, message, hint=hint, code=code)


def not_started_by(error: Exception) -> CommandStopped:
    """Return the ending for an exception whose text ends with the next step, behind its last semicolon."""
    sentence, separator, hint = str(error).rpartition("; ")
    return not_started(sentence, hint=hint) if separator else not_started(str(error))
