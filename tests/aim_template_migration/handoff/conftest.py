"""One walk through the whole procedure, with what a check sees at each phase kept as values."""

import pytest

from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from tests.aim_template_migration.handoff.administrator import Handoff


@pytest.fixture(scope="session")
def sightings(tmp_path_factory):
    """Return what a check saw at each phase, by its number."""
    folder = tmp_path_factory.mktemp("walk")
    seen = {}
    with RehearsalSession(load_world("dedicated-caching"), work_dir=folder) as session:
        handoff = Handoff(session, folder)
        handoff.walk(10, visit=lambda number: seen.__setitem__(number, handoff.look()))
        handoff.cluster.close()
    return seen
