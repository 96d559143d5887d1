"""A commit from start to end, reruns of it, and what it leaves behind."""

import copy
import json
import os
import stat

import msgspec
import pytest

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.labels import EVICTION_PROTECTED
from aim_template_migration.applying.plan_files import PlanRejected
from aim_template_migration.documents.plan import STEP_NAMES
from tests.aim_template_migration.applying.bench import Bench, unit_of
from tests.aim_template_migration.applying.cluster_scope import on_cluster_scope
from tests.support.fleet import condition, owner

PROFILE = "AIMProfile/qwen3-32b-latency"
SERVICE = "AIMService/qwen-chat"


def service(bench):
    return bench.fleet.only("AIMService")


def workload(bench):
    return copy.deepcopy([bench.fleet.of(kind) for kind in ("InferenceService", "Deployment", "Pod")])


def test_a_commit_writes_exactly_the_steps_in_order(bench):
    before = workload(bench)
    outcome = bench.apply()
    assert (outcome.exit_code, outcome.fault, outcome.interrupted) == (0, None, False)
    unit = unit_of(outcome)
    assert (unit.status, unit.code, unit.attempted_steps, unit.completed_steps) == (
        "succeeded", "", STEP_NAMES, STEP_NAMES
    )  # fmt: skip
    sent = bench.cluster.all_writes
    assert sent[0] == f"POST {PROFILE}"
    assert sent[1].startswith("POST AIMProfileCache/qwen3-32b-latency-cache-")
    assert sent[2].startswith("PATCH AIMArtifact/")
    assert sent[3:] == [f"PATCH {SERVICE} (dry run)", f"PATCH {SERVICE}"]
    assert bench.cluster.sent[3].body == bench.cluster.sent[4].body
    assert bench.cluster.closed
    assert workload(bench) == before


def test_the_service_is_moved_and_pinned_and_nothing_else_changes(bench):
    former = copy.deepcopy(service(bench))
    bench.apply()
    live = service(bench)
    assert live["spec"] == {key: value for key, value in former["spec"].items() if key != "template"} | {
        "profile": {"name": "qwen3-32b-latency"}
    }
    isvc = bench.fleet.only("InferenceService")
    assert live["metadata"]["annotations"] == {PRESERVE_UID: isvc["metadata"]["uid"], PRESERVE_GENERATION: "2"}
    assert live["metadata"]["generation"] == 2
    assert bench.fleet.only("AIMArtifact")["metadata"]["annotations"] == {EVICTION_PROTECTED: "true"}


def test_targets_are_created_as_the_plan_says(bench):
    plan = bench.read_plan()
    bench.apply()
    for target in plan.targets:
        live = bench.fleet.objects[target.id]
        assert live["spec"] == target.body["spec"]
        assert "ownerReferences" not in live["metadata"]


def test_the_journal_tells_each_write_from_before_it_to_its_proof(bench):
    bench.apply()
    writes = [entry for entry in bench.events("attempt", "accepted", "verified") if not entry.facts.get("dryRun")]
    assert [(entry.event, entry.step) for entry in writes] == [
        (event, step)
        for step in ("CreateProfile", "CreateProfileCache", "ProtectArtifact", "CutOver")
        for event in ("attempt", "accepted", "verified")
    ]
    first = writes[0].facts
    assert (first["object"], first["method"]) == ("AIMProfile/team-a/qwen3-32b-latency", "POST")
    assert first["path"] == "/apis/aim.eai.amd.com/v1alpha2/namespaces/team-a/aimprofiles"
    assert len(first["bodySha256"]) == 64
    assert writes[1].facts["managedByUs"] is True
    names = [entry.event for entry in bench.journal()]
    assert (names[0], names[1], names[-2], names[-1]) == ("runStarted", "unitStarted", "unitFinished", "runFinished")


