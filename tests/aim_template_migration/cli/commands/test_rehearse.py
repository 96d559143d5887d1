"""``rehearse`` from the command line, told from a rehearsal that was recorded."""

import threading
from types import SimpleNamespace

import msgspec
import pytest

from aim_rehearsal.worlds import load_world, world_names
from aim_template_migration.cli.commands import rehearse as command
from aim_template_migration.cli.rendering.statements import LIMITS
from aim_template_migration.documents.rehearsal import encode_report
from aim_template_migration.rehearsing.faults import FAULTS


def flat(text):
    return " ".join(text.split())


@pytest.fixture
def replayed(monkeypatch, recorded):
    """Let ``rehearse`` replay the recorded rehearsal; return the options that it was called with."""
    seen = []

    class Replay:
        def __init__(self, options):
            seen.append(options)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

        def run(self, audience, listener, stop):
            for chapter in recorded.chapters:
                audience(chapter)
            for event in recorded.events:
                listener(event)
            return recorded.outcome

        def load(self):
            return recorded.chapters[0]

        def admin_kubeconfig(self):
            return seen[0].work_dir / "admin.kubeconfig"

        def tool_kubeconfig(self):
            return seen[0].work_dir / "migration.kubeconfig"

    monkeypatch.setattr(command, "Rehearsal", Replay)
    return seen


def test_the_story_reads_from_the_cluster_to_the_proof(aim, replayed, recorded):
    ran = aim("rehearse")
    assert ran.code == 0
    titles = [line for line in ran.out.splitlines() if line[:2] in ("1.", "2.", "3.", "4.", "5.")]
    assert titles == ["1. THE CLUSTER", "2. THE PLAN", "3. THE DRY RUN", "4. THE COMMIT", "5. THE PROOF"]
    out = flat(ran.out)
    for unit in recorded.outcome.report.units:
        assert f"{unit.id}: succeeded, InferenceService and pods unchanged" in out
        assert f"none -> {unit.resolved_profile}" in out
        assert out.count(f"UID {unit.inference_service.before.uid}, generation") == 3
    assert "writes stored 8" in out
    assert "deletes 0" in out
    assert "Secret reads 0" in out
    assert "unchanged 2 of 2 InferenceServices and their pods" in out
    assert out.endswith(LIMITS)
    assert "\x1b" not in ran.out
    assert [line for line in ran.out.splitlines() if len(line) > 80 and "/" not in line] == []


