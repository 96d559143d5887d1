"""pytest fixtures for the real control plane.

A conftest makes them known with ``pytest_plugins = ["tests.support.controlplane.plugin"]``.

Every test that uses one of the fixtures gets the marker ``controlplane``. Where the programs are not built it is
skipped, or fails if ``CI`` or ``AIM_REQUIRE_CONTROLPLANE`` is set. Each process of pytest-xdist runs a control plane of
its own: it takes 3 s and 0.4 GB, and keeps one worker's requests out of another's audit log.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from aim_api.crds import load_crds
from tests.controlplane.build import (
    API_SERVER,
    ASSETS_VARIABLE,
    BUILD_COMMAND,
    CONTROLLER_MANAGER,
    ETCD,
    missing_programs,
    programs_folder,
)
from tests.support.audit import AuditTrail
from tests.support.controlplane.crds import install_crds
from tests.support.controlplane.server import ControlPlane, run_control_plane

MARKER = "controlplane"
REQUIRE_VARIABLE = "AIM_REQUIRE_CONTROLPLANE"

_PLANES = frozenset({"control_plane", "strict_control_plane", "aim_plane", "strict_aim_plane"})


def _missing_reason(*wanted: str) -> str | None:
    folder = programs_folder()
    missing = missing_programs(folder, wanted)
    if not missing:
        return None
    advice = f"{ASSETS_VARIABLE} names that folder" if os.environ.get(ASSETS_VARIABLE) else f"run: {BUILD_COMMAND}"
    return f"no {' and no '.join(missing)} in {folder}; {advice}"


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").lower() not in {"", "0", "false"}


def _require(*wanted: str) -> None:
    reason = _missing_reason(*wanted)
    if reason is None:
        return
    if _is_set("CI") or _is_set(REQUIRE_VARIABLE):
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses a control plane, directly or through another fixture."""
    for item in items:
        if _PLANES & _names(item) and item.get_closest_marker(MARKER) is None:
            item.add_marker(MARKER)


def _names(item: pytest.Item) -> set[str]:
    """Return the fixtures that a test uses, and the words that it is parametrised with, which may name more of them."""
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return {*getattr(item, "fixturenames", ()), *(value for value in parameters.values() if isinstance(value, str))}


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip or fail a marked test where the programs are missing."""
    if item.get_closest_marker(MARKER) is not None:
        _require(ETCD, API_SERVER)


@contextmanager
def _plane(factory: pytest.TempPathFactory, name: str, *plugins: str) -> Iterator[ControlPlane]:
    _require(ETCD, API_SERVER)
    with run_control_plane(programs_folder(), factory.mktemp(name), admission_plugins=plugins) as plane:
        yield plane


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A kube-apiserver that all tests of this process share; each test makes its own namespaces."""
    with _plane(tmp_path_factory, "controlplane") as plane:
        yield plane


@pytest.fixture(scope="session")
def strict_control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ControlPlane]:
    """A second one, with the admission plugin OwnerReferencesPermissionEnforcement."""
    with _plane(tmp_path_factory, "strict-controlplane", "OwnerReferencesPermissionEnforcement") as plane:
        yield plane


@pytest.fixture(scope="session")
def controllers(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane with the garbage collector and the namespace controller, which then stay on."""
    _require(CONTROLLER_MANAGER)
    control_plane.start_controllers()
    return control_plane


@pytest.fixture(scope="session")
def aim_plane(control_plane: ControlPlane) -> ControlPlane:
    """The shared control plane with the project's own CustomResourceDefinitions, those of AIM and of KServe."""
    install_crds(control_plane, load_crds())
    return control_plane


@pytest.fixture(scope="session")
def strict_aim_plane(strict_control_plane: ControlPlane) -> ControlPlane:
    """The strict control plane with the project's own CustomResourceDefinitions."""
    install_crds(strict_control_plane, load_crds())
    return strict_control_plane


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace of the test's own on the shared control plane."""
    name = control_plane.create_namespace()
    yield name
    control_plane.delete_namespace(name)


@pytest.fixture
def make_namespace(control_plane: ControlPlane) -> Iterator[Callable[[], str]]:
    """A function that makes one more namespace of the test's own on the shared control plane."""
    made: list[str] = []

    def make() -> str:
        made.append(control_plane.create_namespace())
        return made[-1]

    yield make
    for name in made:
        control_plane.delete_namespace(name)


@pytest.fixture
def audit(control_plane: ControlPlane) -> Callable[[], AuditTrail]:
    """A function that returns the requests which the shared control plane has answered since the test began."""
    start = control_plane.audit_position()
    return lambda: control_plane.audit_trail(start)
