"""A served rehearsal from a second terminal: the real commands, kubectl, and a spec change after the cutover."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from aim_api.names import runtime_name
from aim_template_migration.documents.result import decode_result
from tests.support.served import served

COMMAND = [sys.executable, "-m", "aim_template_migration"]
SECONDS = 60
pytestmark = pytest.mark.slow


@dataclass
class Served:
    """A rehearsal that stays up."""

    process: subprocess.Popen
    admin: Path
    tool: Path
    folder: Path

    def tool_runs(self, *arguments):
        """Run one command of the tool in the second terminal, with the tool's own rights."""
        given = [*COMMAND, *map(str, arguments), "--kubeconfig", str(self.tool)]
        return subprocess.run(given, capture_output=True, text=True, check=False, cwd=self.folder, timeout=SECONDS)

    def kubectl(self, *arguments):
        environment = {**os.environ, "KUBECONFIG": str(self.admin), "HOME": str(self.folder)}
        done = subprocess.run(
            ["kubectl", *arguments],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=self.folder,
            timeout=SECONDS,
        )
        return done.stdout

    def get(self, *arguments):
        return json.loads(self.kubectl("get", *arguments, "-o", "json"))

    def migrated(self):
        """Plan and commit as the printed commands say."""
        plan = self.folder / "plan"
        namespaces = ("--namespace", "team-a", "--namespace", "team-b")
        made = self.tool_runs("plan", *namespaces, "--runtime-projection-mode", "Both", "--output-dir", plan)
        assert made.returncode == 0, made.stderr
        dry = self.tool_runs("apply", "--plan", plan, "--result", self.folder / "dry-run-result.json")
        assert dry.returncode == 0, dry.stdout + dry.stderr
        return self.tool_runs("apply", "--plan", plan, "--commit", "--soak", "0s"), plan


@pytest.fixture
def serve(tmp_path):
    """Return a function that serves a rehearsal by hand; it is stopped at the end, if it is not yet."""
    with contextlib.ExitStack() as stack:

        def start(*arguments):
            told = stack.enter_context(served(*arguments))
            return Served(told.process, told.admin, told.tool, tmp_path)

        yield start


def eventually(look, what):
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        if look():
            return
        time.sleep(0.1)
    pytest.fail(what)


@pytest.mark.kubectl
def test_the_real_commands_migrate_and_a_spec_change_then_rolls_the_workload(serve):
    served = serve()
    before = served.get("pods", "-n", "team-a")["items"]
    committed, _ = served.migrated()
    assert committed.returncode == 0, committed.stdout + committed.stderr
    service = served.get("aimservice", "qwen-chat", "-n", "team-a")
    assert service["status"]["resolvedProfile"]["name"] == "qwen3-32b-mi300x-fp8-tp1-latency"
    assert preserved(service) == ("True", "Preserved")
    uids = {pod["metadata"]["uid"] for pod in before}
    assert {pod["metadata"]["uid"] for pod in served.get("pods", "-n", "team-a")["items"]} == uids
    assert "qwen3-32b-mi300x-fp8-tp1-latency" in served.kubectl("get", "aimservice", "-A", "-o", "wide")

    change = '{"spec":{"replicas":2}}'
    assert "patched" in served.kubectl("patch", "aimservice", "qwen-chat", "-n", "team-a", "--type=merge", "-p", change)

    def rolled():
        service = served.get("aimservice", "qwen-chat", "-n", "team-a")
        pods = served.get("pods", "-n", "team-a")["items"]
        new = {pod["metadata"]["uid"] for pod in pods}
        return preserved(service) == ("False", "PinExpired") and len(new) == 2 and not new & uids

    eventually(rolled, "the pin expires and every pod is replaced")
    (serving,) = served.get("inferenceservice", "-n", "team-a")["items"]
    assert serving["spec"]["predictor"]["model"]["runtime"] == runtime_name("qwen3-32b-mi300x-fp8-tp1-latency")
    other = served.get("aimservice", "llama-assist", "-n", "team-b")
    assert preserved(other) == ("True", "Preserved")
    stopped(served)


def preserved(service):
    found = {item["type"]: item for item in service["status"]["conditions"]}
    condition = found.get("InferenceServicePreserved", {})
    return condition.get("status"), condition.get("reason")


def stopped(served):
    served.process.send_signal(signal.SIGINT)
    assert served.process.wait(30) == 0
    assert not served.admin.parent.exists()


def test_a_fault_comes_up_in_the_other_terminal_and_a_rerun_goes_on(serve):
    served = serve("--fault", "too-many-requests@CutOver")
    committed, plan = served.migrated()
    assert committed.returncode == 3
    units = decode_result((plan / "apply-result.json").read_bytes()).units
    assert [(unit.status, unit.code) for unit in units] == [("failed", "ServerBusy"), ("succeeded", "")]
    again = served.tool_runs("apply", "--plan", plan, "--commit", "--soak", "0s", "--result", plan / "again.json")
    assert again.returncode == 0, again.stdout + again.stderr
    stopped(served)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_end_it_as_cleanly(serve, number):
    served = serve()
    served.process.send_signal(number)
    assert served.process.wait(30) == 0
    assert not served.admin.parent.exists()
