"""Plays what a page on a failure says under "Try it": on a rehearsal of its own, with the commands as they stand."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "how-to" / "failures"
PROG = "aim-template-migration"
_SECONDS = 240


@dataclass(frozen=True, slots=True)
class Page:
    """A page on a failure."""

    path: Path
    text: str

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def recognised(self) -> dict[str, str]:
        """Return the table by which the situation is recognised."""
        section = self.text.partition("## How you recognise it")[2].partition("\n## ")[0]
        return dict(re.findall(r"^\| (.+?) \| (.+?) \|$", section, re.MULTILINE))

    @property
    def blocks(self) -> list[str]:
        """Return the shell blocks under "Try it"."""
        return re.findall(r"```sh\n(.*?)```", self.text.partition("## Try it")[2], re.DOTALL)


def pages() -> list[Page]:
    return [
        Page(path, path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.md")) if path.stem != "index"
    ]


def played(page: Page, folder: Path) -> str:
    """Return everything that the commands of a page print."""
    environment = _environment(folder)
    if "--serve" not in page.blocks[0]:
        done = subprocess.run(
            ["bash", "-c", page.blocks[0]], capture_output=True, text=True, cwd=folder, env=environment,
            timeout=2 * _SECONDS, check=False,
        )  # fmt: skip
        return done.stdout + done.stderr
    first, second = page.blocks
    return _beside(first, second, folder, environment)


def _beside(first: str, second: str, folder: Path, environment: dict[str, str]) -> str:
    with subprocess.Popen(
        ["bash", "-c", f"exec {first}"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=folder,
        env=environment,
    ) as served:  # fmt: skip
        try:
            lines = iter(served.stdout)
            kubeconfig = next(found[1] for line in lines if (found := re.search(r"export KUBECONFIG=(\S+)", line)))
            script = re.sub(r"(?m)^export KUBECONFIG=.*$", f"export KUBECONFIG={kubeconfig}", second)
            done = subprocess.run(
                ["bash", "-c", script], capture_output=True, text=True, cwd=folder, env=environment, timeout=_SECONDS,
                check=False,
            )  # fmt: skip
            return f"{done.stdout}{done.stderr}\nexit code {done.returncode}"
        finally:
            served.terminate()


def _environment(folder: Path) -> dict[str, str]:
    """Return an environment in which the program's name runs this checkout."""
    programs = folder / "programs"
    programs.mkdir()
    program = programs / PROG
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m aim_template_migration "$@"\n')
    program.chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    return os.environ | {"PATH": path, "HOME": str(folder), "NO_COLOR": "1", "COLUMNS": "100"}
