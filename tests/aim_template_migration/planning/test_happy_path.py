"""The narrow Shared path, and everything that a plan says about it."""

import json

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_template_migration.documents.plan import CutOver, decode_plan, step_name
from aim_template_migration.planning.make import make_plan
from tests.support.fleet import Fleet, FleetCluster, add_service, happy_fleet


def body_of(plan, target_id):
    (target,) = [target for target in plan.targets if target.id == target_id]
    return target.body


def test_a_healthy_shared_service_is_automatic():
    unit = happy_fleet().unit()
    assert (unit.disposition, unit.outcome, unit.reasons) == ("automatic", "SharedNoRollout", ())
    assert [step_name(step) for step in unit.steps] == [
        "CreateProfile",
        "AwaitProfile",
        "CreateProfileCache",
        "AwaitProfileCache",
        "ProtectArtifact",
        "ReverifyProfileCache",
        "CutOver",
        "ConfirmNoRollout",
    ]
    assert unit.proofs == {"bridge": "BridgeCompatible", "inferenceServiceCurrent": "own"}


def test_the_cutover_changes_the_profile_and_the_pin_and_nothing_else():
    fleet = happy_fleet()
    isvc = fleet.only("InferenceService")["metadata"]["uid"]
    step = next(step for step in fleet.unit().steps if isinstance(step, CutOver))
    assert step.operations == (
        {"op": "remove", "path": "/spec/template"},
        {"op": "add", "path": "/spec/profile", "value": {"name": "qwen3-32b-latency"}},
        {"op": "add", "path": "/metadata/annotations", "value": {PRESERVE_UID: isvc, PRESERVE_GENERATION: "2"}},
    )
    assert (step.generation, step.pinned_generation, step.pinned_inference_service_uid) == (1, 2, isvc)


def test_existing_annotations_are_added_to_one_by_one():
    fleet = happy_fleet()
    fleet.only("AIMService")["metadata"]["annotations"] = {"team": "search"}
    step = next(step for step in fleet.unit().steps if isinstance(step, CutOver))
    assert [operation["path"] for operation in step.operations[2:]] == [
        "/metadata/annotations/migration.aim.eai.amd.com~1preserve-inference-service-uid",
        "/metadata/annotations/migration.aim.eai.amd.com~1preserve-generation",
    ]


def test_a_service_without_a_template_block_has_none_to_remove():
    fleet = happy_fleet()
    del fleet.only("AIMService")["spec"]["template"]
    step = next(step for step in fleet.unit().steps if isinstance(step, CutOver))
    assert [operation["op"] for operation in step.operations] == ["add", "add"]


def test_an_empty_template_block_is_removed():
    fleet = happy_fleet()
    fleet.only("AIMService")["spec"]["template"] = {}
    step = next(step for step in fleet.unit().steps if isinstance(step, CutOver))
    assert step.operations[0] == {"op": "remove", "path": "/spec/template"}


def test_targets_stand_once_however_many_units_share_them():
    fleet = happy_fleet()
    add_service(fleet, "qwen-batch")
    plan = fleet.plan()
    assert [unit.disposition for unit in plan.units] == ["automatic", "automatic"]
    assert [target.id for target in plan.targets] == [
        "AIMProfile/team-a/qwen3-32b-latency",
        "AIMProfileCache/team-a/qwen3-32b-latency-cache-9ceb7e8f",
    ]
    assert plan.forecast.requests["create AIMProfile"] == 1


def test_the_cache_is_what_the_service_controller_would_create():
    fleet = happy_fleet()
    service = fleet.only("AIMService")
    service["metadata"]["labels"] = {"aim.eai.amd.com/tier": "gold", "team": "search"}
    service["spec"]["storage"] = {"defaultStorageClassName": "shared-nfs", "pvcHeadroomPercent": 10}
    service["spec"]["caching"]["env"] = [{"name": "HF_ENDPOINT", "value": "https://hub.example.org"}]
    cache = body_of(fleet.plan(), "AIMProfileCache/team-a/qwen3-32b-latency-cache-9ceb7e8f")
    assert cache == {
        "apiVersion": "aim.eai.amd.com/v1alpha2",
        "kind": "AIMProfileCache",
        "metadata": {
            "name": "qwen3-32b-latency-cache-9ceb7e8f",
            "namespace": "team-a",
            "labels": {
                "aim.eai.amd.com/tier": "gold",
                "aim.eai.amd.com/service": "qwen-chat",
                "aim.eai.amd.com/service.name": "qwen-chat",
                "app.kubernetes.io/managed-by": "aim-service-controller",
            },
        },
        "spec": {
            "profileName": "qwen3-32b-latency",
            "profileScope": "Namespace",
            "mode": "Shared",
            "storageClassName": "shared-nfs",
            "env": [{"name": "HF_ENDPOINT", "value": "https://hub.example.org"}],
        },
    }


def test_pins_name_every_object_and_every_absence():
    unit = happy_fleet().unit()
    assert [(pin.role, pin.absent) for pin in unit.pins] == [
        ("service", False),
        ("model", False),
        ("template", False),
        ("templateCache", False),
        ("artifact", False),
        ("pvc", False),
        ("inferenceService", False),
        ("deployment", False),
        ("namespaceRuntimeConfig", True),
        ("clusterRuntimeConfig", True),
        ("targetProfile", True),
        ("targetProfileCache", True),
    ]
    deployment = next(pin for pin in unit.pins if pin.role == "deployment")
    assert len(deployment.pod_template_hash) == 64
    assert all(not pin.resource_version for pin in unit.pins)


