"""What counts as a rollout or a restart, and what does not."""

import msgspec
import pytest

from aim_template_migration.applying.workload import facts_object, find_change, nothing_to_compare, workload_facts
from aim_template_migration.documents.result import PodFacts, WorkloadFacts

POD = PodFacts(name="p1", uid="u1", restarts=1, template_hash="h")
BEFORE = WorkloadFacts("isvc", "u0", 1, "spec", "meta", ready=True, template_hash="t", pods=(POD,))


def after(**changes):
    return msgspec.structs.replace(BEFORE, **changes)


def test_nothing_changed():
    assert find_change(BEFORE, after()) is None


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        ({"uid": "x"}, "RolloutDetected", "the UID of InferenceService isvc changed (u0 → x)"),
        ({"generation": 2}, "RolloutDetected", "the generation of InferenceService isvc changed (1 → 2)"),
        ({"spec_digest": "x"}, "RolloutDetected", "the desired spec of InferenceService isvc changed"),
        ({"metadata_digest": "x"}, "RolloutDetected", "the desired metadata of InferenceService isvc changed"),
        ({"template_hash": "x"}, "RolloutDetected", "the Deployment's pod template of InferenceService isvc changed"),
        ({"template_hash": ""}, "RolloutDetected", "the Deployment's pod template of InferenceService isvc changed"),
        ({"ready": False}, "InferenceServiceNotReady", "InferenceService isvc is no longer Ready"),
        ({"pods": ()}, "PodsChanged", "pod p1 (UID u1) is gone"),
        ({"pods": (PodFacts("p1", "u2", 1, "h"),)}, "PodsChanged", "pod p1 (UID u1) is gone"),
        ({"pods": (PodFacts("p1", "u1", 2, "h"),)}, "PodsChanged", "pod p1 restarted (1 → 2 restarts)"),
        ({"pods": (POD, PodFacts("p2", "u2", 0, "i"))}, "RolloutDetected", "pod p2 runs another pod template (i)"),
        ({"pods": (PodFacts("p2", "u2", 0, "i"),)}, "RolloutDetected", "pod p2 runs another pod template (i)"),
        ({"pods": (POD, PodFacts("p2", "u2", 0, ""))}, "RolloutDetected", "pod p2 runs another pod template ()"),
    ],
)
def test_each_change_is_named(changes, code, message):
    change = find_change(BEFORE, after(**changes))
    assert change is not None
    assert (change.code, change.message) == (code, message)


def test_an_autoscaler_may_add_and_remove_pods_of_the_same_template():
    scaled = msgspec.structs.replace(BEFORE, autoscaled=True)
    assert find_change(scaled, msgspec.structs.replace(scaled, pods=())) is None
    assert find_change(scaled, msgspec.structs.replace(scaled, pods=(POD, PodFacts("p2", "u2", 0, "h")))) is None
    assert find_change(scaled, msgspec.structs.replace(scaled, pods=(PodFacts("p2", "u2", 0, "i"),))) is not None
    assert find_change(scaled, msgspec.structs.replace(scaled, pods=(PodFacts("p1", "u1", 2, "h"),))) is not None


def test_a_further_pod_of_the_same_template_is_no_rollout_without_an_autoscaler_either():
    assert find_change(BEFORE, after(pods=(POD, PodFacts("p2", "u2", 0, "h")))) is None


def test_a_workload_scaled_to_zero_is_compared_by_its_deployment():
    asleep = msgspec.structs.replace(BEFORE, pods=(), autoscaled=True)
    assert find_change(asleep, msgspec.structs.replace(asleep, pods=(POD,))) is None
    assert find_change(asleep, msgspec.structs.replace(asleep, template_hash="x")) is not None


def isvc(annotations=None, **predictor):
    return {
        "metadata": {"name": "i", "uid": "u", "generation": 4, "annotations": annotations or {}, "labels": {"a": "b"}},
        "spec": {"predictor": predictor},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }


@pytest.mark.parametrize(
    ("scaler", "low", "high", "autoscaled"),
    [
        (None, 1, 3, False),
        ("none", 1, 3, False),
        ("external", 1, 3, True),
        ("keda", 0, 1, True),
        ("external", 2, 2, False),
    ],
)
def test_autoscaling_needs_a_scaler_and_a_range(scaler, low, high, autoscaled):
    annotations = {"serving.kserve.io/autoscalerClass": scaler} if scaler else {}
    facts = workload_facts(isvc(annotations, minReplicas=low, maxReplicas=high), None, [])
    assert facts.autoscaled is autoscaled


@pytest.mark.parametrize(
    "leaving",
    [
        {"metadata": {"deletionTimestamp": "2026-06-02T09:00:00Z"}},
        {"status": {"phase": "Failed"}},
        {"status": {"phase": "Succeeded"}},
    ],
)
def test_a_pod_that_leaves_is_gone_though_another_of_the_same_template_came(leaving):
    old = {"metadata": {"name": "p", "uid": "u", "labels": {"pod-template-hash": "h"}}, "status": {"phase": "Running"}}
    new = {"metadata": old["metadata"] | {"name": "q", "uid": "v"}, "status": old["status"]}
    left = {"metadata": old["metadata"] | leaving.get("metadata", {}), "status": leaving.get("status", old["status"])}
    before = workload_facts(isvc(), None, [old])
    change = find_change(before, workload_facts(isvc(), None, [left, new]))
    assert change is not None
    assert (change.code, change.message) == ("PodsChanged", "pod p (UID u) is gone")
    assert workload_facts(isvc(), None, [left]).pods == ()


@pytest.mark.parametrize(
    ("deployment", "said"),
    [
        ({"spec": {"replicas": 2}}, "wants 2"),
        ({"spec": {}}, "wants 1"),
        (None, "is not there"),
        ({"spec": {"replicas": 0}}, ""),
    ],
)
def test_no_pods_prove_nothing_unless_none_are_wanted(deployment, said):
    fault = nothing_to_compare(msgspec.structs.replace(BEFORE, pods=()), deployment)
    assert bool(fault) == bool(said)
    assert said in fault
    assert nothing_to_compare(BEFORE, deployment) == ""


def test_facts_count_all_containers_and_ignore_status_and_versions():
    pod = {
        "metadata": {"name": "p", "uid": "u", "labels": {"pod-template-hash": "h"}},
        "status": {
            "containerStatuses": [{"restartCount": 1}, {"restartCount": 2}],
            "initContainerStatuses": [{"restartCount": 4}],
        },
    }
    deployment = {"spec": {"template": {"spec": {"x": 1}}}}
    facts = workload_facts(isvc(), deployment, [pod])
    assert facts.pods == (PodFacts("p", "u", 7, "h"),)
    churned = isvc()
    churned["metadata"] |= {"resourceVersion": "9", "managedFields": [{}]}
    churned["status"]["observedGeneration"] = 9
    assert workload_facts(churned, {**deployment, "status": {"x": 1}}, [pod]) == facts
    relabelled = isvc()
    relabelled["metadata"]["labels"] = {"a": "c"}
    assert workload_facts(relabelled, deployment, [pod]).metadata_digest != facts.metadata_digest
    assert facts_object(facts)["pods"] == [{"name": "p", "uid": "u", "restarts": 7, "templateHash": "h"}]
