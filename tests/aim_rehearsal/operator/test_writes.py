"""Comparing wanted and live objects, and bringing a render in place."""

import pytest

from aim_api.kinds import AIM_SERVICE, CONFIG_MAP
from aim_rehearsal.operator.dependents import affected
from aim_rehearsal.operator.store import Key, Store
from aim_rehearsal.operator.writes import Patch, Remove, Render, SetStatus, changes, covers, in_place
from tests.aim_rehearsal.operator.objects import artifact, inference_service, obj, profile, profile_cache, service

LIVE = {
    "metadata": {
        "name": "x",
        "uid": "u",
        "labels": {"aim.eai.amd.com/template": "t", "team": "search"},
        "annotations": {"note": "mine"},
        "managedFields": [],
    },
    "spec": {"a": 1, "list": [{"n": 1, "defaulted": True}]},
    "status": {"word": "Ready"},
}


@pytest.mark.parametrize(
    ("wanted", "covered"),
    [
        ({"spec": {"a": 1}}, True),
        ({"spec": {"a": 2}}, False),
        ({"spec": {"list": [{"n": 1}]}}, True),
        ({"spec": {"list": []}}, True),
        ({"spec": {"list": [{"n": 1}, {"n": 2}]}}, False),
        ({"spec": {"absent": {}}}, True),
        ({"spec": {"absent": ""}}, True),
        ({"spec": {"absent": 1}}, False),
        ({"spec": "text"}, False),
    ],
)
def test_what_is_wanted_is_covered_or_not(wanted, covered):
    assert covers(LIVE, wanted) is covered


def test_a_render_replaces_its_part_and_keeps_what_belongs_to_others():
    wanted = {"metadata": {"name": "x", "labels": {"aim.eai.amd.com/profile": "p"}}, "spec": {"b": 2}}
    found = in_place(LIVE, wanted)
    assert found["metadata"]["labels"] == {"team": "search", "aim.eai.amd.com/profile": "p"}
    assert found["metadata"]["annotations"] == {"note": "mine"}
    assert (found["spec"], found["status"]) == ({"b": 2}, {"word": "Ready"})
    assert "managedFields" not in found["metadata"]


@pytest.mark.parametrize(
    ("write", "changed"),
    [
        (Render(CONFIG_MAP, {"metadata": {"name": "x"}, "spec": {"a": 1}}, "m"), False),
        (Render(CONFIG_MAP, {"metadata": {"name": "x", "labels": {"team": "search"}}}, "m"), True),
        (Patch(CONFIG_MAP, LIVE, {"spec": {"a": 1}}, "m"), False),
        (Patch(CONFIG_MAP, LIVE, {"spec": {"b": None}}, "m"), False),
        (Patch(CONFIG_MAP, LIVE, {"spec": {"a": None}}, "m"), True),
        (SetStatus(CONFIG_MAP, LIVE, {"word": "Ready", "count": 0}, "m"), False),
        (SetStatus(CONFIG_MAP, LIVE, {}, "m"), True),
        (Remove(CONFIG_MAP, LIVE), True),
        (Remove(CONFIG_MAP, {"metadata": {"name": "x", "uid": "another"}}), False),
    ],
)
def test_writes_that_change_nothing_are_told_apart(write, changed):
    assert changes(write, LIVE) is changed


def test_what_does_not_exist_is_created_and_never_patched_or_removed():
    assert changes(Render(CONFIG_MAP, LIVE, "m"), None)
    assert not changes(Patch(CONFIG_MAP, LIVE, {"spec": {"a": 2}}, "m"), None)
    assert not changes(Remove(CONFIG_MAP, LIVE), None)


def test_the_store_takes_only_what_is_newer():
    store = Store([service(resourceVersion="5")])
    assert not store.put(service(resourceVersion="4", labels={"old": ""}))
    assert store.put(service(resourceVersion="6"))
    replaced = service(resourceVersion="3") | {}
    replaced["metadata"]["uid"] = "another"
    assert store.put(replaced)
    assert not store.remove(service())
    assert store.remove(replaced)
    assert store.all(AIM_SERVICE) == []


def keys(obj_, *others):
    return {f"{key.kind}/{key.name}" for key in affected(obj_, Store([obj_, *others]))}


def test_a_change_concerns_owners_and_dependents():
    owned = inference_service()
    assert keys(owned) == {"InferenceService/s-1", "AIMService/s"}
    user = service(spec={"profile": {"name": "p"}})
    other = service("other", spec={"profile": {"name": "q"}})
    assert keys(profile(), user, other, profile_cache()) == {"AIMProfile/p", "AIMService/s", "AIMProfileCache/c"}
    assert keys(profile_cache(), user, other) == {"AIMProfileCache/c", "AIMService/s", "AIMProfile/p"}
    assert keys(artifact(), profile(), profile_cache()) == {"AIMArtifact/weights", "AIMProfileCache/c"}
    template = obj("AIMServiceTemplate", "t")
    assert "AIMService/s" in keys(template, user)


def test_a_pod_wakes_its_service_and_its_deployment():
    replica_set = obj("ReplicaSet", "rs", ownerReferences=[{"kind": "Deployment", "name": "d", "uid": "u-d"}])
    pod = obj(
        "Pod",
        "pod",
        labels={"serving.kserve.io/inferenceservice": "s-1"},
        ownerReferences=[{"kind": "ReplicaSet", "name": "rs", "uid": "u-rs"}],
    )
    assert keys(pod, replica_set, inference_service()) == {"Pod/pod", "ReplicaSet/rs", "Deployment/d", "AIMService/s"}


def test_keys_sort_by_kind_namespace_and_name():
    assert Key("A", "b", "c") < Key("A", "c", "a") < Key("B", "", "")