def test_the_journal_holds_the_workload_before_the_cutover_and_digests_of_what_is_tested(bench):
    bench.apply()
    entries = bench.journal()
    place = next(number for number, entry in enumerate(entries) if entry.step == "CutOver" and entry.event == "attempt")
    facts = next(entry.facts for entry in entries[:place] if entry.step == "CutOver" and entry.event == "facts")
    assert facts["workload"]["uid"] == bench.fleet.only("InferenceService")["metadata"]["uid"]
    assert [pod["restarts"] for pod in facts["workload"]["pods"]] == [0]
    assert sorted(facts["testedSha256"]) == ["annotations", "spec"]
    deadline = next(entry.facts for entry in entries if entry.step == "ConfirmNoRollout" and entry.event == "facts")
    assert deadline == {"deadlineSeconds": 60.0}
    assert "replicas" not in bench.result_path.with_name("apply-result.json.journal.jsonl").read_text()


def test_the_result_holds_every_identity_with_owners_and_pause_state(bench):
    unit = unit_of(bench.apply())
    roles = [item.role for item in unit.identities]
    assert roles == [
        "service", "model", "template", "templateCache", "artifact", "pvc", "inferenceService", "deployment",
        "targetProfile", "targetProfileCache",
    ]  # fmt: skip
    by_role = {item.role: item for item in unit.identities}
    assert by_role["service"].generation == 2
    assert by_role["pvc"].owner_references[0].kind == "AIMArtifact"
    assert not any(item.paused for item in unit.identities)
    assert unit.resolved_profile == "qwen3-32b-latency"
    assert unit.workload_before == unit.workload_after
    assert (unit.last_attempted_step, unit.last_completed_step) == ("ConfirmNoRollout", "ConfirmNoRollout")


def test_the_result_on_disk_is_the_one_returned_and_adds_up(bench):
    outcome = bench.apply()
    assert bench.result() == outcome.result
    result = outcome.result
    assert (result.mode, result.state, result.stopped, result.in_flight) == ("commit", "complete", "", ())
    assert sum(result.counts.values()) == len(result.units) == len(bench.read_plan().units)
    assert (result.plan_id, len(result.plan_sha256), result.journal) == ("0000", 64, "apply-result.json.journal.jsonl")
    assert not list(bench.plan_directory.glob(".*.partial"))
    assert not (bench.plan_directory / "apply.lock").exists()


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_every_file_is_private_at_every_moment(bench, umask):
    modes = set()

    def look(request=None, when=None):
        for path in bench.plan_directory.iterdir():
            modes.add((path.name.split(".")[0], stat.S_IMODE(path.stat().st_mode)))

    bench.cluster.trouble = look
    former = os.umask(umask)
    try:
        bench.apply()
    finally:
        os.umask(former)
    look()
    assert {mode for _, mode in modes} == {0o600}
    assert {name for name, _ in modes} >= {"apply", "apply-result", "plan"}


def test_a_rerun_finds_its_own_pin_and_writes_nothing(bench):
    bench.apply()
    bench.archive()
    bench.cluster.sent.clear()
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (outcome.exit_code, unit.status, unit.code) == (0, "succeeded", "AlreadyCutOver")
    assert bench.cluster.sent == []
    assert [warning.code for warning in unit.warnings] == ["PodsNotCompared"]
    assert (unit.attempted_steps, unit.completed_steps) == (("ConfirmNoRollout",), ("ConfirmNoRollout",))
    bench.archive()
    assert unit_of(bench.apply(commit=False)).code == "AlreadyCutOver"
    assert bench.cluster.sent == []


def test_a_rerun_with_a_baseline_compares_pods(bench):
    bench.apply()
    baseline = bench.directory / "archived.json"
    baseline.write_bytes(bench.result_path.read_bytes())
    bench.archive()
    unit = unit_of(bench.apply(baseline=baseline))
    assert (unit.status, unit.code, unit.warnings) == ("succeeded", "AlreadyCutOver", ())
    assert unit.workload_before is not None  # this result can be the next one's baseline
    bench.archive()
    bench.fleet.only("Pod")["status"]["containerStatuses"][0]["restartCount"] = 3
    outcome = bench.apply(baseline=baseline)
    assert (unit_of(outcome).code, outcome.exit_code) == ("PodsChanged", 3)
    assert "restarted (0 → 3 restarts)" in unit_of(outcome).message


def test_a_baseline_without_pods_is_refused_and_said_to_hold_none(bench):
    bench.apply(stop_before="CreateProfile")
    baseline = bench.directory / "archived.json"
    baseline.write_bytes(bench.result_path.read_bytes())
    bench.archive()
    with pytest.raises(PlanRejected, match="holds no pods of any unit"):
        bench.apply(baseline=baseline)


