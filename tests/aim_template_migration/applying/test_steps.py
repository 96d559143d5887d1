"""Steps that wait, protect, cut over and confirm: what they accept, what stops them, and how long they wait."""

import copy
import uuid

import pytest

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_template_migration.applying.events import StepProgress
from aim_template_migration.documents.codes import CODES
from aim_template_migration.kube.errors import Conflict, Invalid, ServiceUnavailable, TooManyRequests, UnreadableAnswer
from aim_template_migration.kube.requests import Action
from tests.aim_template_migration.applying.bench import unit_of
from tests.aim_template_migration.applying.test_commit import SERVICE
from tests.support.fleet import condition, owner


def after_write(bench, kind, change):
    """Carry out a change once the write to a kind has been stored and the operator has reacted."""

    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == (kind, "after", False):
            change(bench.fleet)

    bench.cluster.trouble = trouble


def no_cutover(bench):
    return not any(SERVICE in write for write in bench.cluster.all_writes)


# AwaitProfile


def test_a_profile_that_never_becomes_ready_is_waited_for_until_its_deadline(bench):
    bench.operator.profiles = False
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.code, unit.last_attempted_step, outcome.exit_code) == ("ProfileNotReady", "AwaitProfile", 3)
    assert sum(bench.clock.slept) == pytest.approx(120)
    assert "(waited 120 s)" in unit.message
    assert bench.cluster.writes == ["POST AIMProfile/qwen3-32b-latency"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda fleet: fleet.only("ServingRuntime")["metadata"].update(ownerReferences=[]),
            "is not controlled by this",
        ),
        (lambda fleet: fleet.remove("AIMProfile", "qwen3-32b-latency"), "does not exist"),
    ],
)
def test_what_waiting_cannot_bring_ends_it_at_once(bench, change, said):
    after_write(bench, "AIMProfile", lambda fleet: (change(fleet), setattr(bench.operator, "profiles", False)))
    if "exist" in said:
        # The read-back must still find it; it vanishes as the wait begins.
        bench.cluster.trouble = lambda request, when: None
        bench.listener = lambda event: (
            change(bench.fleet)
            if isinstance(event, StepProgress) and (event.step, event.state) == ("AwaitProfile", "started")
            else None
        )
    unit = unit_of(bench.apply())
    assert (unit.code, said in unit.message, bench.clock.slept) == ("ProfileNotReady", True, [])


def test_a_runtime_that_is_not_there_yet_is_waited_for(bench):
    after_write(
        bench,
        "AIMProfile",
        lambda fleet: fleet.remove("ServingRuntime", fleet.only("ServingRuntime")["metadata"]["name"]),
    )
    bench.operator.profiles = True

    def on_sleep():
        bench.operator.react(bench.fleet)

    bench.clock.on_sleep = on_sleep
    assert unit_of(bench.apply()).status == "succeeded"
    facts = next(entry.facts for entry in bench.events("facts") if entry.step == "AwaitProfile")
    runtime = bench.fleet.only("ServingRuntime")
    assert facts["runtimeUid"] == runtime["metadata"]["uid"]


def test_waits_go_on_over_reads_that_fail_and_keep_their_deadline(bench):
    failing = []

    def on_read(kind, name):
        if kind == "ServingRuntime" and len(failing) < 3:
            failing.append(1)
            raise UnreadableAnswer(Action("get", kind, "team-a", name), "the answer was cut off", transient=True)

    bench.cluster.on_read = on_read
    assert unit_of(bench.apply()).status == "succeeded"
    bench.archive()
    assert len(failing) == 3


def test_a_wait_whose_reads_never_succeed_says_so(bench):
    def on_read(kind, name):
        if kind == "ServingRuntime":
            raise UnreadableAnswer(Action("get", kind, "team-a", name), "the answer was cut off", transient=True)

    bench.cluster.on_read = on_read
    unit = unit_of(bench.apply())
    assert unit.code == "UnreadableAnswer"
    assert sum(bench.clock.slept) == pytest.approx(120)


def test_waiting_is_told_once_for_each_reason(bench):
    bench.operator.profiles = False
    seen = []
    bench.listener = seen.append
    bench.apply()
    waiting = [event.detail for event in seen if isinstance(event, StepProgress) and event.state == "waiting"]
    assert len(waiting) == 1
    assert "does not observe its present generation" in waiting[0]


