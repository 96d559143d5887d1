"""Finds the benchmarks: every module of this package that states a tuple ``BENCHMARKS``."""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import benchmarks
from benchmarks.figures import Figure

Size = Literal["full", "quick"]
"""How much to measure: quick is smaller in every way and only shows that all works."""


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One benchmark.

    Attributes:
        name: how it is named on the command line, for example ``plan``.
        what: what it measures, in a sentence.
        run: measures at a size and yields the figures.
    """

    name: str
    what: str
    run: Callable[[Size], Iterable[Figure]]


def every_benchmark() -> dict[str, Benchmark]:
    """Return all benchmarks by name, in the order of their modules.

    Raises:
        ValueError: two have the same name.
    """
    found: dict[str, Benchmark] = {}
    for module in sorted(item.name for item in pkgutil.iter_modules(benchmarks.__path__) if item.name != "__main__"):
        stated: tuple[Benchmark, ...] = getattr(importlib.import_module(f"benchmarks.{module}"), "BENCHMARKS", ())
        for benchmark in stated:
            if benchmark.name in found:
                raise ValueError(f"two benchmarks are named {benchmark.name}")
            found[benchmark.name] = benchmark
    return found
