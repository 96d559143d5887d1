"""Which type may stand where another is expected, and what the type variables of an expression are.

Rules of the checker in cel-go, seen on a real API server (Kubernetes 1.36): ``dyn`` goes with everything, null with
objects, durations, timestamps and opaque types, everything else with its own kind.
"""

from collections.abc import Sequence
from dataclasses import replace

from aim_schema.cel.types import DURATION, DYN, NULL, PARAMETERS, TIMESTAMP, Type, TypeVariable


class Inference:
    """The type variables of one expression and what is known of them."""

    def __init__(self) -> None:
        self._bindings: dict[TypeVariable, Type] = {}
        self._count = 0

    def variable(self) -> TypeVariable:
        """Return a new type variable."""
        self._count += 1
        return TypeVariable(f"_var{self._count - 1}")

    def instantiate(self, signature: Sequence[Type]) -> list[Type]:
        """Return a signature with new variables for its type parameters."""
        fresh: dict[Type, Type] = {parameter: self.variable() for parameter in PARAMETERS}
        return [_replace(each, fresh) for each in signature]

    def resolve(self, candidate: Type) -> Type:
        """Return a type with what is known put in for its variables, as far as anything is."""
        if isinstance(candidate, TypeVariable):
            bound = self._bindings.get(candidate)
            return candidate if bound is None else self.resolve(bound)
        if not candidate.parameters:
            return candidate
        parameters = tuple(self.resolve(parameter) for parameter in candidate.parameters)
        if all(new is old for new, old in zip(parameters, candidate.parameters, strict=True)):
            return candidate
        return replace(candidate, parameters=parameters)

    def accept(self, expected: Sequence[Type], given: Sequence[Type]) -> bool:
        """Return whether the given types go with the expected ones; what follows for variables is kept only if so."""
        saved = dict(self._bindings)
        if len(expected) == len(given) and all(self._assignable(a, b) for a, b in zip(given, expected, strict=True)):
            return True
        self._bindings = saved
        return False

    def join(self, previous: Type, current: Type) -> Type | None:
        """Return the more general of two types that go together, or None."""
        if not self.accept([previous], [current]):
            return None
        return previous if self._is_general(previous, current) else current

    def _assignable(self, first: Type, second: Type) -> bool:
        if isinstance(second, TypeVariable):
            fits, bound = self._bind(first, second)
            if fits or bound:
                return fits
        if isinstance(first, TypeVariable):
            return self._bind(second, first)[0]
        if first is DYN or second is DYN or first.name == second.name == "type":
            return True
        if first is NULL or second is NULL:
            return first is second or _takes_null(second if first is NULL else first)
        return (
            first.name == second.name
            and len(first.parameters) == len(second.parameters)
            and all(self._assignable(a, b) for a, b in zip(first.parameters, second.parameters, strict=True))
        )

    def _bind(self, candidate: Type, variable: TypeVariable) -> tuple[bool, bool]:
        """Return whether the variable may be the candidate, and whether it was bound before."""
        if candidate is variable:
            return True, True
        bound = self._bindings.get(variable)
        if bound is None:
            if self._mentions(candidate, variable):
                return False, False
            self._bindings[variable] = candidate
            return True, False
        if candidate is bound:
            return True, True
        if not self._assignable(candidate, bound):
            return False, True
        general = candidate if self._is_general(candidate, bound) else bound
        if not self._mentions(general, variable):
            self._bindings[variable] = general
        return True, True

    def _mentions(self, candidate: Type, variable: TypeVariable) -> bool:
        resolved = self.resolve(candidate)
        return resolved is variable or any(self._mentions(each, variable) for each in resolved.parameters)

    def _is_general(self, first: Type, second: Type) -> bool:
        """Return whether the first type is as general as the second or more so."""
        if first is DYN or isinstance(first, TypeVariable):
            return True
        if second is DYN or isinstance(second, TypeVariable) or first.name != second.name:
            return False
        return len(first.parameters) == len(second.parameters) and all(
            self._is_general(a, b) for a, b in zip(first.parameters, second.parameters, strict=True)
        )


def _takes_null(candidate: Type) -> bool:
    if candidate.name in (DURATION.name, TIMESTAMP.name) or candidate.fields is not None:
        return True
    return candidate.name == "optional_type" or candidate.name.startswith(("kubernetes.", "net."))


def _replace(candidate: Type, fresh: dict[Type, Type]) -> Type:
    found = fresh.get(candidate)
    if found is not None:
        return found
    if not candidate.parameters:
        return candidate
    return replace(candidate, parameters=tuple(_replace(parameter, fresh) for parameter in candidate.parameters))
