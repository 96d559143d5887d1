"""What comes after a migration on a real kube-apiserver: the garbage collector, and the end of the old version."""

import contextlib
import copy
import uuid

import pytest

from aim_api.crds import load_crds
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    POD,
    PVC,
    REPLICA_SET,
    SERVING_RUNTIME,
)
from aim_api.labels import FIELD_MANAGER
from aim_api.tree import get_objects, get_str
from aim_rehearsal.client import ApiError
from tests.aim_template_migration.applying.on_server import Applied, staged
from tests.support.controlplane.crds import install_crds

KINDS = (
    AIM_SERVICE, AIM_MODEL, AIM_SERVICE_TEMPLATE, AIM_TEMPLATE_CACHE, AIM_ARTIFACT, AIM_PROFILE, AIM_PROFILE_CACHE,
    INFERENCE_SERVICE, SERVING_RUNTIME, DEPLOYMENT, REPLICA_SET, POD, PVC,
)  # fmt: skip
COLLECTED_WITHIN_SECONDS = 90


@pytest.fixture
def migrated(aim_plane, tmp_path):
    """A stage whose services are cut over."""
    with staged("shared-happy-path", aim_plane) as stage:
        outcome = Applied(stage, aim_plane, tmp_path).apply("commit.json", commit=True)
        assert [(unit.status, unit.message) for unit in outcome.result.units] == [("succeeded", "")] * 2
        yield stage


def everything(stage):
    return {
        (kind.name, namespace, get_str(item, "metadata", "name")): item
        for namespace in stage.world.namespaces
        for kind in KINDS
        for item in stage.client.list_all(kind, namespace).items
    }


def orphan(namespace):
    """Return a profile cache whose owner does not exist: the garbage collector removes it once it knows its kind."""
    owner = {"apiVersion": AIM_PROFILE.api_version, "kind": AIM_PROFILE.name, "name": "none", "uid": str(uuid.uuid4())}
    return {
        "apiVersion": AIM_PROFILE_CACHE.api_version,
        "kind": AIM_PROFILE_CACHE.name,
        "metadata": {"name": "orphan", "namespace": namespace, "ownerReferences": [owner]},
        "spec": {"profileName": "none", "profileScope": "Namespace"},
    }


@pytest.mark.slow
def test_the_garbage_collector_finds_nothing_of_a_migration_to_collect(controllers, migrated):
    before = everything(migrated)
    by_uid = {item["metadata"]["uid"]: key for key, item in before.items()}
    for key, item in before.items():
        for owner in item["metadata"].get("ownerReferences", ()):
            assert by_uid.get(owner["uid"], ("", ""))[:2] == (owner["kind"], key[1]), (key, owner)
    for namespace in migrated.world.namespaces:
        migrated.client.create(AIM_PROFILE_CACHE, orphan(namespace))
    controllers.wait_until(
        lambda: not any(key[2] == "orphan" for key in everything(migrated)),
        "the garbage collector removes what has no owner",
        timeout=COLLECTED_WITHIN_SECONDS,
    )
    after = everything(migrated)
    assert {key: item["metadata"]["uid"] for key, item in after.items()} == {
        key: item["metadata"]["uid"] for key, item in before.items()
    }


@contextlib.contextmanager
def without_the_old_version(plane):
    """Stop serving v1alpha1 of every kind that has v1alpha2 as well, for a while."""
    crds = [crd for crd in load_crds() if len(get_objects(crd, "spec", "versions")) > 1]
    assert {crd["spec"]["names"]["kind"] for crd in crds} >= {"AIMService", "AIMModel"}
    narrowed = copy.deepcopy(crds)
    for crd in narrowed:
        crd["spec"]["versions"] = [item for item in crd["spec"]["versions"] if item["name"] != "v1alpha1"]
    install_crds(plane, narrowed)
    try:
        yield
    finally:
        install_crds(plane, crds)


def old_entries(item):
    return [entry for entry in item["metadata"].get("managedFields", ()) if entry["apiVersion"].endswith("/v1alpha1")]


def label(stage, kind, item):
    """Apply a label of one's own to an object, as a GitOps tool would."""
    metadata = {key: item["metadata"][key] for key in ("name", "namespace")}
    manifest = {
        "apiVersion": kind.api_version, "kind": kind.name, "metadata": {**metadata, "labels": {"applied": "later"}}
    }  # fmt: skip
    return stage.client.apply(kind, manifest, manager="gitops")


@pytest.mark.slow
def test_only_what_others_wrote_at_the_old_version_stands_in_the_way_once_it_is_gone(aim_plane, migrated):
    """kube-apiserver refuses server-side apply of an object that has managedFields at a version that is gone."""
    objects = [
        (kind, item)
        for kind in (AIM_SERVICE, AIM_MODEL, AIM_PROFILE, AIM_PROFILE_CACHE)
        for namespace in migrated.world.namespaces
        for item in migrated.client.list_all(kind, namespace).items
    ]
    assert {kind.name for kind, item in objects if old_entries(item)} == {"AIMService"}
    for _, item in objects:
        assert FIELD_MANAGER not in {entry["manager"] for entry in old_entries(item)}
    with without_the_old_version(aim_plane):
        for kind, item in objects:
            if not old_entries(item):
                assert label(migrated, kind, item)["metadata"]["labels"]["applied"] == "later"
                continue
            with pytest.raises(ApiError, match="v1alpha1"):
                label(migrated, kind, item)
    for kind, item in objects:
        if old_entries(item):
            kept = [entry for entry in item["metadata"]["managedFields"] if entry not in old_entries(item)]
            live = migrated.client.get(kind, item["metadata"]["namespace"], item["metadata"]["name"])
            live["metadata"]["managedFields"] = kept or [{}]
            migrated.client.replace(kind, live, manager="repair")
    with without_the_old_version(aim_plane):
        for kind, item in objects:
            assert label(migrated, kind, item)["metadata"]["labels"]["applied"] == "later"
