"""Everything that makes a phase a stop: each test changes one fact of a world in which the phase is a go."""

import copy
from dataclasses import replace

import msgspec
import pytest

from aim_api.bridge import PRESERVE_GENERATION, RECONCILIATION_PAUSED
from aim_api.kinds import AIM_PROFILE_CACHE, INFERENCE_SERVICE
from aim_api.labels import EVICTION_PROTECTED, SERVICE_NAME
from aim_template_migration.handoff.compare import differences
from aim_template_migration.handoff.phases import phase
from aim_template_migration.planning.reduction import reduce

ALL = tuple(range(1, 11))
PAUSED = (4, 5)
ACTIVE = (6, 7, 8, 9, 10)
TARGET = (*PAUSED, *ACTIVE)
MOVED = (9, 10)
NOT_MOVED = (1, 2, 3, 4, 5, 6, 7, 8)


def edited(observed, change):
    """Return an object with a change to a copy of its JSON."""
    obj = copy.deepcopy(observed.obj)
    change(obj)
    return msgspec.structs.replace(observed, obj=obj)


def with_source(seen, role, change):
    """Return what is seen, with one object of the evidence changed as it is live."""
    (source,) = seen.of(role)
    live = edited(seen.live(source), change)
    return replace(seen, sources={**seen.sources, source.reference.id: live})


def with_target(seen, change):
    caches = tuple(edited(cache, change) for cache in seen.target_caches)
    return replace(seen, target_caches=caches, service_caches=caches)


def with_profile(seen, change):
    return replace(seen, profile=edited(seen.profile, change))


def with_evidence(seen, role, **facts):
    """Return what is seen, with evidence that always said otherwise."""
    objects = tuple(
        msgspec.structs.replace(item, **facts) if item.role == role else item for item in seen.evidence.objects
    )
    return replace(seen, evidence=msgspec.structs.replace(seen.evidence, objects=objects))


def without_evidence(seen, role):
    objects = tuple(item for item in seen.evidence.objects if item.role != role)
    return replace(seen, evidence=msgspec.structs.replace(seen.evidence, objects=objects))


def said(seen, number):
    return " | ".join(f"{item.object}: {item.message}" for item in differences(seen, phase(number)))


def setting(*path, to):
    """Return a change that sets one field."""

    def change(obj):
        for key in path[:-1]:
            obj = obj.setdefault(key, {})
        obj[path[-1]] = to

    return change


def condition(name, status):
    def change(obj):
        conditions = obj["status"].setdefault("conditions", [])
        conditions[:] = [item for item in conditions if item["type"] != name] + [{"type": name, "status": status}]

    return change


def owners(change):
    """Return a change of the owner references."""

    def apply(obj):
        obj["metadata"]["ownerReferences"] = change(obj["metadata"].get("ownerReferences", []))

    return apply


@pytest.mark.parametrize("number", ALL)
def test_the_world_itself_is_a_go(sightings, number):
    assert said(sightings[number], number) == ""


