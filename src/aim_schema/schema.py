"""A compiled schema: prune, default and validate objects as the API server does."""

from collections.abc import Iterable
from dataclasses import replace

from aim_api.tree import JsonObject
from aim_schema import (
    defaulting,
    embedded,
    errors,
    listtypes,
    pruning,
    rules,
    structure,
    values,
)
from aim_schema.correlation import Correlated, excuses_value
from aim_schema.defaultchecks import default_complaints
from aim_schema.errors import FieldError, SchemaError
from aim_schema.nodes import Node, parse
from aim_schema.problems import Problem

SCHEMA_PATH = "spec.validation.openAPIV3Schema"
"""Where the API server says that a schema is, when all versions of a kind share it."""

_UNFINISHED = FieldError(
    errors.INVALID,
    errors.ROOT,
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation",
)


class StructuralSchema:
    """A CRD's OpenAPI v3 schema, compiled once for many objects. All methods leave their arguments as they are."""

    __slots__ = ("_check", "_check_status", "_inspect", "_root", "_rules", "_search", "_status")

    def __init__(self, root: Node, tree: "rules.RuleTree | None") -> None:
        self._root = root
        self._rules = tree
        self._check = values.compile_check(root)
        self._status = root.properties.get("status")
        self._check_status = None if self._status is None else values.compile_check(self._status)
        self._search = listtypes.compile_search(root)
        self._inspect = embedded.compile_inspection(root)

    @classmethod
    def compile(cls, open_api_v3_schema: JsonObject, *, path: str = SCHEMA_PATH) -> "StructuralSchema":
        """Return a compiled schema.

        Args:
            open_api_v3_schema: the schema as it stands in a CustomResourceDefinition.
            path: what complaints name as its place.

        Raises:
            SchemaError: the API server would refuse the schema.
        """
        root = parse(open_api_v3_schema)
        complaints = structure.complaints(open_api_v3_schema, root, path)
        if complaints:
            raise SchemaError(complaints)
        tree = rules.compile_rules(root, path, complaints, root=True)
        if not complaints:
            complaints = list(default_complaints(root, path))
        if complaints:
            raise SchemaError(complaints)
        return cls(root, tree)

    def prune(self, obj: JsonObject) -> tuple[JsonObject, list[str]]:
        """Return a pruned copy and, sorted, the fields it lacks, named as in strict decoding (``spec.list[0].bar``)."""
        return pruning.prune(obj, self._root)

    def default(self, obj: JsonObject) -> JsonObject:
        """Return a copy with defaults, and without the nulls that the schema does not allow."""
        return defaulting.default(obj, self._root)

    def validate(self, obj: JsonObject, old: JsonObject | None = None) -> list[FieldError]:
        """Return what the API server refuses in an object, or in its update from ``old``; empty where it is valid."""
        problems: list[Problem] = []
        self._check(obj, None, problems)
        correlated = None if old is None else Correlated(obj, old, self._root)
        if problems and correlated is not None:
            problems = [problem for problem in problems if not excuses_value(correlated, problem.owner)]
        found = _distinct(problems)
        if self._inspect is not None:
            self._inspect(obj, None, found)
        return self._finish(obj, old, correlated, found)

    def validate_status(self, obj: JsonObject, old: JsonObject) -> list[FieldError]:
        """Return what the API server refuses in an update of the status subresource.

        Of the values only the status is validated, lists and rules of the whole object are.
        """
        correlated = Correlated(obj, old, self._root)
        found: list[FieldError] = []
        if self._check_status is not None and "status" in obj:
            problems: list[Problem] = []
            self._check_status(obj["status"], None, problems)
            status = correlated.child("status") if problems else None
            if status is not None:
                problems = [problem for problem in problems if not excuses_value(status, problem.owner)]
            found = [_below_status(error) for error in _distinct(problems)]
        return self._finish(obj, old, correlated, found)

    def _finish(
        self, obj: JsonObject, old: JsonObject | None, correlated: Correlated | None, found: list[FieldError]
    ) -> list[FieldError]:
        """Add what list types and rules find; rules are not run on an object whose shape is wrong."""
        if self._search is not None:
            duplicates: list[FieldError] = []
            self._search(obj, None, duplicates)
            if duplicates and old is not None:
                before: list[FieldError] = []
                self._search(old, None, before)
                duplicates = [] if before else duplicates
            found.extend(duplicates)
        if self._rules is None:
            return found
        if any(error.reason in errors.BLOCKING for error in found):
            return [*found, _UNFINISHED]
        run = rules.Run(correlated, found)
        self._rules.check(obj, old, None, run)
        return run.found


def _distinct(problems: Iterable[Problem]) -> list[FieldError]:
    """Return the findings, those with one text only once."""
    found: dict[str, FieldError] = {}
    for problem in problems:
        found.setdefault(problem.text, problem.error)
    return list(found.values())


def _below_status(error: FieldError) -> FieldError:
    return replace(error, field="status" if error.field == errors.ROOT else f"status.{error.field}")
