"""When targets count as ready, and which answers no waiting can change."""

import copy

import pytest

from aim_template_migration.applying.readiness import (
    artifact_fault,
    cache_missing,
    is_protected,
    profile_missing,
    pvc_fault,
    runtime_missing,
    unpinned_artifact,
)
from aim_template_migration.documents.plan import PinnedArtifact

PINNED = PinnedArtifact("a1", "ua", "m", "hf://m", "claim", "uc")
PROFILE = {
    "metadata": {"name": "p", "uid": "up", "generation": 2},
    "status": {
        "status": "Ready",
        "observedGeneration": 2,
        "projectedRuntimeName": "r",
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "RuntimeProjected", "status": "True"}],
    },
}
ENTRY = {"name": "a1", "uid": "ua", "persistentVolumeClaim": "claim", "status": "Ready"}
CACHE = {
    "metadata": {"generation": 1},
    "status": {
        "status": "Ready",
        "observedGeneration": 1,
        "artifacts": {"a1": ENTRY},
        "conditions": [{"type": "Ready", "status": "True"}],
    },
}
ARTIFACT = {
    "metadata": {"name": "a1", "uid": "ua"},
    "spec": {"sourceUri": "hf://m"},
    "status": {"status": "Ready", "persistentVolumeClaim": "claim"},
}
CLAIM = {"metadata": {"uid": "uc"}, "status": {"phase": "Bound"}}


def changed(obj, *path, to):
    result = copy.deepcopy(obj)
    below = result
    for key in path[:-1]:
        below = below[key]
    below[path[-1]] = to
    return result


def test_ready_targets_miss_nothing():
    runtime = {"metadata": {"ownerReferences": [{"uid": "up", "controller": True}]}}
    assert profile_missing(PROFILE) is None
    assert runtime_missing(PROFILE, runtime) is None
    assert cache_missing(CACHE, (PINNED,)) is None
    assert (artifact_fault(ARTIFACT, PINNED), pvc_fault(CLAIM, PINNED)) == ("", "")


@pytest.mark.parametrize(
    "profile",
    [
        changed(PROFILE, "status", "observedGeneration", to=1),
        changed(PROFILE, "status", "observedGeneration", to=None),
        changed(PROFILE, "status", "status", to="Progressing"),
        changed(PROFILE, "status", "conditions", to=[{"type": "Ready", "status": "True"}]),
        changed(PROFILE, "status", "conditions", to=[{"type": "RuntimeProjected", "status": "True"}]),
        changed(PROFILE, "status", "projectedRuntimeName", to=""),
        {"metadata": {}},
        {},
    ],
)
def test_a_profile_is_waited_for(profile):
    missing = profile_missing(profile)
    assert missing is not None
    assert not missing.final


@pytest.mark.parametrize(
    ("runtime", "final"),
    [
        (None, False),
        ({"metadata": {}}, True),
        ({"metadata": {"ownerReferences": [{"uid": "other", "controller": True}]}}, True),
        ({"metadata": {"ownerReferences": [{"uid": "up", "controller": False}]}}, True),
        ({"metadata": {"ownerReferences": [{"uid": "up"}]}}, True),
    ],
)
def test_a_runtime_that_is_not_the_profiles_own_is_an_answer(runtime, final):
    missing = runtime_missing(PROFILE, runtime)
    assert missing is not None
    assert missing.final is final


@pytest.mark.parametrize(
    ("cache", "final"),
    [
        (changed(CACHE, "status", "observedGeneration", to=0), False),
        (changed(CACHE, "status", "status", to="Progressing"), False),
        (changed(CACHE, "status", "conditions", to=[{"type": "Ready", "status": "False"}]), False),
        (changed(CACHE, "status", "artifacts", to={}), False),
        (changed(CACHE, "status", "artifacts", "a1", "uid", to=""), False),
        (changed(CACHE, "status", "artifacts", "a1", "uid", to="other"), True),
        (changed(CACHE, "status", "artifacts", "a1", "persistentVolumeClaim", to="other"), True),
        (changed(CACHE, "status", "artifacts", "a1", "persistentVolumeClaim", to=""), False),
        (changed(CACHE, "status", "artifacts", to={"a1": ENTRY, "a2": {"name": "a2"}}), False),
        (changed(CACHE, "status", "artifacts", to={"a1": ENTRY, "a2": {"name": "a2", "uid": "x"}}), True),
        ({"metadata": {"generation": 1}}, False),
    ],
)
def test_another_artifact_or_claim_is_an_answer_and_a_missing_one_a_delay(cache, final):
    missing = cache_missing(cache, (PINNED,))
    assert missing is not None
    assert missing.final is final


@pytest.mark.parametrize(
    ("artifact", "fault"),
    [
        (changed(ARTIFACT, "metadata", "uid", to="x"), "its UID is not ua"),
        (changed(ARTIFACT, "metadata", "ownerReferences", to=[{"uid": "x"}]), "it has an owner now"),
        (changed(ARTIFACT, "metadata", "deletionTimestamp", to="2026"), "it is terminating"),
        (changed(ARTIFACT, "spec", "sourceUri", to="hf://x"), "its source is not hf://m"),
        (changed(ARTIFACT, "status", "status", to="Failed"), "its status is Failed, not Ready"),
        (changed(ARTIFACT, "status", "persistentVolumeClaim", to="x"), "its PVC is not claim"),
    ],
)
def test_an_artifact_that_is_not_the_pinned_one(artifact, fault):
    assert fault in artifact_fault(artifact, PINNED)


@pytest.mark.parametrize(
    ("claim", "fault"),
    [
        (changed(CLAIM, "metadata", "uid", to="x"), "its UID is not uc"),
        (changed(CLAIM, "metadata", "deletionTimestamp", to="2026"), "it is terminating"),
        (changed(CLAIM, "status", "phase", to="Lost"), "its phase is Lost, not Bound"),
    ],
)
def test_a_claim_that_is_not_the_pinned_one(claim, fault):
    assert fault in pvc_fault(claim, PINNED)


@pytest.mark.parametrize(("value", "protected"), [("true", True), ("false", False), ("True", False), (None, False)])
def test_protection_is_the_exact_word(value, protected):
    annotations = {} if value is None else {"aim.eai.amd.com/eviction-protected": value}
    assert is_protected({"metadata": {"annotations": annotations}}) is protected


def test_an_artifact_that_nobody_knew_of_is_named():
    assert unpinned_artifact([ARTIFACT], frozenset({"ua"})) == ""
    assert "artifact a1 (UID ua) holds the same source" in unpinned_artifact([ARTIFACT], frozenset())
