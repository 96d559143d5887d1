"""Inspecting a plan on a bench: before a run, after one, and after it was killed anywhere."""

import pytest

from aim_template_migration.applying.lock import ApplyLock
from aim_template_migration.applying.plan_files import PlanRejected
from aim_template_migration.documents.result import decode_result
from aim_template_migration.kube.errors import Forbidden, ServiceUnavailable
from tests.aim_template_migration.applying.bench import lost, unit_of
from tests.aim_template_migration.inspecting.scenes import PROFILE, SERVICE
from tests.aim_template_migration.inspecting.test_verification import second_artifact, second_service
from tests.support.fleet import condition


def condition_of(unit, role):
    return next(item.condition for item in unit.objects if item.role == role)


def files(scene):
    return {path: path.read_bytes() for path in sorted(scene.bench.plan_directory.rglob("*")) if path.is_file()}


def test_before_any_run_everything_is_as_planned(scene):
    outcome = scene.inspect()
    (unit,) = outcome.inspection.units
    assert (outcome.exit_code, unit.finding, unit.attention) == (0, "AsPlanned", False)
    assert (outcome.inspection.run.state, outcome.inspection.recovery) == ("none", ())
    assert {item.condition for item in unit.objects} == {"asPlanned", "absent"}
    assert {item.backup for item in unit.objects} == {"equal", ""}


def test_after_a_commit_it_is_confirmed(scene):
    scene.bench.apply()
    unit, code = scene.unit()
    assert (code, unit.finding, unit.status) == (0, "CutOverConfirmed", "succeeded")
    assert (unit.last_attempted_step, unit.last_completed_step) == ("ConfirmNoRollout", "ConfirmNoRollout")
    assert condition_of(unit, "service") == "asCutOver"
    assert condition_of(unit, "targetProfile") == condition_of(unit, "targetProfileCache") == "equal"


def test_the_cut_over_service_is_shown_against_its_backup(scene):
    scene.bench.apply()
    unit, _ = scene.unit()
    service = next(item for item in unit.objects if item.role == "service")
    assert (service.backup, set(service.backup_differences)) == ("differs", {"spec.profile", "spec.template"})


def test_after_a_dry_run_nothing_was_written(scene):
    scene.bench.apply(commit=False)
    unit, code = scene.unit()
    assert (code, unit.finding, unit.status) == (0, "AsPlanned", "succeeded")


def test_inspecting_changes_no_file_and_sends_no_write(scene):
    scene.kill_at_write(2, "after")
    before, sent = files(scene), len(scene.bench.cluster.sent)
    scene.inspect()
    assert files(scene) == before
    assert len(scene.bench.cluster.sent) == sent


# The writes of a commit: 1 profile, 2 cache, 3 protection, 4 dry run of the cutover, 5 cutover.
@pytest.mark.parametrize(
    ("write", "stage", "finding", "attempt", "last"),
    [
        (1, "before", "PartlyApplied", "AttemptNotStored", "CreateProfile"),
        (1, "after", "PartlyApplied", "AttemptStored", "CreateProfile"),
        (2, "before", "PartlyApplied", "AttemptNotStored", "CreateProfileCache"),
        (2, "after", "PartlyApplied", "AttemptStored", "CreateProfileCache"),
        (3, "before", "PartlyApplied", "AttemptNotStored", "ProtectArtifact"),
        (3, "after", "PartlyApplied", "AttemptStored", "ProtectArtifact"),
        (4, "after", "PartlyApplied", None, "CutOver"),
        (5, "before", "PartlyApplied", "AttemptNotStored", "CutOver"),
        (5, "after", "CutOverUnconfirmed", "AttemptStored", "CutOver"),
    ],
)
def test_killed_at_a_write(scene, write, stage, finding, attempt, last):
    scene.kill_at_write(write, stage)
    outcome = scene.inspect()
    (unit,) = outcome.inspection.units
    assert [item.code for item in unit.attempts] == ([attempt] if attempt else [])
    assert (outcome.exit_code, unit.finding, unit.last_attempted_step) == (3, finding, last)
    run = outcome.inspection.run
    assert (run.state, run.mode, run.finished_at) == ("incomplete", "commit", "")
    assert "no longer lives on this host" in run.lock
    assert scene.lock.exists()
    assert outcome.inspection.recovery


@pytest.mark.parametrize("write", [1, 2, 3, 5])
def test_what_is_not_stored_yet_is_not_settled_before_the_servers_time_limit(scene, write):
    scene.kill_at_write(write, "before")
    unit, code = scene.unit(after=10)
    assert (code, unit.finding, unit.attempts[0].code) == (5, "AttemptOpen", "AttemptOpen")
    assert 40 <= unit.attempts[0].look_again_in_seconds <= 45
    assert "look again in" in unit.message


