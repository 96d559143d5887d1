"""What is refused before anything is started, and with which words."""

import shlex
import subprocess

import msgspec
import pytest

from aim_template_migration.applying.events import RunStarted, nobody
from aim_template_migration.applying.lock import ApplyLock
from aim_template_migration.applying.plan_files import PlanRejected, journal_path, read_plan
from aim_template_migration.applying.preflight import version_changes
from aim_template_migration.applying.run import ApplyOptions, apply_plan
from aim_template_migration.documents.plan import ClusterIdentity, CrdIdentity
from aim_template_migration.kube.errors import ConnectError
from tests.aim_template_migration.applying.bench import Bench, unit_of
from tests.support.fleet import uid_of
from tests.support.privileges import bound_by_file_modes


def rejected(bench, **options):
    """Apply, expect a refusal, and check that it left no trace."""
    before, sent = sorted(path.name for path in bench.plan_directory.iterdir()), list(bench.cluster.sent)
    with pytest.raises(PlanRejected) as caught:
        bench.apply(**options)
    assert sorted(path.name for path in bench.plan_directory.iterdir()) == before
    assert bench.cluster.sent == sent
    return str(caught.value)


def test_a_lock_is_shown_and_left(bench):
    with ApplyLock(bench.plan_directory, "r9", "apply --commit"):
        message = rejected(bench)
    assert "is held by run r9" in message
    assert "still lives on this host" in message


def test_the_lock_comes_before_anything_is_read(bench):
    (bench.plan_directory / "plan.json").write_text("{")
    with ApplyLock(bench.plan_directory, "r9", "apply --commit"):
        assert "is held by run r9" in rejected(bench)
    assert "is held by" not in rejected(bench)


@pytest.mark.parametrize("name", ["apply-result.json", "apply-result.json.journal.jsonl"])
def test_an_existing_result_or_journal_is_refused(bench, name):
    (bench.plan_directory / name).write_text("prior")
    assert f"{name} exists already and is never overwritten; archive it first: mkdir" in rejected(bench)
    assert (bench.plan_directory / name).read_text() == "prior"


def test_a_dangling_symlink_under_the_result_is_refused(bench):
    (bench.plan_directory / "apply-result.json").symlink_to("nowhere")
    assert "exists already" in rejected(bench)


def test_the_archive_command_works_when_pasted(tmp_path):
    directory = tmp_path / "it's a; $HOME plan"
    directory.mkdir()
    bench = Bench(directory)
    bench.plan()
    outcome = bench.apply(commit=False)
    message = rejected(bench)
    command = message.partition("archive it first: ")[2]
    subprocess.run(["sh", "-c", command], check=True)
    archive = bench.plan_directory / "archive" / outcome.result.run_id
    assert sorted(path.name for path in archive.iterdir()) == [
        "apply-result.json", "apply-result.json.journal.jsonl"
    ]  # fmt: skip
    assert oct(archive.stat().st_mode)[-3:] == "700"
    assert bench.apply().exit_code == 0


def test_the_archive_is_named_after_the_journals_run_where_the_result_is_lost(bench):
    outcome = bench.apply(commit=False)
    bench.result_path.unlink()
    command = rejected(bench).partition("archive it first: ")[2]
    assert f"archive/{outcome.result.run_id} &&" in command
    assert len(shlex.split(command.partition("&&")[2])) == 5
    journal_path(bench.result_path).write_text("nonsense")
    assert "archive/unknown-run-" in rejected(bench)


def test_what_is_archived_of_unknown_runs_never_lands_in_one_directory(bench):
    for _ in range(2):
        journal_path(bench.result_path).write_text("nonsense")
        command = rejected(bench).partition("archive it first: ")[2]
        subprocess.run(["sh", "-c", command], check=True)
        assert not journal_path(bench.result_path).exists()
    assert len(list((bench.plan_directory / "archive").iterdir())) == 2


@pytest.mark.parametrize("name", ["plan.json", "plan.generated.json", "backup.yaml", "apply.lock"])
def test_a_result_under_the_name_of_another_file_is_never_archived(bench, name):
    message = rejected(bench, result=bench.plan_directory / name)
    assert message.endswith("is no result of apply; choose another --result")


def test_an_approval_binds_to_the_bytes(bench):
    digest = read_plan(bench.plan_directory).sha256
    assert "not the approved 00; review it again" in rejected(bench, plan_sha256="00")
    assert bench.apply(plan_sha256=digest.upper()).result.plan_sha256 == digest


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"a": 1}', b"\xff\xff", b"null"])
def test_a_plan_that_is_none_is_refused_in_one_sentence(bench, data):
    (bench.plan_directory / "plan.json").write_bytes(data)
    message = rejected(bench)
    assert "plan.json is no plan" in message
    assert "\n" not in message


