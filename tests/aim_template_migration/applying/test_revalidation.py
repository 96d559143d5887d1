"""Fresh reads: what changed since the plan was made stops the unit, and churn does not."""

import copy
import uuid

import pytest

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE
from aim_template_migration.applying.events import StepProgress
from aim_template_migration.applying.overlay import fresh_cluster, fresh_namespace
from aim_template_migration.applying.revalidate import MEMBERSHIP_AGE_SECONDS
from aim_template_migration.kube.errors import Forbidden, IncompleteList, InternalError, Unauthorized
from aim_template_migration.planning.reduction import reduce
from tests.aim_template_migration.applying.bench import Bench, unit_of
from tests.aim_template_migration.applying.test_commit import SERVICE
from tests.support.fleet import add_service, condition, owner

KINDS = (
    "AIMService", "AIMModel", "AIMServiceTemplate", "AIMTemplateCache", "AIMArtifact", "PersistentVolumeClaim",
    "InferenceService", "Deployment",
)  # fmt: skip


def stopped(bench, **options):
    outcome = bench.apply(**options)
    unit = unit_of(outcome)
    assert bench.cluster.sent == []
    assert outcome.exit_code == 3
    return unit.code, unit.message


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("commit", [True, False])
def test_a_replaced_object_stops_the_unit_before_any_write(bench, kind, commit):
    bench.fleet.only(kind)["metadata"]["uid"] = str(uuid.uuid4())
    code, message = stopped(bench, commit=commit)
    assert (code, f"{kind}/team-a/" in message, "was replaced" in message) == ("PinReplaced", True, True)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("PersistentVolumeClaim", "Deployment")])
def test_a_new_generation_stops_the_unit(bench, kind):
    bench.fleet.only(kind)["metadata"]["generation"] = 7
    code, message = stopped(bench)
    assert (code, "metadata.generation" in message) == ("PinEdited", True)


@pytest.mark.parametrize("kind", KINDS)
def test_a_vanished_object_stops_the_unit(bench, kind):
    obj = bench.fleet.only(kind)
    bench.fleet.remove(kind, obj["metadata"]["name"])
    assert stopped(bench)[0] == "PinGone"


@pytest.mark.parametrize("kind", KINDS)
def test_a_terminating_object_stops_the_unit(bench, kind):
    bench.fleet.only(kind)["metadata"]["deletionTimestamp"] = "2026-06-02T09:00:00Z"
    assert stopped(bench)[0] == "PinTerminating"


@pytest.mark.parametrize("kind", KINDS)
def test_changed_owners_stop_the_unit(bench, kind):
    model = bench.fleet.only("AIMModel")
    bench.fleet.only(kind)["metadata"].setdefault("ownerReferences", []).append(owner(model) | {"controller": False})
    code, message = stopped(bench)
    assert (code, "metadata.ownerReferences" in message) == ("PinEdited", True)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.startswith("P")])
def test_a_pause_stops_the_unit(bench, kind):
    bench.fleet.only(kind)["metadata"].setdefault("annotations", {})["aim.eai.amd.com/reconciliation-paused"] = "true"
    code, message = stopped(bench)
    assert (code, "the pause annotation" in message) == ("PinEdited", True)
    assert message.endswith("; it would now be planned as Paused")


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("AIMService", lambda obj: obj["spec"].update(replicas=5)),
        ("AIMService", lambda obj: obj["metadata"]["finalizers"].append("x")),
        ("AIMService", lambda obj: obj["metadata"].update(annotations={"aim.eai.amd.com/any": "annotation"})),
        ("InferenceService", lambda obj: obj["metadata"]["labels"].update({"any": "label"})),
        ("InferenceService", lambda obj: obj["metadata"]["labels"].pop("aim.eai.amd.com/template")),
        ("InferenceService", lambda obj: obj["metadata"]["labels"].update({"aim.eai.amd.com/profile": "p"})),
        ("InferenceService", lambda obj: obj["spec"]["predictor"].update(maxReplicas=2)),
        ("AIMServiceTemplate", lambda obj: obj["spec"].update(metric="throughput")),
        ("AIMServiceTemplate", lambda obj: obj["status"].update(modelSources=[])),
        ("AIMTemplateCache", lambda obj: obj["spec"].update(storageClassName="other")),
        ("AIMArtifact", lambda obj: obj["spec"].update(storageClassName="other")),
        ("PersistentVolumeClaim", lambda obj: obj["status"].update(phase="Lost")),
        ("Deployment", lambda obj: obj["spec"]["template"]["spec"].update(priorityClassName="x")),
    ],
)  # fmt: skip
def test_changed_content_stops_the_unit(bench, kind, change):
    change(bench.fleet.only(kind))
    assert stopped(bench)[0] == "PinEdited"


