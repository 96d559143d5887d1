"""The profile controller: readiness, provenance, projection by mode, own cache."""

import pytest
import yaml

from aim_api.names import runtime_name
from aim_rehearsal.operator import Misbehaviour, ProjectionMode, Settings, profile, projection
from aim_rehearsal.operator.writes import Patch, Render, SetStatus
from tests.aim_rehearsal.operator import objects
from tests.aim_rehearsal.operator.objects import obj, said, view

GPU = {"acceleratorModel": "MI300X", "acceleratorCount": 2, "acceleratorType": "gpu"}
TEMPLATE = obj("AIMServiceTemplate", "t", status={"status": "Ready", "resolvedHardware": {"gpu": {"model": "MI300X"}}})


def decide(one, *others, **settings):
    return profile.reconcile(one, view(one, *others, settings=Settings(**settings)))


def status_of(writes):
    (found,) = [write.status for write in writes if isinstance(write, SetStatus)]
    return found


def rendered(writes):
    return [(write.kind.name, write.manifest["metadata"]["name"]) for write in writes if isinstance(write, Render)]


def new(name="p", **fields):
    return objects.profile(name, ready=False, **fields)


def test_a_profile_without_accelerator_is_ready_anywhere():
    status = status_of(decide(new()))
    assert (status["status"], status["observedGeneration"], status["deployable"]) == ("Ready", 1, True)
    assert said(status["conditions"])["HardwareAvailable"] == ("True", "NoAcceleratorSpecified")
    assert status["version"] == "1.0.0"


@pytest.mark.parametrize(
    ("evidence", "settings", "word"),
    [
        ([], {}, "NotAvailable"),
        ([TEMPLATE], {}, "Ready"),
        ([TEMPLATE | {"status": {"status": "NotAvailable"}}], {}, "NotAvailable"),
        ([], {"hardware": frozenset({"MI300X"})}, "Ready"),
        (
            [obj("Node", "n", namespace="", labels={"feature.node.kubernetes.io/aim-accelerator.MI300X": ""})],
            {},
            "Ready",
        ),
    ],
    ids=["nothing", "ready-template", "template-not-available", "setting", "node"],
)
def test_hardware_is_there_by_node_template_or_setting(evidence, settings, word):
    status = status_of(decide(new(spec=GPU), *evidence, **settings))
    assert status["status"] == word
    assert status["hardwareSummary"] == "2 x MI300X"
    assert status["resources"]["limits"] == {"memory": "96Gi", "amd.com/gpu": "2"}


OWN, MODEL = runtime_name("p"), "aim-acme-tiny"


@pytest.mark.parametrize(
    ("mode", "namespaced", "cluster"),
    [
        ("Exhaustive", {("ConfigMap", OWN), ("ServingRuntime", OWN)}, {("ClusterServingRuntime", OWN)}),
        ("Reduced", {("ServingRuntime", MODEL)}, {("ClusterServingRuntime", MODEL)}),
        (
            "Both",
            {("ConfigMap", OWN), ("ServingRuntime", OWN), ("ServingRuntime", MODEL)},
            {("ClusterServingRuntime", OWN), ("ClusterServingRuntime", MODEL)},
        ),
    ],
)
def test_the_mode_decides_which_runtimes_are_published(mode, namespaced, cluster):
    for one, expected in ((new(), namespaced), (new(kind="AIMClusterProfile", namespace=""), cluster)):
        writes = decide(one, projection_mode=ProjectionMode(mode))
        assert set(rendered(writes)) == expected
        assert said(status_of(writes)["conditions"])["RuntimeProjected"] == ("True", "RuntimeProjected")


def test_only_the_elected_profile_of_a_model_gets_the_model_runtime():
    loser, winner = new("a"), new("b", spec={"primary": True})
    settings = {"projection_mode": ProjectionMode.REDUCED}
    assert rendered(decide(loser, winner, **settings)) == []
    assert rendered(decide(winner, loser, **settings)) == [("ServingRuntime", "aim-acme-tiny")]


def test_a_published_runtime_stays_when_its_hardware_goes():
    one = new(spec=GPU)
    one["status"] = {"projectedRuntimeName": "aim-p-x"}
    writes = decide(one)
    assert rendered(writes) == []
    assert status_of(writes)["projectedRuntimeName"] == "aim-p-x"
    assert said(status_of(writes)["conditions"])["RuntimeProjected"] == ("False", "RuntimeDegraded")


