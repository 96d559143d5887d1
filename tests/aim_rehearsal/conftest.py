"""A stage for the scenarios, on the local API and on a real API server."""

import contextlib
import secrets

import pytest

from aim_api.crds import load_crds
from aim_rehearsal.apiserver import LocalApiServer
from aim_rehearsal.client import Client
from aim_rehearsal.operator import Settings
from aim_rehearsal.roles import IDENTITIES, OPERATOR, role_objects
from aim_rehearsal.worlds import load_world
from tests.aim_rehearsal.stage import Stage
from tests.support.worlds import renamed


@pytest.fixture(scope="session")
def local_server():
    """A local API with the project's definitions, which all tests of this process share."""
    with LocalApiServer(identities=IDENTITIES) as server:
        server.install_crds(load_crds())
        server.seed(role_objects())
        yield server


def _stages(clients):
    """Yield a function that puts a world on a server, in namespaces of its own, and starts the operator."""
    with contextlib.ExitStack() as stack:

        def start(name, settings=None, *, as_written=False):
            world = load_world(name) if as_written else renamed(name, secrets.token_hex(3))
            stage = Stage(*clients, world, settings or Settings())
            return stack.enter_context(stage.up())

        yield start


@pytest.fixture
def local_stage(local_server):
    """Return a function that puts a world on the local API, in namespaces of its own."""
    yield from _stages(
        tuple(
            Client(local_server.url, token=local_server.token(identity), ca_pem=local_server.ca_pem)
            for identity in ("admin", OPERATOR)
        )
    )


@pytest.fixture
def real_stage(aim_plane):
    """Return a function that puts a world on the real API server, in namespaces of its own."""
    admin = Client(aim_plane.url, token=aim_plane.token("admin"), ca_pem=aim_plane.ca_file.read_text())
    yield from _stages((admin, admin))


@pytest.fixture(params=["local", pytest.param("real", marks=pytest.mark.controlplane)])
def start(request):
    """Return a function that puts a world on an API server: ``start(world, settings)``."""
    return request.getfixturevalue(f"{request.param}_stage")
