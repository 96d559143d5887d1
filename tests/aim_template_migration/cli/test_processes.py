"""The command line as a process: signals, pipes, and kubectl in a second terminal."""

import contextlib
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import msgspec
import pytest

from aim_rehearsal.worlds import load_world, world_names
from aim_template_migration.documents.result import decode_result
from tests.aim_template_migration.cli.plans import manual_unit, plan_of, write_plan

COMMAND = [sys.executable, "-m", "aim_template_migration"]


@contextlib.contextmanager
def started(*arguments, watch="stdout"):
    """Start the command line; yield the process and a function that waits for a line of one of its streams."""
    process = subprocess.Popen(
        [*COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    stream = getattr(process, watch)

    def wait_for(pattern):
        for line in stream:
            found = re.search(pattern, line)
            if found:
                return found
        pytest.fail(f"the process ended without a line like {pattern}")

    try:
        yield process, wait_for
    finally:
        process.kill()
        process.communicate()


def test_a_closed_pipe_ends_nothing_and_says_nothing(tmp_path):
    plan = write_plan(tmp_path / "plan", plan_of(*(manual_unit(f"svc-{number}", "Paused") for number in range(3000))))
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, "show", "--plan", plan, "--disposition", "manual"],
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert done.returncode == 0
    assert "Error" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("closed", [1, 2])
def test_a_stream_that_was_closed_before_the_start_changes_nothing_else(tmp_path, closed):
    plan = write_plan(tmp_path / "plan", plan_of(manual_unit("svc", "Paused")))
    for arguments, code in ((["show", "--plan", plan], 0), (["show", "--plan", plan, "nothing"], 2)):
        words = shlex.join([*COMMAND, *map(str, arguments)])
        done = subprocess.run(["sh", "-c", f"{words} {closed}>&-"], capture_output=True, text=True, check=False)
        assert done.returncode == code
        assert "Traceback" not in done.stderr
        assert bool(done.stdout) == (closed == 2 and code == 0)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    "arguments",
    [["show", "--plan", "PLAN", "-o", "json"], ["show", "--plan", "PLAN"], ["--help"], ["--version"], ["plan", "-h"]],
)
def test_an_answer_that_cannot_be_written_is_an_error(tmp_path, arguments, unbuffered):
    plan = write_plan(tmp_path / "plan", plan_of(manual_unit("svc", "Paused")))
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [*COMMAND, *(str(plan) if word == "PLAN" else word for word in arguments)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 1
    assert done.stderr.count("the answer could not be written to stdout") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "called"),
    [
        ("kubectl-aim_template_migration", "kubectl aim-template-migration"),
        ("aim-template-migration", "aim-template-migration"),
    ],
)
def test_next_steps_call_the_program_as_it_was_called(tmp_path, name, called):
    script = tmp_path / name
    script.write_text("from aim_template_migration.__main__ import run\nrun()\n")
    plan = write_plan(tmp_path / "plan", plan_of(manual_unit("svc", "Paused")))
    done = subprocess.run([sys.executable, script, "show", "--plan", plan], capture_output=True, text=True, check=True)
    assert f"one unit in detail: {called} show --plan" in done.stderr
    done = subprocess.run([sys.executable, script, "show"], capture_output=True, text=True, check=False)
    assert f"hint: {called} show --help" in done.stderr
    done = subprocess.run([sys.executable, script, "completion", "bash"], capture_output=True, text=True, check=True)
    assert "kubectl" not in done.stdout.splitlines()[-1]  # a shell completes one command word


