"""Stages for the fault tests: one per world and process, since building one takes longer than playing a point."""

import contextlib

import pytest

from aim_api.crds import load_crds
from tests.controlplane.build import programs_folder
from tests.faults import plugin
from tests.faults.families import MAIN_WORLDS
from tests.faults.process import Launcher
from tests.faults.stage.real import IDENTITIES_OF_PLANE, RealStage
from tests.faults.stage.stage import Stage
from tests.faults.tally import Tally
from tests.faults.trial import Player
from tests.support.controlplane.crds import install_crds
from tests.support.controlplane.server import run_control_plane


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


@pytest.fixture(scope="session")
def server_player(tmp_path_factory):
    """The player of the main world on a real API server, which is there for it alone."""
    folder = tmp_path_factory.mktemp("real-server")
    for name in ("plane", "stage"):
        (folder / name).mkdir()
    with (
        run_control_plane(programs_folder(), folder / "plane", identities=IDENTITIES_OF_PLANE) as plane,
        Launcher() as launcher,
    ):
        install_crds(plane, load_crds())
        with RealStage(MAIN_WORLDS[0], folder / "stage", launcher, plane) as stage:
            yield Player(stage)


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
