"""The cutover by hand, as a migration does it: what the operator answers, on the local API and on a real API server."""

import pytest

from aim_api import bridge
from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_SERVICE, INFERENCE_SERVICE, POD, SERVING_RUNTIME
from aim_api.tree import get, get_int, get_map, get_objects, get_str
from aim_rehearsal.operator import Misbehaviour, ProjectionMode, Settings
from tests.aim_rehearsal.stage import condition, name_of

WORLD = "shared-happy-path"
UNPIN = {"metadata": {"annotations": dict.fromkeys((bridge.PRESERVE_UID, bridge.PRESERVE_GENERATION))}}


def test_a_loaded_world_is_left_alone_and_proven_to_be_served_by_a_bridge(start):
    stage = start(WORLD)
    for place in (0, 1):
        unit = stage.unit(place)
        loaded = stage.objects[f"InferenceService/{unit.namespace}/{name_of(unit.inference_service)}"]
        live = unit.inference_service
        assert get(live, "metadata", "generation") == get(loaded, "metadata", "generation")
        assert get(live, "metadata", "resourceVersion") == get(loaded, "metadata", "resourceVersion")
        assert [name_of(pod) for pod in unit.all(POD)] == [
            name_of(item) for key, item in stage.objects.items() if key.startswith(f"Pod/{unit.namespace}/")
        ]
        service = unit.service
        assert get_int(service, "status", "observedGeneration") == get_int(service, "metadata", "generation") == 1
        assert condition(service, "BridgeCompatible") == ("True", "Compatible")
        assert get_str(service, "status", "status") == "Running"


def test_a_profile_and_a_cache_become_ready_with_the_weights_that_are_there(start):
    unit = start(WORLD).unit(0)
    storage = unit.storage()
    (artifact,) = unit.all(AIM_ARTIFACT)
    cache = unit.prepare()
    profile = unit.stage.client.get(AIM_PROFILE, unit.namespace, name_of(unit.template))
    assert condition(profile, "RuntimeProjected") == ("True", "RuntimeProjected")
    runtime = unit.stage.client.get(SERVING_RUNTIME, unit.namespace, get_str(profile, "status", "projectedRuntimeName"))
    (owner,) = get_objects(runtime, "metadata", "ownerReferences")
    assert (owner["uid"], owner["controller"]) == (get_str(profile, "metadata", "uid"), True)
    assert "blockOwnerDeletion" not in owner
    (entry,) = get_map(cache, "status", "artifacts").values()
    assert entry["uid"] == get_str(artifact, "metadata", "uid")
    assert entry["persistentVolumeClaim"] == get_str(artifact, "status", "persistentVolumeClaim")
    unit.stage.operator.settle()
    assert unit.storage() == storage


def test_a_pinned_cutover_changes_nothing_of_the_workload(start):
    unit = start(WORLD).unit(0)
    before = unit.workload()
    cache = unit.prepare()
    unit.cut_over()
    unit.await_observed()
    unit.stage.operator.settle()
    assert unit.workload() == before
    service = unit.service
    assert get_str(service, "status", "status") == "Running"
    assert get_str(service, "status", "resolvedProfile", "name") == name_of(unit.template)
    assert get_str(service, "status", "cache", "profileCacheRef", "uid") == get_str(cache, "metadata", "uid")
    expected = {
        "ProfileReady": ("True", "ProfileResolved"),
        "ProfileCacheReady": ("True", "ProfileCacheReady"),
        "InferenceServicePreserved": ("True", "Preserved"),
        "InferenceServiceReady": ("True", "RuntimeReady"),
        "TemplateReady": ("True", "Resolved"),
        "Ready": ("True", "AllComponentsReady"),
    }
    assert {kind: condition(service, kind) for kind in expected} == expected
    assert get_str(service, "status", "resolvedTemplate", "name") == name_of(unit.template)


def assert_rolled(unit, before):
    """Assert that the InferenceService was rewritten in place and that other pods run now."""
    after = unit.workload()
    assert after["inferenceService"]["uid"] == before["inferenceService"]["uid"]
    assert after["inferenceService"]["generation"] > before["inferenceService"]["generation"]
    assert len(after["pods"]) == get_int(unit.service, "spec", "replicas")
    assert not set(after["pods"]) & set(before["pods"])
    assert "aim.eai.amd.com/template" not in after["inferenceService"]["labels"]
    assert after["inferenceService"]["labels"]["aim.eai.amd.com/profile"] == name_of(unit.template)
    predictor = get_map(after["inferenceService"], "spec", "predictor")
    assert "containers" not in predictor
    assert get_str(predictor, "model", "runtime").startswith("aim-")
    assert get_str(unit.service, "status", "status") == "Running"