def test_nothing_is_settled_as_not_stored_while_the_run_may_live(scene):
    scene.kill_at_write(5, "before")
    scene.leave_lock(host="another-host")
    outcome = scene.inspect()
    assert (outcome.exit_code, outcome.inspection.units[0].finding) == (5, "AttemptOpen")
    assert outcome.inspection.run.may_live
    assert outcome.inspection.run.archive == ""


def test_while_an_apply_runs_it_is_said_and_its_lock_is_left_alone(scene):
    with ApplyLock(scene.bench.plan_directory, "r1", "apply --commit"):
        run = scene.inspect().inspection.run
        assert scene.lock.exists()
    assert run.may_live
    assert "still lives on this host" in run.lock


def test_a_lock_that_names_nobody_may_be_of_a_run_that_starts(scene):
    scene.lock.touch(0o600)
    run = scene.inspect().inspection.run
    assert (run.may_live, "names no holder" in run.lock) == (True, True)


def test_a_stored_write_is_settled_even_while_the_run_may_live(scene):
    scene.kill_at_write(5, "after")
    scene.leave_lock(host="another-host")
    assert scene.unit()[0].attempts[0].code == "AttemptStored"


def stored(scene, step, object_id):
    """Look at the fleet itself whether a step took effect."""
    live = scene.fleet.objects.get(object_id)
    if step in ("CreateProfile", "CreateProfileCache"):
        return live is not None
    if step == "ProtectArtifact":
        return "aim.eai.amd.com/eviction-protected" in live["metadata"].get("annotations", {})
    return "profile" in live["spec"]


@pytest.mark.parametrize("line", [*range(1, 46), None])
def test_killed_after_any_line_of_the_journal(scene, monkeypatch, line):
    """The fleet is the judge: what is said of open attempts is what happened, and nothing stays open for ever."""
    if line is None:
        assert not scene.kill_at_line(monkeypatch, 1000), "more lines than this test looks at"
        assert len(scene.bench.journal()) <= 45
        return
    there = scene.kill_at_line(monkeypatch, line)
    unit, code = scene.unit(after=0)
    for attempt in unit.attempts:
        happened = stored(scene, attempt.step, attempt.object)
        assert attempt.code == ("AttemptStored" if happened else "AttemptOpen")
    assert (code == 5) == any(attempt.code == "AttemptOpen" for attempt in unit.attempts)
    unit, code = scene.unit()
    for attempt in unit.attempts:
        happened = stored(scene, attempt.step, attempt.object)
        assert attempt.code == ("AttemptStored" if happened else "AttemptNotStored")
    cut_over = stored(scene, "CutOver", SERVICE)
    assert unit.finding.startswith("CutOver") == cut_over
    assert code == (0 if unit.finding in ("AsPlanned", "CutOverConfirmed") and not unit.attempts else 3)
    if not there:
        assert unit.finding == "CutOverConfirmed"