SOURCE_FACTS = [
    ("service", setting("metadata", "uid", to="other"), ALL, "it was replaced"),
    ("artifact", setting("metadata", "uid", to="other"), ALL, "it was replaced"),
    ("pvc", setting("metadata", "uid", to="other"), ALL, "it was replaced"),
    ("inferenceService", setting("metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z"), ALL, "terminating"),
    ("pvc", setting("metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z"), ALL, "terminating"),
    ("artifact", setting("metadata", "finalizers", to=["backup.example/hold"]), ALL, "its finalizers are backup"),
    ("pvc", setting("metadata", "finalizers", to=["snapshot.example/hold"]), ALL, "its finalizers are snapshot"),
    ("templateCache", setting("metadata", "finalizers", to=[]), ALL, "its finalizers are none"),
    ("artifact", setting("metadata", "annotations", EVICTION_PROTECTED, to="true"), ALL, "it is protected from quota"),
    ("artifact", setting("metadata", "annotations", RECONCILIATION_PAUSED, to="true"), ALL, "it is paused"),
    ("inferenceService", setting("metadata", "annotations", "any.example/key", to="x"), ALL, "its desired state"),
    ("inferenceService", setting("metadata", "generation", to=7), ALL, "its generation is 7"),
    ("inferenceService", setting("status", "observedGeneration", to=9), ALL, "its observed generation is 9"),
    ("inferenceService", condition("Ready", "False"), ALL, "its condition Ready is False"),
    ("deployment", setting("status", "availableReplicas", to=0), ALL, "availableReplicas"),
    ("deployment", setting("spec", "template", to={"spec": {"x": 1}}), ALL, "its desired state"),
    ("templateCache", setting("status", "status", to="Progressing"), ALL, "its status is Progressing"),
    ("artifact", setting("status", "status", to="Downloading"), ALL, "its status is Downloading"),
    ("artifact", setting("status", "persistentVolumeClaim", to="other"), ALL, "its claim is other"),
    ("pvc", setting("status", "phase", to="Lost"), ALL, "its phase is Lost"),
    ("pvc", setting("spec", "volumeName", to="another"), ALL, "its desired state"),
    ("pvc", owners(lambda found: [{**found[0], "uid": "other"}]), ALL, "its owners are"),
    (
        "inferenceService",
        owners(lambda found: [{**found[0], "blockOwnerDeletion": not found[0].get("blockOwnerDeletion")}]),
        ALL,
        "its owners are",
    ),
    ("service", condition("Ready", "False"), ALL, "its condition Ready is"),
    ("service", condition("BridgeCompatible", "False"), ALL, "the bridge reports BridgeCompatible=False"),
    ("service", setting("spec", "replicas", to=5), NOT_MOVED, "its desired state"),
    ("service", setting("status", "resolvedTemplate", "uid", to="other"), NOT_MOVED, "it resolves template UID other"),
    ("service", setting("spec", "replicas", to=5), MOVED, "in more than the selection"),
    ("service", setting("spec", "profile", "selector", to={}), MOVED, "not the approved"),
    ("service", setting("spec", "template", to={}), MOVED, "not the approved"),
    ("service", setting("metadata", "annotations", "aim.eai.amd.com/force-rebind", to="1"), MOVED, "in more than"),
    ("service", setting("status", "observedGeneration", to=None), MOVED, "observes generation none"),
    ("service", setting("status", "resolvedProfile", "uid", to="other"), MOVED, "it resolves to profile"),
    ("service", setting("metadata", "annotations", PRESERVE_GENERATION, to="1"), MOVED, "its pin is not for"),
]


@pytest.mark.parametrize(("role", "change", "numbers", "words"), SOURCE_FACTS)
def test_a_source_object_that_differs_is_a_stop(sightings, role, change, numbers, words):
    for number in numbers:
        assert words in said(with_source(sightings[number], role, change), number), number


def test_a_source_object_that_is_gone_is_a_stop(sightings):
    for number in ALL:
        seen = sightings[number]
        for source in seen.evidence.objects:
            assert "it is gone" in said(replace(seen, sources={**seen.sources, source.reference.id: None}), number)


def report(field, value):
    def change(obj):
        (entry,) = obj["status"]["artifacts"].values()
        entry[field] = value

    return change


def second_report(obj):
    obj["status"]["artifacts"]["another"] = {"name": "another", "uid": "another", "status": "Ready"}


@pytest.mark.parametrize(
    "change", [report("persistentVolumeClaim", "other"), report("status", "Failed"), report("uid", "x"), second_report]
)
def test_a_source_cache_that_reports_something_else_is_a_stop(sightings, change):
    for number in ALL:
        assert "reports artifact" in said(with_source(sightings[number], "templateCache", change), number)


