"""Fixtures for every test."""

import signal

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.support.controlplane.plugin", "tests.conformance.plugin"]

# How quick a machine is at the moment decides no test.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")

# Tests that a script starts in the background ignore Ctrl-C, and with them would each program that a test interrupts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
