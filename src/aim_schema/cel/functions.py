"""How functions are declared: overloads with the types that the checker sees and the code that runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from aim_schema.cel.failures import NO_SUCH_OVERLOAD, CelError
from aim_schema.cel.types import DYN, PARAMETERS, Type
from aim_schema.cel.values import type_name

Implementation = Callable[..., object]


@dataclass(frozen=True, slots=True, eq=False)
class Overload:
    """One signature of a function; a member function takes its target as the first parameter."""

    parameters: tuple[Type, ...]
    result: Type
    run: Implementation
    is_member: bool = False


Functions = Mapping[str, tuple[Overload, ...]]


def function(parameters: Sequence[Type], result: Type, run: Implementation) -> Overload:
    """Return an overload that is called as ``f(x)``."""
    return Overload(tuple(parameters), result, run)


def member(parameters: Sequence[Type], result: Type, run: Implementation) -> Overload:
    """Return an overload that is called as ``x.f()``."""
    return Overload(tuple(parameters), result, run, is_member=True)


def choose_at_run_time(candidates: Sequence[Overload]) -> Implementation:
    """Return code that runs the first candidate whose parameters fit the values it gets."""
    signatures = [(tuple(_runtime_name(each) for each in one.parameters), one.run) for one in candidates]

    def run(*values: object) -> object:
        names = tuple(type_name(value) for value in values)
        for expected, implementation in signatures:
            if all(want is None or want == name for want, name in zip(expected, names, strict=True)):
                return implementation(*values)
        raise CelError(NO_SUCH_OVERLOAD)

    return run


def _runtime_name(parameter: Type) -> str | None:
    return None if parameter is DYN or parameter in PARAMETERS else parameter.name
