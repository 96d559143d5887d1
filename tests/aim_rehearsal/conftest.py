"""A stage for the scenarios, on the local API and on a real API server."""

import contextlib
import secrets
from importlib import resources

import pytest

from aim_api.crds import load_crds
from aim_rehearsal.client import Client
from aim_rehearsal.operator import Settings
from aim_rehearsal.worlds import load_world, parse_world
from tests.aim_rehearsal.stage import Stage


def renamed(name, suffix):
    """Return a world in namespaces of its own, for a server that several tests share."""
    text = (resources.files("aim_rehearsal.worlds") / f"{name}.yaml").read_text()
    for namespace in load_world(name).namespaces:
        text = text.replace(namespace, f"{namespace}-{suffix}")
    return parse_world(name, text)


@pytest.fixture
def local_stage():
    """Return a function that puts a world on a local API and starts the operator."""
    from aim_rehearsal.apiserver import LocalApiServer
    from aim_rehearsal.roles import IDENTITIES, OPERATOR, role_objects

    with contextlib.ExitStack() as stack:

        def start(world, settings=None):
            server = stack.enter_context(LocalApiServer(identities=IDENTITIES))
            server.install_crds(load_crds())
            server.seed(role_objects())
            admin, operator = (
                Client(server.url, token=server.token(identity), ca_pem=server.ca_pem)
                for identity in ("admin", OPERATOR)
            )
            return stack.enter_context(Stage(admin, operator, load_world(world), settings or Settings()).up())

        yield start


@pytest.fixture
def real_stage(aim_plane):
    """Return a function that puts a world on the real API server, in namespaces of its own."""
    with contextlib.ExitStack() as stack:

        def start(world, settings=None):
            ca_pem = aim_plane.ca_file.read_text()
            admin = Client(aim_plane.url, token=aim_plane.token("admin"), ca_pem=ca_pem)
            stage = Stage(admin, admin, renamed(world, secrets.token_hex(3)), settings or Settings())
            return stack.enter_context(stage.up())

        yield start


@pytest.fixture(params=["local", pytest.param("real", marks=pytest.mark.controlplane)])
def start(request):
    """Return a function that puts a world on an API server: ``start(world, settings)``."""
    return request.getfixturevalue(f"{request.param}_stage")
