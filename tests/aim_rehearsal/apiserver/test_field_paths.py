import pytest

from aim_rehearsal.apiserver.field_paths import (
    all_fields,
    applied_fields,
    from_fields_v1,
    prefixes,
    text_of,
    to_fields_v1,
    with_metadata_schema,
)
from tests.aim_rehearsal.apiserver.api import SPEC, STATUS, widget

SCHEMA = with_metadata_schema({"type": "object", "properties": {"spec": SPEC, "status": STATUS}})


def applied(**spec):
    fields = to_fields_v1(applied_fields(widget("a", **spec), SCHEMA))
    return fields.get("f:spec", {})


def test_leaves_are_claimed_and_structures_are_not():
    assert applied(size=1, color="x") == {"f:size": {}, "f:color": {}}


def test_atomic_lists_are_one_field_and_list_maps_one_per_item():
    assert applied(args=["a", "b"]) == {"f:args": {}}
    assert applied(env=[{"name": "A", "value": "1"}]) == {
        "f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}}
    }
    assert applied(tags=["x"]) == {"f:tags": {'v:"x"': {}}}


def test_fields_without_a_schema_are_granular_maps_with_atomic_lists():
    assert applied(free={"m": {"n": 1}, "l": [1]}) == {"f:free": {"f:m": {".": {}, "f:n": {}}, "f:l": {}}}


def test_empty_maps_are_claimed_as_such():
    assert applied(free={}) == {"f:free": {}}


def test_metadata_has_its_own_schema():
    value = widget("a", metadata={"labels": {"x": "y"}, "finalizers": ["a/b"], "ownerReferences": [{"uid": "u"}]})
    fields = to_fields_v1(applied_fields(value, SCHEMA))["f:metadata"]
    assert fields["f:labels"] == {"f:x": {}}
    assert fields["f:finalizers"] == {'v:"a/b"': {}}
    assert fields["f:ownerReferences"] == {'k:{"uid":"u"}': {}}


def test_every_field_counts_when_states_are_compared():
    paths = all_fields(widget("a", env=[{"name": "A"}]), SCHEMA)
    assert ("f:spec",) in paths
    assert ("f:spec", "f:env") in paths
    assert paths[("f:spec", "f:env", 'k:{"name":"A"}', "f:name")] == (True, "A")


@pytest.mark.parametrize(
    "fields",
    [
        {"f:a": {}},
        {"f:a": {".": {}, "f:b": {}}},
        {"f:a": {"f:b": {".": {}, "f:c": {}}, 'k:{"n":"x"}': {".": {}}}},
    ],
)
def test_fields_are_read_and_written(fields):
    paths = from_fields_v1(fields)
    assert from_fields_v1(to_fields_v1(paths)) == paths


def test_paths_as_text():
    path = ("f:spec", "f:env", 'k:{"name":"A","port":80}', "f:value")
    assert text_of(path) == '.spec.env[name="A",port=80].value'
    assert text_of(("f:metadata", "f:finalizers", 'v:"x"')) == '.metadata.finalizers[="x"]'


def test_prefixes():
    assert prefixes([("a", "b", "c")]) == {("a",), ("a", "b"), ("a", "b", "c")}
