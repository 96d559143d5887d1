"""Metadata is decoded and judged as by a real API server; its answers were recorded."""

import pytest

from aim_api.tree import Json, field_path
from aim_schema.metadata_decoding import decoding_faults, unknown_metadata
from aim_schema.metadata_rules import (
    NameRule,
    content_problems,
    finalizer_problems,
    identity_problems,
    prefix_problems,
    repeated_owners,
)
from aim_schema.times import layout_complaint
from tests.aim_schema.random_metadata import RandomMetadata

FIELD = "json: cannot unmarshal {} into Go struct field {} of type {}"
OWNER = {"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "1"}


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (5, "json: cannot unmarshal number into Go value of type v1.ObjectMeta"),
        ([], "json: cannot unmarshal array into Go value of type v1.ObjectMeta"),
        ({"labels": []}, FIELD.format("array", "ObjectMeta.labels", "map[string]string")),
        ({"labels": {"a": True}}, FIELD.format("bool", "ObjectMeta.labels", "string")),
        ({"finalizers": ["a", {}]}, FIELD.format("object", "ObjectMeta.finalizers", "string")),
        ({"uid": 5}, FIELD.format("number", "ObjectMeta.uid", "types.UID")),
        ({"generation": 1.5}, FIELD.format("number 1.5", "ObjectMeta.generation", "int64")),
        ({"generation": "1"}, FIELD.format("string", "ObjectMeta.generation", "int64")),
        ({"generation": False}, FIELD.format("bool", "ObjectMeta.generation", "int64")),
        ({"ownerReferences": [5]}, FIELD.format("number", "ObjectMeta.ownerReferences", "v1.OwnerReference")),
        ({"ownerReferences": [{"uid": 5}]}, FIELD.format("number", "OwnerReference.ownerReferences.uid", "types.UID")),
        (
            {"ownerReferences": [{"controller": "true"}]},
            FIELD.format("string", "OwnerReference.ownerReferences.controller", "bool"),
        ),
        (
            {"managedFields": [{"subresource": 5}]},
            FIELD.format("number", "ManagedFieldsEntry.managedFields.subresource", "string"),
        ),
        ({"creationTimestamp": 5}, FIELD.format("number", "ObjectMeta.creationTimestamp", "string")),
        (
            {"creationTimestamp": "x"},
            'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"',
        ),
    ],
)
def test_what_cannot_be_decoded(metadata: Json, message: str) -> None:
    assert [fault.message for fault in decoding_faults(metadata)] == [message]


def test_every_fault_has_its_place_and_the_order_is_the_servers() -> None:
    metadata: Json = {"name": 5, "labels": {"b": 1, "a": 2}, "ownerReferences": [OWNER, {**OWNER, "name": []}]}
    assert [field_path(fault.path) for fault in decoding_faults(metadata)] == [
        "metadata.labels.a",
        "metadata.labels.b",
        "metadata.name",
        "metadata.ownerReferences[1].name",
    ]


@pytest.mark.parametrize(
    "metadata",
    [
        None,
        {},
        {"labels": None, "annotations": {"a": None}, "finalizers": [None], "ownerReferences": [None]},
        {"generation": -1, "deletionGracePeriodSeconds": 2**63 - 1, "creationTimestamp": None},
        {"managedFields": [None, {"fieldsV1": 5, "operation": "Foo"}]},
    ],
)
def test_what_can_be_decoded(metadata: Json) -> None:
    assert [*decoding_faults(metadata), *unknown_metadata(metadata)] == []


def test_unknown_fields() -> None:
    metadata: Json = {"name": "a", "Labels": {}, "ownerReferences": [{**OWNER, "foo": 1}], "managedFields": [{"a": 1}]}
    assert [field_path(path) for path in unknown_metadata(metadata)] == [
        "metadata.Labels",
        "metadata.managedFields[0].a",
        "metadata.ownerReferences[0].foo",
    ]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("2026-11-30T12:00:00Z", ""),
        ("2026-11-30T1:00:00,5+01:00", ""),
        ("0000-02-29T00:00:00Z", ""),
        ("2026-11-30T12:00:00-24:60", ""),
        ("2026-11-30T12:00:00", ' as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00"'),
        ("2026-11-30t12:00:00z", ' as "2006-01-02T15:04:05Z07:00": cannot parse "t12:00:00z" as "T"'),
        ("2026-11-30T12:00:00.Z", ' as "2006-01-02T15:04:05Z07:00": cannot parse ".Z" as "Z07:00"'),
        ("2026-00-30T12:00:00Z", ": month out of range"),
        ("2026-02-29T12:00:00Z", ": day out of range"),
        ("2026-11-30T24:00:00Z", ": hour out of range"),
        ("2026-11-30T12:60:00Z", ": minute out of range"),
        ("2026-11-30T12:00:60Z", ": second out of range"),
        ("2026-11-30T12:00:00+25:00", ": time zone offset hour out of range"),
        ("2026-11-30T12:00:00+01:61", ": time zone offset minute out of range"),
        ("2026-11-30T12:00:00Z ", ': extra text: " "'),
    ],
)
def test_times(text: str, complaint: str) -> None:
    assert layout_complaint(text) == (f'parsing time "{text}"{complaint}' if complaint else "")


@pytest.mark.parametrize(
    ("prefix", "sound"),
    [
        ("a-", True),
        ("a--", True),
        ("a.-", True),
        ("A-", True),
        ("a_-", True),
        ("-", False),
        ("a.", False),
        ("A", False),
    ],
)
def test_a_prefix_is_looked_at_with_its_last_two_characters_as_one_letter(prefix: str, sound: bool) -> None:
    assert (prefix_problems(prefix, NameRule.SUBDOMAIN) == []) is sound


def test_owners_that_are_repeated_count_once() -> None:
    controller: Json = {**OWNER, "controller": True}
    assert repeated_owners([controller, OWNER, controller, {**OWNER, "controller": None}]) == [2, 3]
    assert list(content_problems({"ownerReferences": [controller, controller]})) == []
    (problem,) = content_problems({"ownerReferences": [controller, {**OWNER, "uid": "2", "controller": True}]})
    assert field_path(problem.path) == "metadata.ownerReferences[1]"
    assert 'Found "true" in references for Pod/x and Pod/x' in problem.error.message


def test_problems_have_their_place() -> None:
    metadata = {"labels": {"a b": "c d"}, "annotations": {"E f": "g"}, "ownerReferences": [{**OWNER, "uid": ""}]}
    found = [(field_path(problem.path), problem.of_key, problem.error.field) for problem in content_problems(metadata)]
    assert found == [
        ("metadata.labels.a b", True, "metadata.labels"),
        ("metadata.labels.a b", False, "metadata.labels"),
        ("metadata.annotations.E f", True, "metadata.annotations"),
        ("metadata.ownerReferences[0].uid", False, "metadata.ownerReferences.uid"),
    ]


def test_finalizers_that_exclude_each_other() -> None:
    (problem,) = finalizer_problems({"finalizers": ["orphan", "a", "foregroundDeletion"]})
    assert problem.error.message == (
        'Invalid value: ["orphan","a","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set'
    )


def test_nothing_breaks_the_rules_off() -> None:
    for seed in range(3000):
        metadata = RandomMetadata(seed).object()
        assert all(fault.message for fault in decoding_faults(metadata))
        assert all(unknown_metadata(metadata))
        if isinstance(metadata, dict):
            rules = (identity_problems(metadata, NameRule.SUBDOMAIN), content_problems(metadata))
            assert all(problem.error.message for rule in (*rules, finalizer_problems(metadata)) for problem in rule)
