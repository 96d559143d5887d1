"""The same faults before a real kube-apiserver: its refusals, its stored answers, its own audit log."""

import pytest

from aim_api.crds import load_crds
from aim_api.kinds import AIM_SERVICE, LEGACY_VERSION
from aim_api.labels import FIELD_MANAGER
from aim_rehearsal.client import ApiError
from tests.faults.families import MAIN_WORLDS, server
from tests.faults.injecting.scene import Fault
from tests.faults.running import apply
from tests.faults.test_checker import Sabotaged
from tests.support.controlplane.crds import install_crds

pytestmark = [pytest.mark.controlplane, pytest.mark.slow]


def test_the_stage_is_put_back_as_it_was(server_player):
    stage = server_player._stage
    server_player.record(commit=True)
    for _ in range(2):
        stage.reset()
        before, now = stage.before, stage.observe()
        assert {key: bare(item) for key, item in now.items()} == {key: bare(item) for key, item in before.items()}
        assert not stage.audit().mutations("migration")
        key = next(key for key in before if key[0] == AIM_SERVICE.name)
        stage.admin.merge_patch(AIM_SERVICE, *key[1:], {"spec": {"replicas": 2}})
        stage.operator.work()
        assert stage.observe()[key]["metadata"]["generation"] == 2


def bare(obj):
    metadata = {name: value for name, value in obj["metadata"].items() if name != "resourceVersion"}
    return {**obj, "metadata": metadata}


@pytest.mark.parametrize(
    ("sabotage", "words"),
    [("no-attempt", "without a durable attempt"), ("no-guards", "lacks a guard"), ("writes-in-a-dry-run", "a dry run")],
)
def test_a_tool_that_is_broken_is_found_out_on_a_real_server(server_player, sabotage, words):
    commit = sabotage != "writes-in-a-dry-run"
    assert words in Sabotaged(server_player, sabotage).play(Fault, commit=commit, recovery="none")


@pytest.mark.parametrize("part", server(), ids=str)
def test_points_on_a_real_server(server_player, play, part):
    assert part.world == MAIN_WORLDS[0]
    play(server_player, part.points(server_player))


def test_nothing_of_the_migration_stands_in_the_way_once_the_old_version_is_gone(server_player):
    """Whoever holds fields at a version that the definition has lost keeps the server from server-side apply."""
    stage = server_player._stage
    stage.reset()
    assert apply(server_player._scene(), Fault(), commit=True, name="run").code == 0
    (whole,) = [crd for crd in load_crds() if crd["metadata"]["name"] == AIM_SERVICE.crd_name]
    kept = [version for version in whole["spec"]["versions"] if version["name"] != LEGACY_VERSION]
    install_crds(stage._plane, [{**whole, "spec": {**whole["spec"], "versions": kept}}])
    try:
        services = stage.admin.list_all(AIM_SERVICE).items
        assert len(services) == 2
        for item in services:
            entries = item["metadata"]["managedFields"]
            assert {entry["apiVersion"] for entry in entries if entry["manager"] == FIELD_MANAGER} == {
                AIM_SERVICE.api_version
            }
            with pytest.raises(ApiError, match="invalid group/version"):
                apply_again(stage, item)
            stay = [entry for entry in entries if entry["apiVersion"] == AIM_SERVICE.api_version]
            stage.admin.replace(AIM_SERVICE, {**item, "metadata": {**item["metadata"], "managedFields": stay}})
            applied = apply_again(stage, item)
            for name in ("uid", "generation"):
                assert applied["metadata"][name] == item["metadata"][name]
    finally:
        install_crds(stage._plane, [whole])


def apply_again(stage, item):
    metadata = {name: item["metadata"][name] for name in ("name", "namespace", "annotations")}
    manifest = {**item, "metadata": metadata}
    manifest.pop("status")
    return stage.admin.apply(AIM_SERVICE, manifest, manager="gitops")