def test_runtime_configs_are_pinned_by_resource_version():
    fleet = happy_fleet()
    fleet.add("AIMRuntimeConfig", "aim.eai.amd.com/v1alpha1", "default", "team-a", manager="kubectl-create", spec={})
    pin = next(pin for pin in fleet.unit().pins if pin.role == "namespaceRuntimeConfig")
    assert pin.resource_version == fleet.only("AIMRuntimeConfig")["metadata"]["resourceVersion"]


def test_the_same_state_gives_the_same_bytes_but_for_time_and_id():
    first, second = happy_fleet(), happy_fleet()
    second.objects = dict(reversed(second.objects.items()))
    plans = [
        make_plan(FleetCluster(fleet), fleet.settings(), now=moment, plan_id=name)
        for fleet, moment, name in ((first, _at(2026), "a"), (second, _at(2027), "b"))
    ]
    texts = [json.loads(plan.files["plan.json"]) for plan in plans]
    assert texts[0].pop("planId") != texts[1].pop("planId")
    assert texts[0].pop("generatedAt") != texts[1].pop("generatedAt")
    assert texts[0] == texts[1]
    assert plans[0].files["backup.yaml"] == plans[1].files["backup.yaml"]


def test_the_plan_reads_back_as_it_was_made():
    files = happy_fleet().files()
    assert decode_plan(files.files["plan.json"]) == files.plan
    assert files.files["plan.generated.json"] == files.files["plan.json"]
    assert sorted(files.files) == ["backup.yaml", "plan.generated.json", "plan.json"]


def test_nothing_reads_secrets_and_cluster_objects_are_only_listed():
    fleet = happy_fleet()
    cluster = FleetCluster(fleet)
    make_plan(cluster, fleet.settings(), now=_at(2026), plan_id="a")
    assert "Secret" not in cluster.read


def test_two_namespaces_are_planned_independently():
    fleet = happy_fleet()
    add_service(fleet, "qwen-chat", "team-b")
    fleet.objects["AIMService/team-b/qwen-chat"]["status"]["status"] = "Failed"
    outcomes = {unit.id: unit.outcome for unit in fleet.plan().units}
    assert outcomes == {
        "AIMService/team-a/qwen-chat": "SharedNoRollout",
        "AIMService/team-b/qwen-chat": "PredecessorNotReady",
    }


def _at(year: int):
    from datetime import UTC, datetime

    return datetime(year, 1, 1, tzinfo=UTC)


def test_an_empty_fleet_warns_and_has_no_units():
    fleet = Fleet()
    fleet.add("AIMModel", "aim.eai.amd.com/v1alpha2", "m", "team-a", spec={"image": "a:1"})
    plan = fleet.plan()
    assert plan.units == ()
    assert [warning.code for warning in plan.warnings] == ["NamespaceWithoutServices"]


def test_an_existing_profile_is_pinned_and_its_step_stays():
    fleet = happy_fleet()
    spec = body_of(fleet.plan(), "AIMProfile/team-a/qwen3-32b-latency")["spec"]
    fleet.add("AIMProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", "team-a", spec={**spec, "engine": "vllm"})
    unit = fleet.unit()
    assert step_name(unit.steps[0]) == "CreateProfile"
    pin = next(pin for pin in unit.pins if pin.role == "targetProfile")
    assert (pin.absent, pin.uid) == (False, fleet.only("AIMProfile")["metadata"]["uid"])
    taken = [item for item in unit.imputations if item.rule == "TakenFromTarget"]
    assert [(item.field, item.value) for item in taken] == [("spec.engine", "vllm")]


def test_a_cluster_template_writes_no_profile_and_fences_a_namespaced_one():
    fleet = happy_fleet()
    body = body_of(fleet.plan(), "AIMProfile/team-a/qwen3-32b-latency")
    template = fleet.only("AIMServiceTemplate")
    fleet.remove("AIMServiceTemplate", "qwen3-32b-latency")
    moved = fleet.add(
        "AIMClusterServiceTemplate",
        template["apiVersion"],
        "qwen3-32b-latency",
        spec=template["spec"],
        status=template["status"],
    )
    resolved = {"name": "qwen3-32b-latency", "scope": "Cluster", "uid": moved["metadata"]["uid"]}
    fleet.only("AIMService")["status"]["resolvedTemplate"] = resolved
    fleet.add("AIMClusterProfile", body["apiVersion"], "qwen3-32b-latency", spec=body["spec"])
    plan = fleet.plan()
    (unit,) = plan.units
    assert step_name(unit.steps[0]) == "AwaitProfile"
    assert unit.steps[0].profile.id == "AIMClusterProfile/qwen3-32b-latency"
    assert [target.body["kind"] for target in plan.targets] == ["AIMProfileCache"]
    assert plan.targets[0].body["spec"]["profileScope"] == "Cluster"
    roles = {pin.role: pin.absent for pin in unit.pins}
    assert (roles["clusterProfile"], roles["targetProfile"]) == (False, True)
