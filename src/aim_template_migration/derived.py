"""Attributes and facts that are derived from others once, when they are first asked for."""

from collections.abc import Callable
from functools import wraps
from typing import Generic, Self, TypeVar, overload

Owner = TypeVar("Owner")
Value = TypeVar("Value")


class derived(Generic[Owner, Value]):  # noqa: N801 - used like a keyword, as ``property`` is
    """A property that is computed once for each instance.

    The standard library's ``cached_property`` takes a lock at every first access before Python 3.12, which costs more
    than most of what is derived. Two threads may compute a value twice here; it is the same value.
    """

    def __init__(self, compute: Callable[[Owner], Value]) -> None:
        self._compute = compute
        self._name = compute.__name__
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, instance: None, owner: type[Owner]) -> Self: ...

    @overload
    def __get__(self, instance: Owner, owner: type[Owner]) -> Value: ...

    def __get__(self, instance: Owner | None, owner: type[Owner]) -> Self | Value:
        """Return the value, computed now; from then on the instance has an attribute that hides this descriptor."""
        if instance is None:
            return self
        value = self._compute(instance)
        instance.__dict__[self._name] = value
        return value


def kept(function: Callable[[Owner], Value]) -> Callable[[Owner], Value]:
    """Let a function of one object be computed once for each object, which keeps the result as long as it lives.

    It is for facts that depend on nothing but the object, and that are asked for wherever the object is met.
    """
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(owner: Owner) -> Value:
        held = owner.__dict__
        if name not in held:
            held[name] = function(owner)
        value: Value = held[name]
        return value

    return known
