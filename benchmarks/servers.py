"""API servers with fleets in them, each in processes of their own, so that their cost is nobody's."""

import json
import ssl
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from aim_rehearsal.worlds import fleet
from benchmarks.page_server import SERVED, space_name


@dataclass(frozen=True, slots=True)
class Served:
    """A fleet that is being served.

    Attributes:
        kubeconfig: of an identity that may do everything.
        namespaces: the fleet's namespaces.
        folder: an empty folder for what is measured.
    """

    kubeconfig: Path
    namespaces: tuple[str, ...]
    folder: Path

    def report(self) -> dict[str, int]:
        """Return what a page server was asked since it was last asked this, in numbers."""
        config = json.loads(self.kubeconfig.read_text())
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the server is this process's own
        with urllib.request.urlopen(config["clusters"][0]["cluster"]["server"] + SERVED, context=context) as answer:
            report = msgspec.json.decode(answer.read(), type=dict[str, int | list[str]])
        return {name: value if isinstance(value, int) else len(value) for name, value in report.items()}


@contextmanager
def page_server(namespaces: int, services: int, *, padding: int = 0, compress: bool = False) -> Iterator[Served]:
    """Serve generated pages; ``padding`` and ``compress`` are ``benchmarks.page_server``'s."""
    options = ["--padding", str(padding), *(["--compress"] if compress else [])]
    names = tuple(space_name(number) for number in range(namespaces))
    with _child("benchmarks.page_server", namespaces, services, options) as folder:
        yield Served(folder / "kubeconfig", names, folder)


@contextmanager
def local_api(namespaces: int, services: int) -> Iterator[Served]:
    """Serve a fleet from the local API."""
    with _child("benchmarks.local_api", namespaces, services, []) as folder:
        yield Served(folder / "kubeconfig", fleet(namespaces, 1).namespaces, folder)


@contextmanager
def _child(module: str, namespaces: int, services: int, options: list[str]) -> Iterator[Path]:
    size = ["--namespaces", str(namespaces), "--services", str(services)]
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", module, folder, *size, *options]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin
            assert process.stdout
            try:
                if process.stdout.readline().strip() != "ready":
                    raise RuntimeError(f"{module} did not start")
                yield Path(folder)
            finally:
                process.stdin.close()  # which ends it
