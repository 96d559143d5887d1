"""``apply`` from the command line: what it refuses, what it says, and how it ends."""

import json
import shlex
import stat
import threading
from pathlib import Path

import jsonschema
import msgspec
import pytest

from aim_template_migration.applying.failures import RunFault
from aim_template_migration.applying.run import ApplyOutcome
from aim_template_migration.cli.commands import apply as command
from aim_template_migration.cli.parser import build_parser
from aim_template_migration.cli.rendering.statements import CONTROLLED_DEVELOPMENT, LIMITS
from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.plan import API_VERSION, Finding
from aim_template_migration.documents.result import (
    KIND,
    SCHEMA_URI,
    ApplyResult,
    UnitResult,
    count_units,
    decode_result,
)
from aim_template_migration.documents.schemas import schema_files
from aim_template_migration.kube.transport import Transport
from tests.aim_template_migration.cli.plans import automatic_unit, manual_unit, plan_of, write_plan


def flat(text):
    return " ".join(text.split())


@pytest.fixture
def made(aim, plan_arguments):
    """Return a plan directory that fits the shared cluster, and the arguments to apply it."""
    assert aim(*plan_arguments).code == 0
    directory = plan_arguments[plan_arguments.index("--output-dir") + 1]
    return directory, ["apply", "--plan", directory, "--kubeconfig", plan_arguments[-1]]


def assert_refused(ran, *words):
    assert (ran.code, ran.out) == (4, "")
    said = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(said) == 1
    for word in words:
        assert word in ran.err


def test_a_dry_run_ends_with_counts_result_and_the_way_to_commit(aim, made, cluster):
    directory, arguments = made
    ran = aim(*arguments)
    assert ran.code == 0
    sha256 = digest_bytes((directory / "plan.json").read_bytes())
    assert f"Plan SHA-256 {sha256}" in ran.err
    assert "same permissions as a commit" in flat(ran.err)
    assert CONTROLLED_DEVELOPMENT not in flat(ran.err)
    assert "Dry run finished; nothing was stored in the cluster" in ran.out
    assert "succeeded        2" in ran.out
    assert str(directory / "apply-result.json") in ran.out
    assert f"--plan-sha256 {sha256}" in ran.out
    assert f"apply --plan {directory} --kubeconfig {arguments[-1]} --commit" in ran.out
    result = decode_result((directory / "apply-result.json").read_bytes())
    assert f"archive/{result.run_id}" in ran.out
    assert (result.mode, result.state) == ("dry-run", "complete")
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in directory.iterdir())
    assert cluster.audit().mutations == 0


@pytest.mark.parametrize(("parallel", "most"), [(1, 1), (2, 2), (100, 16)])
def test_no_more_requests_are_under_way_than_units_may_run_side_by_side(aim, made, monkeypatch, parallel, most):
    lock, under_way, seen = threading.Lock(), [0], [0]
    send = Transport.send

    def counting(self, *arguments, **options):
        with lock:
            under_way[0] += 1
            seen[0] = max(seen[0], under_way[0])
        try:
            return send(self, *arguments, **options)
        finally:
            with lock:
                under_way[0] -= 1

    monkeypatch.setattr(Transport, "send", counting)
    _, arguments = made
    assert aim(*arguments, "--parallel", str(parallel)).code == 0
    assert 1 <= seen[0] <= most


def test_json_is_the_result_itself(aim, made, tmp_path):
    directory, arguments = made
    ran = aim(*arguments, "-o", "json", "--result", tmp_path / "own.json")
    assert ran.code == 0
    assert ran.document == msgspec.json.decode((tmp_path / "own.json").read_bytes())
    assert not (directory / "apply-result.json").exists()


def test_a_result_that_exists_is_refused_and_its_archiving_named(aim, made):
    directory, arguments = made
    assert aim(*arguments).code == 0
    result = (directory / "apply-result.json").read_bytes()
    assert_refused(aim(*arguments), "apply-result.json exists already", "mkdir -p -m 700", "mv -n")
    assert (directory / "apply-result.json").read_bytes() == result


