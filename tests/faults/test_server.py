"""The same faults before a real kube-apiserver: its refusals, its stored answers, its own audit log."""

import pytest

from aim_api.kinds import AIM_SERVICE
from tests.faults.families import MAIN_WORLDS, server
from tests.faults.injecting.scene import Fault
from tests.faults.test_checker import Sabotaged

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
