"""The local API says what a real API server says: to widgets, expressions and schemas.

The quick tests compare with recorded answers; those marked controlplane check that the record is still true.
"""

import json
import re

import pytest

from aim_api.tree import Json, JsonObject
from aim_schema import FieldError, SchemaError, StructuralSchema
from tests.aim_schema import live, widgets
from tests.aim_schema.expressions import EXPRESSIONS, SAMPLE
from tests.aim_schema.schemas import SCHEMAS
from tests.support.controlplane.server import ControlPlane

WIDGETS = StructuralSchema.compile(widgets.SCHEMA)

NOT_SIMULATED = "estimated rule cost exceeds budget"
"""The API server refuses rules that might take too long; the local one does not estimate their cost."""


def prepared(obj: JsonObject) -> JsonObject:
    return WIDGETS.default(WIDGETS.prune(obj)[0])


def verdict(found: list[FieldError], stored: Json, sent: Json) -> Json:
    if found:
        return live.sorted_causes([(error.reason, error.field, error.message) for error in found])
    return live.shown(stored, sent)


def numbered(cases: list[object]) -> list[str]:
    return [f"{index}-{json.dumps(case)[:60]}" for index, case in enumerate(cases)]


RECORDED = live.recorded("widgets")


def recorded(kind: str) -> list[Json]:
    answers = RECORDED[kind]
    assert isinstance(answers, list)
    return answers


@pytest.mark.parametrize(
    ("spec", "expected"),
    list(zip(widgets.CREATES, recorded("creates"), strict=True)),
    ids=numbered(list(widgets.CREATES)),
)
def test_a_widget_is_created_as_on_a_real_server(spec: JsonObject, expected: Json) -> None:
    obj = prepared(live.widget(spec))
    assert verdict(WIDGETS.validate(obj), obj.get("spec"), spec) == expected


@pytest.mark.parametrize(
    ("spec", "expected"),
    [pair for pair in zip(widgets.CREATES, recorded("unknown"), strict=True) if pair[1]],
)
def test_unknown_fields_are_named_as_on_a_real_server(spec: JsonObject, expected: Json) -> None:
    assert WIDGETS.prune(live.widget(spec))[1] == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [(*case, answer) for case, answer in zip(widgets.UPDATES, recorded("updates"), strict=True)],
    ids=numbered(list(widgets.UPDATES)),
)
def test_a_widget_is_updated_as_on_a_real_server(old: JsonObject, new: JsonObject, expected: Json) -> None:
    before, after = prepared(live.widget(old)), prepared(live.widget(new))
    assert verdict(WIDGETS.validate(after, before), after.get("spec"), new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [(*case, answer) for case, answer in zip(widgets.STATUSES, recorded("statuses"), strict=True)],
    ids=numbered(list(widgets.STATUSES)),
)
def test_a_status_is_updated_as_on_a_real_server(old: JsonObject, new: JsonObject, expected: Json) -> None:
    before = prepared(live.widget({}, status=old))
    after = {**before, "status": prepared(live.widget({}, status=new))["status"]}
    assert verdict(WIDGETS.validate_status(after, before), after["status"], new) == expected


def local_verdict(expression: str) -> Json:
    try:
        schema = StructuralSchema.compile({"type": "object", "properties": {"e": live.probed(expression)}})
    except SchemaError as error:
        return live.refusal(error.complaints[0].message)
    found = schema.validate({"e": SAMPLE})
    return found[0].message if found else True


def without_expectations(text: Json) -> Json:
    """Of what a parser expects instead of what it finds, only the place is the same."""
    return re.sub(r"(Syntax error:).*", r"\1", text) if isinstance(text, str) else text


EXPRESSION_VERDICTS = live.recorded("expressions")


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_expression_has_the_value_that_it_has_on_a_real_server(expression: str) -> None:
    expected = EXPRESSION_VERDICTS[expression]
    if NOT_SIMULATED in str(expected):
        assert not str(local_verdict(expression)).startswith("refused")
    else:
        assert without_expectations(local_verdict(expression)) == without_expectations(expected)


SCHEMA_VERDICTS = live.recorded("schemas")


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_refused_as_on_a_real_server(name: str) -> None:
    expected = SCHEMA_VERDICTS[name]
    assert isinstance(expected, list)
    found: list[Json] = []
    try:
        StructuralSchema.compile(SCHEMAS[name])
    except SchemaError as error:
        found = live.sorted_causes([(each.reason, each.field, each.message) for each in error.complaints])
    assert [[without_expectations(part) for part in cause] for cause in found] == [  # type: ignore[union-attr]
        [without_expectations(part) for part in cause]  # type: ignore[union-attr]
        for cause in expected
    ]


@pytest.mark.parametrize("kind", live.VERDICTS)
def test_the_record_is_what_a_real_server_says(kind: str, control_plane: ControlPlane, namespace: str) -> None:
    assert live.VERDICTS[kind](control_plane, namespace) == live.recorded(kind)