TARGET_FACTS = [
    (setting("metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z"), TARGET, "it is terminating"),
    (setting("metadata", "finalizers", to=["backup.example/hold"]), TARGET, "finalizers of strangers"),
    (owners(lambda found: []), TARGET, "as its controller and by nothing else"),
    (owners(lambda found: [{**found[0], "controller": False}]), TARGET, "as its controller and by nothing else"),
    (owners(lambda found: [{**found[0], "apiVersion": "other.example/v1"}]), TARGET, "as its controller"),
    (owners(lambda found: [*found, {**found[0], "uid": "x", "controller": False}]), TARGET, "by nothing else"),
    (setting("spec", "profileScope", to="Cluster"), TARGET, "spec.profileScope is Cluster"),
    (setting("spec", "storageClassName", to="slow"), TARGET, "it would not adopt it"),
    (setting("metadata", "annotations", RECONCILIATION_PAUSED, to="True"), PAUSED, "it is not paused"),
    (setting("metadata", "annotations", RECONCILIATION_PAUSED, to="true"), ACTIVE, "it is paused"),
    (setting("status", "artifacts", to={"a": {"uid": "x"}}), PAUSED, "must not have acted yet"),
    (setting("status", "observedGeneration", to=0), ACTIVE, "not Ready at its generation"),
    (setting("status", "status", to="Degraded"), ACTIVE, "not Ready at its generation"),
    (condition("Ready", "False"), ACTIVE, "not Ready at its generation"),
    (setting("status", "artifacts", to={}), ACTIVE, "it does not report artifact"),
    (report("persistentVolumeClaim", "other"), ACTIVE, "it does not report artifact"),
    (report("uid", "other"), ACTIVE, "it reports other artifacts: other"),
    (report("status", "Downloading"), ACTIVE, "as Downloading, not Ready"),
    (second_report, ACTIVE, "it reports other artifacts"),
]


@pytest.mark.parametrize(("change", "numbers", "words"), TARGET_FACTS)
def test_a_target_cache_that_differs_is_a_stop(sightings, change, numbers, words):
    for number in numbers:
        assert words in said(with_target(sightings[number], change), number), number


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (setting("metadata", "deletionTimestamp", to="2026-01-01T00:00:00Z"), "it is terminating"),
        (setting("metadata", "generation", to=9), "its status observes generation"),
        (setting("status", "status", to="Failed"), "its status is Failed"),
        (condition("Ready", "False"), "not Ready"),
        (setting("spec", "caching", to={"enabled": True}), "a cache of its own"),
        (setting("spec", "modelSources", to=[{"sourceUri": "hf://other/model"}]), "its model sources are hf://other"),
        (setting("spec", "modelSources", to=[]), "its model sources are none"),
        (setting("metadata", "annotations", RECONCILIATION_PAUSED, to="true"), "its status says nothing"),
    ],
)
def test_a_target_profile_that_differs_is_a_stop(sightings, change, words):
    for number in TARGET:
        assert words in said(with_profile(sightings[number], change), number), number


def test_a_target_that_is_missing_or_ambiguous_is_a_stop(sightings):
    for number in TARGET:
        seen = sightings[number]
        assert "does not exist" in said(replace(seen, profile=None), number)
        assert "not exactly one" in said(replace(seen, target_caches=(), service_caches=()), number)
        other = edited(seen.target_caches[0], setting("metadata", "uid", to="second"))
        assert "ambiguous" in said(replace(seen, service_caches=(*seen.service_caches, other)), number)


def test_a_target_that_acts_before_its_phase_is_a_stop(sightings):
    early = sightings[6].service_caches
    for number in (1, 2, 3):
        assert "may act before its phase" in said(replace(sightings[number], service_caches=early), number)


def stray(kind, name, **metadata):
    return reduce(kind, {"metadata": {"name": name, "namespace": "team-a", "uid": f"uid-{name}", **metadata}})


def test_what_has_appeared_beside_the_evidence_is_a_stop(sightings):
    for number in ALL:
        seen = sightings[number]
        second = stray(INFERENCE_SERVICE, "second", labels={SERVICE_NAME: "qwen-chat"})
        assert "it has appeared" in said(replace(seen, inference_services=(*seen.inference_services, second)), number)
        download = stray(
            AIM_PROFILE_CACHE, "again", ownerReferences=[{"kind": "AIMProfileCache", "name": "c", "uid": "u"}]
        )
        assert "may download again" in said(replace(seen, owned_artifacts=(*seen.owned_artifacts, download)), number)
        assert "everything in it" in said(replace(seen, namespace_terminating=True), number)


@pytest.mark.parametrize(
    "role", ["model", "template", "templateCache", "artifact", "pvc", "inferenceService", "deployment"]
)
def test_evidence_that_lacks_an_object_is_a_stop_at_every_phase(sightings, role):
    for number in ALL:
        assert "evidence" in said(without_evidence(sightings[number], role), number), number