def test_a_baseline_without_pods_of_the_unit_is_said_to_hold_none_of_it(bench):
    bench.apply()
    result = json.loads(bench.result_path.read_bytes())
    result["units"].append({**result["units"][0], "id": "AIMService/team-a/other"})
    del result["units"][0]["workloadBefore"]
    baseline = bench.directory / "archived.json"
    baseline.touch(0o600)
    baseline.write_text(json.dumps(result))
    bench.archive()
    (warning,) = unit_of(bench.apply(baseline=baseline)).warnings
    assert warning.code == "PodsNotCompared"
    assert warning.message.endswith("the result given with --baseline holds none of this unit")


def test_a_rerun_sees_a_rollout_that_came_later(bench):
    bench.apply()
    bench.archive()
    bench.fleet.only("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    outcome = bench.apply()
    assert (unit_of(outcome).code, outcome.exit_code) == ("RolloutDetected", 3)
    assert bench.cluster.writes[-1] == f"PATCH {SERVICE}"  # that of the first run


def test_a_rerun_after_a_later_edit_says_that_the_pin_has_expired(bench):
    bench.apply()
    bench.archive()
    service(bench)["spec"]["replicas"] = 2
    service(bench)["metadata"]["generation"] = 3
    bench.fleet.only("InferenceService")["metadata"]["generation"] = 2
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "PinExpired")


@pytest.mark.parametrize("step", STEP_NAMES[:-1])
def test_a_rerun_after_a_partial_run_goes_on_from_live_state(bench, step):
    outcome = bench.apply(stop_before=step)
    unit = unit_of(outcome)
    place = STEP_NAMES.index(step)
    assert (unit.status, unit.code, unit.completed_steps) == ("skipped", "StoppedBefore", STEP_NAMES[:place])
    assert unit.attempted_steps == STEP_NAMES[:place]
    assert outcome.exit_code == 0
    bench.archive()
    before = list(bench.cluster.writes)
    again = unit_of(bench.apply())
    assert (again.status, again.code) == ("succeeded", "")
    assert len(bench.cluster.writes) == len(set(bench.cluster.writes)) == 4  # nothing is written twice
    assert bench.cluster.writes[: len(before)] == before


def test_a_dry_run_after_a_commit_reports_no_change(bench):
    bench.apply()
    bench.archive()
    bench.cluster.sent.clear()
    outcome = bench.apply(commit=False)
    assert (outcome.exit_code, bench.cluster.sent) == (0, [])


def test_hand_edited_targets_are_created_and_found_again(bench):
    def change(document):
        for target in document["targets"]:
            if target["id"].startswith("AIMProfile/"):
                target["body"]["spec"]["engineArgs"] = {"max-model-len": 4096}
                target["body"]["spec"]["features"] = ["adapters"]

    bench.edit_json(change)
    bench.apply(stop_before="CutOver")
    profile = bench.fleet.only("AIMProfile")
    assert profile["spec"]["engineArgs"] == {"max-model-len": 4096}
    bench.archive()
    unit = unit_of(bench.apply())
    assert (unit.status, unit.message) == ("succeeded", "")


def test_a_target_that_differs_from_a_hand_edit_is_a_conflict(bench):
    bench.apply(stop_before="AwaitProfile")
    bench.archive()

    def change(document):
        for target in document["targets"]:
            if target["id"].startswith("AIMProfile/"):
                target["body"]["spec"]["engineArgs"] = {"max-model-len": 4096}

    bench.edit_json(change)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "NoLongerAutomatic")
    assert "TargetProfileConflict" in unit.message
    assert "spec.engineArgs" in unit.message


def test_a_profile_that_discovery_made_is_used_as_it_is(unplanned):
    bench = unplanned
    body = next(target.body for target in bench.fleet.plan().targets if target.id.startswith("AIMProfile/"))
    reference = owner(bench.fleet.only("AIMModel"))
    profile = bench.fleet.add(
        "AIMProfile", body["apiVersion"], body["metadata"]["name"], "team-a",
        metadata={"ownerReferences": [reference]}, spec=body["spec"],
    )  # fmt: skip
    bench.operator.react(bench.fleet)
    bench.plan()
    unit = unit_of(bench.apply())
    assert unit.status == "succeeded", unit.message
    assert not any("POST AIMProfile/" in write for write in bench.cluster.writes)
    present = [entry for entry in bench.events("facts") if entry.step == "CreateProfile"]
    assert present[0].facts == {"alreadyPresent": True, "uid": profile["metadata"]["uid"]}


