"""Tests with kubectl need the command."""

import os
import shutil

import pytest


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test that needs kubectl where there is none; in CI that is a failure."""
    if item.get_closest_marker("kubectl") is None or shutil.which("kubectl") is not None:
        return
    if os.environ.get("CI"):
        pytest.fail("no kubectl in PATH", pytrace=False)
    pytest.skip("no kubectl in PATH")
