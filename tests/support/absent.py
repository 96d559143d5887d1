"""Programs that a machine may lack: a test that needs one is skipped with the reason, and fails in CI."""

import os
import shutil

import pytest


def require_tool(name: str, source: str) -> str:
    """Return the path of a program, or skip (in CI: fail) the test."""
    if found := shutil.which(name):
        return found
    reason = f"no {name} on the PATH; it comes with {source}"
    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)
