"""What the parts of the compiler share: compiled expressions, variables, and the compiler as the macros see it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from aim_schema.cel.inference import Inference
from aim_schema.cel.syntax import Expression
from aim_schema.cel.types import Type

Frame = list[object]
"""The values of the variables of one evaluation, by slot."""

Run = Callable[[Frame], object]


@dataclass(frozen=True, slots=True)
class Compiled:
    """An expression's static type and the closure that evaluates it.

    Attributes:
        constant: whether the value does not depend on any variable.
        slot: of a variable, so that what is read from it need not call it.
    """

    type: Type
    run: Run
    constant: bool = False
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable: its place in the frame and its type."""

    slot: int
    type: Type


Scope = Mapping[str, Variable]


class Context(Protocol):
    """The compiler."""

    inference: Inference

    def compile(self, expression: Expression, scope: Scope) -> Compiled:
        """Return a compiled expression; ``CompileError`` where it is not well-typed."""
        ...

    def new_variable(self, kind: Type) -> Variable:
        """Return a variable with a slot of its own."""
        ...
