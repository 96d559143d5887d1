"""Which artifacts a cache adopts, what it reports, and what it creates."""

import pytest

from aim_api import names
from aim_rehearsal.operator import adoption, profile_cache
from aim_rehearsal.operator.writes import Render, SetStatus
from tests.aim_rehearsal.operator import objects
from tests.aim_rehearsal.operator.objects import SOURCE, artifact, profile, said, view

CACHE = objects.profile_cache(finalizers=["aim.eai.amd.com/profile-cache-artifact-cleanup"])
OWNER = [{"uid": "u-c", "kind": "AIMProfileCache", "name": "c"}]


def adopted(*artifacts, cache=CACHE):
    (match,) = adoption.match_sources(cache, [SOURCE], view(cache, *artifacts))
    return match.artifact and match.artifact["metadata"]["name"], match.waits_for_deletion


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "weights"),
        ({"uri": "hf://acme/other"}, None),
        ({"word": ""}, None),
        ({"word": "Progressing"}, "weights"),
        ({"ownerReferences": OWNER}, None),
        ({"ownerReferences": [{"uid": "u-x", "kind": "ConfigMap", "name": "x"}]}, None),
        ({"spec": {"storageClassName": "fast"}}, "weights"),
        ({"spec": {"env": [{"name": "HF_TOKEN", "value": "x"}], "modelId": "acme/renamed"}}, "weights"),
    ],
    ids=["ownerless", "other-uri", "no-status", "progressing", "owned", "owned-by-any", "any-class", "env-and-id"],
)
def test_a_shared_cache_adopts_ownerless_artifacts_by_uri(fields, expected):
    assert adopted(artifact(**fields))[0] == expected


def test_a_storage_class_on_the_cache_must_match():
    cache = CACHE | {"spec": CACHE["spec"] | {"storageClassName": "fast"}}
    assert adopted(artifact(), cache=cache)[0] is None
    assert adopted(artifact(spec={"storageClassName": "fast"}), cache=cache)[0] == "weights"


def test_a_dedicated_cache_adopts_only_its_own():
    cache = CACHE | {"spec": CACHE["spec"] | {"mode": "Dedicated"}}
    assert adopted(artifact(), cache=cache)[0] is None
    assert adopted(artifact(ownerReferences=OWNER), cache=cache)[0] == "weights"


def test_a_cache_that_needs_an_adapter_disk_adopts_only_with_one():
    cache = CACHE | {"spec": CACHE["spec"] | {"requiresAdapterDisk": True}}
    assert adopted(artifact(), cache=cache)[0] is None
    assert adopted(artifact(spec={"adapterDisk": {}}), cache=cache)[0] == "weights"


def test_the_best_status_wins_then_the_name():
    assert adopted(artifact("b", word="Failed"), artifact("c"), artifact("a", word="Progressing"))[0] == "c"
    assert adopted(artifact("b"), artifact("a"))[0] == "a"


def test_a_terminating_match_makes_the_cache_wait():
    assert adopted(artifact(deletionTimestamp="2026-06-01T00:00:00Z")) == (None, True)


def decide(*things):
    return profile_cache.reconcile(CACHE, view(CACHE, *things))


def test_a_ready_artifact_makes_the_cache_ready_and_nothing_is_created():
    (write,) = decide(profile(), artifact())
    assert isinstance(write, SetStatus)
    assert write.status["status"] == "Ready"
    assert write.status["observedGeneration"] == 1
    assert write.status["artifacts"] == {
        "weights": {
            "name": "weights",
            "uid": "u-weights",
            "model": "acme/tiny",
            "status": "Ready",
            "persistentVolumeClaim": "weights-cache",
        }
    }
    assert said(write.status["conditions"])["ArtifactsReady"] == ("True", "AllCachesReady")


def test_a_missing_artifact_is_created_under_the_formula_and_without_an_owner():
    create, status = decide(profile())
    assert isinstance(create, Render)
    assert create.manager == "aim-profile-cache-controller"
    assert create.manifest["metadata"]["name"] == names.artifact_name("hf://acme/tiny", [], "")
    assert "ownerReferences" not in create.manifest["metadata"]
    assert create.manifest["metadata"]["labels"]["aim.eai.amd.com/profile-cache.name"] == "c"
    assert said(status.status["conditions"])["ArtifactsReady"] == ("False", "CreatingCaches")
    assert "artifacts" not in status.status


@pytest.mark.parametrize(
    ("things", "condition", "word"),
    [
        ([], {"ProfileReady": ("False", "ProfileNotFound"), "ArtifactsReady": ("False", "NoCaches")}, "Failed"),
        ([profile(), artifact(word="Progressing")], {"ArtifactsReady": ("False", "CachesNotReady")}, "Progressing"),
        ([profile(), artifact(word="Failed")], {"ArtifactsReady": ("False", "CachesNotReady")}, "Failed"),
        (
            [profile(), artifact(deletionTimestamp="2026-06-01T00:00:00Z")],
            {"ArtifactsReady": ("False", "ArtifactTerminating")},
            "Progressing",
        ),
    ],
    ids=["no-profile", "progressing", "failed", "terminating"],
)
def test_a_cache_says_what_it_waits_for(things, condition, word):
    status = decide(*things)[-1].status
    assert condition.items() <= said(status["conditions"]).items()
    assert status["status"] == word


def test_of_two_sources_with_one_model_id_the_later_is_reported():
    one, two = artifact("one", uri="hf://a/1"), artifact("two", uri="hf://a/2")
    sources = [{"modelId": "m/m", "sourceUri": uri} for uri in ("hf://a/1", "hf://a/2")]
    matches = adoption.match_sources(CACHE, sources, view(CACHE, one, two))
    assert list(adoption.report(matches)) == ["two"]


def test_a_paused_cache_is_left_alone():
    paused = objects.profile_cache(
        finalizers=["aim.eai.amd.com/profile-cache-artifact-cleanup"],
        annotations={"aim.eai.amd.com/reconciliation-paused": "true"},
        observed=0,
    )
    assert profile_cache.reconcile(paused, view(paused, profile(), artifact())) == []


def test_a_cache_that_goes_takes_its_unfinished_artifacts_and_leaves_the_ready_ones():
    mine = {"aim.eai.amd.com/profile-cache.name": "c"}
    leaving = CACHE | {"metadata": CACHE["metadata"] | {"deletionTimestamp": "2026-06-01T00:00:00Z"}}
    things = [
        artifact("done", labels=mine),
        artifact("half", word="Progressing", labels=mine),
        artifact("alien", word=""),
    ]
    remove, finalizer = profile_cache.reconcile(leaving, view(leaving, *things))
    assert remove.target["metadata"]["name"] == "half"
    assert finalizer.patch["metadata"]["finalizers"] == []