# CreateProfileCache, AwaitProfileCache, ReverifyProfileCache


def test_a_cache_that_never_becomes_ready_is_waited_for_until_its_deadline(bench):
    bench.operator.caches = False
    unit = unit_of(bench.apply())
    assert (unit.code, unit.last_attempted_step) == ("ProfileCacheNotReady", "AwaitProfileCache")
    assert sum(bench.clock.slept) == pytest.approx(300)
    assert no_cutover(bench)


def report(fleet, **changes):
    (entry,) = fleet.only("AIMProfileCache")["status"]["artifacts"].values()
    entry.update(changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"uid": "00000000-0000-4000-8000-000000000000"}, "not the predecessor's: weights may download again"),
        ({"persistentVolumeClaim": "another"}, "it reports PVC another for artifact"),
    ],
)
def test_another_artifact_or_claim_in_the_cache_stops_the_unit(bench, changes, said):
    after_write(
        bench, "AIMProfileCache", lambda fleet: (report(fleet, **changes), setattr(bench.operator, "caches", False))
    )
    unit = unit_of(bench.apply())
    assert (unit.code, said in unit.message) == ("ProfileCacheNotReady", True)
    assert bench.clock.slept == []
    assert not any("AIMArtifact" in write for write in bench.cluster.writes)


def claim(fleet, **metadata):
    fleet.only("PersistentVolumeClaim")["metadata"].update(metadata)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda fleet: claim(fleet, uid="other"), "PvcChanged"),
        (lambda fleet: claim(fleet, deletionTimestamp="t"), "PvcChanged"),
        (lambda fleet: fleet.only("PersistentVolumeClaim")["status"].update(phase="Lost"), "PvcChanged"),
        (lambda fleet: fleet.objects.pop(next(key for key in fleet.objects if key.startswith("Pers"))), "PvcChanged"),
        (lambda fleet: fleet.only("AIMArtifact")["metadata"].update(ownerReferences=[{"uid": "x"}]), "ArtifactChanged"),
        (lambda fleet: fleet.only("AIMArtifact")["status"].update(status="Progressing"), "ArtifactChanged"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["AIMProfile", "AIMProfileCache"])
def test_the_weights_are_read_anew_before_and_after_the_cache_is_created(bench, kind, change, code):
    """After the profile was created, before the cache is; and after the cache, before the artifact is protected."""

    def spoil(fleet):
        change(fleet)
        bench.operator.caches = kind == "AIMProfileCache"

    after_write(bench, kind, spoil)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", code)
    assert len(bench.cluster.writes) == (1 if kind == "AIMProfile" else 2)


def add_artifact(fleet, name="second", **metadata):
    artifact = copy.deepcopy(fleet.only("AIMArtifact"))
    artifact["metadata"] |= {"name": name, "uid": str(uuid.uuid4()), **metadata}
    fleet.objects[f"AIMArtifact/team-a/{name}"] = artifact


def add_job(fleet):
    reference = owner(fleet.named("AIMArtifact", fleet.only("AIMArtifact")["metadata"]["name"]))
    fleet.add(
        "Job", "batch/v1", "download", "team-a", metadata={"ownerReferences": [reference], "uid": str(uuid.uuid4())}
    )


@pytest.mark.parametrize(
    "appear", [add_artifact, add_job, lambda fleet: add_artifact(fleet, ownerReferences=[{"uid": "x"}])]
)
@pytest.mark.parametrize("ready", [True, False])
def test_a_download_that_begins_after_the_cache_is_created_stops_the_unit_at_once(bench, appear, ready):
    def begin(fleet):
        appear(fleet)
        if not ready:
            fleet.only("AIMProfileCache")["status"] = {}
        bench.operator.caches = False

    after_write(bench, "AIMProfileCache", begin)
    unit = unit_of(bench.apply())
    assert (unit.code, unit.last_attempted_step) == ("DownloadStarted", "AwaitProfileCache")
    assert bench.clock.slept == []
    assert not any("AIMArtifact" in write for write in bench.cluster.writes)


def test_a_rival_artifact_that_comes_before_the_cache_stops_the_unit_before_it(bench):
    after_write(bench, "AIMProfile", add_artifact)
    unit = unit_of(bench.apply())
    assert (unit.code, unit.last_attempted_step) == ("DownloadStarted", "CreateProfileCache")
    assert bench.cluster.writes == ["POST AIMProfile/qwen3-32b-latency"]