def test_evidence_of_a_predecessor_that_did_not_serve_is_no_excuse(sightings):
    for number in NOT_MOVED:
        seen = with_evidence(sightings[number], "inferenceService", ready="False")
        seen = with_source(seen, "inferenceService", condition("Ready", "False"))
        assert "it is not Ready and current" in said(seen, number)
        seen = with_evidence(sightings[number], "pvc", phase="Pending")
        assert "not Bound" in said(with_source(seen, "pvc", setting("status", "phase", to="Pending")), number)


def test_evidence_of_an_artifact_that_its_cache_does_not_control_is_a_stop(sightings):
    for number in ALL:
        assert "so it is not Dedicated" in said(
            with_evidence(sightings[number], "artifact", owner_references=()), number
        )


def target_owner(seen, **flags):
    cache = seen.target_caches[0]
    entry = {"apiVersion": AIM_PROFILE_CACHE.api_version, "kind": "AIMProfileCache", "name": cache.name}
    return {**entry, "uid": cache.uid, **flags}


WRONG_STAGED = [
    lambda seen, source: [target_owner(seen, controller=False), source],
    lambda seen, source: [source, target_owner(seen, controller=True)],
    lambda seen, source: [{**source, "controller": False}, target_owner(seen, controller=True)],
    lambda seen, source: [{**source, "blockOwnerDeletion": True}, target_owner(seen)],
    lambda seen, source: [source, {**target_owner(seen), "apiVersion": "aim.eai.amd.com/v1alpha1"}],
    lambda seen, source: [source, {**target_owner(seen), "apiVersion": "other.example/v1"}],
    lambda seen, source: [source, {**target_owner(seen), "uid": "of-a-replaced-cache"}],
    lambda seen, source: [source, target_owner(seen), {**target_owner(seen), "uid": "third"}],
    lambda seen, source: [source, {**source, "uid": "stranger", "controller": False}, target_owner(seen)],
    lambda seen, source: [source],
    lambda seen, source: [target_owner(seen)],
]
WRONG_TRANSFERRED = [
    lambda seen, source: [target_owner(seen, controller=False)],
    lambda seen, source: [target_owner(seen)],
    lambda seen, source: [target_owner(seen, controller=True, blockOwnerDeletion=True)],
    lambda seen, source: [target_owner(seen, controller=True), {**source, "controller": False}],
    lambda seen, source: [{**source, "controller": False}, target_owner(seen, controller=True)],
    lambda seen, source: [{**target_owner(seen, controller=True), "apiVersion": "other.example/v1"}],
    lambda seen, source: [source],
    lambda seen, source: [],
]


def artifact_owned_by(seen, wrong):
    source = next(item for item in seen.evidence.objects if item.role == "artifact").owner_references[0]
    entry = {"apiVersion": source.api_version, "kind": source.kind, "name": source.name, "uid": source.uid}
    flags = {"controller": source.controller, "blockOwnerDeletion": source.block_owner_deletion}
    entry |= {key: value for key, value in flags.items() if value is not None}
    return with_source(seen, "artifact", owners(lambda found: wrong(seen, entry)))


@pytest.mark.parametrize("wrong", WRONG_STAGED)
def test_owners_that_are_not_exactly_staged_are_a_stop(sightings, wrong):
    for number in (5, 6):
        assert "this phase needs exactly" in said(artifact_owned_by(sightings[number], wrong), number)


@pytest.mark.parametrize("wrong", WRONG_TRANSFERRED)
def test_owners_that_are_not_exactly_transferred_are_a_stop(sightings, wrong):
    for number in (7, 8, 9, 10):
        assert "this phase needs exactly" in said(artifact_owned_by(sightings[number], wrong), number)


def test_no_phase_is_a_go_in_the_world_of_another_stage(sightings):
    stages = {1: 1, 2: 1, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7, 8: 7, 9: 9, 10: 9}
    for seen_at, seen in sightings.items():
        for number in ALL:
            if stages[number] != stages[seen_at] and (seen_at, number) != (4, 3):  # a paused target may wait
                assert said(seen, number), (seen_at, number)