@pytest.mark.parametrize(
    ("kind", "change", "outcome"),
    [
        ("AIMService", lambda obj: obj["status"]["conditions"].pop(0), "PredecessorNotReady"),
        ("AIMService", lambda obj: obj["status"]["conditions"].pop(1), "BridgeNotProven"),
        ("AIMService", lambda obj: obj["status"]["conditions"][1].update(status="False"), "BridgeCompatibilityWarning"),
        ("InferenceService", lambda obj: obj["status"]["conditions"].clear(), "PredecessorNotReady"),
        ("InferenceService", lambda obj: obj["status"].update(observedGeneration=0), "InferenceServiceNotCurrent"),
        ("Deployment", lambda obj: obj["status"].update(availableReplicas=0), "InferenceServiceNotCurrent"),
        ("AIMTemplateCache", lambda obj: obj["status"].update(status="Progressing"), "CacheNotReady"),
        ("AIMArtifact", lambda obj: obj["status"].update(status="Failed"), "ArtifactUnresolved"),
    ],
)
def test_an_unhealthy_predecessor_stops_the_unit_with_its_new_outcome(bench, kind, change, outcome):
    change(bench.fleet.only(kind))
    code, message = stopped(bench)
    assert code == "NoLongerAutomatic"
    assert message.startswith(f"AIMService/team-a/qwen-chat would now be planned as {outcome}: ")


def churn(bench):
    for obj in bench.fleet.objects.values():
        obj["metadata"]["resourceVersion"] = str(int(obj["metadata"]["resourceVersion"]) + 1)
        if "status" in obj:
            obj["status"]["lastHeartbeat"] = uuid.uuid4().hex
    for isvc in bench.fleet.of("InferenceService"):
        isvc["status"]["conditions"] = [condition("Ready"), condition("Other", "Unknown")]


def test_status_and_resource_version_churn_at_every_read_is_tolerated(bench):
    bench.cluster.on_read = lambda kind, name: churn(bench)
    outcome = bench.apply()
    assert (unit_of(outcome).status, outcome.exit_code) == ("succeeded", 0)


@pytest.fixture
def with_config(tmp_path):
    bench = Bench(tmp_path)
    spec = {"storage": {"defaultStorageClassName": "shared-nfs"}}
    bench.fleet.add("AIMRuntimeConfig", "aim.eai.amd.com/v1alpha1", "default", "team-a", manager="kubectl", spec=spec)
    bench.plan()
    return bench


def test_a_runtime_config_is_pinned_by_its_exact_version(with_config):
    with_config.fleet.only("AIMRuntimeConfig")["metadata"]["resourceVersion"] = "77"
    code, message = stopped(with_config)
    assert (code, "metadata.resourceVersion" in message) == ("PinEdited", True)


@pytest.mark.parametrize(("kind", "namespace"), [("AIMRuntimeConfig", "team-a"), ("AIMClusterRuntimeConfig", "")])
def test_a_runtime_config_that_has_come_stops_the_unit(bench, kind, namespace):
    bench.fleet.add(kind, "aim.eai.amd.com/v1alpha1", "default", namespace, spec={})
    code, message = stopped(bench)
    assert (code, "has appeared" in message) == ("PinAppeared", True)


def test_a_second_artifact_for_the_weights_stops_the_unit(bench):
    artifact = bench.fleet.only("AIMArtifact")
    bench.fleet.add(
        "AIMArtifact", artifact["apiVersion"], "second", "team-a", spec=artifact["spec"], status=artifact["status"]
    )
    code, message = stopped(bench)
    assert (code, "AIMArtifact/team-a/second has appeared in the closure" in message) == ("PinAppeared", True)