def test_unknown_keys_are_refused(bench):
    bench.edit_json(lambda document: document["units"][0].update(dispositon="manual"))
    assert "unknown field `dispositon`" in rejected(bench)


def test_a_missing_generated_copy_is_refused(bench):
    (bench.plan_directory / "plan.generated.json").unlink()
    assert "plan.generated.json is missing, so hand edits of the plan can't be judged" in rejected(bench)
    (bench.plan_directory / "plan.generated.json").write_text("{")
    assert "plan.generated.json is no plan" in rejected(bench)


def test_a_missing_plan_is_refused(bench):
    (bench.plan_directory / "plan.json").unlink()
    message = rejected(bench)
    assert "plan.json can't be read: no such file or directory" in message
    assert bench.connections == 0


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document["units"][0].update(outcome="Other"),
        lambda document: document["units"][0]["pins"].pop(),
        lambda document: document["targets"][0]["body"]["spec"].update(image="other"),
        lambda document: document.update(namespaces=["kube-system"]),
        lambda document: document["units"][0]["steps"].pop(),
    ],
)
@pytest.mark.parametrize("commit", [True, False])
def test_forbidden_edits_are_refused_in_both_modes(bench, change, commit):
    bench.edit_json(change)
    message = rejected(bench, commit=commit)
    assert "has edits that are not allowed" in message
    assert "plan.generated.json) or plan again" in message
    assert bench.connections == 0


def test_a_plan_edited_in_both_copies_is_still_bounded(bench):
    def change(document):
        step = next(step for step in document["units"][0]["steps"] if step["step"] == "CutOver")
        step["operations"].append({"op": "add", "path": "/spec/replicas", "value": 0})

    bench.edit_json(change, everywhere=True)
    assert "is not safe to run: AIMService/team-a/qwen-chat: CutOver may only remove" in rejected(bench)


def test_a_plan_of_another_version_is_refused(bench):
    bench.edit_json(lambda document: document.update(toolVersion="0.0.0"), everywhere=True)
    assert "was made by version 0.0.0 of this tool, and this is version" in rejected(bench)


def test_another_cluster_is_refused_by_uid(bench):
    bench.fleet.objects["Namespace/kube-system"]["metadata"]["uid"] = "another"
    message = rejected(bench)
    assert "the plan was made on another cluster: kube-system has UID another at https://bench.example" in message
    assert uid_of("Namespace", "", "kube-system") in message


def test_reinstalled_definitions_are_refused(bench):
    bench.fleet.definition("aimservices.aim.eai.amd.com")["metadata"]["uid"] = "another"
    assert "it is another cluster, or the CRDs were reinstalled" in rejected(bench)
    del bench.fleet.definitions["aimservices.aim.eai.amd.com"]
    assert "has UID none at" in rejected(bench)


def test_a_plan_without_the_namespaces_uid_is_bound_by_its_definitions(unplanned):
    bench = unplanned
    bench.plan()
    bench.edit_json(lambda document: document["cluster"].update(kubeSystemUid=""), everywhere=True)
    assert bench.apply(commit=False).exit_code == 0
    bench.archive()
    bench.edit_json(lambda document: document["cluster"].update(crds=[]), everywhere=True)
    assert "it names no cluster" in rejected(bench)


@pytest.fixture
def dedicated(tmp_path):
    bench = Bench(tmp_path)
    bench.fleet.only("AIMService")["spec"]["caching"] = {"mode": "Dedicated"}
    bench.plan()
    return bench


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("everywhere", [True, False])
def test_an_edited_automatic_dedicated_unit_is_rejected_as_dedicated(dedicated, commit, everywhere):
    dedicated.edit_json(lambda document: document["units"][0].update(disposition="automatic"), everywhere=everywhere)
    message = rejected(dedicated, commit=commit)
    assert "AIMService/team-a/qwen-chat is automatic in the plan, but" in message
    assert "Dedicated caching is always manual; plan again" in message


