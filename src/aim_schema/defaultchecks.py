"""Defaults must themselves be valid: known fields only, values that fit, rules that hold."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from aim_schema import errors
from aim_schema.errors import FieldError
from aim_schema.nodes import Node
from aim_schema.pruning import prune_value
from aim_schema.rules import Run, compile_rules
from aim_schema.values import compile_check

if TYPE_CHECKING:
    from aim_schema.problems import Problem


def default_complaints(node: Node, path: str) -> Iterator[FieldError]:
    """Yield what is wrong with the defaults at and below a schema."""
    if node.default is not None:
        yield from _complaints(node, f"{path}.default")
    if node.items is not None:
        yield from default_complaints(node.items, f"{path}.items")
    for key, below in node.properties.items():
        yield from default_complaints(below, f"{path}.properties[{key}]")


def _complaints(node: Node, path: str) -> Iterator[FieldError]:
    if prune_value(node.default, node) != node.default:
        yield errors.invalid(path, node.default, "must not have unknown fields")
        return
    problems: list[Problem] = []
    compile_check(node)(node.default, None, problems)
    found = [problem.error for problem in problems]
    tree = None if found else compile_rules(node, path, [], root=False)
    if tree is not None:
        for old in (node.default, None):
            run = Run(None)
            tree.check(node.default, old, None, run)
            found = found or run.found
    for error in found:
        yield replace(error, field=path if error.field == errors.ROOT else f"{path}.{error.field}")