def test_a_second_inference_service_stops_the_unit(bench):
    isvc = copy.deepcopy(bench.fleet.only("InferenceService"))
    isvc["metadata"] |= {"name": "rival", "uid": "rival"}
    bench.fleet.objects["InferenceService/team-a/rival"] = isvc
    code, message = stopped(bench)
    assert (code, "InferenceService/team-a/rival has appeared" in message) == ("PinAppeared", True)


def test_another_cache_for_the_target_profile_stops_the_unit(bench):
    spec = {"profileName": "qwen3-32b-latency", "profileScope": "Namespace", "mode": "Shared"}
    bench.fleet.add("AIMProfileCache", "aim.eai.amd.com/v1alpha2", "rival", "team-a", spec=spec)
    code, message = stopped(bench)
    assert (code, "AnotherMatchingCache" in message) == ("NoLongerAutomatic", True)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: body["spec"].update(image="other"), "TargetProfileConflict"),
        (lambda body: body["spec"].update(engineArgs={"x": 1}), "TargetProfileConflict"),
        (lambda body: body["spec"].update(caching={"enabled": True}), "TargetProfileOwnsCache"),
    ],
)
def test_a_foreign_target_profile_stops_the_unit(bench, change, said):
    body = copy.deepcopy(next(t.body for t in bench.read_plan().targets if t.id.startswith("AIMProfile/")))
    change(body)
    bench.fleet.add("AIMProfile", body["apiVersion"], body["metadata"]["name"], "team-a", spec=body["spec"])
    code, message = stopped(bench)
    assert (code, said in message) == ("NoLongerAutomatic", True)


def test_a_definition_that_is_replaced_mid_run_stops_the_units_that_follow(several):
    bench = several(2)

    def trouble(request, stage):
        if (request.kind.name, stage) == ("AIMService", "after") and not request.dry_run:
            bench.fleet.definition("aimprofiles.aim.eai.amd.com")["metadata"]["uid"] = "another"
            bench.clock.sleep(MEMBERSHIP_AGE_SECONDS)

    bench.cluster.trouble = trouble
    first, second = bench.apply().result.units
    assert first.status == "succeeded"
    assert (second.code, second.message) == (
        "PinReplaced", "CustomResourceDefinition/aimprofiles.aim.eai.amd.com was replaced since the plan was made"
    )  # fmt: skip


def test_a_terminating_namespace_stops_its_units(bench):
    bench.fleet.add("Namespace", "v1", "team-a", metadata={"deletionTimestamp": "2026-06-02T09:00:00Z"})
    code, message = stopped(bench)
    assert (code, "Terminating" in message) == ("NoLongerAutomatic", True)


def test_only_the_affected_unit_stops(several):
    bench = several(3)
    bench.fleet.named("AIMService", "svc-01")["spec"]["replicas"] = 9
    outcome = bench.apply()
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [
        ("succeeded", ""), ("failed", "PinEdited"), ("succeeded", "")
    ]  # fmt: skip
    assert not any("svc-01" in write for write in bench.cluster.writes)


ERRORS = [
    (lambda action: Forbidden(action, status=403, reason="Forbidden", message="no"), "Forbidden"),
    (lambda action: InternalError(action, status=500, reason="InternalError", message="x"), "ServerError"),
    (lambda action: IncompleteList(action, "the list ended early"), "IncompleteList"),
]


@pytest.mark.parametrize(("error", "code"), ERRORS)
@pytest.mark.parametrize("kind", ["AIMService", "AIMArtifact", "AIMClusterModel"])
def test_a_failing_read_stops_the_unit_that_needs_it(bench, error, code, kind):
    from aim_template_migration.kube.requests import Action

    begun = []

    def on_read(read, name):
        # The preflight lists the services; the fences begin with the first GET of the service.
        begun.append(read == "AIMService" and name)
        if read == kind and any(begun):
            raise error(Action("get", read, "team-a", name or None))

    bench.cluster.on_read = on_read
    assert stopped(bench)[0] == code