def test_the_archiving_that_is_named_after_a_dry_run_clears_the_way(aim, made):
    """Names stay unchanged, so that the result still names its journal."""
    import subprocess

    directory, arguments = made
    ran = aim(*arguments)
    line = next(line for line in ran.out.splitlines() if "mkdir -p -m 700" in line)
    subprocess.run(["sh", "-c", line], check=True)
    assert not (directory / "apply-result.json").exists()
    (archived,) = (directory / "archive").glob("*/apply-result.json")
    assert (archived.parent / decode_result(archived.read_bytes()).journal).exists()
    assert aim(*arguments).code == 0


def test_a_lock_is_respected_and_its_holder_named(aim, made):
    directory, arguments = made
    lock = directory / "apply.lock"
    lock.touch(0o600)
    assert_refused(aim(*arguments), "apply.lock")
    assert lock.exists()
    assert not (directory / "apply-result.json").exists()


def test_a_plan_of_another_cluster(aim, made):
    directory, arguments = made
    for name in ("plan.json", "plan.generated.json"):
        plan = json.loads((directory / name).read_text())
        plan["cluster"]["kubeSystemUid"] = "33333333-3333-4333-8333-333333333333"
        (directory / name).write_text(json.dumps(plan))
    assert_refused(aim(*arguments), "another cluster", "33333333")


def test_a_plan_that_is_not_json(aim, made):
    directory, arguments = made
    (directory / "plan.json").write_text("units: []")
    assert_refused(aim(*arguments), "is not JSON")


def test_a_plan_that_was_not_approved(aim, made):
    assert_refused(aim(*made[1], "--plan-sha256", "0" * 64), "not the approved")


def test_an_unknown_unit(aim, made):
    assert_refused(aim(*made[1], "--only", "AIMService/team-a/nope"), "AIMService/team-a/nope")


def test_an_unreachable_server(aim, made, tmp_path):
    directory, arguments = made
    assert_refused(aim(*arguments[:-1], tmp_path / "absent.kubeconfig"), "absent.kubeconfig")
    assert not (directory / "apply.lock").exists()


# How it speaks, with a run that is made up.

UNITS = (
    UnitResult(id="AIMService/team-a/chat", disposition="automatic", status="succeeded", resolved_profile="qwen-tp1"),
    UnitResult(
        id="AIMService/team-a/bad",
        disposition="automatic",
        status="failed",
        code="RefusedByServer",
        message="the patch was refused",
        http_status=422,
        server_message="spec.profile: Invalid value",
        next_step="Read the server's message.",
        attempted_steps=("CreateProfile", "CutOver"),
        last_attempted_step="CutOver",
        last_completed_step="CreateProfile",
    ),
    UnitResult(
        id="AIMService/team-a/lost",
        disposition="automatic",
        status="unknown",
        code="OutcomeUnknown",
        message="the answer was lost",
        next_step="Read before anything else.",
        warnings=(Finding("ServerWarning", "AIMService/team-a/lost", "deprecated field"),),
    ),
    UnitResult(
        id="AIMService/team-b/later",
        disposition="automatic",
        status="skipped",
        code="HaltedAfterRollout",
        message="not cut over, because another unit halted the run",
        next_step="Settle that unit first.",
        last_attempted_step="AwaitProfileCache",
    ),
    UnitResult(
        id="AIMService/team-b/odd",
        disposition="manual",
        status="manual",
        code="Paused",
        message="the cache is paused",
        next_step="Find out who paused it.",
    ),
)


@pytest.fixture
def pretended(monkeypatch, tmp_path):
    """Return a function that lets the next apply end in some way, and the options that it was called with."""
    calls = []

    def end(units=UNITS, *, mode="commit", fault=None, interrupted=False):
        def fake(options, connect, *, listener, stop):
            calls.append(options)
            result = ApplyResult(
                schema=SCHEMA_URI,
                api_version=API_VERSION,
                kind=KIND,
                tool_version="0.1.0",
                run_id="run-1",
                mode=mode,
                state="complete",
                plan_id="plan-1",
                plan_sha256=options.plan_sha256,
                started_at="",
                finished_at="",
                journal="j",
                counts=count_units(units),
                units=units,
            )
            return ApplyOutcome(result, Path("apply-result.json"), fault, interrupted=interrupted)

        monkeypatch.setattr(command, "apply_plan", fake)
        return calls

    return end