def test_ctrl_c_before_the_command_line_is_there_ends_the_process_without_a_traceback(tmp_path):
    script = tmp_path / "interrupted"
    script.write_text(
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'aim_template_migration.cli.console':\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from aim_template_migration.__main__ import run\n"
        "run()\n"
    )
    done = subprocess.run([sys.executable, script, "--help"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.slow
def test_one_command_rehearses_and_prints_one_document():
    done = subprocess.run([*COMMAND, "rehearse", "-o", "json"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    report = msgspec.json.decode(done.stdout)
    assert report["counts"]["succeeded"] == len(report["units"]) == 2
    for unit in report["units"]:
        assert unit["inferenceService"]["before"] == unit["inferenceService"]["after"]
        assert unit["resolvedProfile"]


@pytest.mark.slow
def test_an_interrupt_during_the_commit_is_safe(tmp_path):
    plan = tmp_path / "plan"
    with started("rehearse", "--soak", "10m", "--output-dir", plan, "-v", watch="stderr") as (process, wait_for):
        wait_for(r"ConfirmNoRollout waits: soak")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    result = decode_result((plan / "apply-result.json").read_bytes())
    assert result.state == "complete"
    assert {unit.status for unit in result.units} == {"interrupted"}
    assert not (plan / "apply.lock").exists()


@pytest.mark.slow
@pytest.mark.kubectl
def test_kubectl_sees_the_resolved_profile_while_a_rehearsal_is_served():
    with started("rehearse", "--serve", "--soak", "0s") as (process, wait_for):
        kubeconfig = Path(wait_for(r"export KUBECONFIG=(\S+)")[1])
        wait_for("kubectl patch")
        shown = subprocess.run(
            ["kubectl", "get", "aimservice", "-A", "-o", "wide"],
            env={**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(kubeconfig.parent)},
            capture_output=True,
            text=True,
            check=True,
        )
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    header, *rows = [re.split(r" {2,}", line.strip()) for line in shown.stdout.splitlines()]
    profiles = {row[1]: row[header.index("PROFILE")] for row in rows}
    assert profiles == {
        "qwen-chat": "qwen3-32b-mi300x-fp8-tp1-latency",
        "llama-assist": "llama-3-3-70b-mi300x-fp8-tp2-throughput",
    }
    assert not kubeconfig.parent.exists()


@pytest.mark.slow
@pytest.mark.parametrize("world", world_names())
def test_every_world_rehearses_and_shows_its_codes(aim, world):
    ran = aim("rehearse", "--world", world, "--soak", "0s", "-o", "json")
    report = ran.document
    assert ran.code in (0, 3), ran.err
    shown = {unit["outcome"] for unit in report["units"]}
    shown |= {reason["code"] for unit in report["units"] for reason in unit["reasons"]}
    assert shown == set(load_world(world).codes)
    assert report["audit"]["deletes"] == report["audit"]["secretReads"] == 0
    for unit in report["units"]:
        if unit["disposition"] != "automatic":
            assert unit["inferenceService"]["before"] == unit["inferenceService"]["after"]
            assert unit["pods"]["before"] == unit["pods"]["after"]


@pytest.mark.slow
def test_a_planted_secret_is_in_no_stream_and_no_file(aim, tmp_path):
    secret = "hf_FakeTokenForRehearsalsOnlyAbcdEfgh1"
    assert secret in str(load_world("secret-literal").objects)
    plan = tmp_path / "plan"
    told = [aim("rehearse", "--world", "secret-literal", "--soak", "0s", "-v", "--output-dir", plan)]
    (unit,) = aim("show", "--plan", plan, "-o", "json").document["units"]
    ways = ([], [unit["id"]], [unit["id"], "-o", "json"], ["-o", "yaml"])
    told += [aim("show", "--plan", plan, *arguments) for arguments in ways]
    told.append(aim("check", "--plan", plan))
    assert "SecretLiteral" in told[0].out
    assert [ran for ran in told if secret in ran.out + ran.err] == []
    assert [path.name for path in plan.iterdir() if secret.encode() in path.read_bytes()] == []


@pytest.fixture
def silent_cluster(tmp_path):
    """Yield a kubeconfig of a server that says its version and nothing else, and an event: that it was asked more."""
    asked, over = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/version":
                asked.set()
                over.wait()
                return
            body = b'{"major":"1","minor":"36","gitVersion":"v1.36.0"}'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "a",
        "contexts": [{"name": "a", "context": {"cluster": "a"}}],
        "clusters": [{"name": "a", "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
    }
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))
    try:
        yield path, asked
    finally:
        over.set()
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_plan_that_is_stopped_while_it_is_written_leaves_nothing(tmp_path, silent_cluster, number):
    kubeconfig, asked = silent_cluster
    where = tmp_path / "where"
    where.mkdir()
    options = ["--namespace", "team-a", "--runtime-projection-mode", "Both", "--kubeconfig", kubeconfig]
    with started("plan", *options, "--output-dir", where / "plan") as (process, _):
        assert asked.wait(60)
        assert [path.suffix for path in where.iterdir()] == [".partial"]
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said.strip()) == (130, "interrupted")
    assert not list(where.iterdir())