def test_rejected_credentials_stop_the_run(several):
    from aim_template_migration.kube.requests import Action

    bench = several(3)

    def on_read(kind, name):
        if kind == "AIMModel" and name == "m01":
            raise Unauthorized(Action("get", kind), status=401, reason="Unauthorized", message="expired")

    bench.cluster.on_read = on_read
    outcome = bench.apply()
    assert [(unit.status, unit.code) for unit in outcome.result.units] == [
        ("succeeded", ""), ("interrupted", "CredentialsRejected"), ("interrupted", "CredentialsRejected")
    ]  # fmt: skip
    assert outcome.fault is not None
    assert (outcome.fault.code, outcome.exit_code, outcome.interrupted) == ("CredentialsRejected", 3, False)
    assert "expired" in outcome.result.stopped


def test_lists_are_shared_between_units_and_pinned_objects_are_not(several):
    bench = several(6)
    lists = []
    bench.cluster.read.clear()
    bench.cluster.on_read = lambda kind, name: lists.append(kind) if not name else None
    bench.apply(commit=False)
    # Once for the preflight, once for all units.
    assert lists.count("AIMService") == 2
    assert lists.count("AIMModel") == 1
    gets = [kind for kind in bench.cluster.read if kind == "AIMServiceTemplate"]
    assert len(gets) == 6 + 1


def test_old_lists_are_read_anew(several):
    bench = several(2)
    lists = []

    def on_read(kind, name):
        if not name:
            lists.append(kind)
        elif (kind, name) == ("AIMModel", "m01"):
            bench.clock.sleep(MEMBERSHIP_AGE_SECONDS)

    bench.cluster.on_read = on_read
    bench.apply(commit=False)
    assert lists.count("AIMModel") == 2


def test_the_fences_hold_again_before_the_cutover(bench):
    def trouble(request, stage):
        if (request.kind.name, stage) == ("AIMArtifact", "after"):
            bench.fleet.only("InferenceService")["status"]["conditions"] = [condition("Ready", "False")]

    bench.cluster.trouble = trouble
    unit = unit_of(bench.apply())
    assert (unit.code, "PredecessorNotReady" in unit.message) == ("NoLongerAutomatic", True)
    assert unit.last_completed_step == "ProtectArtifact"
    assert not any(SERVICE in write for write in bench.cluster.all_writes)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (
            lambda fleet: fleet.only("AIMService")["metadata"].update(annotations={"aim.eai.amd.com/x": "y"}),
            "PinEdited",
        ),
        (lambda fleet: fleet.only("AIMService")["metadata"].update(uid="other"), "PinReplaced"),
        (lambda fleet: fleet.only("AIMService")["metadata"].update(deletionTimestamp="t"), "PinTerminating"),
        (lambda fleet: fleet.remove("AIMService", "qwen-chat"), "PinGone"),
        (lambda fleet: fleet.only("InferenceService")["metadata"]["labels"].update(new="label"), "PinEdited"),
        (lambda fleet: fleet.only("InferenceService")["status"].update(conditions=[]), "InferenceServiceNotReady"),
    ],
)
def test_the_fences_hold_for_the_very_read_that_the_patch_starts_from(bench, change, code):
    """Whatever happened while step 6 waited is seen: these reads are the last before the patch."""

    def listener(event):
        if isinstance(event, StepProgress) and (event.step, event.state) == ("CutOver", "started"):
            change(bench.fleet)

    bench.listener = listener
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", code)
    assert not any(SERVICE in write for write in bench.cluster.all_writes)