@pytest.fixture
def plan(tmp_path):
    units = (automatic_unit(), manual_unit("odd", "Paused", namespace="team-b"))
    return write_plan(tmp_path / "plan", plan_of(*units))


def test_commit_states_its_limits_before_and_after(aim, pretended, plan):
    calls = pretended((UNITS[0],))
    ran = aim("apply", "--plan", plan, "--commit")
    assert ran.code == 0
    assert calls[0].commit is True
    assert flat(ran.err).count(CONTROLLED_DEVELOPMENT) == 1
    assert "reference Secrets: team-a." in flat(ran.err)
    assert flat(ran.out).endswith(LIMITS)
    assert "profile qwen-tp1" in ran.out


def test_what_was_announced_is_what_runs(aim, pretended, plan):
    calls = pretended()
    aim("apply", "--plan", plan, "--commit")
    assert calls[0].plan_sha256 == digest_bytes((plan / "plan.json").read_bytes())


def test_every_unit_that_needs_attention_is_told_whole(aim, pretended, plan):
    pretended()
    ran = aim("apply", "--plan", plan, "--commit")
    assert ran.code == 5
    out = flat(ran.out)
    for words in (
        "RefusedByServer",
        "the patch was refused",
        "HTTP status 422",
        "spec.profile: Invalid value",
        "Read the server's message.",
        "attempted CutOver completed CreateProfile",
        "UNKNOWN (1 unit)",
        "Read before anything else.",
        "SKIPPED: HaltedAfterRollout (1 unit)",
        "AIMService/team-b/later (attempted AwaitProfileCache)",
        "Settle that unit first.",
        "MANUAL: Paused (1 unit)",
        "the cache is paused",
        "deprecated field",
    ):
        assert words in out, words
    assert [line for line in ran.out.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(
    ("units", "ending", "code"),
    [
        (UNITS[:1], {}, 0),
        (UNITS[4:], {}, 0),
        (UNITS[:2], {}, 3),
        (UNITS, {}, 5),
        (UNITS, {"interrupted": True}, 130),
        (UNITS[:1], {"fault": RunFault("JournalNotWritable", "the journal is full")}, 3),
    ],
    ids=["succeeded", "manual", "failed", "unknown", "interrupted", "fault"],
)
def test_exit_codes(aim, pretended, plan, units, ending, code):
    pretended(units, **ending)
    ran = aim("apply", "--plan", plan)
    assert ran.code == code
    if "fault" in ending:
        assert "the journal is full" in ran.out


def test_options_reach_the_run(aim, pretended, plan, tmp_path):
    calls = pretended()
    aim(
        *(
            "apply",
            "--plan",
            plan,
            "--only",
            "AIMService/team-a/chat",
            "--limit",
            "3",
            "--fail-fast",
            "--parallel",
            "4",
        ),
        *("--soak", "1m", "--cutover-deadline", "90s", "--stop-before", "CutOver", "--result", tmp_path / "r.json"),
    )
    options = calls[0]
    assert (options.only, options.limit, options.fail_fast, options.parallel) == (
        ("AIMService/team-a/chat",),
        3,
        True,
        4,
    )
    assert (options.soak_seconds, options.cutover_deadline_seconds, options.stop_before) == (60, 90, "CutOver")
    assert options.result == tmp_path / "r.json"
    assert options.commit is False


@pytest.fixture
def dry(pretended):
    pretended((UNITS[0],), mode="dry-run")


def commit_words(ran):
    """Return the words of the commit command that a dry run names."""
    lines = ran.out.splitlines()
    first = next(index for index, line in enumerate(lines) if "--commit" in line)
    return shlex.split(lines[first].rstrip("\\") + lines[first + 1])[1:]


def test_the_named_commit_runs_what_was_dry_run_and_no_more(aim, dry, plan, tmp_path):
    options = [
        *("--only", "AIMService/team-a/chat", "--only", "AIMService/team-b/odd", "--fail-fast", "--limit", "3"),
        *("--stop-before", "CutOver", "--parallel", "4", "--soak", "1m30s", "--cutover-deadline", "90s"),
        *("--result", str(tmp_path / "a result.json"), "--baseline", str(tmp_path / "b.json")),
        *("--context", "east", "--as", "someone", "--request-timeout", "1m30s"),
    ]
    ran = aim("apply", "--plan", plan, *options)
    words = commit_words(ran)
    parser = build_parser("p")
    again, first = (
        parser.parse_args([str(word) for word in line]) for line in (words, ["apply", "--plan", plan, *options])
    )
    named = vars(again) | {"commit": False, "plan_sha256": None}
    assert named == vars(first)
    assert again.commit
    assert again.plan_sha256


def test_the_named_commit_has_no_option_that_was_not_given(aim, dry, plan):
    words = commit_words(aim("apply", "--plan", plan))
    assert [word for word in words if word.startswith("--")] == ["--plan", "--commit", "--plan-sha256"]


def test_the_named_commit_is_of_the_very_file(aim, dry, plan):
    other = plan / "my.json"
    (plan / "plan.json").rename(other)
    words = commit_words(aim("apply", "--plan", other))
    assert words[words.index("--plan") + 1] == str(other)


def test_where_all_is_migrated_there_is_nothing_to_commit(aim, pretended, plan):
    done = msgspec.structs.replace(UNITS[0], code="AlreadyCutOver")
    pretended((done,), mode="dry-run")
    ran = aim("apply", "--plan", plan)
    assert "There is nothing to commit" in ran.out
    assert "MIGRATED BEFORE THIS RUN (1 unit)" in ran.out
    assert "WOULD MIGRATE" not in ran.out
    assert "--commit" not in ran.out
    pretended((msgspec.structs.replace(done, id="AIMService/team-a/more"), UNITS[0]), mode="dry-run")
    ran = aim("apply", "--plan", plan)
    assert "WOULD MIGRATE (1 unit)" in ran.out
    assert "Commit this very plan next" in ran.out


def test_an_interrupted_run_names_its_archiving(aim, pretended, plan):
    stopped = msgspec.structs.replace(UNITS[0], status="interrupted", code="Interrupted")
    pretended((stopped,), interrupted=True)
    ran = aim("apply", "--plan", plan, "--commit")
    assert ran.code == 130
    assert "&& mv -n -- apply-result.json" in ran.out
    pretended((UNITS[0],))
    assert "archive" not in aim("apply", "--plan", plan, "--commit").out


def test_the_answer_of_a_commit_states_its_limits_for_programs_too(aim, pretended, plan):
    pretended()
    document = aim("apply", "--plan", plan, "--commit", "-o", "json").document
    assert document["limits"] == LIMITS
    jsonschema.Draft202012Validator(json.loads(schema_files()["apply-result-v1.json"])).validate(document)
    pretended(mode="dry-run")
    assert "limits" not in aim("apply", "--plan", plan, "-o", "json").document


def test_json_has_no_word_beside_it(aim, pretended, plan):
    pretended()
    ran = aim("apply", "--plan", plan, "-o", "json")
    assert ran.document["kind"] == "ApplyResult"
    assert "\x1b" not in ran.out + ran.err


def test_a_signal_stops_the_run_safely(aim, monkeypatch, plan, pretended):
    import os
    import signal

    calls = pretended((UNITS[0],), interrupted=True)
    fake = command.apply_plan

    def interrupted(options, connect, *, listener, stop):
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.wait(5)
        os.kill(os.getpid(), signal.SIGINT)
        return fake(options, connect, listener=listener, stop=stop)

    monkeypatch.setattr(command, "apply_plan", interrupted)
    former = signal.getsignal(signal.SIGTERM)
    ran = aim("apply", "--plan", plan, "--commit")
    assert ran.code == 130
    assert calls
    assert "the request in flight is finished" in ran.err
    assert "already stopping" in ran.err
    assert signal.getsignal(signal.SIGTERM) is former
    assert threading.active_count() >= 1
