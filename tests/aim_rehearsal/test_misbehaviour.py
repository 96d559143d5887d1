"""What an operator that fails the migration looks like from outside, one way at a time."""

import time

import pytest

from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_PROFILE_CACHE, DEPLOYMENT, JOB, SERVING_RUNTIME
from aim_api.tree import get_int, get_map, get_str
from aim_rehearsal.operator import Misbehaviour, Settings
from tests.aim_rehearsal.stage import condition, name_of

WORLD = "shared-happy-path"


@pytest.fixture
def unit(local_stage):
    """Return a function that gives the first service of the default world under a misbehaving operator."""
    return lambda misbehaviour, **rest: local_stage(WORLD, Settings(misbehaviour=misbehaviour, **rest)).unit(0)


def create(unit, *manifests):
    kinds = {"AIMProfile": AIM_PROFILE, "AIMProfileCache": AIM_PROFILE_CACHE}
    for manifest in manifests:
        unit.stage.client.create(kinds[manifest["kind"]], manifest, manager="aim-template-migration")
    unit.stage.operator.settle()


@pytest.mark.slow
def test_a_stuck_profile_is_looked_at_and_never_ready(unit):
    unit = unit(Misbehaviour.PROFILE_STUCK)
    create(unit, unit.profile_manifest())
    profile = unit.stage.client.get(AIM_PROFILE, unit.namespace, name_of(unit.template))
    assert get_int(profile, "status", "observedGeneration") == 1
    assert get_str(profile, "status", "status") == "Progressing"
    assert unit.all(SERVING_RUNTIME) == []


@pytest.mark.slow
def test_a_stuck_cache_is_looked_at_and_never_ready(unit):
    unit = unit(Misbehaviour.CACHE_STUCK)
    create(unit, unit.profile_manifest(), unit.cache_manifest())
    cache = unit.stage.client.get(AIM_PROFILE_CACHE, unit.namespace, unit.cache_name)
    assert get_int(cache, "status", "observedGeneration") == 1
    assert get_str(cache, "status", "status") == "Progressing"


def test_a_service_that_is_not_observed_is_picked_up_after_a_restart(unit):
    unit = unit(Misbehaviour.SERVICE_NOT_OBSERVED)
    before = unit.workload()
    unit.prepare()
    unit.cut_over()
    unit.stage.operator.settle()
    assert get_int(unit.service, "status", "observedGeneration") == 1
    assert get_int(unit.service, "metadata", "generation") == 2
    unit.stage.operator.stop()
    unit.stage.operator.start()
    unit.stage.operator.settle()
    assert get_int(unit.service, "status", "observedGeneration") == 2
    assert condition(unit.service, "InferenceServicePreserved") == ("True", "Preserved")
    assert unit.workload() == before


def test_an_operator_can_roll_in_spite_of_the_pin(unit):
    unit = unit(Misbehaviour.ROLLS_DESPITE_PIN)
    before = unit.workload()
    unit.prepare()
    unit.cut_over()
    unit.stage.operator.settle()
    after = unit.workload()
    assert condition(unit.service, "BridgeCompatible")[0] == "True"
    assert after["inferenceService"]["generation"] > before["inferenceService"]["generation"]
    assert not set(after["pods"]) & set(before["pods"])


@pytest.mark.slow
def test_a_wrong_artifact_is_reported_with_another_uid(unit):
    unit = unit(Misbehaviour.ADOPTS_WRONG_ARTIFACT)
    storage = unit.storage()
    cache = unit.prepare()
    (entry,) = get_map(cache, "status", "artifacts").values()
    (artifact,) = unit.all(AIM_ARTIFACT)
    assert entry["uid"] != get_str(artifact, "metadata", "uid")
    assert unit.storage() == storage


def test_downloading_again_makes_an_artifact_a_claim_and_a_job(unit):
    unit = unit(Misbehaviour.DOWNLOADS_AGAIN)
    before = unit.storage()
    create(unit, unit.profile_manifest(), unit.cache_manifest())
    after = unit.storage()
    assert {kind: len(after[kind]) - len(before[kind]) for kind in after} == {
        "aimartifacts": 1,
        "persistentvolumeclaims": 1,
        "jobs": 1,
    }
    (job,) = unit.all(JOB)
    assert name_of(job).partition("-")[0] == "hf"
    cache = unit.stage.client.get(AIM_PROFILE_CACHE, unit.namespace, unit.cache_name)
    assert get_str(cache, "status", "status") == "Ready"
    (entry,) = get_map(cache, "status", "artifacts").values()
    assert entry["uid"] not in before["aimartifacts"]


@pytest.mark.slow
def test_a_foreign_counter_parts_the_observed_generation_without_a_rollout(unit):
    unit = unit(Misbehaviour.FOREIGN_OBSERVED_GENERATION)
    inference, (deployment,) = unit.inference_service, unit.all(DEPLOYMENT)
    assert get_int(inference, "metadata", "generation") == 1
    assert get_int(inference, "status", "observedGeneration") == 2
    assert get_int(deployment, "status", "observedGeneration") == get_int(deployment, "metadata", "generation") == 2
    pods = [key for key in unit.stage.objects if key.startswith(f"Pod/{unit.namespace}/")]
    assert unit.workload()["pods"] == sorted(get_str(unit.stage.objects[key], "metadata", "uid") for key in pods)


@pytest.mark.slow
def test_a_slow_operator_does_everything_later(unit):
    unit = unit(Misbehaviour.SLOW, slow_seconds=0.2)
    started = time.monotonic()
    unit.prepare()
    assert time.monotonic() - started >= 0.4
    unit.cut_over()
    unit.await_observed()
    unit.stage.operator.settle()
    assert condition(unit.service, "InferenceServicePreserved") == ("True", "Preserved")
