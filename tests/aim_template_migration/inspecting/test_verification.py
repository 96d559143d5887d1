"""What holds of a migrated unit, fact by fact, and what breaks each."""

import msgspec
import pytest

from aim_api.labels import EVICTION_PROTECTED
from aim_template_migration.applying.plan_files import PlanRejected
from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.result import PodFacts, WorkloadFacts
from aim_template_migration.inspecting.proof import pods_that_hold
from aim_template_migration.inspecting.verification import all_hold
from aim_template_migration.kube.errors import Forbidden, ServiceUnavailable
from aim_template_migration.kube.requests import Action
from tests.aim_template_migration.applying.bench import Bench
from tests.aim_template_migration.applying.cluster_scope import on_cluster_scope
from tests.aim_template_migration.inspecting.scenes import PROFILE, SERVICE, Scene
from tests.support.fleet import condition, owner

FACTS = [
    "ServiceCutOver", "CutoverObserved", "InferenceServiceUnchanged", "PodTemplateUnchanged", "PodsUnchanged",
    "ArtifactInPlace", "ArtifactProtected", "ClaimInPlace", "NoSecondInferenceService", "NoSecondArtifact",
    "TargetProfileReady", "TargetCacheReady",
]  # fmt: skip


def verified(scene, **options):
    verification = scene.verify(**options)
    (unit,) = verification.units
    return unit, all_hold(verification)


def broken(unit):
    return [fact.code for fact in unit.facts if not fact.holds]


def test_after_a_commit_everything_holds(scene):
    scene.bench.apply()
    verification = scene.verify()
    (unit,) = verification.units
    assert [fact.code for fact in unit.facts] == FACTS
    assert (unit.standing, unit.cut_over, unit.resolved_profile) == ("holding", True, "qwen3-32b-latency")
    assert all(fact.message for fact in unit.facts)
    assert verification.counts == {"holding": 1, "differing": 0, "notCutOver": 0, "unreadable": 0}
    assert all_hold(verification)
    assert (verification.limits, unit.warnings, verification.problems) == (LIMITS, (), ())
    assert verification.run_id == scene.bench.result().run_id


def test_verifying_writes_nothing(scene):
    scene.bench.apply()
    before = {path: path.read_bytes() for path in scene.bench.plan_directory.iterdir()}
    sent = len(scene.bench.cluster.sent)
    scene.verify()
    assert {path: path.read_bytes() for path in scene.bench.plan_directory.iterdir()} == before
    assert len(scene.bench.cluster.sent) == sent
    assert "Secret" not in scene.bench.cluster.read


def test_an_artifact_that_another_cache_owns_is_none_of_its_business(scene):
    scene.bench.apply()
    downloaded_anew(scene.fleet)
    scene.fleet.named("AIMArtifact", "fresh")["metadata"]["ownerReferences"][0]["uid"] = "another"
    assert broken(verified(scene)[0]) == []


def test_pods_that_an_autoscaler_replaced_are_not_called_the_same():
    pod = PodFacts("p", "u", 0, "h")
    before = WorkloadFacts("chat", "i", 1, "s", "m", ready=True, template_hash="t", pods=(pod,), autoscaled=True)
    after = msgspec.structs.replace(before, pods=(PodFacts("q", "v", 0, "h"),))
    assert pods_that_hold(before, before) == "the same pods as before: p (u, 0 restarts)"
    assert pods_that_hold(before, after) == "same template; UIDs differ: q (v, 0 restarts)"


def at(obj, path):
    for key in path:
        obj = obj[key]
    return obj


def set_to(kind, *path, value):
    """Return a change that sets one field of the only object of a kind; a change of spec moves its generation."""

    def change(fleet):
        obj = fleet.only(kind)
        at(obj, path[:-1])[path[-1]] = value
        if kind == "AIMService" and path[0] == "spec":
            obj["metadata"]["generation"] += 1

    return change


def without(kind, *path):
    return lambda fleet: at(fleet.only(kind), path[:-1]).pop(path[-1])


def gone(kind):
    return lambda fleet: fleet.remove(kind, fleet.only(kind)["metadata"]["name"])


def owned_by(kind, other):
    def change(fleet):
        fleet.only(kind)["metadata"]["ownerReferences"] = [owner(fleet.only(other))]

    return change


def undone(fleet):
    service = fleet.only("AIMService")
    service["spec"]["template"] = {"name": "qwen3-32b-latency"}
    del service["spec"]["profile"]
    service["metadata"]["generation"] += 1