def test_json_is_one_document_and_nothing_else(aim, replayed, recorded):
    ran = aim("rehearse", "-o", "json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.document == msgspec.json.decode(encode_report(recorded.outcome.report))
    assert ran.document["limits"] == LIMITS


def test_defaults(aim, replayed):
    aim("rehearse")
    options = replayed[0]
    assert (options.subject.world.name, options.mode) == ("shared-happy-path", "Both")
    assert (options.tuning.parallel, options.tuning.soak_seconds) == (8, 2)
    assert not options.directory.parent.exists()  # it was temporary


def test_options_reach_the_rehearsal(aim, replayed, tmp_path):
    arguments = ("--only", "AIMService/team-a/x", "--limit", "1", "--fail-fast", "--stop-before", "CutOver")
    ran = aim("rehearse", "--output-dir", tmp_path / "kept", "--soak", "3s", "--parallel", "2", *arguments)
    assert ran.code == 0
    assert replayed[0].directory == tmp_path / "kept"
    tuning = replayed[0].tuning
    assert (tuning.soak_seconds, tuning.parallel, tuning.only) == (3, 2, ("AIMService/team-a/x",))
    assert (tuning.limit, tuning.fail_fast, tuning.stop_before) == (1, True, "CutOver")


def test_an_output_directory_that_exists_is_refused(aim, replayed, tmp_path):
    ran = aim("rehearse", "--output-dir", tmp_path)
    assert ran.code == 4
    assert replayed == []


def test_the_worst_of_dry_run_and_commit_is_the_exit_code(aim, monkeypatch, replayed, recorded):
    failed = msgspec.structs.replace(
        recorded.outcome.commit.result, counts={**recorded.outcome.report.counts, "failed": 1}
    )
    worse = command.RehearsalOutcome(
        recorded.outcome.dry_run,
        type(recorded.outcome.commit)(failed, recorded.outcome.commit.result_path, None, interrupted=False),
        recorded.outcome.report,
    )
    monkeypatch.setattr(recorded, "outcome", worse)
    assert aim("rehearse").code == 3


@pytest.mark.parametrize("arguments", [["--serve"], ["--serve", "--by-hand"], ["--serve", "-o", "json"]])
def test_serving_prints_what_to_try_and_ends_with_the_stop(aim, monkeypatch, replayed, arguments):
    class Stop(threading.Event):
        def wait(self, timeout=None):
            return True

    monkeypatch.setattr(command, "threading", SimpleNamespace(Event=Stop))
    ran = aim("rehearse", *arguments)
    assert ran.code == 0
    told = ran.err if "json" in arguments else ran.out
    assert "export KUBECONFIG=" in told
    assert "kubectl get aimservice -A -o wide" in told
    assert sum(line.strip().startswith("kubectl ") for line in told.splitlines()) == 3
    by_hand = "--by-hand" in arguments
    assert ("aim-template-migration apply --plan ./migration-plan --commit" in told) is by_hand
    assert ("1. THE CLUSTER" in ran.out) is not by_hand or "json" in arguments
    if "json" in arguments:
        assert ran.document["kind"] == "RehearsalReport"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--by-hand"],
        ["--serve", "--by-hand", "-o", "json"],
        ["--world", "nowhere"],
        ["--runtime-projection-mode", "both"],
    ],
)
def test_wrong_usage(aim, replayed, arguments):
    ran = aim("rehearse", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert replayed == []


def test_worlds_are_listed(aim):
    ran = aim("rehearse", "--list-worlds", "-o", "json")
    assert ran.code == 0
    assert ran.document["kind"] == "WorldList"
    assert [world["name"] for world in ran.document["worlds"]] == list(world_names())
    for world in ran.document["worlds"]:
        assert set(world) == {"name", "summary", "codes"}
        assert world["codes"] == list(load_world(world["name"]).codes)
    text = aim("rehearse", "--list-worlds").out
    assert all(name in text for name in world_names())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--world", "no-bridge", "--fleet", "2x2"], "--world and --fleet exclude each other"),
        (["--fleet", "2x2", "--from", "dump.yaml"], "--fleet and --from exclude each other"),
        (["--namespace", "a", "--from", "dump.yaml"], "--namespace and --from exclude each other"),
        (["--fleet", "many"], "'many' is no fleet; write namespaces x services in each, for example 50x20"),
        (["--fleet", "0x5"], "'0x5' is no fleet"),
        (["--fleet", "1000x1000"], "a fleet has at most 100000 services"),
        (["--seed", "2"], "--seed needs --fleet"),
        (["--context", "prod"], "--context needs --namespace: no other rehearsal reads a cluster"),
        (["--as", "me"], "--as needs --namespace"),
        (["-A"], "all namespaces at once can't be selected"),
        (["--namespace", ""], "--namespace is empty"),
    ],
)
def test_what_is_rehearsed_must_make_sense(aim, replayed, arguments, said):
    ran = aim("rehearse", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in flat(ran.err)
    assert replayed == []


def test_a_fleet_is_generated_and_its_seed_counts(aim, replayed):
    for arguments in ((), ("--seed", "1"), ("--seed", "2")):
        ran = aim("rehearse", "--fleet", "2x3", *arguments)
        assert ran.code == 0
        assert "generating 6 services in 2 namespaces" in ran.err
    one, same, other = (options.subject.world for options in replayed)
    assert sum(item["kind"] == "AIMService" for item in one.objects) == 6
    assert one == same
    assert one != other


@pytest.mark.parametrize("output", ["table", "json"])
def test_one_s_own_namespaces_are_copied(aim, replayed, cluster, output):
    ran = aim("rehearse", "-n", "team-a", "--kubeconfig", cluster.kubeconfig("viewer"), "-o", output)
    assert ran.code == 0
    subject = replayed[0].subject
    assert subject.world.name == "copy of team-a"
    assert subject.world.namespaces == ("team-a",)
    assert ("nothing is written to it" in ran.err) is (output == "table")
    assert "token" not in ran.err


@pytest.mark.parametrize(
    ("namespace", "options", "said"),
    [
        ("nowhere", [], "namespace nowhere does not exist"),
        ("default", [], "no AIMService was found in default, so there is nothing to rehearse"),
        ("team-a", ["--as", "nobody"], "is forbidden"),
        ("team-a", ["--context", "other"], "other"),
    ],
)
def test_a_cluster_that_cannot_be_copied_is_one_sentence(aim, replayed, cluster, namespace, options, said):
    ran = aim("rehearse", "-n", namespace, "--kubeconfig", cluster.kubeconfig("admin"), *options)
    assert (ran.code, ran.out) == (4, "")
    assert said in flat(ran.err)
    assert replayed == []


def test_files_are_loaded(aim, replayed, recorded, tmp_path):
    backup = recorded.directory / "backup.yaml"
    assert aim("rehearse", "--from", backup).code == 0
    assert len(replayed[0].subject.world.desired) == 7


def test_standard_input_is_a_file(aim, replayed, recorded, monkeypatch):
    with (recorded.directory / "backup.yaml").open(encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert aim("rehearse", "--from", "-").code == 0
    assert len(replayed[0].subject.world.desired) == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "dump.yaml, line 1 can't be read: "),
        ("apiVersion: v1\nkind: Pod\n", "dump.yaml, line 1 holds a Pod without metadata.name"),
        ("apiVersion: v1\nkind: List\nitems: []\n", "no AIMService stands in "),
        (None, "dump.yaml can't be read: No such file or directory"),
    ],
)
def test_a_file_that_cannot_be_rehearsed_is_one_sentence(aim, replayed, tmp_path, text, said):
    file = tmp_path / "dump.yaml"
    if text is not None:
        file.write_text(text)
    ran = aim("rehearse", "--from", file)
    assert (ran.code, ran.out) == (4, "")
    assert said in ran.err
    assert replayed == []
    assert f"{tmp_path} is a directory" in aim("rehearse", "--from", tmp_path).err


