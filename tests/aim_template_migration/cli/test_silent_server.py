"""Commands that read many things at once end soon after an interrupt, though the server keeps requests open."""

import signal
import subprocess
import sys
import threading
from datetime import UTC, datetime

import pytest

from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan
from benchmarks.page_server import PageCore, one_namespace, serving, space_name

SERVICES, NAMESPACES = 3, 6
SOON = 20
"""Seconds within which a command must have ended; a request that it waited for would take a minute."""


class FallingSilent(PageCore):
    """Answers until it is silenced; from then on, requests in the fleet's namespaces stay open without a byte."""

    def __init__(self, session):
        super().__init__(session, NAMESPACES)
        self.silent, self.asked, self.over = False, threading.Event(), threading.Event()

    def handle(self, request):
        if self.silent and f"/namespaces/{space_name(0)[:-6]}" in request.target:
            self.asked.set()
            self.over.wait()
        return super().handle(request)


@pytest.fixture(scope="module")
def core():
    with one_namespace(SERVICES) as session:
        yield FallingSilent(session)


@pytest.fixture
def kubeconfig(core, tmp_path):
    core.silent = False
    core.asked.clear()
    core.over.clear()
    with serving(core, tmp_path) as path:
        yield path
        core.over.set()


def namespaces():
    return tuple(space_name(number) for number in range(NAMESPACES))


def plan_of(kubeconfig, directory):
    cluster = connect(ConnectionOptions(kubeconfig=str(kubeconfig)), environ={})
    settings = Settings(namespaces=namespaces(), runtime_projection_mode="Both")
    made = make_plan(cluster, settings, now=datetime.now(UTC), plan_id="silent")
    cluster.close()
    publish_directory(directory, made.files)
    return directory


def interrupted(core, number, *arguments):
    """Start a command, send a signal once the server is silent, and return its exit code and what it said."""
    command = [sys.executable, "-m", "aim_template_migration", *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert core.asked.wait(60)
            process.send_signal(number)
            _, said = process.communicate(timeout=SOON)
        finally:
            process.kill()
    return process.returncode, said.strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_plan_that_reads_namespaces(core, kubeconfig, tmp_path, number):
    core.silent = True
    names = [part for name in namespaces() for part in ("--namespace", name)]
    options = ["--runtime-projection-mode", "Both", "--kubeconfig", kubeconfig, "--output-dir", tmp_path / "made"]
    assert interrupted(core, number, "plan", *options, *names) == (130, "interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["kubeconfig"]


@pytest.mark.parametrize("command", ["inspect", "verify"])
def test_a_command_that_reads_the_units_of_a_plan(core, kubeconfig, tmp_path, command):
    plan = plan_of(kubeconfig, tmp_path / "plan")
    core.silent = True
    assert interrupted(core, signal.SIGINT, command, "--plan", plan, "--kubeconfig", kubeconfig) == (130, "interrupted")
