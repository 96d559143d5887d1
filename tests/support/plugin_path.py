"""A PATH on which kubectl finds one installation of the plugin: it ends with 1 where a second one is in its shadow."""

import os
import shutil
from pathlib import Path

PLUGIN = "kubectl-aim_template_migration"


def path_with(programs: Path, links: Path) -> str:
    """Return the PATH with ``programs`` first and without others that hold the plugin.

    Args:
        programs: the folder with the installation to be found.
        links: a folder to make, for kubectl itself, which may stand beside an installation.
    """
    links.mkdir(exist_ok=True)
    kubectl = shutil.which("kubectl")
    if kubectl and not (links / "kubectl").exists():
        (links / "kubectl").symlink_to(kubectl)
    others = [entry for entry in os.environ["PATH"].split(os.pathsep) if not (Path(entry) / PLUGIN).exists()]
    return os.pathsep.join([str(programs), str(links), *others])
