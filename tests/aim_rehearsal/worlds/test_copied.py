"""Copied worlds: what is kept, what is the rehearsal's own, what is created anew."""

import pytest

from aim_api.kinds import AIM_MODEL, AIM_SERVICE, AIM_TEMPLATE_CACHE, INFERENCE_SERVICE, NAMESPACE, POD
from aim_api.tree import get_int, get_str
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import RefusedError, copied_world, load_world
from aim_rehearsal.worlds.storing import stored_objects

GONE = "2026-06-03T08:00:00Z"


def healthy():
    return {
        f"{item['kind']}/{item['metadata'].get('namespace', '')}/{item['metadata']['name']}": item
        for item in stored_objects(load_world("shared-happy-path").objects)
    }


def only(objects, kind, namespace="team-a"):
    (found,) = [
        item for item in objects.values() if item["kind"] == kind and item["metadata"]["namespace"] == namespace
    ]
    return found


def world_of(objects, desired=(), namespaces=("team-a", "team-b")):
    return copied_world("copy", "A copy.", namespaces=namespaces, live=objects.values(), desired=desired)


def test_defaults_of_the_rehearsal_s_crds_are_filled_in():
    objects = healthy()
    del only(objects, "AIMService")["spec"]["adapterMode"]
    (service,) = [
        item
        for item in world_of(objects).objects
        if item["kind"] == "AIMService" and item["metadata"]["namespace"] == "team-a"
    ]
    assert service["spec"]["adapterMode"] == "static"


def test_namespaces_that_nobody_copied_are_made_and_kube_system_is_not_taken_over():
    objects = healthy()
    del objects["Namespace//team-b"]
    objects["Namespace//kube-system"] = {"kind": "Namespace", "metadata": {"name": "kube-system", "uid": "theirs"}}
    spaces = {
        item["metadata"]["name"]: item["metadata"].get("uid")
        for item in world_of(objects).objects
        if item["kind"] == "Namespace"
    }
    assert spaces.keys() == {"team-a", "team-b"}
    assert spaces["team-b"] is None


def test_what_was_unfinished_or_going_stays_as_it_was(tmp_path):
    objects = healthy()
    service, cache = only(objects, "AIMService"), only(objects, "AIMTemplateCache")
    service["metadata"] |= {"deletionTimestamp": GONE, "finalizers": ["aim.eai.amd.com/cache-cleanup"]}
    del cache["status"]
    objects["Namespace//team-b"]["metadata"]["deletionTimestamp"] = GONE
    with RehearsalSession(world_of(objects), work_dir=tmp_path) as session:
        assert session.client.get(AIM_SERVICE, "team-a", service["metadata"]["name"])["metadata"]["finalizers"]
        live = session.client.get(AIM_TEMPLATE_CACHE, "team-a", cache["metadata"]["name"])
        assert "status" not in live
        (other,) = session.client.list_all(AIM_SERVICE, "team-b").items
        assert get_str(session.client.get(NAMESPACE, None, "team-b"), "metadata", "deletionTimestamp") == GONE
        assert get_int(other, "status", "observedGeneration") == 1


def test_a_workload_with_fewer_pods_than_it_wants_gets_none(tmp_path):
    objects = healthy()
    without = {key: item for key, item in objects.items() if item["kind"] != "Pod"}
    with RehearsalSession(world_of(without), work_dir=tmp_path) as session:
        assert session.client.list_all(POD).items == []


def desired_objects(*kinds):
    for manifest in load_world("shared-happy-path").objects:
        if manifest.get("kind") in kinds:
            metadata = {key: manifest["metadata"][key] for key in ("name", "namespace")}
            yield {**{key: manifest[key] for key in ("apiVersion", "kind", "spec")}, "metadata": metadata}


def test_desired_state_is_created_and_brought_up(tmp_path):
    desired = list(desired_objects("AIMService", "AIMModel", "AIMServiceTemplate", "AIMRuntimeConfig"))
    world = world_of({}, desired)
    with RehearsalSession(world, work_dir=tmp_path) as session:
        (service,) = session.client.list_all(AIM_SERVICE, "team-a").items
        assert get_str(service, "status", "status") == "Running"
        assert len(session.client.list_all(INFERENCE_SERVICE).items) == 2
        assert len(session.client.list_all(AIM_MODEL).items) == 2


def test_a_refusal_names_the_object_and_the_server_s_reason(tmp_path):
    wrong = {
        "apiVersion": "aim.eai.amd.com/v1alpha2",
        "kind": "AIMService",
        "metadata": {"name": "s", "namespace": "n"},
        "spec": {"model": {"name": "m"}, "replicas": "two"},
    }
    with pytest.raises(RefusedError, match=r"AIMService/n/s is refused .*replicas") as caught:
        RehearsalSession(world_of({}, [wrong], ("n",)), work_dir=tmp_path).__enter__()
    assert caught.value.reference == "AIMService/n/s"
