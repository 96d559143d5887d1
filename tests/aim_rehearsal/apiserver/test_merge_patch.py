import pytest

from aim_rehearsal.apiserver.builtin_schemas import builtin_schema
from aim_rehearsal.apiserver.merge_patch import merge, strategic_merge

POD = builtin_schema("Pod")


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": 1}, {"a": None, "b": None}, {}),
        ({"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"b": None, "c": 1}}, {"a": {"c": 1}}),
        ({"a": 1}, [1], [1]),
    ],
)
def test_merge(target, patch, result):
    assert merge(target, patch) == result


def pod(*containers, **metadata):
    return {"metadata": metadata, "spec": {"containers": list(containers)}}


A, B = {"name": "a", "image": "1", "args": ["x"]}, {"name": "b", "image": "2"}


def names(value):
    return [item["name"] for item in value["spec"]["containers"]]


def test_list_maps_are_merged_by_key_and_new_items_come_before_untouched_ones():
    patched = strategic_merge(pod(A, B), {"spec": {"containers": [{"name": "a", "image": "9"}, {"name": "c"}]}}, POD)
    assert patched["spec"]["containers"] == [{**A, "image": "9"}, {"name": "c"}, B]


def test_atomic_lists_are_replaced():
    patched = strategic_merge(pod(A), {"spec": {"containers": [{"name": "a", "args": ["y", "z"]}]}}, POD)
    assert patched["spec"]["containers"][0]["args"] == ["y", "z"]


def test_items_are_deleted_and_lists_replaced_by_directive():
    patch = {"spec": {"containers": [{"name": "a", "$patch": "delete"}]}}
    assert names(strategic_merge(pod(A, B), patch, POD)) == ["b"]
    patch = {"spec": {"containers": [{"$patch": "replace"}, {"name": "c"}]}}
    assert names(strategic_merge(pod(A, B), patch, POD)) == ["c"]


def test_order_of_items_follows_the_directive():
    patch = {
        "spec": {
            "containers": [{"name": "a", "image": "9"}],
            "$setElementOrder/containers": [{"name": "b"}, {"name": "a"}],
        }
    }
    assert names(strategic_merge(pod(A, B), patch, POD)) == ["b", "a"]


def test_primitive_lists_and_retained_keys():
    target = pod(A, finalizers=["x/1", "x/2"])
    patch = {"metadata": {"finalizers": ["x/3"], "$deleteFromPrimitiveList/finalizers": ["x/1"]}}
    assert strategic_merge(target, patch, POD)["metadata"]["finalizers"] == ["x/2", "x/3"]
    volume = {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}
    patch = {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}, "$retainKeys": ["name", "hostPath"]}]}}
    assert strategic_merge(volume, patch, POD)["spec"]["volumes"] == [{"name": "v", "hostPath": {"path": "/"}}]
