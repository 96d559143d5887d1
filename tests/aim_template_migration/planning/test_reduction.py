"""What is read of an object is all that its reduction keeps, and the quick look for secrets misses nothing."""

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.worlds import fleet
from aim_template_migration.kube.permissions import LISTED_KINDS
from aim_template_migration.planning.reduction import read_object, reduce
from aim_template_migration.planning.secret_scan import all_harmless, fresh_texts, sanitise
from tests.aim_template_migration.planning.test_secret_scan import NAMED, TOKENS
from tests.support.fleet import happy_fleet

KINDS = {kind.name: kind for kind in LISTED_KINDS}
OBJECTS = [
    obj for obj in (*happy_fleet().objects.values(), *fleet(1, 20).objects) if obj["kind"] in KINDS
]  # fmt: skip


def facts(observed):
    return observed.obj, observed.managers, observed.secrets, observed.names_secrets


def test_reading_leaves_out_nothing_that_reduction_keeps():
    assert {obj["kind"] for obj in OBJECTS} >= {"AIMService", "InferenceService", "Deployment", "PersistentVolumeClaim"}
    for obj in OBJECTS:
        text = msgspec.json.encode(obj)
        kind = KINDS[obj["kind"]]
        assert facts(reduce(kind, read_object(text))) == facts(reduce(kind, msgspec.json.decode(text)))


def test_what_is_dropped_is_not_even_built():
    obj = OBJECTS[0] | {"unknown": 1}
    assert "unknown" not in read_object(msgspec.json.encode(obj))


@pytest.mark.parametrize(
    "odd",
    [
        {"metadata": []},
        {"metadata": {"name": "a", "managedFields": {}}},
        {"metadata": {"name": "a"}, "status": "x"},
        {"metadata": {"name": "a"}, "status": {"conditions": {"Ready": True}}},
        ["no object"],
        "text",
    ],
)
def test_objects_of_another_shape_are_read_whole(odd):
    assert read_object(json.dumps(odd).encode()) == odd


def hidden(text: str, value: str, place: str):
    return {
        "name": {"spec": {"env": [{"name": text, "value": value}]}},
        "key": {"spec": {"args": {text: value}}},
        "value": {"spec": {"anything": [{"below": value}], text: 1}},
        "annotation": {"metadata": {"annotations": {text: value}}},
        "text": {"spec": {"args": json.dumps({text: value})}},
    }[place]


@pytest.mark.parametrize("place", ["name", "key", "value", "annotation", "text"])
@pytest.mark.parametrize("text", [*TOKENS, *NAMED])
def test_the_quick_look_stops_at_everything_that_would_be_replaced(text, place):
    obj = hidden(text, TOKENS.get(text) or NAMED[text], place)
    if sanitise(obj)[1]:
        assert not all_harmless(fresh_texts(obj))
        assert not all_harmless(fresh_texts(obj)), "nor the second time"


def test_the_quick_look_reads_over_line_ends():
    obj = hidden("a", "basic\nabcdefghijklmnopqrst", "value")
    assert sanitise(obj)[1]
    assert not all_harmless(fresh_texts(obj))


words = st.sampled_from(
    [*NAMED, *NAMED.values(), *TOKENS.values(), "name", "value", "env", "key", "spec", "a-b", "Path"]
)
trees = st.recursive(words, lambda below: st.lists(below, max_size=3) | st.dictionaries(words, below, max_size=3))


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["spec", "status", "metadata"]), st.dictionaries(words, trees, max_size=3)))
def test_what_the_quick_look_lets_pass_has_nothing_to_replace(obj):
    assert not all_harmless(fresh_texts(obj)) or sanitise(obj) == (obj, ())


def test_clean_fleets_pass_the_quick_look_and_secrets_that_are_named_are_known_each_time():
    for _ in range(2):
        assert all(all_harmless(fresh_texts(obj["spec"])) for obj in OBJECTS if "spec" in obj)
    for _ in range(2):
        spec = {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "x", "key": "y"}}}]}
        observed = reduce(AIM_SERVICE, {"metadata": {"name": "a"}, "spec": spec})
        assert observed.names_secrets
        assert not observed.secrets
    assert not reduce(AIM_SERVICE, {"metadata": {"name": "a"}, "spec": {"model": {"name": "b"}}}).names_secrets