def test_what_the_server_refuses_is_named_with_its_place(aim, tmp_path):
    file = tmp_path / "service.yaml"
    file.write_text(
        "apiVersion: aim.eai.amd.com/v1alpha2\nkind: AIMService\nmetadata: {name: s, namespace: team-x}\n"
        "spec: {model: {name: m}, replicas: many}\n"
    )
    ran = aim("rehearse", "--from", file)
    assert (ran.code, ran.out) == (4, "")
    assert f"{file}, line 1: AIMService/team-x/s is refused" in flat(ran.err)
    assert "spec.replicas" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fault", "nonsense"], "there is no fault 'nonsense'"),
        (["--fault", "kill@Nowhere"], "kill can't come up at 'Nowhere'"),
        (["--fault", "kill", "--serve", "--by-hand"], "--fault kill needs the run"),
    ],
)
def test_a_fault_must_be_in_the_catalogue(aim, replayed, arguments, said):
    ran = aim("rehearse", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert said in flat(ran.err)
    assert replayed == []


def test_a_fault_reaches_the_rehearsal(aim, replayed):
    assert aim("rehearse", "--fault", "truncated@CreateProfile").code == 0
    assert replayed[0].fault.text == "truncated@CreateProfile"
    assert replayed[0].tool[-2:] == ("-m", "aim_template_migration")


def test_faults_are_listed(aim):
    ran = aim("rehearse", "--list-faults", "-o", "json")
    assert ran.code == 0
    assert ran.document["kind"] == "FaultList"
    entries = {entry["name"]: entry for entry in ran.document["faults"]}
    assert entries.keys() == FAULTS.keys()
    assert entries["conflict"]["steps"][0]["step"] == "CutOver"
    assert entries["conflict"]["steps"][0]["code"] == "WriteConflict"
    assert entries["conflict"]["steps"][0]["nextStep"]
    text = aim("rehearse", "--list-faults").out
    assert all(name in text for name in FAULTS)
    assert [line for line in text.splitlines() if len(line) > 80] == []


def test_the_story_with_a_fault_goes_on_to_the_rerun(aim):
    ran = aim("rehearse", "--fault", "conflict", "--soak", "0s")
    assert ran.code == 0
    titles = [line for line in ran.out.splitlines() if line[:2].rstrip(".").isdigit()]
    assert [title[3:] for title in titles] == [
        "THE CLUSTER",
        "THE PLAN",
        "THE DRY RUN",
        "THE COMMIT",
        "THE ANSWER",
        "THE RERUN",
        "THE PROOF",
    ]
    out = flat(ran.out)
    assert "Fault conflict@CutOver: The API server answers a write with 409 Conflict" in out
    assert "AIMService/team-a/qwen-chat: failed (WriteConflict)" in out
    assert "Before a rerun an administrator archives result and journal" in out
