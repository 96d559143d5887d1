"""Build the control plane that the tests run: kube-apiserver, kube-controller-manager and etcd.

``python tests/controlplane/build.py`` prints the folder that holds the three programs. They are built once, from the
Go module beside this file, into the user's cache folder (``$XDG_CACHE_HOME``, or ``~/.cache``), under a name that is a
digest of everything that determines them. A second run only prints the folder. The first takes
five to fifteen minutes on two cores.

When ``KUBEBUILDER_ASSETS`` names a folder, the programs in it are used instead and nothing is built.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MODULE = Path(__file__).resolve().parent
BUILD_COMMAND = "python tests/controlplane/build.py"

API_SERVER = "kube-apiserver"
ETCD = "etcd"
CONTROLLER_MANAGER = "kube-controller-manager"
PROGRAMS = (ETCD, API_SERVER, CONTROLLER_MANAGER)

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
_NICENESS = 10


class BuildError(Exception):
    """The programs cannot be had; the message is one sentence that says why and what to do."""


def kubernetes_version(module: Path = MODULE) -> str:
    """Return the Kubernetes release that go.mod names, as in ``v1.36.2``."""
    match = re.search(r"^\s*k8s\.io/kubernetes (v\d+\.\d+\.\d+)$", (module / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{module / 'go.mod'} does not require k8s.io/kubernetes; restore the file.")
    return match[1]


def _required_go(module: Path) -> tuple[int, ...]:
    match = re.search(r"^go (\d+(?:\.\d+)*)$", (module / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{module / 'go.mod'} has no go line; restore the file.")
    return tuple(int(part) for part in match[1].split("."))


def _build_arguments(module: Path) -> list[str]:
    version = kubernetes_version(module)
    major, minor, _ = version.removeprefix("v").split(".")
    variables = {"gitVersion": version, "gitMajor": major, "gitMinor": minor, "gitTreeState": "clean"}
    stamps = [f"-X k8s.io/component-base/version.{name}={value}" for name, value in variables.items()]
    return ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", " ".join(["-s", "-w", *stamps])]


def _digest(module: Path) -> str:
    """Return the digest of what determines the programs: the module's files and the build's arguments."""
    digest = hashlib.sha256()
    files = [module / "go.mod", module / "go.sum", *sorted(module.glob("cmd/*/*.go"))]
    for file in files:
        content = file.read_bytes()
        digest.update(f"{file.relative_to(module).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    digest.update("\0".join(_build_arguments(module)).encode())
    return digest.hexdigest()[:16]


def cache_folder(module: Path = MODULE) -> Path:
    """Return the folder where the module's programs are kept once they are built."""
    configured = Path(os.environ.get("XDG_CACHE_HOME", ""))
    # The XDG base directory specification: a relative path is to be ignored.
    cache = configured if configured.is_absolute() else Path.home() / ".cache"
    return cache / "aim-template-migration" / "controlplane" / _digest(module)


def programs_folder(module: Path = MODULE) -> Path:
    """Return the folder whose programs are to be run, whether or not they are there yet."""
    assets = os.environ.get(ASSETS_VARIABLE)
    return Path(assets) if assets else cache_folder(module)


def missing_programs(folder: Path, wanted: tuple[str, ...] = PROGRAMS) -> list[str]:
    """Return the names in ``wanted`` that are no executable file in ``folder``."""
    return [name for name in wanted if not ((folder / name).is_file() and os.access(folder / name, os.X_OK))]


def _check_go(module: Path) -> str:
    required = _required_go(module)
    wanted = ".".join(str(part) for part in required)
    go = shutil.which("go")
    if go is None:
        raise BuildError(
            f"go is not on the PATH; install Go {wanted} or newer, or set {ASSETS_VARIABLE} to a folder with "
            f"{ETCD} and {API_SERVER}."
        )
    # Inside the module go picks, or fetches where it may, the toolchain that go.mod asks for.
    answer = subprocess.run([go, "env", "GOVERSION"], cwd=module, capture_output=True, text=True, check=False)
    match = re.search(r"\bgo(\d+(?:\.\d+)*)", answer.stdout)
    found = tuple(int(part) for part in match[1].split(".")) if match else ()
    if answer.returncode != 0 or found < required:
        problem = answer.stdout.strip() or answer.stderr.strip() or "an unknown version"
        raise BuildError(
            f"{go} is too old ({problem}); install Go {wanted} or newer, or set {ASSETS_VARIABLE} to a folder with "
            f"{ETCD} and {API_SERVER}."
        )
    return go


def _compile(go: str, module: Path, target: Path) -> None:
    command = [go, "build", *_build_arguments(module), "-o", f"{target}{os.sep}", "./cmd/..."]
    # Memory and not cores is what limits small machines, so go's own choice of parallelism stays.
    environment = {**os.environ, "CGO_ENABLED": "0", "GOWORK": "off", "GOFLAGS": ""}
    polite = shutil.which("nice")
    if polite is not None:
        command = [polite, "-n", str(_NICENESS), *command]
    if subprocess.run(command, cwd=module, env=environment, stdout=sys.stderr, check=False).returncode != 0:
        raise BuildError(f"go could not build {module}; its own messages are above.")


def build(module: Path = MODULE) -> Path:
    """Build what is not there yet and return the folder with the programs.

    Raises:
        BuildError: go is missing, too old or fails, or the folder in KUBEBUILDER_ASSETS lacks a program.
    """
    folder = programs_folder(module)
    if os.environ.get(ASSETS_VARIABLE):
        missing = missing_programs(folder, (ETCD, API_SERVER))
        if missing:
            raise BuildError(f"{ASSETS_VARIABLE}={folder} has no {' and no '.join(missing)}; correct or unset it.")
        return folder
    if not missing_programs(folder):
        return folder
    go = _check_go(module)
    folder.parent.mkdir(parents=True, exist_ok=True)
    sys.stderr.write(f"Building {', '.join(PROGRAMS)} {kubernetes_version(module)} into {folder}\n")
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as scratch:
        finished = Path(scratch) / "programs"
        finished.mkdir()
        _compile(go, module, finished)
        _publish(finished, folder)
    return folder


def _publish(finished: Path, folder: Path) -> None:
    """Move a finished folder to its name; a folder that another build put there first is as good."""
    if folder.exists() and missing_programs(folder):
        shutil.rmtree(folder)
    try:
        finished.rename(folder)
    except OSError:
        if missing_programs(folder):
            raise


def main() -> int:
    """Print the folder with the programs, building them first where needed; return the exit code."""
    try:
        sys.stdout.write(f"{build()}\n")
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