def second_artifact(fleet):
    spec = fleet.only("AIMArtifact")["spec"]
    fleet.add("AIMArtifact", "aim.eai.amd.com/v1alpha1", "second", "team-a", spec=spec)


def second_service(fleet):
    metadata = {"ownerReferences": [owner(fleet.only("AIMService"))]}
    fleet.add("InferenceService", "serving.kserve.io/v1beta1", "second", "team-a", metadata=metadata, spec={})


def namesake(fleet):
    metadata = {"labels": {"aim.eai.amd.com/service.name": "qwen-chat"}}
    fleet.add("InferenceService", "serving.kserve.io/v1beta1", "namesake", "team-a", metadata=metadata, spec={})


def downloaded_anew(fleet):
    spec, cache = fleet.only("AIMArtifact")["spec"], fleet.only("AIMProfileCache")
    metadata = {"ownerReferences": [owner(cache)]}
    fleet.add("AIMArtifact", "aim.eai.amd.com/v1alpha1", "fresh", "team-a", spec=spec, metadata=metadata)


def adopted_another(fleet):
    next(iter(fleet.only("AIMProfileCache")["status"]["artifacts"].values()))["uid"] = "other"


NOT_READY = [condition("Ready", "False")]
SPEC_PROFILE = ("spec", "profile")
RESOLVED = ("status", "resolvedProfile")
IMAGE = ("spec", "template", "spec", "containers", 0, "image")
RESTARTS = ("status", "containerStatuses", 0, "restartCount")
HASH = ("metadata", "labels", "pod-template-hash")
NEW_LABEL = ("metadata", "labels", "aim.eai.amd.com/profile")
BROKEN = {
    "service undone": (undone, ["ServiceCutOver", "CutoverObserved"]),
    "service replaced": (set_to("AIMService", "metadata", "uid", value="other"), ["ServiceCutOver"]),
    "pin removed": (set_to("AIMService", "metadata", "annotations", value={}), ["ServiceCutOver"]),
    "other profile": (
        set_to("AIMService", *SPEC_PROFILE, value={"name": "other"}), ["ServiceCutOver", "CutoverObserved"]
    ),
    "edited": (set_to("AIMService", "spec", "replicas", value=2), ["CutoverObserved"]),
    "not observed": (set_to("AIMService", "status", "observedGeneration", value=1), ["CutoverObserved"]),
    "not preserved": (
        lambda fleet: fleet.only("AIMService")["status"]["conditions"].append(
            condition("InferenceServicePreserved", "False")
        ),
        ["CutoverObserved"],
    ),
    "other profile resolved": (
        set_to("AIMService", *RESOLVED, value={"name": "other"}), ["CutoverObserved"]
    ),
    "profile of the cluster resolved": (
        set_to("AIMService", *RESOLVED, value={"name": "qwen3-32b-latency", "scope": "Cluster"}), ["CutoverObserved"]
    ),
    "former profile resolved": (
        set_to("AIMService", *RESOLVED, value={"name": "qwen3-32b-latency", "uid": "former"}), ["CutoverObserved"]
    ),
    "service not ready": (set_to("AIMService", "status", "conditions", value=NOT_READY), ["CutoverObserved"]),
    "isvc edited": (
        set_to("InferenceService", *NEW_LABEL, value="x"), ["InferenceServiceUnchanged", "PodsUnchanged"]
    ),
    "isvc not ready": (
        set_to("InferenceService", "status", "conditions", value=NOT_READY),
        ["InferenceServiceUnchanged", "PodsUnchanged"],
    ),
    "template": (set_to("Deployment", *IMAGE, value="other"), ["PodTemplateUnchanged", "PodsUnchanged"]),
    "pod restarted": (set_to("Pod", *RESTARTS, value=1), ["PodsUnchanged"]),
    "pod replaced": (set_to("Pod", "metadata", "uid", value="other"), ["PodsUnchanged"]),
    "pod rolled": (set_to("Pod", *HASH, value="other"), ["PodsUnchanged"]),
    "artifact replaced": (
        set_to("AIMArtifact", "metadata", "uid", value="other"), ["ArtifactInPlace", "NoSecondArtifact"]
    ),
    "artifact owned": (owned_by("AIMArtifact", "AIMProfileCache"), ["ArtifactInPlace"]),
    "artifact not ready": (set_to("AIMArtifact", "status", "status", value="Failed"), ["ArtifactInPlace"]),
    "artifact gone": (gone("AIMArtifact"), ["ArtifactInPlace", "ArtifactProtected"]),
    "protection lifted": (without("AIMArtifact", "metadata", "annotations", EVICTION_PROTECTED), ["ArtifactProtected"]),
    "claim replaced": (set_to("PersistentVolumeClaim", "metadata", "uid", value="other"), ["ClaimInPlace"]),
    "claim lost": (set_to("PersistentVolumeClaim", "status", "phase", value="Lost"), ["ClaimInPlace"]),
    "second InferenceService": (second_service, ["NoSecondInferenceService"]),
    "InferenceService of its name": (namesake, ["NoSecondInferenceService"]),
    "second artifact": (second_artifact, ["NoSecondArtifact"]),
    "artifact of its own cache": (downloaded_anew, ["NoSecondArtifact"]),
    "profile edited": (set_to("AIMProfile", "spec", "image", value="other"), ["TargetProfileReady"]),
    "profile not ready": (set_to("AIMProfile", "status", "status", value="Failed"), ["TargetProfileReady"]),
    "runtime gone": (gone("ServingRuntime"), ["TargetProfileReady"]),
    "runtime of another": (owned_by("ServingRuntime", "AIMProfileCache"), ["TargetProfileReady"]),
    "profile gone": (gone("AIMProfile"), ["TargetProfileReady"]),
    "cache owned": (owned_by("AIMProfileCache", "AIMProfile"), ["TargetCacheReady"]),
    "cache adopted another": (adopted_another, ["TargetCacheReady"]),
    "cache gone": (gone("AIMProfileCache"), ["TargetCacheReady"]),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_what_broke_is_the_fact_that_does_not_hold(scene, what):
    change, facts = BROKEN[what]
    scene.bench.apply()
    change(scene.fleet)
    unit, holds = verified(scene)
    assert (broken(unit), unit.standing, holds) == (facts, "differing", False)


def test_a_profile_that_would_win_over_the_cluster_one_is_a_fact_that_does_not_hold(tmp_path):
    scene = Scene(on_cluster_scope(Bench(tmp_path)))
    scene.bench.apply()
    assert verified(scene)[1]
    scene.fleet.add("AIMProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", "team-a", spec={})
    unit, holds = verified(scene)
    assert (broken(unit), holds) == (["CutoverObserved"], False)
    (fact,) = [fact for fact in unit.facts if not fact.holds]
    assert "AIMProfile/team-a/qwen3-32b-latency has appeared" in fact.message
    assert fact.message.endswith("; it wins over AIMClusterProfile/qwen3-32b-latency")


def test_a_server_that_lied_about_the_cutover_is_caught(scene):
    """The answer and the read-back of the run said that it was stored; what is there now says otherwise."""
    former = {"spec": dict(scene.fleet.only("AIMService")["spec"])}
    scene.bench.apply()
    scene.fleet.only("AIMService").update(former)
    unit, holds = verified(scene)
    assert not holds
    assert "ServiceCutOver" in broken(unit)


def test_a_service_that_was_never_cut_over(scene):
    scene.bench.apply(stop_before="CutOver")
    unit, holds = verified(scene)
    assert (unit.standing, unit.cut_over, holds) == ("notCutOver", False, False)
    assert [fact.code for fact in unit.facts] == ["ServiceCutOver"]
    assert "the template pipeline serves it" in unit.facts[0].message


@pytest.mark.parametrize("ran", [None, "dry run"])
def test_there_is_nothing_to_verify_before_a_commit(scene, ran):
    if ran:
        scene.bench.apply(commit=False)
    with pytest.raises(PlanRejected, match="nothing to verify"):
        scene.verify()


def test_there_is_nothing_to_verify_without_an_automatic_unit(scene):
    scene.bench.edit_json(lambda plan: plan["units"][0].update(disposition="manual"))
    with pytest.raises(PlanRejected, match="no automatic unit"):
        scene.verify()


def test_without_a_record_pods_are_not_compared_and_everything_else_holds(scene):
    scene.bench.apply()
    scene.bench.archive()
    unit, holds = verified(scene)
    assert holds
    assert [warning.code for warning in unit.warnings] == ["PodsNotCompared"]
    assert "PodsUnchanged" not in [fact.code for fact in unit.facts]
    (archived,) = scene.bench.plan_directory.glob("archive/*/apply-result.json")
    unit, _ = verified(scene, result=archived)
    assert [fact.code for fact in unit.facts] == FACTS


def test_the_result_of_another_plan_is_not_compared_with(scene):
    scene.bench.apply()
    scene.bench.edit_json(lambda plan: plan.update(planId="another"))
    verification = scene.verify()
    assert [warning.code for warning in verification.units[0].warnings] == ["PodsNotCompared"]
    assert verification.problems


def test_after_a_kill_the_journal_has_the_pods(scene):
    scene.kill_at_write(5, "after")
    unit, holds = verified(scene)
    assert holds
    assert [fact.code for fact in unit.facts] == FACTS


def test_a_unit_that_cant_be_read(scene):
    scene.bench.apply()

    def busy(kind, name):
        if kind == "Pod":
            action = Action("list", kind)
            raise ServiceUnavailable(action, status=503, reason="ServiceUnavailable", message="busy")

    scene.bench.cluster.on_read = busy
    unit, holds = verified(scene)
    assert (unit.standing, unit.facts, holds) == ("unreadable", (), False)
    assert "busy" in unit.message


def test_a_missing_permission_ends_the_verification(scene):
    scene.bench.apply()
    scene.fleet.forbidden.add("ServingRuntime")
    with pytest.raises(Forbidden):
        scene.verify()


def test_what_remains_is_listed_with_its_units(scene):
    scene.bench.apply()
    verification = scene.verify()
    assert [item.code for item in verification.remaining] == [
        "LegacyTemplateCacheRemains", "LegacyTemplateRemains", "PinActive", "ProtectionRemains",
    ]  # fmt: skip
    assert {item.units for item in verification.remaining} == {(SERVICE,)}
    pin = next(item for item in verification.remaining if item.code == "PinActive")
    assert any("every pod is replaced" in detail for detail in pin.details)


def active_pin(scene):
    return next(item for item in scene.verify().remaining if item.code == "PinActive")


def test_a_forecast_of_a_target_that_was_edited_by_hand_is_called_stale(scene):
    def more_arguments(plan):
        plan["targets"][0]["body"]["spec"]["engineArgs"] = {"max-model-len": 4096}

    scene.bench.edit_json(more_arguments)
    scene.bench.apply()
    assert f"{PROFILE} was edited since the plan was made, and this forecast was not" in active_pin(scene).message


def test_a_forecast_of_a_profile_that_was_edited_in_the_cluster_is_called_stale(scene):
    scene.bench.apply()
    assert "forecast" not in active_pin(scene).message
    BROKEN["profile edited"][0](scene.fleet)
    assert f"{PROFILE} is not as planned, so that the plan's forecast" in active_pin(scene).message


def test_without_the_generated_copy_nobody_can_tell_whether_the_forecast_is_whole(scene):
    scene.bench.apply()
    (scene.bench.plan_directory / "plan.generated.json").unlink()
    assert "can't be told" in active_pin(scene).message


def test_what_is_gone_does_not_remain(scene):
    scene.bench.apply()
    cache = scene.fleet.only("AIMTemplateCache")["metadata"]["name"]
    scene.fleet.remove("AIMTemplateCache", cache)
    for what in ("protection lifted", "edited"):
        BROKEN[what][0](scene.fleet)
    assert [item.code for item in scene.verify().remaining] == ["LegacyTemplateRemains"]


def test_removing_the_artifacts_would_take_the_weights_along(scene):
    scene.bench.apply()
    removals = {item.crd: item for item in scene.verify().removals}
    artifacts = removals["aimartifacts.aim.eai.amd.com"]
    claim = scene.fleet.only("PersistentVolumeClaim")["metadata"]["name"]
    assert artifacts.cascades
    assert artifacts.collected == (f"PersistentVolumeClaim/team-a/{claim}",)
    assert not removals["aimservicetemplates.aim.eai.amd.com"].cascades
    assert "no longer resolve" in removals["aimservices.aim.eai.amd.com"].message


def test_several_units_share_what_remains(tmp_path):
    from tests.aim_template_migration.applying.bench import Bench
    from tests.aim_template_migration.inspecting.scenes import Scene
    from tests.support.fleet import Fleet, add_service

    fleet = Fleet()
    for name in ("one", "two"):
        add_service(fleet, name)
    bench = Bench(tmp_path, fleet)
    bench.plan()
    bench.apply()
    verification = Scene(bench).verify()
    assert verification.counts["holding"] == 2
    shared = [item for item in verification.remaining if item.code == "LegacyTemplateCacheRemains"]
    assert [item.units for item in shared] == [("AIMService/team-a/one", "AIMService/team-a/two")]
    (only,) = Scene(bench).verify(only=("AIMService/team-a/two",)).units
    assert only.id == "AIMService/team-a/two"
