"""A bench with one healthy service, planned."""

import os

import pytest

from tests.aim_template_migration.applying.bench import Bench
from tests.support.fleet import Fleet, add_service


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """Leave out the syncs, which these tests would spend most of their time on; those about syncs put their own."""
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda descriptor: None)


@pytest.fixture
def bench(tmp_path):
    """One service, planned."""
    made = Bench(tmp_path)
    made.plan()
    return made


@pytest.fixture
def unplanned(tmp_path):
    """One service, not planned yet."""
    return Bench(tmp_path)


@pytest.fixture
def several(tmp_path):
    """Return a function that makes a planned bench of several services, each with a template of its own."""

    def make(count: int, *, namespaces: int = 1, shared: bool = False, directory: str = "several") -> Bench:
        fleet = Fleet()
        for number in range(count):
            model = "shared" if shared else f"m{number:02}"
            add_service(
                fleet,
                f"svc-{number:02}",
                f"team-{number % namespaces}",
                model=model,
                template=f"{model}-latency",
                uri=f"hf://org/{model}",
            )
        (tmp_path / directory).mkdir()
        made = Bench(tmp_path / directory, fleet)
        made.plan()
        return made

    return make
