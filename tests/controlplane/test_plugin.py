"""How a pytest run behaves with and without the programs, and what it leaves behind however it ends."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.controlplane.build import ASSETS_VARIABLE, BUILD_COMMAND, MODULE, programs_folder
from tests.support.controlplane.plugin import REQUIRE_VARIABLE

ROOT = MODULE.parents[1]

SUITE = """
import json, os, pathlib, time, pytest

def report(plane):
    path = pathlib.Path(os.environ["REPORT"] + os.environ.get("PYTEST_XDIST_WORKER", ""))
    found = {"pids": [program.pid for program in plane.programs], "folder": str(plane.folder)}
    unfinished = path.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(found))
    unfinished.rename(path)

def test_that_fails(controllers, namespace):
    report(controllers)
    assert False

def test_that_waits(controllers, namespace):
    report(controllers)
    time.sleep(60)

@pytest.mark.parametrize("number", [1, 2])
def test_that_passes(control_plane, namespace, number):
    report(control_plane)
    time.sleep(1)

@pytest.mark.controlplane
def test_with_the_marker_alone():
    pass
"""


class Run:
    """A pytest run of the suite above, in a process of its own."""

    def __init__(self, folder: Path, arguments: list[str], environment: Mapping[str, str]) -> None:
        self.report = folder / "report"
        (folder / "pytest.ini").write_text("[pytest]\nmarkers = controlplane\n")
        (folder / "test_suite.py").write_text(SUITE)
        plain = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
        plugin = ["-p", "tests.support.controlplane.plugin"]
        kept = f"--basetemp={folder / 'temporary'}"
        self.process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *plugin, kept, "-rfEs", *arguments, "test_suite.py"],
            cwd=folder,
            env={**plain, "PYTHONPATH": str(ROOT), "REPORT": str(self.report), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def reported(self, suffix: str = "") -> dict[str, object]:
        path = Path(f"{self.report}{suffix}")
        _wait_until(lambda: path.exists() or self.process.poll() is not None)
        found: dict[str, object] = json.loads(path.read_text())
        return found

    def output(self) -> str:
        return self.process.communicate(timeout=60)[0]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    started: list[Run] = []

    def start(*arguments: str, **environment: str) -> Run:
        started.append(Run(tmp_path, list(arguments), environment))
        return started[-1]

    yield start
    for each in started:
        each.process.kill()
        each.process.communicate()
    # A run that was killed leaves the data of its etcd.
    shutil.rmtree(tmp_path / "temporary", ignore_errors=True)


def _wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _has_ended(pid: object) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return True
    return state in "ZX"


def _assert_all_ended(report: Mapping[str, object]) -> None:
    pids = report["pids"]
    assert isinstance(pids, list)
    assert pids
    _wait_until(lambda: all(_has_ended(pid) for pid in pids))


# Without the programs


@pytest.mark.slow
def test_without_the_programs_tests_are_skipped_and_the_reason_says_how_to_build(
    run: Callable[..., Run], tmp_path: Path
) -> None:
    output = run(XDG_CACHE_HOME=str(tmp_path), KUBEBUILDER_ASSETS="", CI="", AIM_REQUIRE_CONTROLPLANE="0").output()
    assert "5 skipped" in output
    assert f"run: {BUILD_COMMAND}" in output
    assert "no etcd and no kube-apiserver in" in output


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["CI", REQUIRE_VARIABLE])
def test_where_they_are_required_their_absence_is_a_failure(
    run: Callable[..., Run], tmp_path: Path, variable: str
) -> None:
    environment = {"XDG_CACHE_HOME": str(tmp_path), ASSETS_VARIABLE: "", variable: "true"}
    output = run(**environment).output()
    assert "skipped" not in output
    assert "5 errors" in output
    assert f"run: {BUILD_COMMAND}" in output


@pytest.mark.slow
def test_a_named_folder_without_the_programs_is_named(run: Callable[..., Run], tmp_path: Path) -> None:
    output = run(KUBEBUILDER_ASSETS=str(tmp_path), CI="").output()
    assert f"no etcd and no kube-apiserver in {tmp_path}; KUBEBUILDER_ASSETS names that folder" in output


@pytest.mark.slow
def test_tests_can_be_left_out_by_the_marker(run: Callable[..., Run]) -> None:
    assert "5 deselected" in run("-m", "not controlplane").output()


# What a run leaves behind


@pytest.mark.controlplane
def test_a_failed_test_leaves_nothing(run: Callable[..., Run]) -> None:
    running = run("-k", "that_fails", KUBEBUILDER_ASSETS=str(programs_folder()))
    assert "1 failed" in running.output()
    report = running.reported()
    _assert_all_ended(report)
    assert not Path(str(report["folder"])).exists()


@pytest.mark.controlplane
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_ended_leaves_no_program(run: Callable[..., Run], number: signal.Signals) -> None:
    running = run("-k", "that_waits", KUBEBUILDER_ASSETS=str(programs_folder()))
    report = running.reported()
    assert isinstance(report["pids"], list)
    assert len(report["pids"]) == 3
    assert not any(_has_ended(pid) for pid in report["pids"])
    running.process.send_signal(number)
    running.output()
    _assert_all_ended(report)
    if number == signal.SIGINT:
        assert not Path(str(report["folder"])).exists()


@pytest.mark.controlplane
@pytest.mark.slow
def test_each_worker_has_a_control_plane_of_its_own(run: Callable[..., Run]) -> None:
    running = run("-n", "2", "-k", "that_passes", KUBEBUILDER_ASSETS=str(programs_folder()))
    assert "2 passed" in running.output()
    reports = [running.reported(worker) for worker in ("gw0", "gw1")]
    assert reports[0]["folder"] != reports[1]["folder"]
    for report in reports:
        _assert_all_ended(report)
