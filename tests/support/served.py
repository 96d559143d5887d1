"""A rehearsal that stays up, as a cluster for commands of another process."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

COMMAND = [sys.executable, "-m", "aim_template_migration", "rehearse", "--serve", "--by-hand"]


@dataclass(frozen=True)
class Served:
    """A served rehearsal, and what it printed.

    Attributes:
        process: its process.
        admin: the kubeconfig for kubectl.
        tool: the kubeconfig with the tool's own rights.
        commands: the migration's commands as printed, as a shell script.
    """

    process: subprocess.Popen[str]
    admin: Path
    tool: Path
    commands: str


@contextmanager
def served(*arguments: str) -> Iterator[Served]:
    """Serve a rehearsal without its run, until the block ends."""
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            told = ""
            while "--commit" not in told or told.count("--kubeconfig") < 3:
                line = process.stdout.readline()
                assert line, f"the rehearsal ended: {told}"
                told += line
            admin, tool = re.search(r"export KUBECONFIG=(\S+)", told), re.search(r"--kubeconfig (\S+)", told)
            assert admin
            assert tool
            yield Served(process, Path(admin[1]), Path(tool[1]), told.partition("rights of the tool only:")[2])
        finally:
            process.terminate()
            process.communicate()
