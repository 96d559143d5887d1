"""How the command line connects."""

import threading

import pytest

from aim_template_migration.cli import translation
from aim_template_migration.cli.console import standard_console
from aim_template_migration.cli.options.shared import ConnectionArguments

NOWHERE = ConnectionArguments(None, None, None, None)


@pytest.fixture
def paced(monkeypatch):
    """Return a function that opens a cluster and returns the pacing that its reads got."""
    got = []
    monkeypatch.setattr(translation, "connect", lambda options, *, pacing=None, **others: got.append(pacing))

    def open_with(**arguments):
        translation.open_cluster(NOWHERE, standard_console(), **arguments)
        return got.pop()

    return open_with


def test_a_wait_before_a_repeated_read_ends_with_the_stop(paced, monkeypatch):
    slept = []
    monkeypatch.setattr("aim_template_migration.kube.pacing.time.sleep", slept.append)
    stop = threading.Event()
    pacing = paced(stop=stop)
    pacing.sleep(0.001)
    assert slept == []
    stop.set()
    pacing.sleep(3600.0)
    pacing.sleep(0.5)
    assert slept == [1.0, 0.5]


def test_without_a_stop_the_default_pacing_holds(paced):
    assert paced() is None