def test_a_planned_profile_that_has_vanished_is_not_made_anew(unplanned):
    bench = unplanned
    body = next(target.body for target in bench.fleet.plan().targets if target.id.startswith("AIMProfile/"))
    bench.fleet.add("AIMProfile", body["apiVersion"], body["metadata"]["name"], "team-a", spec=body["spec"])
    bench.operator.react(bench.fleet)
    bench.plan()
    bench.fleet.remove("AIMProfile", body["metadata"]["name"])
    unit = unit_of(bench.apply())
    assert (unit.code, bench.cluster.sent) == ("PinGone", [])


@pytest.fixture
def on_cluster_template(unplanned):
    return on_cluster_scope(unplanned)


def test_a_cluster_template_needs_no_profile_to_be_created(on_cluster_template):
    outcome = on_cluster_template.apply()
    assert (unit_of(outcome).status, unit_of(outcome).message) == ("succeeded", "")
    assert unit_of(outcome).completed_steps == STEP_NAMES[1:]
    assert not any(write.startswith("POST AIMProfile/") for write in on_cluster_template.cluster.writes)


@pytest.mark.parametrize("step", STEP_NAMES[:-1])
def test_a_unit_without_the_named_step_stops_before_the_next_one(on_cluster_template, step):
    unit = unit_of(on_cluster_template.apply(stop_before=step))
    assert (unit.status, unit.code) == ("skipped", "StoppedBefore")
    assert unit.completed_steps == STEP_NAMES[1 : STEP_NAMES.index(step)]
    assert bool(on_cluster_template.cluster.writes) == (step not in STEP_NAMES[:3])


def test_a_profile_that_would_win_over_the_cluster_one_must_stay_absent(on_cluster_template):
    bench = on_cluster_template
    rival = ("AIMProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", "team-a")
    bench.clock.on_sleep = lambda: bench.fleet.add(*rival, manager="kubectl-create", spec={})
    for _ in ("the run", "a rerun"):
        unit = unit_of(bench.apply(soak_seconds=5))
        assert (unit.status, unit.code) == ("failed", "PinAppeared")
        assert "AIMProfile/team-a/qwen3-32b-latency has appeared" in unit.message
        bench.archive()


@pytest.mark.parametrize(
    ("resolved", "said"),
    [
        ({"name": "qwen3-32b-latency", "scope": "Namespace"}, "of scope Namespace, not AIMClusterProfile/"),
        ({"name": "qwen3-32b-latency", "scope": "Cluster", "uid": "other"}, "with UID other, not "),
    ],
)
def test_the_very_profile_of_the_plan_must_be_resolved(on_cluster_template, resolved, said):
    bench = on_cluster_template
    bench.operator.resolved = resolved
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "CutoverNotObserved")
    assert said in unit.message


def test_services_that_share_a_template_share_the_targets(several):
    bench = several(3, shared=True)
    outcome = bench.apply(parallel=3)
    assert [unit.status for unit in outcome.result.units] == ["succeeded"] * 3
    kinds = [write.split("/")[0] for write in bench.cluster.writes]
    assert sorted(kinds) == ["PATCH AIMArtifact", *["PATCH AIMService"] * 3, "POST AIMProfile", "POST AIMProfileCache"]


def test_warnings_of_the_server_are_shown_once_each(bench):
    bench.cluster.warnings = ("old field", "old field")
    unit = unit_of(bench.apply())
    assert {(warning.code, warning.message) for warning in unit.warnings} == {("ServerWarning", "old field")}
    assert len(unit.warnings) == 4  # once for each step


def test_a_unit_made_manual_by_hand_is_left_alone(several):
    bench = several(2)
    bench.edit_json(lambda document: document["units"][0].update(disposition="manual"))
    outcome = bench.apply()
    first, second = outcome.result.units
    assert (first.status, first.code, second.status) == ("manual", "MadeManual", "succeeded")
    assert not any("svc-00" in write for write in bench.cluster.writes)
    assert outcome.exit_code == 0


