"""``x-kubernetes-validations``: CEL rules at every level of a schema.

A rule that reads ``oldSelf`` is a transition rule: it runs only where there is an old value, or, with
``optionalOldSelf``, always, and it is never excused by what did not change. An evaluation error refuses the object.

Source of the rules: seen on a real API server (Kubernetes 1.36). Its cost limits are not simulated.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from aim_api.tree import Json
from aim_schema import errors, fieldpaths, gotext
from aim_schema.cel import types
from aim_schema.cel.compiler import Program, compile_expression
from aim_schema.cel.declarations import declare
from aim_schema.cel.failures import NO_SUCH_OVERLOAD, CelError, CompileError, InstantiationError
from aim_schema.cel.mismatches import expected_types, mismatch
from aim_schema.cel.types import Type, is_dynamic, optional_of
from aim_schema.cel.values import NONE, Optional
from aim_schema.correlation import Correlated, excuses_rule, items_by_key, list_map_key
from aim_schema.errors import FieldError
from aim_schema.nodes import Node, Rule
from aim_schema.paths import MapKey, Path, field_path

_MAX_MESSAGE = 5120


@dataclass(frozen=True, slots=True)
class _CompiledRule:
    rule: Rule
    program: Program
    message: Program | None
    field: str
    """The rule's ``fieldPath`` as it is appended to the path of the value; empty where it has none."""

    @property
    def is_transition(self) -> bool:
        return "oldSelf" in self.program.used


@dataclass(slots=True)
class Run:
    """One validation: what it finds, and the old object if there is one."""

    correlated: Correlated | None
    found: list[FieldError] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RuleTree:
    """The rules of a schema and of the schemas below it; ``wanted`` are the types of its values, none for any."""

    node: Node
    wanted: tuple[type, ...]
    rules: tuple[_CompiledRule, ...]
    properties: "Mapping[str, RuleTree]"
    additional: "RuleTree | None"
    items: "RuleTree | None"

    def check(self, value: Json, old: Json, path: Path, run: Run) -> None:
        """Evaluate the rules on a value and below it; ``old`` is None where no old value correlates."""
        if value is None:
            return
        for rule in self.rules:
            self._apply(rule, value, old, path, run)
        if isinstance(value, list) and self.items is not None:
            self._check_items(value, old, path, run)
        elif isinstance(value, dict):
            previous = old if isinstance(old, dict) else {}
            for key, item in value.items():
                tree = self.properties.get(key)
                if tree is not None:
                    tree.check(item, previous.get(key), (path, key), run)
                elif self.additional is not None:
                    self.additional.check(item, previous.get(key), (path, MapKey(key)), run)

    def _check_items(self, value: list[Json], old: Json, path: Path, run: Run) -> None:
        assert self.items is not None
        keys = self.node.list_map_keys
        correlates = self.node.list_type == "map" and isinstance(old, list)
        previous = items_by_key(old, keys) if correlates and isinstance(old, list) else {}
        for index, item in enumerate(value):
            key = list_map_key(item, keys) if correlates else None
            self.items.check(item, previous.get(key) if key is not None else None, (path, index), run)

    def _apply(self, compiled: _CompiledRule, value: Json, old: Json, path: Path, run: Run) -> None:
        optional = compiled.rule.optional_old_self is True
        if compiled.is_transition and old is None and not optional:
            return
        before: object = (NONE if old is None else Optional(old, present=True)) if optional else old
        try:
            if old is not None or type(value) not in self.wanted:
                self._refuse_mismatch(compiled, value, old)
            if compiled.program.evaluate(value, before) is True:
                return
        except CelError as failure:
            run.found.append(errors.invalid(field_path(path), self.node.type, _failure(failure, compiled.rule)))
            return
        excusable = not compiled.is_transition and run.correlated is not None
        if excusable and run.correlated is not None and excuses_rule(run.correlated, path):
            return
        run.found.append(self._broken(compiled, value, old, path))

    def _refuse_mismatch(self, compiled: _CompiledRule, value: Json, old: Json) -> None:
        """Fail as soon as a rule reads a value of another type than the schema's."""
        for name, each in (("self", value), ("oldSelf", old)):
            if self.wanted and each is not None and type(each) not in self.wanted and name in compiled.program.used:
                raise CelError(mismatch(each, self.node))

    def _broken(self, compiled: _CompiledRule, value: Json, old: Json, path: Path) -> FieldError:
        where = field_path(path)
        if compiled.field:
            where = compiled.field if path is None else f"{where}.{compiled.field}"
        detail = _computed_message(compiled, value, old)
        if not detail:
            detail = compiled.rule.trimmed_message or f"failed rule: {compiled.rule.shown}"
        whole = self.node.type in ("object", "array")
        if compiled.rule.reason == errors.FORBIDDEN:
            return errors.forbidden(where, detail)
        if compiled.rule.reason == errors.REQUIRED:
            return errors.required(where, detail)
        if compiled.rule.reason == errors.DUPLICATE:
            return FieldError(errors.DUPLICATE, where, "Duplicate value") if whole else errors.duplicate(where, value)
        return errors.invalid_without_value(where, detail) if whole else errors.invalid(where, value, detail)


