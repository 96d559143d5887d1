"""Private files inside a Git work tree are one ``git add`` away from being published, so that earns a warning."""

import os
from pathlib import Path


def enclosing_work_tree(path: Path) -> Path | None:
    """Return the root of the Git work tree that ``path`` lies in, or None; ``path`` itself need not exist."""
    # Resolved, since ``..`` and links lead out of a work tree and into one.
    real = Path(os.path.realpath(path))
    return next((folder for folder in real.parents if (folder / ".git").exists()), None)


def work_tree_warning(path: Path) -> str:
    """Return a warning about ``path``, or an empty string."""
    root = enclosing_work_tree(path)
    return f"{path} lies inside the Git work tree {root}; keep it out of commits, its files are private" if root else ""
