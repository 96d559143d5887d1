"""Fixtures for every test."""

from hypothesis import HealthCheck, settings

pytest_plugins = ["tests.support.controlplane.plugin", "tests.conformance.plugin"]

# How quick a machine is at the moment decides no test.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")
