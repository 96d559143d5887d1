"""Commands that read many things at once end soon after an interrupt, though the server keeps requests open."""

import signal
import subprocess
import sys
from datetime import UTC, datetime

import pytest

from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan
from benchmarks.page_server import one_namespace
from tests.aim_template_migration.cli.silence import SERVICES, SOON, FallingSilent, namespaces, plan_options, speaking


@pytest.fixture(scope="module")
def core():
    with one_namespace(SERVICES) as session:
        yield FallingSilent(session)


@pytest.fixture
def kubeconfig(core, tmp_path):
    with speaking(core, tmp_path) as path:
        yield path


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
    assert interrupted(core, number, "plan", *plan_options(kubeconfig, tmp_path / "made")) == (130, "interrupted")
    assert [path.name for path in tmp_path.iterdir()] == ["kubeconfig"]


@pytest.mark.parametrize("command", ["inspect", "verify"])
def test_a_command_that_reads_the_units_of_a_plan(core, kubeconfig, tmp_path, command):
    plan = plan_of(kubeconfig, tmp_path / "plan")
    core.silent = True
    assert interrupted(core, signal.SIGINT, command, "--plan", plan, "--kubeconfig", kubeconfig) == (130, "interrupted")
