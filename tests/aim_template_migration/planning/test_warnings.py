"""Warnings never block; each has its own condition."""

import pytest

from aim_template_migration.documents.codes import CODES
from tests.aim_template_migration.planning.test_classification import cluster_template
from tests.support.fleet import AIM1, AIM2, Fleet, add_service, condition, happy_fleet


def codes(fleet: Fleet, **settings: object) -> list[str]:
    unit = fleet.unit(**settings)
    assert unit.disposition == "automatic"
    assert all(CODES[warning.code].kind == "warning" for warning in unit.warnings)
    return [warning.code for warning in unit.warnings]


def last_applied(fleet: Fleet) -> None:
    fleet.only("AIMService")["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}


def older_operator(fleet: Fleet) -> None:
    fields = fleet.only("InferenceService")["metadata"]["managedFields"]
    fields.append({"manager": "aim-service-v1alpha1-controller", "operation": "Apply"})


def secret(fleet: Fleet) -> None:
    fleet.only("AIMService")["spec"]["imagePullSecrets"] = [{"name": "pull"}]


def test_a_plain_unit_warns_that_its_pin_expires():
    assert codes(happy_fleet()) == ["PinExpires"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (last_applied, ["LastAppliedPresent", "PinExpires"]),
        (older_operator, ["PinExpires", "OlderFieldManagers"]),
        (secret, ["PinExpires", "SecretsReferenced"]),
        (lambda fleet: add_service(fleet, "qwen-batch"), ["PinExpires", "CacheShared"]),
    ],
)
def test_each_condition_warns(change, expected):
    fleet = happy_fleet()
    change(fleet)
    assert codes(fleet) == expected


OUTSIDE = {
    "marker": ({"annotations": {"argocd.argoproj.io/tracking-id": "x"}}, "it is marked as managed by Argo CD"),
    "label": ({"labels": {"app.kubernetes.io/managed-by": "Helm"}}, "it is marked as managed by Helm"),
    "manager": ({"managedFields": [{"manager": "helm"}]}, "field manager helm wrote fields of it"),
    "owner": (
        {"ownerReferences": [{"apiVersion": "x/v1", "kind": "Catalogue", "name": "c", "uid": "1"}]},
        "it is owned by Catalogue c, which is no part of the closure",
    ),
}


def on_cluster_objects(fleet: Fleet) -> None:
    """Let the service use a cluster model, a cluster template and its profile, and a cluster's runtime config."""
    cluster_template(fleet, with_profile=True)
    model = fleet.only("AIMModel")
    fleet.remove("AIMModel", model["metadata"]["name"])
    moved = fleet.add("AIMClusterModel", AIM2, model["metadata"]["name"], spec=model["spec"], status=model["status"])
    resolved = {"name": moved["metadata"]["name"], "scope": "Cluster", "uid": moved["metadata"]["uid"]}
    fleet.only("AIMService")["status"]["resolvedModel"] = resolved
    fleet.add("AIMClusterRuntimeConfig", AIM1, "default", spec={})


CLUSTER_KINDS = ["AIMClusterModel", "AIMClusterServiceTemplate", "AIMClusterProfile", "AIMClusterRuntimeConfig"]


@pytest.mark.parametrize("how", OUTSIDE)
@pytest.mark.parametrize("kind", CLUSTER_KINDS)
def test_a_cluster_scoped_object_of_another_tool_is_named_and_keeps_no_unit_manual(kind, how):
    fleet = happy_fleet()
    on_cluster_objects(fleet)
    metadata, message = OUTSIDE[how]
    fleet.only(kind)["metadata"] |= metadata
    assert codes(fleet) == ["PinExpires", "ClusterObjectManagedElsewhere"]
    warning = fleet.unit().warnings[-1]
    assert (warning.object, warning.message) == (f"{kind}/{fleet.only(kind)['metadata']['name']}", message)


@pytest.mark.parametrize(
    ("kind", "owners"),
    [
        ("AIMClusterModel", ["AIMClusterModelSource"]),
        ("AIMClusterServiceTemplate", ["AIMClusterModel"]),
        ("AIMClusterProfile", ["AIMClusterModel", "AIMClusterProfileSet"]),
    ],
)
def test_the_operator_s_own_catalogue_is_managed_by_nobody_else(kind, owners):
    for name in owners:
        fleet = happy_fleet()
        on_cluster_objects(fleet)
        owned = {"apiVersion": AIM2, "kind": name, "name": "catalogue", "uid": "1"}
        fleet.only(kind)["metadata"]["ownerReferences"] = [owned]
        assert codes(fleet) == ["PinExpires"]


def test_the_other_users_of_a_cache_are_named():
    fleet = happy_fleet()
    add_service(fleet, "qwen-batch")
    (warning,) = [warning for warning in fleet.unit().warnings if warning.code == "CacheShared"]
    assert "qwen-batch" in warning.message
    assert warning.object == "AIMTemplateCache/team-a/qwen3-32b-latency-0badcafe"


def test_an_accepted_observed_generation_is_recorded_and_warns():
    fleet = happy_fleet()
    fleet.only("AIMService")["status"]["conditions"] = [condition("Ready")]
    assert codes(fleet, accept_observed_generation=True) == ["PinExpires", "ObservedGenerationAccepted"]
    assert fleet.unit(accept_observed_generation=True).proofs["bridge"] == "observedGeneration"


def test_a_bridge_condition_needs_no_observed_generation():
    assert codes(happy_fleet(), accept_observed_generation=True) == ["PinExpires"]


def test_what_a_later_spec_change_would_roll_is_said():
    unit = happy_fleet().unit()
    text = "\n".join(unit.after_expiry.changes)
    assert "spec.predictor.containers gives way to spec.predictor.model with runtime aim-qwen3-32b-latency-" in text
    assert "labels aim.eai.amd.com/template are dropped" in text
    assert "environment variables no longer set: VLLM_ENABLE_METRICS" in text


def test_a_service_account_of_the_template_takes_effect_after_expiry():
    fleet = happy_fleet()
    fleet.only("AIMServiceTemplate")["spec"]["serviceAccountName"] = "runner"
    assert "spec.predictor.serviceAccountName changes from unset to runner" in fleet.unit().after_expiry.changes


def test_manual_units_forecast_nothing_and_expire_nothing():
    fleet = happy_fleet()
    fleet.only("AIMService")["spec"]["env"] = [{"name": "A", "value": "1"}]
    plan = fleet.plan()
    assert plan.units[0].after_expiry is None
    assert plan.forecast.requests == {}
    assert (plan.forecast.deadline_seconds, plan.forecast.bytes) == (0, 0)


def test_the_forecast_counts_what_a_commit_sends():
    fleet = happy_fleet()
    add_service(fleet, "qwen-batch")
    forecast = fleet.plan().forecast
    writes = {name: count for name, count in forecast.requests.items() if not name.startswith("get")}
    assert writes == {
        "create AIMProfile": 1,
        "create AIMProfileCache": 1,
        "patch AIMArtifact": 2,
        "patch AIMService": 2,
        "patch AIMService (dry run)": 2,
    }
    assert forecast.deadline_seconds == 2 * (120 + 300 + 60)
    assert forecast.bytes > 500