def test_a_torn_line_is_said_and_its_request_had_not_left(scene):
    scene.kill_at_write(1, "before")
    data = scene.journal.read_bytes()
    lines = data.splitlines(keepends=True)
    assert b'"attempt"' in lines[-1]
    scene.journal.write_bytes(data[: -len(lines[-1]) // 2])
    outcome = scene.inspect(after=0)
    (unit,) = outcome.inspection.units
    assert outcome.inspection.run.torn_bytes > 0
    assert (outcome.exit_code, [item.code for item in unit.attempts]) == (3, ["AttemptNotStored"])
    assert "before the request left" in unit.attempts[0].message


def test_a_damaged_journal_is_a_problem_and_proves_nothing_about_what_left(scene):
    scene.kill_at_write(1, "before")
    lines = scene.journal.read_bytes().splitlines(keepends=True)
    scene.journal.write_bytes(b"".join([lines[0], b'{"entry":{},"prev":"","sum":""}\n', *lines[2:]]))
    outcome = scene.inspect(after=0)
    assert "damaged" in outcome.inspection.run.problems[0]
    assert (outcome.exit_code, outcome.inspection.units[0].finding) == (5, "AttemptOpen")
    assert scene.inspect().exit_code == 3


def test_a_result_without_a_journal_is_a_problem(scene):
    scene.bench.apply()
    scene.journal.unlink()
    outcome = scene.inspect()
    assert "is missing" in outcome.inspection.run.problems[0]
    assert (outcome.exit_code, outcome.inspection.units[0].finding) == (3, "CutOverConfirmed")


def test_a_journal_without_a_result_is_enough(scene):
    scene.kill_at_write(5, "after")
    scene.bench.result_path.unlink()
    outcome = scene.inspect()
    assert (outcome.inspection.run.state, outcome.inspection.run.mode) == ("incomplete", "commit")
    assert outcome.inspection.units[0].attempts[0].code == "AttemptStored"
    assert outcome.inspection.units[0].finding == "CutOverUnconfirmed"


def test_an_unreadable_result_leaves_the_journal(scene):
    scene.bench.apply()
    scene.bench.result_path.write_bytes(b"{")
    outcome = scene.inspect()
    assert "no readable result" in outcome.inspection.run.problems[0]
    assert outcome.inspection.units[0].finding == "CutOverConfirmed"
    assert outcome.exit_code == 3


def test_a_result_of_another_plan_file_is_a_problem(scene):
    scene.bench.apply()
    scene.bench.edit_json(lambda plan: plan["units"].clear())
    outcome = scene.inspect()
    assert "SHA-256" in outcome.inspection.run.problems[0]
    assert outcome.exit_code == 3


def test_a_result_and_a_journal_of_different_runs(scene):
    scene.bench.apply()
    journal = scene.journal.read_bytes()
    scene.bench.archive()
    scene.bench.apply()
    scene.journal.write_bytes(journal)
    assert "files of one run" in scene.inspect().inspection.run.problems[0]


def test_an_archived_result_is_named(scene):
    scene.bench.apply()
    scene.bench.archive()
    unit, code = scene.unit()
    assert (code, unit.finding) == (3, "CutOverUnconfirmed")
    (archived,) = scene.bench.plan_directory.glob("archive/*/apply-result.json")
    unit, code = scene.unit(result=archived)
    assert (code, unit.finding) == (0, "CutOverConfirmed")


def test_a_dry_run_that_finds_the_cutover_confirms_nothing(scene):
    scene.kill_at_write(5, "after")
    scene.lock.unlink(missing_ok=True)
    scene.bench.archive()
    scene.bench.apply(commit=False)
    unit, code = scene.unit()
    assert (code, unit.finding, unit.code) == (3, "CutOverUnconfirmed", "AlreadyCutOver")
    scene.bench.archive()
    scene.bench.apply()
    unit, code = scene.unit()
    assert (code, unit.finding) == (0, "CutOverConfirmed")
    assert "the pods could not be compared" in unit.message


def test_a_lost_answer_that_the_run_could_not_settle(scene):
    """The server stored the cutover, its answer was lost, and then it could not be read until the run gave up."""
    scene.bench.cluster.trouble = lambda request, stage: (
        stop(request) if stage == "after" and cutover(request) else None
    )
    scene.bench.cluster.on_read = lambda kind, name: None

    def cutover(request):
        return request.kind.name == "AIMService" and not request.dry_run

    def stop(request):
        def unreadable(kind, name):
            raise ServiceUnavailable(request.action, status=503, reason="ServiceUnavailable", message="busy")

        scene.bench.cluster.on_read = unreadable
        raise lost(request)

    outcome = scene.bench.apply()
    assert (outcome.exit_code, unit_of(outcome).status, unit_of(outcome).code) == (5, "unknown", "OutcomeUnknown")
    scene.bench.cluster.on_read = lambda kind, name: None
    unit, code = scene.unit()
    assert (code, unit.finding, unit.attempts[0].code) == (3, "CutOverUnconfirmed", "AttemptStored")
    assert unit.next_steps


def test_while_the_object_still_cant_be_read_the_outcome_stays_open(scene):
    scene.kill_at_write(5, "after")

    def busy(kind, name):
        if kind == "AIMService":
            raise ServiceUnavailable(_action(kind), status=503, reason="ServiceUnavailable", message="busy")

    scene.bench.cluster.on_read = busy
    unit, code = scene.unit()
    assert (code, unit.finding, unit.attempts[0].code) == (5, "AttemptOpen", "AttemptOpen")


def _action(kind):
    from aim_template_migration.kube.requests import Action

    return Action("get", kind)


def test_a_unit_that_cant_be_read_is_said_so(scene):
    def busy(kind, name):
        if kind == "Pod":
            raise ServiceUnavailable(_action(kind), status=503, reason="ServiceUnavailable", message="busy")

    scene.bench.cluster.on_read = busy
    unit, code = scene.unit()
    assert (code, unit.finding) == (3, "UnitUnreadable")
    assert "busy" in unit.message


def test_a_missing_permission_ends_the_inspection(scene):
    scene.fleet.forbidden.add("AIMArtifact")
    with pytest.raises(Forbidden):
        scene.inspect()


def edit(obj):
    obj["spec"]["replicas"] = 3
    obj["metadata"]["generation"] += 1


@pytest.mark.parametrize(
    ("change", "role", "condition"),
    [
        (lambda fleet: edit(fleet.only("AIMService")), "service", "edited"),
        (lambda fleet: fleet.only("AIMArtifact")["metadata"].update(uid="other"), "artifact", "replaced"),
        (lambda fleet: fleet.remove("PersistentVolumeClaim", fleet.only("PersistentVolumeClaim")["metadata"]["name"]),
         "pvc", "gone"),
        (lambda fleet: fleet.only("AIMTemplateCache")["metadata"].update(deletionTimestamp="2026-06-02T09:00:00Z"),
         "templateCache", "terminating"),
        (lambda fleet: fleet.add("AIMRuntimeConfig", "aim.eai.amd.com/v1alpha1", "default", "team-a", spec={}),
         "namespaceRuntimeConfig", "appeared"),
        (lambda fleet: fleet.add("AIMProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", "team-a",
                                 spec={"image": "other"}), "targetProfile", "other"),
    ],
)  # fmt: skip
def test_what_differs_is_named(scene, change, role, condition):
    change(scene.fleet)
    unit, code = scene.unit()
    item = next(item for item in unit.objects if item.role == role)
    assert (code, unit.finding, item.condition) == (3, "UnitDiffers", condition)
    assert item.message.startswith(item.reference.id)
    assert unit.message.startswith(item.reference.id)


def test_identities_carry_owners_and_pause_state(scene):
    scene.fleet.only("AIMTemplateCache")["metadata"]["annotations"] = {"aim.eai.amd.com/reconciliation-paused": "true"}
    unit, _ = scene.unit()
    identity = next(item.identity for item in unit.objects if item.role == "templateCache")
    assert identity.paused
    owners = next(item.identity.owner_references for item in unit.objects if item.role == "inferenceService")
    assert owners[0].kind == "AIMService"


def break_cutover(fleet, what):
    service, isvc = fleet.only("AIMService"), fleet.only("InferenceService")
    match what:
        case "operator":
            service["status"]["observedGeneration"] = 1
        case "edited":
            edit(service)
        case "rolled":
            isvc["spec"]["predictor"]["minReplicas"] = 2
            isvc["metadata"]["generation"] += 1
        case "template":
            fleet.only("Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
        case "restarted":
            fleet.only("Pod")["status"]["containerStatuses"][0]["restartCount"] = 1
        case "not ready":
            isvc["status"]["conditions"] = [condition("Ready", "False")]
        case "gone":
            fleet.remove("InferenceService", isvc["metadata"]["name"])
        case "weights":
            fleet.remove("PersistentVolumeClaim", fleet.only("PersistentVolumeClaim")["metadata"]["name"])
        case "preserved":
            service["status"]["conditions"].append(condition("InferenceServicePreserved", "False"))


@pytest.mark.parametrize(
    "what",
    ["operator", "edited", "rolled", "template", "restarted", "not ready", "gone", "weights", "preserved"],
)
def test_a_proof_that_broke_after_the_cutover(scene, what):
    scene.bench.apply()
    break_cutover(scene.fleet, what)
    unit, code = scene.unit()
    assert (code, unit.finding) == (3, "CutOverChanged")
    assert unit.message


def test_a_service_that_was_edited_after_its_cutover_is_no_longer_as_the_cutover_left_it(scene):
    scene.bench.apply()
    edit(scene.fleet.only("AIMService"))
    service = next(item for item in scene.unit()[0].objects if item.role == "service")
    assert (service.condition, service.message) == (
        "edited", f"{SERVICE} was edited after its cutover: generation 3, pinned 2"
    )  # fmt: skip


def test_a_protected_artifact_is_said_so(scene):
    scene.kill_at_write(3, "after")
    artifact = next(item for item in scene.unit()[0].objects if item.role == "artifact")
    assert (artifact.condition, artifact.message, artifact.backup) == (
        "asPlanned", "protected from quota eviction", "equal"
    )  # fmt: skip


def test_a_cutover_that_was_undone_is_a_difference(scene):
    scene.bench.apply()
    service = scene.fleet.only("AIMService")
    del service["spec"]["profile"]
    service["spec"]["template"] = {"name": "qwen3-32b-latency"}
    service["metadata"]["annotations"] = {}
    service["metadata"]["generation"] = 3
    unit, code = scene.unit()
    assert (code, unit.finding, condition_of(unit, "service")) == (3, "UnitDiffers", "edited")


def test_after_a_kill_the_pods_are_compared_with_the_journal(scene):
    scene.kill_at_write(5, "after")
    assert scene.unit()[0].finding == "CutOverUnconfirmed"
    scene.fleet.only("Pod")["status"]["containerStatuses"][0]["restartCount"] = 4
    unit, _ = scene.unit()
    assert unit.finding == "CutOverChanged"
    assert "restarted (0 → 4 restarts)" in unit.message


def test_a_recorded_failure_is_shown_even_where_all_is_as_planned_again(scene):
    scene.bench.cluster.trouble = lambda request, stage: (_ for _ in ()).throw(
        Forbidden(request.action, status=403, reason="Forbidden", message="no")
    )
    assert scene.bench.apply().exit_code == 3
    unit, code = scene.unit()
    assert (code, unit.status, unit.code, unit.http_status, unit.server_message) == (
        3, "failed", "Forbidden", 403, "no"
    )  # fmt: skip
    assert unit.finding == "PartlyApplied"
    assert any("Grant exactly the permission" in step for step in unit.next_steps)


def test_a_unit_stopped_before_its_cutover_is_partly_applied(scene):
    scene.bench.apply(stop_before="CutOver")
    unit, code = scene.unit()
    assert (code, unit.finding, unit.status, unit.code) == (3, "PartlyApplied", "skipped", "StoppedBefore")


def test_an_interrupted_unit_that_never_began_is_as_planned(scene):
    scene.bench.stop.set()
    scene.bench.apply()
    unit, code = scene.unit()
    assert (code, unit.finding, unit.status) == (0, "AsPlanned", "interrupted")


def test_manual_units_are_not_read(scene):
    scene.bench.edit_json(lambda plan: plan["units"][0].update(disposition="manual"))
    scene.bench.cluster.read.clear()
    unit, code = scene.unit()
    assert (code, unit.finding) == (0, "NotTouched")
    assert "InferenceService" not in scene.bench.cluster.read


def test_only_named_units_are_looked_at(scene):
    assert scene.inspect(only=(SERVICE,)).exit_code == 0
    with pytest.raises(PlanRejected, match="is no unit of the plan"):
        scene.inspect(only=("AIMService/team-a/other",))


def test_an_unsound_plan_is_refused(scene):
    scene.bench.edit_json(lambda plan: plan["units"][0]["steps"].pop())
    with pytest.raises(PlanRejected, match="no sound plan"):
        scene.inspect()


def test_another_cluster_is_refused(scene):
    scene.fleet.objects["Namespace/kube-system"]["metadata"]["uid"] = "another"
    with pytest.raises(PlanRejected, match="another cluster"):
        scene.inspect()
    assert scene.bench.cluster.closed


def test_a_missing_backup_is_said_and_no_failure(scene):
    (scene.bench.plan_directory / "backup.yaml").unlink()
    outcome = scene.inspect()
    assert outcome.exit_code == 0
    assert "backup.yaml" in outcome.inspection.backup


def test_the_archive_command_names_what_is_there(scene):
    scene.bench.apply()
    result = decode_result(scene.bench.result_path.read_bytes())
    archive = scene.inspect().inspection.run.archive
    assert f"archive/{result.run_id}" in archive
    assert str(scene.journal) in archive
    scene.bench.result_path.unlink()
    assert archive.count("apply-result.json ") == 1
    assert "apply-result.json " not in scene.inspect().inspection.run.archive


def test_a_shared_target_that_another_unit_made_is_as_planned(scene):
    scene.bench.apply(stop_before="ProtectArtifact")
    scene.bench.archive()
    unit, code = scene.unit()
    assert (code, unit.finding) == (0, "AsPlanned")
    assert "exist already" in unit.message
    assert next(item for item in unit.objects if item.reference.id == PROFILE).condition == "equal"


@pytest.mark.parametrize(
    ("join", "words"), [(second_artifact, "weights may download again"), (second_service, "two may serve")]
)
@pytest.mark.parametrize(("write", "finding"), [(2, "UnitDiffers"), (5, "CutOverChanged")])
def test_what_has_joined_a_unit_is_seen_although_nothing_pinned_differs(scene, write, finding, join, words):
    scene.kill_at_write(write, "after")
    calm, _ = scene.unit()
    assert calm.finding in ("PartlyApplied", "CutOverUnconfirmed")
    join(scene.fleet)
    unit, code = scene.unit()
    assert (unit.finding, code) == (finding, 3)
    assert words in unit.message
