"""Schemas compile, and pruning, defaulting and validation keep what they promise for any object."""

import copy
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aim_api.crds import load_crds
from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_schema import FieldError, SchemaError, StructuralSchema, aggregate
from aim_schema.nodes import parse
from tests.aim_schema import widgets
from tests.aim_schema.random_objects import RandomObjects


def aim_schemas() -> Iterator[tuple[str, JsonObject]]:
    for crd in load_crds():
        for version in get_objects(crd, "spec", "versions"):
            name = f"{get_str(crd, 'metadata', 'name')}/{get_str(version, 'name')}"
            yield name, get_map(version, "schema", "openAPIV3Schema")


AIM = dict(aim_schemas())
SCHEMAS = {
    "widget": widgets.SCHEMA,
    **{name: AIM[name] for name in AIM if name.startswith(("aimservices", "aimmodels"))},
}
COMPILED = {name: StructuralSchema.compile(schema) for name, schema in SCHEMAS.items()}
NODES = {name: parse(schema) for name, schema in SCHEMAS.items()}


@pytest.mark.parametrize("name", AIM)
def test_every_shipped_schema_compiles(name: str) -> None:
    StructuralSchema.compile(AIM[name])


objects = st.builds(
    lambda name, seed, wrong, present: (name, RandomObjects(seed, wrong=wrong, present=present).object(NODES[name])),
    st.sampled_from(sorted(SCHEMAS)),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.02, 0.1]),
    st.sampled_from([0.1, 0.3, 0.6]),
)


@settings(deadline=None, max_examples=60)
@given(objects)
def test_pruning_and_defaulting_are_idempotent_and_leave_the_input_alone(case: tuple[str, JsonObject]) -> None:
    name, obj = case
    schema, before = COMPILED[name], copy.deepcopy(obj)
    pruned, _ = schema.prune(obj)
    assert schema.prune(pruned) == (pruned, [])
    filled = schema.default(pruned)
    assert schema.default(filled) == filled
    assert schema.prune(filled) == (filled, [])
    found = schema.validate(filled)
    assert schema.validate(filled) == found
    assert obj == before
    mutated(filled)
    assert schema.default(schema.prune(obj)[0]) == schema.default(pruned)


def mutated(value: Json) -> None:
    """Change every list and object: what a schema hands out must not be its own."""
    if isinstance(value, dict):
        for item in value.values():
            mutated(item)
        value["mutated"] = True
    elif isinstance(value, list):
        for item in value:
            mutated(item)
        value.append("mutated")


@settings(deadline=None, max_examples=60)
@given(objects)
def test_a_valid_object_stays_valid(case: tuple[str, JsonObject]) -> None:
    name, obj = case
    schema = COMPILED[name]
    filled = schema.default(schema.prune(obj)[0])
    if schema.validate(filled):
        return
    assert schema.validate(schema.default(schema.prune(filled)[0])) == []
    assert schema.validate(filled, filled) == []


def test_several_findings_are_joined_as_the_server_joins_them() -> None:
    one, two = FieldError("FieldValueInvalid", "spec.a", "Invalid value: 1: no"), FieldError("R", "<nil>", "x")
    assert aggregate([one]) == "spec.a: Invalid value: 1: no"
    assert aggregate([one, two, one]) == "[spec.a: Invalid value: 1: no, <nil>: x]"


def test_a_refused_schema_names_the_place_that_the_caller_gives() -> None:
    schema: JsonObject = {"type": "object", "properties": {"a": {"type": "array"}}}
    with pytest.raises(SchemaError) as caught:
        StructuralSchema.compile(schema, path="spec.versions[1].schema.openAPIV3Schema")
    assert [error.field for error in caught.value.complaints] == [
        "spec.versions[1].schema.openAPIV3Schema.properties[a].items"
    ]
    assert str(caught.value).endswith("Required value: must be specified")


def test_a_schema_of_unexpected_shapes_is_refused_and_never_a_traceback() -> None:
    broken: list[JsonObject] = [
        {},
        {"type": 5},
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a": {"type": "string", "x-kubernetes-validations": [5, {"rule": 7}]}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": [{"type": "string"}]}}},
    ]
    for schema in broken[:2] + broken[4:]:
        with pytest.raises(SchemaError):
            StructuralSchema.compile(schema)
    StructuralSchema.compile(broken[2])