def test_a_cutover_without_the_pin_rolls(start):
    unit = start(WORLD).unit(0)
    before = unit.workload()
    unit.prepare()
    unit.cut_over(pin=False)
    unit.await_observed()
    unit.stage.operator.settle()
    assert_rolled(unit, before)


def test_a_later_change_of_the_spec_expires_the_pin_and_rolls(start):
    unit = start(WORLD).unit(0)
    before = unit.workload()
    unit.prepare()
    unit.cut_over()
    unit.await_observed()
    change = {"spec": {"replicas": 2}}
    unit.stage.client.merge_patch(AIM_SERVICE, unit.namespace, unit.name, change)
    unit.await_observed()
    unit.stage.operator.settle()
    assert_rolled(unit, before)
    assert condition(unit.service, "InferenceServicePreserved") == ("False", "PinExpired")


def test_taking_the_pin_away_rolls_without_a_change_of_the_spec(start):
    unit = start(WORLD).unit(0)
    before = unit.workload()
    unit.prepare()
    unit.cut_over()
    unit.await_observed()
    unit.stage.client.merge_patch(AIM_SERVICE, unit.namespace, unit.name, UNPIN)
    unit.stage.operator.settle()
    assert_rolled(unit, before)


def test_a_pin_on_another_inference_service_fails_closed(start):
    unit = start(WORLD).unit(0)
    before = unit.workload()
    unit.prepare()
    unit.cut_over(uid="11111111-2222-4333-8444-555555555555")
    unit.await_observed()
    unit.stage.operator.settle()
    assert unit.workload() == before
    service = unit.service
    assert condition(service, "InferenceServicePreserved") == ("False", "InferenceServiceReplaced")
    assert condition(service, "Ready")[0] == "False"
    assert get_map(service, "status", "resolvedProfile") == {}


@pytest.mark.parametrize(
    "labels",
    [{"aim.eai.amd.com/template": None}, {"aim.eai.amd.com/profile": "something"}],
    ids=["no-template", "profile"],
)
def test_a_pin_fails_closed_without_the_labels_of_the_template_pipeline(start, labels):
    unit = start(WORLD).unit(0)
    unit.prepare()
    unit.cut_over()
    unit.await_observed()
    unit.stage.client.merge_patch(
        INFERENCE_SERVICE, unit.namespace, name_of(unit.inference_service), {"metadata": {"labels": labels}}
    )
    unit.stage.operator.settle()
    assert condition(unit.service, "InferenceServicePreserved") == ("False", "LegacyLabelsInvalid")
    assert get_map(unit.inference_service, "spec", "predictor", "model") == {}


def test_a_pin_fails_closed_when_the_inference_service_is_gone(local_stage):
    unit = local_stage(WORLD).unit(0)
    unit.prepare()
    unit.cut_over()
    unit.await_observed()
    unit.stage.client.delete(INFERENCE_SERVICE, unit.namespace, name_of(unit.inference_service))
    unit.stage.operator.settle()
    assert condition(unit.service, "InferenceServicePreserved") == ("False", "InferenceServiceMissing")
    assert unit.all(INFERENCE_SERVICE) == []


def test_a_pin_for_another_generation_is_no_pin(local_stage):
    unit = local_stage(WORLD).unit(0)
    before = unit.workload()
    unit.prepare()
    unit.cut_over(generation_ahead=2)
    unit.await_observed()
    unit.stage.operator.settle()
    assert_rolled(unit, before)


def test_an_operator_that_is_no_bridge_proves_nothing_and_ignores_the_pin(local_stage):
    # Such a build finds an InferenceService only by its formula, which the namespace is a part of.
    unit = local_stage(WORLD, Settings(misbehaviour=Misbehaviour.NO_BRIDGE), as_written=True).unit(0)
    before = unit.workload()
    assert condition(unit.service, "BridgeCompatible") == (None, None)
    assert get(unit.service, "status", "observedGeneration") is None
    unit.prepare()
    unit.cut_over()
    unit.stage.operator.settle()
    assert_rolled(unit, before)


def test_reduced_projection_publishes_no_runtime_of_the_profile(local_stage):
    unit = local_stage(WORLD, Settings(projection_mode=ProjectionMode.REDUCED)).unit(0)
    unit.prepare()
    profile = unit.stage.client.get(AIM_PROFILE, unit.namespace, name_of(unit.template))
    assert get(profile, "status", "projectedRuntimeName") is None
    assert get_str(profile, "status", "projectedModelSlugRuntimeName") == "aim-qwen-qwen3-32b"
    assert [name_of(item) for item in unit.all(SERVING_RUNTIME)] == ["aim-qwen-qwen3-32b"]
