"""A server without a socket, and clients for it."""

import pytest

from aim_rehearsal.apiserver import LocalApiServer
from tests.aim_rehearsal.apiserver.api import Api, widget_crd


@pytest.fixture
def server():
    """A server that was never entered: no socket, no controllers."""
    server = LocalApiServer(identities={"bob": ["dev"], "alice": []}, controllers=False)
    server.install_crds([widget_crd(), widget_crd("gadgets", "Gadget", "Cluster")])
    yield server
    server.store.close()


@pytest.fixture
def api(server):
    """An administrator."""
    return Api(server)


@pytest.fixture
def bob(server):
    """Somebody without permissions."""
    return Api(server, "bob")