def test_artifacts_of_dedicated_neighbours_and_old_jobs_do_not_matter(unplanned):
    bench = unplanned
    add_artifact(bench.fleet, "neighbours", ownerReferences=[{"uid": "cache-of-a-dedicated-service", "kind": "X"}])
    artifact = next(item for item in bench.fleet.of("AIMArtifact") if item["metadata"]["name"] != "neighbours")
    bench.fleet.add("Job", "batch/v1", "old", "team-a", metadata={"ownerReferences": [owner(artifact)]})
    bench.plan()
    unit = unit_of(bench.apply())
    assert (unit.status, unit.message) == ("succeeded", "")


def test_a_cache_that_changes_while_the_artifact_is_protected_is_seen_before_the_cutover(bench):
    after_write(
        bench, "AIMArtifact", lambda fleet: (report(fleet, uid="other"), setattr(bench.operator, "caches", False))
    )
    unit = unit_of(bench.apply())
    assert (unit.code, unit.last_attempted_step) == ("ProfileCacheNotReady", "ReverifyProfileCache")
    assert no_cutover(bench)


def test_a_download_that_begins_late_is_seen_before_the_cutover(bench):
    after_write(bench, "AIMArtifact", add_job)
    unit = unit_of(bench.apply())
    assert (unit.code, unit.last_attempted_step) == ("DownloadStarted", "ReverifyProfileCache")
    assert no_cutover(bench)


# ProtectArtifact


def test_a_protected_artifact_is_not_written_again(bench):
    bench.fleet.only("AIMArtifact")["metadata"]["annotations"] = {"aim.eai.amd.com/eviction-protected": "true"}
    unit = unit_of(bench.apply())
    assert unit.status == "succeeded"
    assert not any("AIMArtifact" in write for write in bench.cluster.writes)


def test_other_annotations_of_the_artifact_stay(bench):
    bench.fleet.only("AIMArtifact")["metadata"]["annotations"] = {"team": "<search & more>"}
    bench.apply()
    assert bench.fleet.only("AIMArtifact")["metadata"]["annotations"] == {
        "team": "<search & more>", "aim.eai.amd.com/eviction-protected": "true"
    }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda obj: obj["metadata"].update(ownerReferences=[{"uid": "x", "controller": True}]), "it has an owner now"),
        (lambda obj: obj["metadata"].update(uid="x"), "its UID is not"),
    ],
)
def test_an_artifact_that_changes_between_reading_and_writing_is_named(bench, change, said):
    def trouble(request, when):
        if (request.kind.name, when) == ("AIMArtifact", "before"):
            change(bench.fleet.only("AIMArtifact"))

    bench.cluster.trouble = trouble
    unit = unit_of(bench.apply())
    assert (unit.code, unit.http_status, unit.status) == ("ArtifactChanged", 422, "failed")
    assert "changed between reading and writing" in unit.message
    assert said in unit.message


def test_an_artifact_that_another_unit_protects_meanwhile_counts_as_done(bench):
    def trouble(request, when):
        if (request.kind.name, when) == ("AIMArtifact", "before"):
            bench.fleet.only("AIMArtifact")["metadata"]["annotations"] = {"aim.eai.amd.com/eviction-protected": "true"}

    bench.cluster.trouble = trouble
    assert unit_of(bench.apply()).status == "succeeded"
    assert len([write for write in bench.cluster.writes if "AIMArtifact" in write]) == 1


# CutOver


def race(bench, change, *, dry_run):
    """Change the service between the read and the patch: the dry run's, or the real one's."""

    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == ("AIMService", "before", dry_run):
            change(bench.fleet)

    bench.cluster.trouble = trouble


def spec_edit(fleet):
    service = fleet.only("AIMService")
    service["spec"]["replicas"] = 4
    service["metadata"]["generation"] += 1


@pytest.mark.parametrize("dry_run", [True, False])
@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (spec_edit, "PinEdited", "was edited (its spec changed) between reading and writing"),
        (
            lambda fleet: fleet.only("AIMService")["metadata"].update(annotations={"a": "b"}),
            "PinEdited",
            "was edited (its annotations changed) between reading and writing",
        ),
        (
            lambda fleet: fleet.only("AIMService")["metadata"].update(uid="x"),
            "PinReplaced",
            "was replaced between reading and writing",
        ),
    ],
)
def test_a_race_lost_names_its_cause_and_stores_nothing(bench, change, code, said, dry_run):
    race(bench, change, dry_run=dry_run)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code, unit.http_status) == ("failed", code, 422)
    assert said in unit.message
    assert unit.server_message == "testing value failed"
    assert "profile" not in bench.fleet.only("AIMService")["spec"]


