"""Fixtures for every test."""

pytest_plugins = ["tests.support.controlplane.plugin", "tests.conformance.plugin"]