def test_removing_the_evidence_from_the_plan_does_not_help(dedicated):
    def change(document):
        unit = document["units"][0]
        unit |= {"disposition": "automatic", "outcome": "SharedNoRollout", "reasons": []}
        del unit["evidence"]

    dedicated.edit_json(change, everywhere=True)
    assert "the plan directory holds Dedicated evidence for it (dedicated-handoff-" in rejected(dedicated)
    for file in dedicated.plan_directory.glob("dedicated-handoff-*"):
        file.unlink()
    assert "its steps are not the closed sequence of an automatic unit" in rejected(dedicated)


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("mode", ["Dedicated", "Never"])
def test_a_service_that_became_dedicated_is_rejected_by_live_state(bench, commit, mode):
    bench.fleet.only("AIMService")["spec"]["caching"] = {"mode": mode}
    assert "AIMService/team-a/qwen-chat is Dedicated" in rejected(bench, commit=commit)


def test_a_template_cache_that_became_dedicated_is_rejected(bench):
    bench.fleet.only("AIMTemplateCache")["spec"]["mode"] = "Dedicated"
    assert "AIMTemplateCache/team-a/qwen3-32b-latency-0badcafe is Dedicated" in rejected(bench)


def test_a_manual_unit_made_automatic_is_refused_with_plan_again(tmp_path):
    bench = Bench(tmp_path)
    bench.fleet.only("AIMService")["spec"]["overrides"] = {"metric": "latency"}
    bench.plan()
    bench.edit_json(lambda document: document["units"][0].update(disposition="automatic"))
    assert "only plan makes a unit automatic, so plan again" in rejected(bench)
    assert bench.connections == 1  # whether it is Dedicated was looked at first


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda file: file.write_text("edited"), "was changed: evidence is never edited"),
        (lambda file: file.unlink(), "can't be read"),
        (lambda file: (file.unlink(), file.symlink_to("/etc/hostname")), "symbolic link"),
    ],
)
def test_evidence_must_be_as_it_was_made(dedicated, spoil, said):
    (file,) = dedicated.plan_directory.glob("dedicated-handoff-*")
    spoil(file)
    assert said in rejected(dedicated)


def test_an_evidence_file_elsewhere_is_not_followed(dedicated):
    dedicated.edit_json(lambda document: document["units"][0]["evidence"].update(file="../x"), everywhere=True)
    assert "must lie in the plan directory" in rejected(dedicated)


def test_the_plan_directory_must_be_private(bench, tmp_path):
    bench.plan_directory.chmod(0o777)
    assert "can be written by others (mode 0777)" in rejected(bench)
    bench.plan_directory.chmod(0o700)
    link = tmp_path / "link"
    link.symlink_to(bench.plan_directory)
    with pytest.raises(PlanRejected, match="symbolic link"):
        apply_plan(ApplyOptions(plan=link), bench.connect, listener=nobody, stop=bench.stop)


@pytest.mark.parametrize("name", ["plan.json", "plan.generated.json"])
def test_a_symlinked_plan_is_refused(bench, tmp_path, name):
    path = bench.plan_directory / name
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    assert "symbolic link" in rejected(bench)


def test_a_read_only_directory_is_named(bench):
    bench.plan_directory.chmod(0o500)
    with (
        bound_by_file_modes(),
        pytest.raises(PlanRejected, match=r"apply.lock can't be made: Permission denied"),
    ):
        bench.apply()


def test_a_result_that_cannot_be_made_leaves_nothing(bench, tmp_path):
    assert "can't be made: No such file or directory" in rejected(bench, result=tmp_path / "missing" / "r.json")
    (tmp_path / "file").touch()
    assert "can't be made: Not a directory" in rejected(bench, result=tmp_path / "file" / "r.json")


def test_a_result_may_lie_elsewhere(bench, tmp_path):
    outcome = bench.apply(result=tmp_path / "evidence.json")
    assert outcome.result_path == tmp_path / "evidence.json"
    assert sorted(path.name for path in tmp_path.glob("evidence*")) == [
        "evidence.json", "evidence.json.journal.jsonl"
    ]  # fmt: skip


def test_a_result_that_fails_after_its_journal_takes_the_journal_back(bench, monkeypatch):
    from aim_template_migration.applying import running_result
    from aim_template_migration.documents.private_files import PrivateFileError

    def full(path, data):
        raise PrivateFileError(f"{path} can't be written: no space left on device")

    monkeypatch.setattr(running_result, "write_new", full)
    assert "no space left on device" in rejected(bench)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"only": ("AIMService/team-a/none",)}, "--only AIMService/team-a/none is no unit of the plan"),
        ({"stop_before": "Cutover"}, "--stop-before Cutover is no step; the steps are CreateProfile, "),
        ({"stop_before": "ConfirmNoRollout"}, "would cut services over without the proof that nothing rolled"),
    ],
)
def test_selections_that_make_no_sense_are_refused(bench, options, said):
    assert said in rejected(bench, **options)
    assert bench.connections == 0