def test_a_service_that_vanishes_before_the_patch(bench):
    race(bench, lambda fleet: fleet.remove("AIMService", "qwen-chat"), dry_run=False)
    unit = unit_of(bench.apply())
    assert (unit.code, unit.http_status) == ("ObjectGone", 404)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (lambda a: Invalid(a, status=422, reason="Invalid", message="spec is wrong"), "RefusedByServer"),
        (lambda a: Conflict(a, status=409, reason="Conflict", message="modified"), "WriteConflict"),
        (lambda a: TooManyRequests(a, status=429, reason="TooManyRequests", message="slow down"), "ServerBusy"),
        (lambda a: ServiceUnavailable(a, status=503, reason="ServiceUnavailable", message="x"), "ServerBusy"),
    ],
)
def test_a_refusal_without_a_change_keeps_the_servers_words_and_is_not_repeated(bench, error, code):
    def trouble(request, when):
        if (request.kind.name, when, request.dry_run) == ("AIMService", "before", False):
            raise error(request.action)

    bench.cluster.trouble = trouble
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", code)
    assert unit.server_message
    assert bench.cluster.writes.count(f"PATCH {SERVICE}") == 1


@pytest.mark.parametrize("annotations", [None, {"team": "search", "note": "a < b & c > d"}])
def test_the_patch_tests_all_that_it_says(bench, annotations):
    if annotations:
        bench.fleet.only("AIMService")["metadata"]["annotations"] = annotations
    live = copy.deepcopy(bench.fleet.only("AIMService"))
    assert unit_of(bench.apply()).status == "succeeded"
    patch = bench.cluster.sent[-1].body
    tests = {operation["path"]: operation["value"] for operation in patch if operation["op"] == "test"}
    assert tests == {
        "/metadata/uid": live["metadata"]["uid"],
        "/metadata/generation": 1,
        "/spec": live["spec"],
        "/metadata/annotations": annotations,
    }
    assert bench.fleet.only("AIMService")["metadata"]["annotations"].keys() == {
        *(annotations or {}), PRESERVE_UID, PRESERVE_GENERATION
    }  # fmt: skip


def test_annotations_that_came_after_the_plan_are_kept(bench):
    """The plan saw none, so its patch would add the whole map; that would drop what kubectl has added since."""
    bench.fleet.only("AIMService")["metadata"]["annotations"] = {"kubectl.kubernetes.io/restartedAt": "now"}
    assert unit_of(bench.apply()).status == "succeeded"
    assert bench.fleet.only("AIMService")["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"] == "now"


def test_annotations_that_went_after_the_plan_do_not_break_the_patch(unplanned):
    bench = unplanned
    bench.fleet.only("AIMService")["metadata"]["annotations"] = {"team": "search"}
    bench.plan()
    del bench.fleet.only("AIMService")["metadata"]["annotations"]
    assert unit_of(bench.apply()).status == "succeeded"


def test_an_empty_template_block_is_removed(unplanned):
    unplanned.fleet.only("AIMService")["spec"]["template"] = {}
    unplanned.plan()
    assert unit_of(unplanned.apply()).status == "succeeded"
    assert "template" not in unplanned.fleet.only("AIMService")["spec"]


def test_a_cutover_stored_otherwise_than_its_dry_run_showed_halts_the_run(several):
    bench = several(2)

    def answer(request, body):
        if request.kind.name == "AIMService" and not request.dry_run:
            body["metadata"]["labels"] = {"injected": "late"}
        return body

    bench.cluster.answer_body = answer
    outcome = bench.apply()
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [
        ("failed", "CutoverDiffers"), ("skipped", "HaltedAfterRollout")
    ]  # fmt: skip


def test_a_cutover_that_reads_back_otherwise_halts_the_run(several):
    bench = several(2)
    real = bench.cluster._carry_out

    def stripping(prepared, body):
        answer = copy.deepcopy(real(prepared, body))
        if prepared.kind.name == "AIMService" and not prepared.dry_run:
            del bench.fleet.objects[f"AIMService/team-0/{prepared.name}"]["metadata"]["annotations"]
        return answer

    bench.cluster._carry_out = stripping
    outcome = bench.apply()
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [
        ("failed", "ReadBackDiffers"), ("skipped", "HaltedAfterRollout")
    ]  # fmt: skip


