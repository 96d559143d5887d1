"""``plan --workers`` as processes: how they are started, and how they end with the command or before it."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.page_server import one_namespace
from tests.aim_template_migration.cli.silence import SERVICES, SOON, FallingSilent, plan_options, speaking

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds processes in /proc")
COMMAND = [sys.executable, "-m", "aim_template_migration"]


@pytest.fixture(scope="module")
def core():
    with one_namespace(SERVICES) as session:
        yield FallingSilent(session)


@pytest.fixture
def kubeconfig(core, tmp_path):
    with speaking(core, tmp_path) as path:
        yield path


def children(parent):
    """Return the numbers of a process's children."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, of = stat.read_text().rpartition(")")[2].split()[:2]
            if int(of) == parent and state != "Z":
                found.append(int(stat.parent.name))
    return found


def ended(processes):
    """Return whether none of these processes is left, waiting a while for it."""
    until = time.monotonic() + SOON
    while time.monotonic() < until:
        if not any(Path(f"/proc/{number}/cmdline").exists() and _runs(number) for number in processes):
            return True
        time.sleep(0.05)
    return False


def _runs(number):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@contextlib.contextmanager
def waiting(core, kubeconfig, directory):
    """Start a plan with two workers before a silent server; yield the process and its workers."""
    core.silent = True
    command = [*COMMAND, "plan", "--workers", "2", *map(str, plan_options(kubeconfig, directory))]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert core.asked.wait(60)
            workers = children(process.pid)
            assert len(workers) == 2
            yield process, workers
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_workers_with_the_command(core, kubeconfig, tmp_path, number):
    with waiting(core, kubeconfig, tmp_path / "made") as (process, workers):
        process.send_signal(number)
        out, said = process.communicate(timeout=SOON)
    assert (process.returncode, out, said.strip()) == (130, "", "interrupted")
    assert ended(workers)
    assert [path.name for path in tmp_path.iterdir()] == ["kubeconfig"]


def test_a_terminal_interrupts_the_command_and_not_its_workers(core, kubeconfig, tmp_path):
    with waiting(core, kubeconfig, tmp_path / "made") as (process, workers):
        assert {os.getpgid(worker) for worker in workers} == {*workers}
        assert os.getpgid(process.pid) not in workers


def test_a_worker_that_is_killed_stops_the_plan_with_one_sentence(core, kubeconfig, tmp_path):
    with waiting(core, kubeconfig, tmp_path / "made") as (process, workers):
        os.kill(workers[0], signal.SIGKILL)
        core.silent = False
        core.over.set()
        out, said = process.communicate(timeout=60)
    assert (process.returncode, out) == (4, "")
    error, hint = said.splitlines()
    assert error.startswith("error: a process that classified namespaces was ended by SIGKILL")
    assert hint == "hint: give the command more memory, or use --workers 1, which needs the least"
    assert ended(workers)
    assert [path.name for path in tmp_path.iterdir()] == ["kubeconfig"]


def test_no_worker_outlives_a_command_that_is_killed(core, kubeconfig, tmp_path):
    with waiting(core, kubeconfig, tmp_path / "made") as (process, workers):
        process.kill()
        assert ended(workers)


@pytest.mark.parametrize("name", ["kubectl-aim_template_migration", "aim-template-migration"])
def test_workers_are_there_however_the_program_is_called(kubeconfig, tmp_path, name):
    script = tmp_path / name
    script.write_text("from aim_template_migration.__main__ import run\nrun()\n")
    called = [sys.executable, script, "plan", "--workers", "2", *plan_options(kubeconfig, tmp_path / "made")]
    subprocess.run(called, check=True, capture_output=True)
    assert (tmp_path / "made" / "plan.json").exists()


@pytest.mark.parametrize(("given", "told"), [("0", "at least 1"), ("two", "at least 1"), ("17", "more than 16")])
def test_an_impossible_number_of_workers_is_refused(aim, given, told):
    ran = aim("plan", "--workers", given)
    assert ran.code == 2
    assert told in ran.err