def test_fresh_objects_take_the_place_of_listed_ones():
    from tests.support.fleet import happy_fleet

    fleet = happy_fleet()
    add_service(fleet, "second", template="t2", model="m2", uri="hf://a/b")
    below = fleet.snapshot().namespace("team-a")
    former = next(item for item in below.every() if item.name == "qwen-chat")
    changed = copy.deepcopy(former.obj)
    changed["metadata"]["labels"] = {"l": "v"}
    changed["status"]["resolvedTemplate"]["uid"] = "fresh"
    fresh = type(former)(former.kind, changed)
    (isvc,) = [item for item in below.every() if item.kind.name == "InferenceService" and "qwen" in item.name]
    over = fresh_namespace(below, [fresh], [(isvc.kind, isvc.name)])
    assert over.get(former.kind, "qwen-chat") is fresh
    assert [item.name for item in over.all(former.kind)] == ["qwen-chat", "second"]
    assert over.get(isvc.kind, isvc.name) is None
    assert over.owned_by(isvc.kind, former.uid) == ()
    assert below.owned_by(isvc.kind, former.uid) == (isvc,)
    assert over.with_label(former.kind, "l", "v") == (fresh,)
    path = ("status", "resolvedTemplate", "uid")
    assert over.with_field(former.kind, path, "fresh") == (fresh,)
    assert over.with_field(former.kind, path, former.obj["status"]["resolvedTemplate"]["uid"]) == ()
    assert len(list(over.every())) == len(list(below.every())) - 1
    added = type(former)(former.kind, {"metadata": {"name": "a-new-one", "namespace": "team-a"}})
    assert next(iter(fresh_namespace(below, [added], []).all(former.kind))) is added

    def by_label(item):
        return (item.labels.get("l", "none"),)

    groups = over.grouped(former.kind, "label", by_label)
    assert {value: [item.name for item in groups[value]] for value in groups} == {
        "none": ["second"],
        "v": ["qwen-chat"],
    }
    assert (len(groups), groups.get("other", ())) == (2, ())
    assert [item.name for item in below.grouped(former.kind, "label", by_label)["none"]] == ["qwen-chat", "second"]


def test_a_namespace_in_which_nothing_changed_is_the_listed_one():
    from tests.support.fleet import happy_fleet

    below = happy_fleet().snapshot().namespace("team-a")
    assert fresh_namespace(below, below.every(), [(AIM_PROFILE, "to-be-created")]) is below


def test_an_object_that_is_as_it_was_listed_is_not_reduced_again(several, monkeypatch):
    """UID, resourceVersion and spec tell: an object that changed since is looked at anew."""
    from aim_template_migration.applying import revalidate

    bench = several(4)
    reduced = []

    def counting(kind, obj):
        reduced.append(f"{kind.name}/{obj['metadata']['name']}")
        return reduce(kind, obj)

    monkeypatch.setattr(revalidate, "reduce", counting)
    outcome = bench.apply(commit=False, parallel=1)
    assert outcome.result.counts["succeeded"] == 4
    assert [name for name in reduced if name.startswith("AIMService/")] == [
        "AIMService/svc-00"
    ]  # read before the lists


@pytest.mark.parametrize("commit", [False, True])
def test_a_default_that_a_definition_gained_is_seen_although_no_version_moved(several, monkeypatch, commit):
    """Lists and earlier readings stand for a GET only where it says the same."""
    bench = several(2)
    read = bench.cluster.get

    def defaulted(kind, name, namespace=None, **options):
        obj = read(kind, name, namespace, **options)
        if (kind.name, name) == ("AIMModel", "m01"):
            obj["spec"]["gained"] = "default"
        return obj

    monkeypatch.setattr(bench.cluster, "get", defaulted)
    outcome = bench.apply(commit=commit, parallel=1)
    first, second = outcome.result.units
    assert (first.status, second.status, second.code) == ("succeeded", "failed", "PinEdited")
    assert not [write for write in bench.cluster.all_writes if "svc-01" in write]


def test_fresh_cluster_objects_leave_the_others_alone():
    from tests.support.fleet import happy_fleet

    fleet = happy_fleet()
    for name in ("one", "two"):
        fleet.add("AIMClusterModel", "aim.eai.amd.com/v1alpha2", name, spec={"image": "i"})
    below = fleet.snapshot().cluster
    one = below.objects["AIMClusterModel"]["one"]
    fresh = type(one)(one.kind, one.obj | {"spec": {"image": "j"}})
    over = fresh_cluster(below, [fresh], [(one.kind, "two"), (AIM_CLUSTER_PROFILE, "none")])
    assert dict(over.objects["AIMClusterModel"]) == {"one": fresh}
    assert sorted(below.objects["AIMClusterModel"]) == ["one", "two"]
    assert over.schemas is below.schemas
    assert fresh_cluster(below, [one], [(AIM_CLUSTER_PROFILE, "none")]) is below