# ConfirmNoRollout


def test_a_cutover_that_is_not_observed_fails_at_its_deadline_and_halts(several):
    bench = several(2)
    bench.operator.services = False
    outcome = bench.apply()
    first, second = outcome.result.units
    assert (first.status, first.code) == ("failed", "CutoverNotObserved")
    assert "observedGeneration is 1, generation 2, pinned 2 (waited 60 s)" in first.message
    assert (second.status, second.code, second.attempted_steps) == ("skipped", "HaltedAfterRollout", ())
    assert "AIMService/team-0/svc-00 halted the cutovers of this run" in second.message
    assert sum(bench.clock.slept) == pytest.approx(60)
    assert outcome.exit_code == 3
    assert not any("svc-01" in write for write in bench.cluster.writes)


@pytest.mark.parametrize(("asked", "waited"), [(5.0, 5), (600.0, 600), (None, 60)])
def test_the_deadline_is_as_asked_else_as_planned(bench, asked, waited):
    bench.operator.services = False
    bench.apply(cutover_deadline_seconds=asked)
    assert sum(bench.clock.slept) == pytest.approx(waited)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda service: service["status"].update(resolvedProfile={"name": "other"}), "resolves to profile other, not"),
        (lambda service: service["status"].update(conditions=[condition("Ready", "False")]), "is not Ready"),
        (
            lambda service: service["status"]["conditions"].append(
                condition("InferenceServicePreserved", "False", reason="InferenceServiceMissing")
            ),
            "the bridge reports InferenceServicePreserved=False (InferenceServiceMissing)",
        ),
    ],
)
def test_an_observed_cutover_must_also_be_resolved_ready_and_preserved(bench, change, said):
    def spoil(fleet):
        change(fleet.only("AIMService"))
        bench.operator.services = False

    after_write(bench, "AIMService", spoil)
    unit = unit_of(bench.apply())
    assert (unit.code, said in unit.message) == ("CutoverNotObserved", True)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda fleet: fleet.only("InferenceService")["metadata"].update(generation=2), "RolloutDetected"),
        (lambda fleet: fleet.only("InferenceService")["metadata"].update(uid="x"), "RolloutDetected"),
        (lambda fleet: fleet.only("InferenceService")["metadata"]["labels"].update(a="b"), "RolloutDetected"),
        (lambda fleet: fleet.only("InferenceService")["spec"]["predictor"].update(model={}), "RolloutDetected"),
        (lambda fleet: fleet.remove("InferenceService", "qwen-chat-66a1c54b"), "RolloutDetected"),
        (lambda fleet: fleet.only("Deployment")["spec"]["template"].update(x="y"), "RolloutDetected"),
        (lambda fleet: fleet.only("Deployment")["metadata"].update(uid="x", ownerReferences=[]), "RolloutDetected"),
        (lambda fleet: fleet.remove("Deployment", "qwen-chat-66a1c54b-predictor"), "RolloutDetected"),
        (lambda fleet: fleet.only("Pod")["metadata"]["labels"].update({"pod-template-hash": "x"}), "RolloutDetected"),
        (lambda fleet: fleet.only("Pod")["metadata"].update(uid="x"), "PodsChanged"),
        (lambda fleet: fleet.only("Pod")["status"]["containerStatuses"][0].update(restartCount=1), "PodsChanged"),
        (lambda fleet: fleet.only("InferenceService")["status"].update(conditions=[]), "InferenceServiceNotReady"),
        (lambda fleet: fleet.only("AIMService")["metadata"].update(generation=3), "PinExpired"),
        (lambda fleet: fleet.only("AIMService")["metadata"].update(uid="x"), "PinReplaced"),
        (lambda fleet: fleet.remove("AIMService", "qwen-chat"), "PinGone"),
    ],
)
@pytest.mark.parametrize("when", ["at once", "in the soak"])
def test_whatever_rolls_or_restarts_is_found(bench, change, code, when):
    if when == "at once":
        bench.listener = lambda event: (
            change(bench.fleet)
            if isinstance(event, StepProgress) and (event.step, event.state) == ("ConfirmNoRollout", "started")
            else None
        )
    else:
        bench.clock.on_sleep = lambda: change(bench.fleet)
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.status, unit.code, outcome.exit_code) == ("failed", code, 3)
    assert (unit.last_attempted_step, unit.last_completed_step) == ("ConfirmNoRollout", "CutOver")