def test_provenance_is_written_and_a_hand_made_profile_is_tied_to_no_model():
    one = new(labels={"aim.eai.amd.com/source-model": "m"})
    (patch,) = [write for write in decide(one) if isinstance(write, Patch)]
    assert patch.patch["metadata"]["labels"] == {
        "aim.eai.amd.com/profile-role": "deployable",
        "aim.eai.amd.com/profile-origin": "user-authored",
        "aim.eai.amd.com/source-model": None,
    }


def test_provenance_is_kept_right_while_paused_and_nothing_else_is():
    one = new(annotations={"aim.eai.amd.com/reconciliation-paused": "true"})
    assert [type(write) for write in decide(one)] == [Patch]


def test_a_settled_profile_that_was_loaded_is_left_alone():
    one = objects.profile()
    assert profile.reconcile(one, view(loaded=[one])) == []
    fresh = objects.profile(generation=2)
    assert profile.reconcile(fresh, view(loaded=[fresh])) != []


def test_a_base_profile_is_published_nowhere():
    writes = decide(new(spec={"aimId": "", "modelSources": []}))
    assert rendered(writes) == []
    assert said(status_of(writes)["conditions"])["Deployable"] == ("False", "BaseProfile")


def test_caching_makes_a_cache_of_the_profile_s_own_name():
    writes = decide(new(spec={"caching": {"enabled": True, "env": [{"name": "A", "value": "b"}]}}))
    (cache,) = [
        write.manifest for write in writes if isinstance(write, Render) and write.kind.name == "AIMProfileCache"
    ]
    assert cache["metadata"]["name"] == "p"
    assert cache["metadata"]["ownerReferences"][0]["controller"] is True
    assert cache["spec"]["env"] == [{"name": "A", "value": "b"}]


def test_a_stuck_operator_observes_and_stays_at_it():
    status = status_of(decide(new(), misbehaviour=Misbehaviour.PROFILE_STUCK))
    assert (status["status"], status["observedGeneration"]) == ("Progressing", 1)


@pytest.mark.parametrize(
    ("spec", "stem"),
    [
        ({"precision": "bf16", "metric": "latency", "acceleratorCount": 0}, "vllm-none-bf16-tp0-latency"),
        ({"precision": "fp8", "metric": "latency", "variant": "eager"} | GPU, "vllm-mi300x-fp8-tp2-latency-eager"),
        ({"profileId": "my-id"}, "my-id"),
    ],
)
def test_the_profile_file_is_named_by_what_it_says(spec, stem):
    found, content = projection.profile_file(new(spec=spec))
    assert found == stem
    assert yaml.safe_load(content)["aim_id"] == "acme/tiny"


def test_the_container_gets_the_framework_s_variables_above_its_own():
    own = [{"name": "AIM_ENGINE", "value": "mine"}, {"name": "LOG", "value": "info"}]
    spec = projection.runtime_spec(new(spec={"containerEnv": own, "engine": "sglang"}), [], config_map="")
    env = {item["name"]: item["value"] for item in spec["containers"][0]["env"]}
    assert env["AIM_ENGINE"] == "sglang"
    assert (env["LOG"], env["AIM_ID"], env["AIM_MODEL_ID"]) == ("info", "", "acme/tiny")


def test_a_runtime_mounts_the_ready_shared_cache_with_the_lowest_name():
    entry = {"w": {"name": "w", "model": "acme/tiny", "persistentVolumeClaim": "w-cache"}}
    other = objects.profile_cache("b")
    ready = objects.profile_cache("a")
    ready["status"]["artifacts"] = entry
    stale = objects.profile_cache("0", observed=0)
    one = new()
    assert projection.mounted_artifacts(one, "team-a", view(one, other, ready, stale)) == list(entry.values())


@pytest.mark.parametrize(
    ("image", "tag", "policy"),
    [
        ("r.example.org:5000/x", "", "Always"),
        ("r/x:latest", "latest", "Always"),
        ("r/x:1.2", "1.2", "IfNotPresent"),
        ("r/x@sha256:00", "", "IfNotPresent"),
    ],
)
def test_tags_and_pull_policies(image, tag, policy):
    assert (projection.image_tag(image), projection.pull_policy(image)) == (tag, policy)
