"""A bench with one healthy service, planned, and the readers of this package on it."""

import os

import pytest

from tests.aim_template_migration.applying.bench import Bench
from tests.aim_template_migration.inspecting.scenes import Scene


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch):
    """Leave out the syncs, which these tests would spend most of their time on."""
    for name in ("fsync", "fdatasync"):
        monkeypatch.setattr(os, name, lambda descriptor: None)


@pytest.fixture
def scene(tmp_path):
    """One service, planned."""
    bench = Bench(tmp_path)
    bench.plan()
    return Scene(bench)