def test_a_plan_without_units_is_nothing_to_apply(bench):
    bench.edit_json(lambda document: document["units"].clear())
    assert "the plan has no units, so there is nothing to apply" in rejected(bench)


def test_selecting_manual_units_alone_is_refused(dedicated):
    assert "--only selects no automatic unit" in rejected(dedicated, only=("AIMService/team-a/qwen-chat",))


def test_a_baseline_must_be_a_commit_of_this_plan(bench, tmp_path):
    assert "can't be used" in rejected(bench, baseline=tmp_path / "none.json")
    bench.apply(commit=False)
    dry = tmp_path / "dry.json"
    dry.write_bytes(bench.result_path.read_bytes())
    bench.archive()
    assert "it is no result of a commit of this plan" in rejected(bench, baseline=dry)
    bench.apply()
    other = msgspec.json.decode(bench.result_path.read_bytes()) | {"planId": "other"}
    (tmp_path / "other.json").write_bytes(msgspec.json.encode(other))
    bench.archive()
    assert "it is no result of a commit of this plan" in rejected(bench, baseline=tmp_path / "other.json")


def test_an_unreachable_cluster_starts_nothing(bench):
    def connect():
        raise ConnectError("no connection to https://x")

    bench.connect = connect
    before = sorted(path.name for path in bench.plan_directory.iterdir())
    with pytest.raises(ConnectError):
        bench.apply()
    assert sorted(path.name for path in bench.plan_directory.iterdir()) == before


@pytest.mark.parametrize(
    "options",
    [
        {"parallel": 0},
        {"limit": 0},
        {"soak_seconds": -1.0},
        {"soak_seconds": float("nan")},
        {"cutover_deadline_seconds": 601.0},
        {"cutover_deadline_seconds": 0.0},
    ],
)
def test_numbers_out_of_range_are_a_fault_of_the_caller(tmp_path, options):
    with pytest.raises(ValueError, match=r"must be at|can't be negative"):
        ApplyOptions(plan=tmp_path, **options)


def test_a_plan_of_a_namespace_that_was_dropped_is_not_followed(bench):
    bench.edit_json(lambda document: document.update(namespaces=["team-b"]), everywhere=True)
    assert "is not safe to run" in rejected(bench)


def test_a_refusal_frees_the_lock(bench):
    rejected(bench, plan_sha256="00")
    assert unit_of(bench.apply()).status == "succeeded"


def test_a_secret_edited_into_a_profile_is_refused_before_anything_is_written(bench):
    token = "hf_abcdefghijklmnopqrstuvwxyz0123"

    def change(document):
        for target in document["targets"]:
            if target["id"].startswith("AIMProfile/"):
                target["body"]["spec"]["containerEnv"] = [{"name": "HF_TOKEN", "value": token}]

    bench.edit_json(change)
    said = rejected(bench)
    assert "holds what looks like a secret" in said
    assert token not in said
    assert bench.cluster.sent == []


PLANNED = ClusterIdentity("u", (CrdIdentity("a", "1", "v1alpha2", ("v1alpha1", "v1alpha2")),), "v1.35.1")


@pytest.mark.parametrize(
    ("live", "said"),
    [
        (PLANNED, ()),
        (ClusterIdentity("u", PLANNED.crds), ()),
        (ClusterIdentity("u", (), "v1.35.1"), ()),
        (
            ClusterIdentity("u", PLANNED.crds, "v1.36.2"),
            ("the API server has version v1.36.2, and v1.35.1 when the plan was made",),
        ),
        (
            ClusterIdentity("u", (CrdIdentity("a", "1", "v1alpha1", ("v1alpha2",)),), "v1.35.1"),
            (
                "a serves v1alpha2, and v1alpha1, v1alpha2 when the plan was made",
                "a stores v1alpha1, and v1alpha2 when the plan was made",
            ),
        ),
    ],
)
def test_versions_that_changed_since_the_plan_are_named(live, said):
    assert version_changes(PLANNED, live) == said


def test_a_run_on_an_upgraded_server_says_so_and_goes_on(bench):
    heard = []
    bench.listener = heard.append
    bench.cluster.server_version = lambda **_: {"gitVersion": "v1.99.0"}
    outcome = bench.apply()
    assert outcome.exit_code == 0
    (started,) = [event for event in heard if isinstance(event, RunStarted)]
    (notice,) = started.notices
    assert notice.startswith("the API server has version v1.99.0, and v1.")
    assert bench.events("runStarted")[0].facts["notices"] == [notice]
