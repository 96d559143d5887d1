"""What can go wrong with an expression: it does not compile, or it cannot be evaluated."""


class CelError(Exception):
    """An evaluation error, in the API server's words, such as ``no such key: name``."""


class CompileError(Exception):
    """An expression that does not parse or does not type-check.

    Attributes:
        position: the offset in the expression that the message is about.
        problem: the message alone.
    """

    def __init__(self, position: int, problem: str) -> None:
        super().__init__(problem)
        self.position = position
        self.problem = problem

    def shown(self, expression: str) -> str:
        """Return the message with the line it is about and a mark below the place."""
        before = expression[: self.position]
        row = before.count("\n")
        column = len(before) - (before.rfind("\n") + 1)
        line = expression.split("\n")[row].replace("\t", " ")
        return f"ERROR: <input>:{row + 1}:{column + 1}: {self.problem}\n | {line}\n | {'.' * column}^"


class InstantiationError(CompileError):
    """An expression with a conversion of a constant that fails, such as ``int('x')``."""

    def shown(self, expression: str) -> str:  # noqa: ARG002 - the place is not shown
        """Return the message alone."""
        return self.problem


NO_SUCH_OVERLOAD = "no such overload"
