"""Records in a package which commit it was built from."""

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

_FILE = "aim_template_migration/build_commit"


class CommitHook(BuildHookInterface[Any]):
    """Adds a file with the commit's hash; a source archive hands the one that it was made from on."""

    PLUGIN_NAME = "custom"
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the commit into the package, where it can be told."""
        commit = _commit(Path(self.root))
        if commit and version == "standard":
            prefix = "src/" if self.target_name == "sdist" else ""
            self._folder = tempfile.TemporaryDirectory()
            file = Path(self._folder.name) / "build_commit"
            file.write_text(f"{commit}\n", encoding="utf-8")
            build_data["force_include"][str(file)] = f"{prefix}{_FILE}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove what was made for the build."""
        if self._folder is not None:
            self._folder.cleanup()


def _commit(root: Path) -> str:
    """Return the hash of the checkout at ``root``, with a plus where its files were changed; empty if it is none."""
    if not (root / ".git").exists():
        return ""
    try:
        commit = _git(root, "rev-parse", "HEAD")
        return f"{commit}+" if _git(root, "status", "--porcelain", "--untracked-files=no") else commit
    except (OSError, subprocess.CalledProcessError):
        return ""


def _git(root: Path, *words: str) -> str:
    command = ["git", "-C", str(root), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()  # noqa: S603
