"""pytest fixtures: the real control plane and the local API with the same kinds."""

from collections.abc import Iterator

import pytest

from tests.conformance.servers import LocalPlane, run_local_plane
from tests.support.controlplane.server import ControlPlane


@pytest.fixture(scope="session")
def real_plane(controllers: ControlPlane, aim_plane: ControlPlane) -> ControlPlane:
    """The real control plane with the project's kinds and the controllers that clean up."""
    return aim_plane


@pytest.fixture(scope="session")
def local_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalPlane]:
    """The local API with the project's kinds."""
    with run_local_plane(tmp_path_factory.mktemp("local")) as plane:
        yield plane