def test_a_deleted_unit_is_left_alone(several):
    bench = several(2)
    bench.edit_json(lambda document: document["units"].pop(0))
    outcome = bench.apply()
    assert [unit.id for unit in outcome.result.units] == ["AIMService/team-0/svc-01"]
    assert not any("svc-00" in write for write in bench.cluster.writes)


def test_manual_units_alone_are_no_failure_and_write_nothing(tmp_path):
    bench = Bench(tmp_path)
    bench.fleet.only("AIMService")["spec"]["caching"] = {"mode": "Dedicated"}
    bench.plan()
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (outcome.exit_code, unit.status, unit.code) == (0, "manual", "DedicatedHandoffRequiresQuiescence")
    assert unit.next_step
    assert unit.message
    assert bench.cluster.sent == []


def test_a_migrated_service_is_skipped_and_only_selected_units_run(several):
    bench = several(3)
    outcome = bench.apply(only=("AIMService/team-0/svc-01",))
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [
        ("skipped", "NotSelected"), ("succeeded", ""), ("skipped", "NotSelected")
    ]  # fmt: skip
    bench.archive()
    outcome = bench.apply(limit=2)
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [
        ("succeeded", ""), ("succeeded", "AlreadyCutOver"), ("skipped", "NotSelected")
    ]  # fmt: skip
    assert msgspec.structs.asdict(outcome.result)["counts"]["skipped"] == 1


def two_sources(fleet):
    """Give the service a template of two model sources, each with its own artifact and claim."""
    second = {"modelId": "org/draft", "sourceUri": "hf://org/draft", "size": "2Gi"}
    template = fleet.only("AIMServiceTemplate")
    for part in ("spec", "status"):
        template[part]["modelSources"] = [*template[part]["modelSources"], second]
    first = fleet.only("AIMArtifact")
    artifact = fleet.add(
        "AIMArtifact", first["apiVersion"], "a-draft", "team-a", manager="aim-template-cache-controller",
        spec={**second, "storageClassName": "shared-nfs"},
        status={"status": "Ready", "persistentVolumeClaim": "draft", "conditions": [condition("Ready")]},
    )  # fmt: skip
    claim = fleet.add(
        "PersistentVolumeClaim", "v1", "draft", "team-a", manager="aim-artifact-controller",
        metadata={"ownerReferences": [owner(artifact)]},
        spec=fleet.only("PersistentVolumeClaim")["spec"], status={"phase": "Bound"},
    )  # fmt: skip
    del claim["metadata"]["generation"]
    fleet.only("AIMTemplateCache")["status"]["artifacts"]["a-draft"] = {
        "name": "a-draft", "uid": artifact["metadata"]["uid"], "model": "org/draft", "status": "Ready",
        "persistentVolumeClaim": "draft",
    }  # fmt: skip
    volumes = fleet.only("InferenceService")["spec"]["predictor"]["volumes"]
    volumes.append({"name": "draft", "persistentVolumeClaim": {"claimName": "draft"}})


def test_every_artifact_is_protected_in_name_order(unplanned):
    two_sources(unplanned.fleet)
    plan = unplanned.plan()
    assert plan.units[0].outcome == "SharedNoRollout", plan.units[0].reasons
    unit = unit_of(unplanned.apply())
    assert (unit.status, unit.message) == ("succeeded", "")
    assert unit.completed_steps.count("ProtectArtifact") == 2
    protected = [item.name for item in unplanned.cluster.sent if item.kind == "AIMArtifact"]
    assert protected == sorted(protected)
    assert len(protected) == 2


def test_a_second_artifact_that_is_not_reported_holds_the_cutover_back(unplanned):
    two_sources(unplanned.fleet)
    unplanned.plan()
    real = unplanned.operator._cache

    def partial(fleet, cache):
        real(fleet, cache)
        cache["status"]["artifacts"].pop("a-draft")

    unplanned.operator._cache = partial
    unit = unit_of(unplanned.apply())
    assert (unit.code, "reports 1 artifacts, not the predecessor's 2" in unit.message) == ("ProfileCacheNotReady", True)
