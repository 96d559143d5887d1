"""CEL rules where several things come together, in the server's words."""

import pytest

from aim_api.tree import JsonObject
from aim_schema import StructuralSchema
from aim_schema.cel.compiler import compile_expression
from aim_schema.cel.failures import CelError, CompileError

TEXT: JsonObject = {"type": "string"}
UNFINISHED = (
    "some validation rules were not checked because the object was invalid; correct the existing errors to complete "
    "validation"
)


def compiled(spec: JsonObject, **rules: str) -> StructuralSchema:
    entries = [{"rule": rule, "message": name} for name, rule in rules.items()]
    properties: JsonObject = {"spec": {**spec, "x-kubernetes-validations": [*entries]}}
    return StructuralSchema.compile({"type": "object", "properties": properties})


def test_a_missing_field_refuses_the_object_and_says_which_rule_failed() -> None:
    schema = compiled({"type": "object", "properties": {"a": TEXT}}, needs="self.a == 'x'")
    [error] = schema.validate({"spec": {}})
    assert str(error) == 'spec: Invalid value: "object": no such key: a evaluating rule: needs'


def test_rules_do_not_run_on_an_object_of_a_wrong_shape() -> None:
    schema = compiled({"type": "object", "properties": {"a": {"type": "integer"}}}, never="false")
    assert [str(error) for error in schema.validate({"spec": {"a": "x"}})] == [
        'spec.a: Invalid value: "string": spec.a in body must be of type integer: "string"',
        f"<nil>: Invalid value: null: {UNFINISHED}",
    ]


def test_a_transition_rule_runs_only_where_old_and_new_exist_and_is_never_excused() -> None:
    schema = compiled({"type": "object", "properties": {"a": TEXT}}, frozen="self == oldSelf", odd="oldSelf.a != 'x'")
    assert schema.validate({"spec": {"a": "x"}}) == []
    assert schema.validate({"spec": {"a": "x"}}, {}) == []
    assert [error.message for error in schema.validate({"spec": {"a": "x"}}, {"spec": {"a": "x"}})] == [
        "Invalid value: odd"
    ]
    assert [error.message for error in schema.validate({"spec": {"a": "y"}}, {"spec": {"a": "z"}})] == [
        "Invalid value: frozen"
    ]


def test_old_objects_are_not_modified_by_a_comparison() -> None:
    schema = compiled(
        {"type": "object", "properties": {"n": {"type": "number"}, "t": {"type": "string", "format": "date-time"}}},
        same="self.n == oldSelf.n && self.t == oldSelf.t",
    )
    old: JsonObject = {"spec": {"n": 1, "t": "2024-01-01T00:00:00Z"}}
    new: JsonObject = {"spec": {"n": 1.0, "t": "2024-01-01T01:00:00+01:00"}}
    assert schema.validate(new, old) == []
    assert old == {"spec": {"n": 1, "t": "2024-01-01T00:00:00Z"}}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("[1, 2, 3].map(x, x * 2).filter(x, x > 2)", [4, 6]),
        ("{'a': 1}.?b.orValue(5)", 5),
        ("[1, 2].exists(x, 1 / (x - 1) > 0)", True),
        ("'%s|%e'.format([[1, 'a'], 1234.5])", '[1, "a"]|1.234500\u202f\u00d7\u202f10\u2070\u00b3'),
        ("timestamp('2024-01-01T00:00:00Z') + duration('36h') > timestamp('2024-01-02T00:00:00Z')", True),
        ("'a' in {'a': 1}", True),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0x10 + 1", 17),
        ("'''a\nb''' + r'\\n'", "a\nb\\n"),
        ("'abc' // a comment", "abc"),
    ],
)
def test_expressions_have_values(expression: str, value: object) -> None:
    assert compile_expression(expression, {}).evaluate() == value


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("9223372036854775808", "invalid int literal"),
        ("1 +", "Syntax error: mismatched input '<EOF>' expecting an expression"),
        ("has(1)", "invalid argument to has() macro"),
        ("'\\q'", "invalid string literal: unable to unescape string"),
        ("(" * 300 + "1" + ")" * 300, "expression recursion limit exceeded"),
        ("Message{a: 1}", "Syntax error: mismatched input '{' expecting <EOF>"),
    ],
)
def test_malformed_expressions_are_refused(expression: str, problem: str) -> None:
    with pytest.raises(CompileError) as caught:
        compile_expression(expression, {})
    assert caught.value.problem.startswith(problem.partition("'")[0])


def test_a_refusal_shows_the_line_and_the_place() -> None:
    expression = "1 == 1 &&\n  foo(2)"
    with pytest.raises(CompileError) as caught:
        compile_expression(expression, {})
    assert caught.value.shown(expression) == (
        "ERROR: <input>:2:6: undeclared reference to 'foo' (in container '')\n |   foo(2)\n | .....^"
    )


def test_evaluation_errors_are_not_hidden_by_short_circuits_that_do_not_decide() -> None:
    program = compile_expression("1 / 0 == 1 || false", {})
    with pytest.raises(CelError, match="division by zero"):
        program.evaluate()
