"""backup.yaml: the predecessors' desired state, and nothing that can't be restored."""

import re

import yaml

from tests.support.fleet import Fleet, add_service, happy_fleet

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def backup(fleet: Fleet) -> tuple[str, dict[str, dict]]:
    text = fleet.files().files["backup.yaml"].decode()
    return text, {f"{item['kind']}/{item['metadata']['name']}": item for item in yaml.safe_load_all(text)}


def test_it_holds_the_closure_once_sorted():
    fleet = happy_fleet()
    add_service(fleet, "qwen-batch")
    _, objects = backup(fleet)
    assert list(objects) == [
        "AIMArtifact/hf---qwen-qwen3-32b-fp8-0123456789",
        "AIMModel/qwen3-32b",
        "AIMService/qwen-batch",
        "AIMService/qwen-chat",
        "AIMServiceTemplate/qwen3-32b-latency",
        "AIMTemplateCache/qwen3-32b-latency-0badcafe",
        "InferenceService/qwen-batch-66a1c54b",
        "InferenceService/qwen-chat-66a1c54b",
        "PersistentVolumeClaim/hf---qwen-qwen3-32b-fp8-0123456789-cache-01234567",
    ]


def test_it_holds_no_identity_no_status_and_no_owners():
    fleet = happy_fleet()
    fleet.only("PersistentVolumeClaim")["spec"]["volumeName"] = (
        f"pvc-{fleet.only('PersistentVolumeClaim')['metadata']['uid']}"
    )
    fleet.only("AIMService")["spec"]["routing"] = {"pathTemplate": f"/x/{fleet.only('AIMService')['metadata']['uid']}"}
    text, objects = backup(fleet)
    assert not UUID.search(text)
    for item in objects.values():
        assert set(item) == {"apiVersion", "kind", "metadata", "spec"}
        assert set(item["metadata"]) <= {"name", "namespace", "labels", "annotations"}


def test_desired_state_is_whole():
    fleet = happy_fleet()
    fleet.only("AIMService")["metadata"]["annotations"] = {
        "team": "search",
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
    }
    _, objects = backup(fleet)
    service = objects["AIMService/qwen-chat"]
    assert service["spec"] == fleet.only("AIMService")["spec"]
    assert service["metadata"]["annotations"] == {"team": "search"}


def test_a_service_is_backed_up_at_the_version_that_takes_a_template():
    _, objects = backup(happy_fleet())
    assert objects["AIMService/qwen-chat"]["apiVersion"] == "aim.eai.amd.com/v1alpha1"
    assert objects["AIMModel/qwen3-32b"]["apiVersion"] == "aim.eai.amd.com/v1alpha1"


def test_a_model_of_the_new_kind_keeps_the_new_version():
    fleet = happy_fleet()
    fleet.only("AIMModel")["spec"]["profiles"] = {"derivedFrom": {"selector": {"aimId": "a/b"}}, "versionPolicy": "all"}
    _, objects = backup(fleet)
    assert objects["AIMModel/qwen3-32b"]["apiVersion"] == "aim.eai.amd.com/v1alpha2"


def test_migrated_services_and_targets_are_no_predecessors():
    fleet = happy_fleet()
    fleet.add("AIMProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", "team-a", spec={"image": "i:1"})
    _, objects = backup(fleet)
    assert not any(name.startswith("AIMProfile") for name in objects)
    fleet.only("AIMService")["spec"]["profile"] = {"name": "x"}
    _, objects = backup(fleet)
    assert objects == {}


def test_its_head_warns_against_applying_it():
    text, _ = backup(happy_fleet())
    head = text.partition("---")[0]
    assert all(line.startswith("#") for line in head.splitlines())
    assert "Do not run kubectl apply -f" in head
