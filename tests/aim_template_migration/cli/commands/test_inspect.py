"""``inspect`` and ``verify`` from the command line, around processes that are really killed."""

import json
import os
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import jsonschema
import pytest

from aim_rehearsal.apiserver.faults import DropConnectionError
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.cli.commands import inspect as command
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.schemas import schema_files

UNIT = "AIMService/team-a/qwen-chat"
LONG_WORD = 30


def flat(text):
    return " ".join(text.split())


def assert_fits(text):
    """No line is longer than 80 columns, unless a single word (a name, a path, a command) makes it so."""
    for line in text.splitlines():
        assert len(line) <= 80 or max(map(len, line.split())) >= LONG_WORD, line


def assert_valid(document, schema):
    jsonschema.Draft202012Validator(json.loads(schema_files()[schema])).validate(document)


@pytest.fixture
def planned(aim, plan_arguments):
    """Return a plan directory that fits the shared cluster, and the arguments that name both."""
    assert aim(*plan_arguments).code == 0
    directory = plan_arguments[plan_arguments.index("--output-dir") + 1]
    return directory, ["--plan", directory, "--kubeconfig", plan_arguments[-1]]


def test_before_any_run_inspect_finds_nothing_started(aim, planned, cluster):
    _, arguments = planned
    ran = aim("inspect", *arguments)
    assert (ran.code, ran.err) == (0, "")
    assert "nothing was started" in ran.out
    assert "AsPlanned (2 units)" in ran.out
    assert_fits(ran.out)
    ran = aim("inspect", *arguments, "-o", "json", "--only", UNIT)
    assert ran.code == 0
    assert [unit["finding"] for unit in ran.document["units"]] == ["AsPlanned"]
    assert_valid(ran.document, "inspection-v1.json")
    assert cluster.audit().mutations == 0


def test_before_a_commit_there_is_nothing_to_verify(aim, planned):
    _, arguments = planned
    ran = aim("verify", *arguments)
    assert (ran.code, ran.out) == (4, "")
    assert "nothing to verify" in ran.err


def test_the_script_is_made_from_the_plan_alone(aim, planned, tmp_path):
    directory, _ = planned
    path = tmp_path / "my live.sh"
    ran = aim("verify", "--plan", directory, "--emit-script", path, "--kubeconfig", tmp_path / "none")
    assert ran.code == 4
    assert path.read_text().startswith("#!/bin/sh\n")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert f"sh '{path}'" in flat(ran.err)
    ran = aim("verify", "--plan", directory, "--emit-script", path, "--kubeconfig", tmp_path / "none")
    assert ran.code == 4
    assert "exists already" in ran.err


@pytest.mark.parametrize("name", ["inspect", "verify"])
def test_what_is_refused(aim, planned, name, tmp_path):
    directory, arguments = planned
    ran = aim(name, *arguments, "--only", "AIMService/team-a/nobody")
    assert (ran.code, ran.out) == (4, "")
    assert "is no unit of the plan" in ran.err
    assert aim(name, "--plan", tmp_path / "nothing").code == 4
    assert aim(name, "--plan", directory, "--kubeconfig", tmp_path / "none").code == 4
    assert aim(name).code == 2


class Killer:
    """Kills a process at one of its requests: the real patch of an AIMService, before or after it is stored."""

    def __init__(self):
        self.stage, self.process = "", None

    def __call__(self, request, response):
        patch = request.method == "PATCH" and "/aimservices/" in request.target and "dryRun" not in request.target
        if patch and self.process and self.stage == ("before" if response is None else "after"):
            os.kill(self.process.pid, signal.SIGKILL)
            self.process = None
            raise DropConnectionError


@pytest.fixture
def killer():
    return Killer()


@pytest.fixture
def session(killer, tmp_path):
    with RehearsalSession(load_world("shared-happy-path"), work_dir=tmp_path, faults=killer) as session:
        yield session


def apply_and_kill(killer, stage, arguments):
    """Run a commit in a process of its own, and kill it."""
    code = "from aim_template_migration.__main__ import run; run()"
    killer.stage = stage
    killer.process = process = subprocess.Popen(
        [sys.executable, "-c", code, "apply", *map(str, arguments), "--commit", "--only", UNIT, "--soak", "0s"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.wait(60) == -signal.SIGKILL


def later(monkeypatch):
    """Let the command believe that the server's time limit has passed."""

    class Later(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(UTC) + timedelta(seconds=60)

    monkeypatch.setattr(command, "datetime", Later)


def archive(document):
    subprocess.run(["sh", "-c", document["run"]["archive"]], check=True)


def test_a_run_is_killed_twice_and_every_look_tells_the_truth(aim, session, killer, tmp_path, monkeypatch):
    plan = ["plan", "-n", "team-a", "-n", "team-b", "--runtime-projection-mode", "Both"]
    config = ["--kubeconfig", session.kubeconfig()]
    assert aim(*plan, "--output-dir", tmp_path / "plan", *config).code == 0
    arguments = ["--plan", tmp_path / "plan", *config]

    apply_and_kill(killer, "before", arguments)
    ran = aim("inspect", *arguments)
    assert ran.code == 5
    assert "AttemptOpen" in ran.out
    assert "look again in" in flat(ran.out)
    with monkeypatch.context() as patch:
        later(patch)
        ran = aim("inspect", *arguments)
        document = aim("inspect", *arguments, "-o", "json").document
    assert ran.code == 3
    assert "AttemptNotStored" in ran.out
    assert "no longer lives on this host" in flat(ran.out)
    assert "Nothing is rolled back" in flat(ran.out)
    assert_fits(ran.out)
    assert_valid(document, "inspection-v1.json")
    unit = next(unit for unit in document["units"] if unit["id"] == UNIT)
    assert (unit["finding"], unit["lastAttemptedStep"], unit["lastCompletedStep"]) == (
        "PartlyApplied", "CutOver", "ReverifyProfileCache"
    )  # fmt: skip
    lock = tmp_path / "plan/apply.lock"
    assert lock.exists()

    archive(document)
    lock.unlink()
    apply_and_kill(killer, "after", arguments)
    ran = aim("inspect", *arguments)
    assert ran.code == 3
    assert "AttemptStored" in ran.out
    assert "CutOverUnconfirmed" in ran.out
    ran = aim("verify", *arguments)
    assert ran.code == 3  # the other unit is not cut over
    assert "1 of 2 units hold (1 not cut over)." in flat(ran.out)
    assert aim("verify", *arguments, "--only", UNIT).code == 0

    archive(aim("inspect", *arguments, "-o", "json").document)
    lock.unlink()
    ran = aim("apply", *arguments, "--commit", "--soak", "0s")
    assert ran.code == 0, ran.err
    ran = aim("inspect", *arguments)
    assert (ran.code, "CutOverConfirmed (2 units)" in ran.out) == (0, True)
    ran = aim("verify", *arguments)
    assert ran.code == 0
    assert flat(ran.out).endswith(f"2 of 2 units hold. {LIMITS}")
    assert "would cascade" in ran.out
    assert_fits(ran.out)
    ran = aim("verify", *arguments, "-o", "json")
    assert_valid(ran.document, "verification-v1.json")
    assert (ran.document["kind"], ran.document["counts"]["holding"]) == ("MigrationVerification", 2)
    assert session.audit().deletes == session.audit().secret_reads == 0
    assert session.audit().mutations == 4 * 2
