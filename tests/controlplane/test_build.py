import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.controlplane import build

FAKE_GO = """#!/bin/sh
echo "$@" >> {log}
if [ "$1" = env ]; then echo {version}; exit; fi
while [ "$1" != -o ]; do shift; done
for name in etcd kube-apiserver kube-controller-manager; do
  echo '#!/bin/sh' > "$2/$name"; chmod 755 "$2/$name"
done
exit {code}
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    copy = tmp_path / "module"
    shutil.copytree(build.MODULE, copy, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    return copy


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.delenv(build.ASSETS_VARIABLE, raising=False)
    return folder


class Go:
    """A go command that makes empty programs and remembers how it was called."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = tmp_path / "bin"
        self.folder.mkdir()
        self.log = tmp_path / "calls"
        monkeypatch.setenv("PATH", f"{self.folder}:{os.environ['PATH']}")
        self.behave()

    def behave(self, version: str = "go1.99.1", code: int = 0) -> None:
        program = self.folder / "go"
        program.write_text(FAKE_GO.format(log=self.log, version=version, code=code))
        program.chmod(0o755)

    @property
    def builds(self) -> list[str]:
        calls = self.log.read_text().splitlines() if self.log.exists() else []
        return [call for call in calls if call.startswith("build")]


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Go:
    return Go(tmp_path, monkeypatch)


def _make_programs(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).touch(mode=0o755)
    return folder


def test_builds_once_below_the_cache_folder(module: Path, cache: Path, go: Go) -> None:
    folder = build.build(module)
    assert folder.parent == cache / "aim-template-migration" / "controlplane"
    assert build.missing_programs(folder) == []
    assert build.build(module) == folder
    assert len(go.builds) == 1
    assert f"gitVersion={build.kubernetes_version(module)}" in go.builds[0]


def test_every_file_that_determines_the_programs_names_the_folder(module: Path) -> None:
    files = ["go.mod", "go.sum", *(f"cmd/{name}/main.go" for name in build.PROGRAMS)]
    folders = {build.cache_folder(module)}
    for name in files:
        with (module / name).open("a") as file:
            file.write("// changed\n")
        folders.add(build.cache_folder(module))
    assert len(folders) == len(files) + 1


def test_a_relative_cache_folder_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    assert build.cache_folder().is_relative_to(Path.home() / ".cache")


def test_a_failed_build_leaves_nothing_behind(module: Path, go: Go) -> None:
    go.behave(code=1)
    with pytest.raises(build.BuildError, match="go could not build"):
        build.build(module)
    assert list(build.cache_folder(module).parent.iterdir()) == []


def test_an_incomplete_folder_is_built_again(module: Path, go: Go) -> None:
    folder = build.cache_folder(module)
    folder.parent.mkdir(parents=True)
    _make_programs(folder, build.ETCD)
    assert build.missing_programs(build.build(module)) == []
    assert len(go.builds) == 1


def test_a_folder_that_another_build_finished_first_stands(tmp_path: Path) -> None:
    finished = _make_programs(tmp_path / "finished", *build.PROGRAMS)
    first = _make_programs(tmp_path / "first", *build.PROGRAMS)
    before = first.stat().st_ino
    build._publish(finished, first)
    assert first.stat().st_ino == before
    assert build.missing_programs(first) == []


def test_go_that_is_too_old_is_named(module: Path, go: Go) -> None:
    go.behave(version="go1.25.7")
    with pytest.raises(build.BuildError, match=r"bin/go is too old \(go1\.25\.7\); install Go 1\.26\.0 or newer"):
        build.build(module)
    assert go.builds == []


def test_go_that_cannot_serve_the_module_is_quoted(module: Path, go: Go) -> None:
    go.behave(version="'go: go.mod requires go >= 1.26.0' >&2; exit 1")
    with pytest.raises(build.BuildError, match=r"too old \(go: go\.mod requires"):
        build.build(module)
    assert go.builds == []


def test_a_development_version_of_go_is_good_enough(module: Path, go: Go) -> None:
    go.behave(version="devel go1.99-0123456789")
    assert build.missing_programs(build.build(module)) == []


def test_a_machine_without_go_gets_one_sentence(tmp_path: Path) -> None:
    environment = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, build.__file__], env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert answer.stderr.startswith("go is not on the PATH; install Go 1.26.0 or newer, or set KUBEBUILDER_ASSETS")
    assert answer.stderr.count("\n") == 1


def test_named_programs_are_used_and_nothing_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, go: Go, capsys: pytest.CaptureFixture[str]
) -> None:
    assets = _make_programs(tmp_path / "assets", build.ETCD, build.API_SERVER)
    monkeypatch.setenv(build.ASSETS_VARIABLE, str(assets))
    assert build.main() == 0
    assert capsys.readouterr().out == f"{assets}\n"
    assert build.programs_folder() == assets
    assert not go.log.exists()


def test_a_named_folder_without_a_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assets = _make_programs(tmp_path / "assets", build.ETCD)
    monkeypatch.setenv(build.ASSETS_VARIABLE, str(assets))
    with pytest.raises(build.BuildError, match="has no kube-apiserver; correct or unset it"):
        build.build()


def test_a_file_that_cannot_be_executed_is_no_program(tmp_path: Path) -> None:
    folder = _make_programs(tmp_path / "programs", *build.PROGRAMS)
    (folder / build.ETCD).chmod(stat.S_IRUSR)
    assert build.missing_programs(folder) == [build.ETCD]
