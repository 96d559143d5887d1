"""The version of this tool, recorded in every document it writes, and what is known of its build."""

from pathlib import Path

__version__ = "0.1.0"


def build_commit() -> str:
    """Return the commit that the package was built from, with a plus if it was changed; empty outside of packages."""
    try:
        return Path(__file__).with_name("build_commit").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