def _failure(failure: CelError, rule: Rule) -> str:
    text = str(failure)
    if text.startswith(NO_SUCH_OVERLOAD):
        return (
            f"'{text}': call arguments did not match a supported operator, function or macro signature for rule: "
            f"{rule.shown}"
        )
    return f"{text} evaluating rule: {rule.shown}"


def _computed_message(compiled: _CompiledRule, value: Json, old: Json) -> str:
    """Return what the message expression says, or nothing where it cannot be used."""
    program = compiled.message
    if program is None or ("oldSelf" in program.used and (old is None or compiled.rule.optional_old_self)):
        return ""
    try:
        text = program.evaluate(value, old)
    except CelError:
        return ""
    trimmed = text.strip() if isinstance(text, str) else ""
    return "" if "\n" in trimmed or len(trimmed.encode()) > _MAX_MESSAGE else trimmed


def compile_rules(
    node: Node, path: str, complaints: list[FieldError], *, root: bool, uncorrelated: str = ""
) -> RuleTree | None:
    """Return the rules at and below a schema, or None where it has none; what does not compile becomes a complaint.

    Args:
        node: the schema.
        path: its path, for complaints.
        complaints: where complaints are appended.
        root: whether it is the schema of a whole object, embedded or not.
        uncorrelated: the path of the list around it whose items have no old values, where there is one.
    """
    rules = tuple(_compiled(node, path, complaints, uncorrelated, root=root)) if node.rules else ()

    def compile_below(below: Node | None, where: str, without_old: str) -> RuleTree | None:
        if below is None:
            return None
        return compile_rules(below, where, complaints, root=below.embedded, uncorrelated=without_old)

    properties = {
        key: tree
        for key, below in node.properties.items()
        if (tree := compile_below(below, f"{path}.properties[{key}]", uncorrelated)) is not None
    }
    additional = compile_below(node.additional_node, f"{path}.additionalProperties", uncorrelated)
    without_old = uncorrelated or ("" if node.list_type == "map" else path)
    items = compile_below(node.items, f"{path}.items", without_old)
    if not (rules or properties or additional or items):
        return None
    return RuleTree(node, expected_types(node), rules, properties, additional, items)


def _compiled(
    node: Node, path: str, complaints: list[FieldError], uncorrelated: str, *, root: bool
) -> Iterator[_CompiledRule]:
    kind = declare(node, root=root)
    if kind is None:
        complaints.append(FieldError("InternalError", f"{path}.x-kubernetes-validations", _NO_TYPE))
        return
    for index, rule in enumerate(node.rules):
        where = f"{path}.x-kubernetes-validations[{index}]"
        if not rule.rule.strip():
            continue
        try:
            program = _program(rule, rule.rule, kind, types.BOOL)
        except CompileError as error:
            complaints.append(_complaint(f"{where}.rule", rule, _refusal(error, rule.rule, "", "a bool")))
            continue
        message = None
        if rule.message_expression:
            try:
                message = _program(rule, rule.message_expression, kind, types.STRING)
            except CompileError as error:
                refusal = _refusal(error, rule.message_expression, "messageExpression ", "a string")
                complaints.append(_complaint(f"{where}.messageExpression", rule, refusal))
        complaints.extend(_misused_old_self(rule, program, where, uncorrelated))
        yield _CompiledRule(rule, program, message, fieldpaths.normalized(rule.field_path, node) or "")


def _misused_old_self(rule: Rule, program: Program, where: str, uncorrelated: str) -> Iterator[FieldError]:
    if "oldSelf" in program.used and uncorrelated:
        detail = f"oldSelf cannot be used on the uncorrelatable portion of the schema within {uncorrelated}"
        yield errors.invalid(f"{where}.rule", rule.rule, detail)
    elif "oldSelf" not in program.used and rule.optional_old_self is not None:
        detail = "may not be set if oldSelf is not used in rule"
        yield errors.invalid(f"{where}.optionalOldSelf", rule.optional_old_self, detail)


_NO_TYPE = (
    "Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable "
    "to convert structural schema to CEL declarations"
)
_WRONG_RESULT = "wrong result type"


def _program(rule: Rule, expression: str, kind: Type, expected: Type) -> Program:
    old = optional_of(kind) if rule.optional_old_self else kind
    program = compile_expression(expression, {"self": kind, "oldSelf": old})
    if program.type.name != expected.name and not (is_dynamic(program.type) and program.type is not types.DYN):
        raise CompileError(0, _WRONG_RESULT)
    return program


def _refusal(error: CompileError, expression: str, subject: str, wanted: str) -> str:
    if error.problem == _WRONG_RESULT:
        return f"{subject or 'cel expression '}must evaluate to {wanted}"
    if isinstance(error, InstantiationError):
        return error.problem if not subject else error.problem.replace("program", "messageExpression", 1)
    return f"{subject}compilation failed: {error.shown(expression)}"


def _complaint(where: str, rule: Rule, detail: str) -> FieldError:
    """The API server shows the whole rule in its own field names."""
    parts = {
        "Rule": rule.rule,
        "Message": rule.message,
        "MessageExpression": rule.message_expression,
        "Reason": rule.reason or None,
        "FieldPath": rule.field_path,
        "OptionalOldSelf": rule.optional_old_self,
    }
    shown = ",".join(f"{gotext.json_text(name)}:{gotext.json_text(value)}" for name, value in parts.items())
    return FieldError(errors.INVALID, where, f"Invalid value: {{{shown}}}: {detail}")