def test_the_soak_is_waited_out_and_looked_at_once_more(bench):
    looks = []
    bench.cluster.on_read = lambda kind, name: looks.append(bench.clock.monotonic()) if kind == "Pod" else None
    bench.apply(soak_seconds=30.0)
    assert sum(bench.clock.slept) == pytest.approx(30)
    assert looks == [0.0, 0.0, 30.0]


def test_a_service_that_loses_its_pin_in_the_soak_is_found(bench):
    def on_sleep():
        service = bench.fleet.only("AIMService")
        service["status"]["observedGeneration"] = 1
        bench.operator.services = False

    bench.clock.on_sleep = on_sleep
    unit = unit_of(bench.apply())
    assert (unit.code, "after the soak" in unit.message) == ("CutoverNotObserved", True)


def test_an_autoscaler_may_work_during_the_cutover(unplanned):
    bench = unplanned
    isvc = bench.fleet.only("InferenceService")
    isvc["metadata"]["annotations"]["serving.kserve.io/autoscalerClass"] = "external"
    isvc["spec"]["predictor"] |= {"minReplicas": 1, "maxReplicas": 3}
    bench.plan()

    def scale():
        pod = copy.deepcopy(bench.fleet.of("Pod")[0])
        pod["metadata"] |= {"name": uuid.uuid4().hex, "uid": uuid.uuid4().hex}
        bench.fleet.objects = {key: obj for key, obj in bench.fleet.objects.items() if obj["kind"] != "Pod"}
        bench.fleet.objects[f"Pod/team-a/{pod['metadata']['name']}"] = pod
        deployment = bench.fleet.only("Deployment")
        deployment["spec"]["replicas"] = 2
        deployment["metadata"]["generation"] += 1

    bench.clock.on_sleep = scale
    unit = unit_of(bench.apply())
    assert (unit.status, unit.message) == ("succeeded", "")


def test_a_read_that_fails_in_the_confirmation_is_no_reason_to_give_up(bench):
    failing = []

    def on_read(kind, name):
        if kind == "Pod" and f"PATCH {SERVICE}" in bench.cluster.writes and len(failing) < 4:
            failing.append(1)
            raise UnreadableAnswer(Action("list", kind, "team-a"), "the answer was cut off", transient=True)

    bench.cluster.on_read = on_read
    assert unit_of(bench.apply()).status == "succeeded"
    assert len(failing) == 4


# Where the proof would rest on nothing


def test_a_service_without_pods_is_not_cut_over_unless_none_are_wanted(bench):
    for key in [key for key in bench.fleet.objects if key.startswith("Pod/")]:
        del bench.fleet.objects[key]
    outcome = bench.apply()
    unit = unit_of(outcome)
    assert (unit.code, unit.last_attempted_step, outcome.exit_code) == ("InferenceServiceNotReady", "CutOver", 3)
    assert "nothing could be compared after the cutover" in unit.message
    assert no_cutover(bench)


def test_an_old_pod_that_terminates_beside_its_like_is_gone(bench):
    def replace(fleet):
        (pod,) = fleet.of("Pod")
        fresh = copy.deepcopy(pod)
        fresh["metadata"] |= {"name": "fresh", "uid": str(uuid.uuid4())}
        pod["metadata"]["deletionTimestamp"] = "2026-06-02T09:00:00Z"
        fleet.objects["Pod/team-a/fresh"] = fresh

    after_write(bench, "AIMService", replace)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "PodsChanged")


# Fences and weights that must hold up to the cutover and after it


def spoil_profile(bench):
    bench.operator.profiles = False
    profile = bench.fleet.only("AIMProfile")
    profile["status"] |= {"status": "Failed", "conditions": [condition("Ready", "False")]}


def remove_profile(bench):
    bench.operator.caches = False
    bench.fleet.remove("AIMProfile", "qwen3-32b-latency")


