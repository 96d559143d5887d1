"""Stages for the fault tests: one per world and process, since building one takes longer than playing a point."""

import contextlib

import pytest

from tests.faults import plugin
from tests.faults.process import Launcher
from tests.faults.stage.stage import Stage
from tests.faults.tally import Tally
from tests.faults.trial import Player


def pytest_configure(config):
    if not config.pluginmanager.has_plugin(plugin.__name__):
        config.pluginmanager.register(plugin, plugin.__name__)


@pytest.fixture(scope="session")
def player_of(tmp_path_factory):
    """Return a function that gives the player of a world."""
    players = {}
    with contextlib.ExitStack() as stack:
        launcher = stack.enter_context(Launcher())

        def player(world: str) -> Player:
            if world not in players:
                stage = stack.enter_context(Stage(world, tmp_path_factory.mktemp(world), launcher))
                players[world] = Player(stage)
            return players[world]

        yield player


@pytest.fixture
def play(record_property):
    """Return a function that plays points and fails if anything was violated."""

    def play_all(player, points):
        tally = Tally()
        for point in points:
            tally.add(player.play(point))
        plugin.record(record_property, tally)
        if tally.violated:
            pytest.fail(tally.report(), pytrace=False)

    return play_all
