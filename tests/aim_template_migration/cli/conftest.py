"""The command line, run in this process, and one rehearsal cluster that the tests of this folder share."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pytest

from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.cli.main import main


@dataclass(frozen=True)
class Ran:
    """How a command ended and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self):
        return msgspec.json.decode(self.out)


@pytest.fixture
def aim(capsys, monkeypatch) -> Callable[..., Ran]:
    """Return a function that runs the command line with some arguments."""
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("KUBECONFIG", "NO_COLOR", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments) -> Ran:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        return Ran(code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """Return a rehearsal session with the default world; tests that use it must leave its services alone."""
    with RehearsalSession(load_world("shared-happy-path"), work_dir=tmp_path_factory.mktemp("cluster")) as session:
        yield session


@pytest.fixture
def plan_arguments(cluster, tmp_path):
    """Return arguments of ``plan`` that succeed."""
    return [
        "plan",
        "--namespace",
        "team-a",
        "--namespace",
        "team-b",
        "--runtime-projection-mode",
        "Both",
        "--output-dir",
        tmp_path / "plan",
        "--kubeconfig",
        cluster.kubeconfig(),
    ]
