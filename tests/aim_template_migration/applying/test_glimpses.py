"""What is read of an object at a glance, and that nothing is lost where its shape is another."""

import json

import msgspec
import pytest

from aim_template_migration.applying.glimpses import Glimpses, read_glimpse

ARTIFACT = {
    "apiVersion": "aim.eai.amd.com/v1alpha1",
    "kind": "AIMArtifact",
    "metadata": {
        "name": "a",
        "namespace": "n",
        "uid": "u",
        "creationTimestamp": "2026-06-01T08:00:00Z",
        "ownerReferences": [{"uid": "o", "controller": True}],
    },
    "spec": {"sourceUri": "hf://a/b"},
}


def read(obj):
    return read_glimpse(msgspec.Raw(json.dumps(obj).encode()))


def test_identity_owners_age_and_source_are_read_and_nothing_else_is():
    labelled = ARTIFACT["metadata"] | {"labels": {"l": "v"}, "managedFields": [{"manager": "m"}]}
    full = ARTIFACT | {"metadata": labelled, "status": {"status": "Ready"}}
    assert read(full | {"spec": ARTIFACT["spec"] | {"size": "1Gi"}}) == ARTIFACT
    assert read({"kind": "Job"}) == {"kind": "Job"}


@pytest.mark.parametrize("other", [[], "text", None, {"metadata": []}, {"metadata": {"name": "a"}, "spec": "text"}])
def test_what_has_another_shape_is_read_whole(other):
    assert read(other) == other


def test_what_is_no_json_raises():
    with pytest.raises(msgspec.DecodeError):
        read_glimpse(msgspec.Raw(b'{"metadata": '))


def test_objects_are_found_by_each_of_their_keys_in_the_order_of_the_list():
    jobs = [{"name": name, "owners": owners} for name, owners in (("a", "x"), ("b", "xy"), ("c", "y"), ("d", ""))]
    found = Glimpses(jobs, lambda job: job["owners"])
    assert found.of("yx") == jobs[:3]
    assert found.of("y") == jobs[1:3]
    assert found.of("z") == found.of(()) == []
