"""pytest fixtures: the real control plane and the local API with the same kinds."""

from collections.abc import Iterator

import pytest

from tests.conformance.script import load_script, script_names
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many requests of scripts were compared."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.getreports(outcome)]
    called = [report.nodeid for report in reports if getattr(report, "when", "") == "call"]
    played = [name for name in script_names() if any(_is_test_of(name, nodeid) for nodeid in called)]
    if played:
        steps = sum(len(script.steps) for name in played for script in load_script(name))
        terminalreporter.write_line(f"{steps:,} requests in {len(played)} scripts compared on both servers")


def _is_test_of(name: str, nodeid: str) -> bool:
    return nodeid.endswith(f"conformance/test_scripts.py::test_script[{name}]")
