"""Equal parts of many objects, kept once."""

import copy
import json

from aim_rehearsal.sharing import Sharing
from aim_rehearsal.worlds import fleet

POD = {
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"app": "x"}},
    "spec": {"containers": [{"name": "c", "ports": [8000, 8001], "ready": True, "weight": 1, "share": 1.0}]},
    "status": {"conditions": [], "message": None},
}


def test_an_object_stays_equal_and_equal_parts_are_one():
    one, other = json.loads(json.dumps(POD)), json.loads(json.dumps(POD))
    other["metadata"]["name"] = "q"
    sharing = Sharing()
    first, second = sharing.of(one), sharing.of(other)
    assert first == POD
    assert second == {**POD, "metadata": {"name": "q", "labels": {"app": "x"}}}
    assert first["spec"] is second["spec"]
    assert first["metadata"] is not second["metadata"]
    assert first["metadata"]["labels"] is second["metadata"]["labels"]


def test_what_only_looks_equal_stays_apart():
    sharing = Sharing()
    kept = [
        sharing.of({"a": value})["a"]
        for value in ([True], [1], [1.0], ["1"], [[]], [{}], {"b": True}, {"b": 1}, {"b": 1.0}, {"b": "1"}, {"c": 1})
    ]
    assert [json.dumps(value) for value in kept] == [
        "[true]", "[1]", "[1.0]", '["1"]', "[[]]", "[{}]",
        '{"b": true}', '{"b": 1}', '{"b": 1.0}', '{"b": "1"}', '{"c": 1}',
    ]  # fmt: skip


def test_the_order_of_fields_is_kept():
    sharing = Sharing()
    assert list(sharing.of({"a": {"x": 1, "y": 2}})["a"]) == ["x", "y"]
    assert list(sharing.of({"a": {"y": 2, "x": 1}})["a"]) == ["y", "x"]


def test_a_fleet_is_shared_and_is_what_it_was():
    world = fleet(2, 10)
    objects = copy.deepcopy([*world.objects])
    sharing = Sharing()
    shared = [sharing.of(item) for item in objects]
    assert shared == [*world.objects]
    parts = [json.dumps(item["metadata"].get("labels")) for item in world.objects if item["metadata"].get("labels")]
    labels = {id(item["metadata"]["labels"]) for item in world.objects if item["metadata"].get("labels")}
    assert len(labels) == len(set(parts))