def replace_profile(bench):
    uid = str(uuid.uuid4())
    bench.fleet.only("AIMProfile")["metadata"]["uid"] = uid
    bench.fleet.only("ServingRuntime")["metadata"]["ownerReferences"][0]["uid"] = uid


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (spoil_profile, "its status is Failed, not Ready, though it was Ready before"),
        (remove_profile, "does not exist"),
        (replace_profile, "was replaced since it became Ready"),
        (lambda bench: bench.fleet.only("ServingRuntime")["metadata"].update(ownerReferences=[]), "is not controlled"),
    ],
)
def test_the_profile_must_still_be_ready_at_the_cutover(bench, spoil, said):
    after_write(bench, "AIMArtifact", lambda fleet: spoil(bench))
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code, said in unit.message) == ("failed", "ProfileNotReady", True), unit.message
    assert no_cutover(bench)


def second_artifact(fleet):
    spec = fleet.only("AIMArtifact")["spec"]
    fleet.add(
        "AIMArtifact", "aim.eai.amd.com/v1alpha1", "fresh", fleet.only("AIMService")["metadata"]["namespace"], spec=spec
    )


def download_job(fleet):
    metadata = {"ownerReferences": [owner(next(iter(fleet.of("AIMArtifact"))))]}
    fleet.add(
        "Job", "batch/v1", "download", next(iter(fleet.of("AIMService")))["metadata"]["namespace"], metadata=metadata
    )


@pytest.mark.parametrize("when", ["at once", "in the soak"])
@pytest.mark.parametrize("change", [second_artifact, download_job])
def test_a_download_that_starts_after_the_cutover_is_found(bench, change, when):
    def start(fleet):
        if when == "at once":
            change(fleet)
        else:
            bench.clock.on_sleep = lambda: (
                None if fleet.of("Job") or len(fleet.of("AIMArtifact")) > 1 else change(fleet)
            )

    after_write(bench, "AIMService", start)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "DownloadStarted")
    assert unit.last_completed_step == "CutOver"


def test_a_download_that_starts_after_the_cutover_halts_the_others(several):
    bench = several(2)
    bench.cluster.trouble = lambda request, when: (
        download_job(bench.fleet) if (request.name, when, request.dry_run) == ("svc-00", "after", False) else None
    )
    assert [unit.code for unit in bench.apply().result.units] == ["DownloadStarted", "HaltedAfterRollout"]


# What is said of an ending holds wherever it comes


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("PinTerminating", ("what completed steps wrote before stays as it is",)),
        ("InferenceServiceNotReady", ("on the profile pipeline", "AlreadyCutOver", "still runs on its template")),
        ("PodsChanged", ("--baseline", "verify")),
        ("DownloadStarted", ("Before its cutover", "after it")),
    ],
)
def test_an_advice_fits_before_and_after_the_cutover(code, words):
    assert [word for word in words if word not in CODES[code].advice] == []


# Deadlines


def test_a_cutover_that_one_slow_read_saw_too_late_was_not_observed(bench):
    moved = []

    def on_read(kind, name):
        if moved and kind == "AIMService":
            moved.append(1)
            if len(moved) == 3:  # the read back is the first
                bench.clock._time += 300

    after_write(bench, "AIMService", lambda fleet: moved.append(1))
    bench.cluster.on_read = on_read
    unit = unit_of(bench.apply())
    assert (unit.code, unit.last_completed_step) == ("CutoverNotObserved", "CutOver")
    assert "came only after the deadline (waited 60 s)" in unit.message


def test_the_deadline_binds_every_read_of_the_proof(bench):
    bench.operator.services = False
    after_write(bench, "AIMService", lambda fleet: bench.cluster.withins.clear())
    bench.apply(cutover_deadline_seconds=60)
    proof = bench.cluster.withins[1:]  # without the read back
    bound = [(kind, within) for kind, within in proof if within is not None]
    assert {kind for kind, _ in bound} == {"AIMService", "InferenceService", "Deployment", "Pod"}
    lefts = [within for _, within in bound]
    assert lefts == sorted(lefts, reverse=True)
    assert (lefts[0], lefts[-1] < 1.5) == (60, True)


def test_a_read_that_the_deadline_cut_off_says_less_than_the_look_before(bench):
    bench.operator.profiles = False

    def on_read(kind, name):
        if kind == "AIMProfile" and bench.clock.monotonic() > 118:
            bench.clock._time += 5
            raise UnreadableAnswer(Action("get", kind, "team-a", name), "no complete answer")

    bench.cluster.on_read = on_read
    unit = unit_of(bench.apply())
    assert (unit.code, "(waited 120 s)" in unit.message) == ("ProfileNotReady", True)
    assert "no complete answer" not in unit.message
