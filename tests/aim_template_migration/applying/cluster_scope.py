"""A bench whose service uses a cluster-scoped template and model, with the cluster profile that its plan asks for."""

from aim_api.kinds import AIM_SERVICE
from aim_template_migration.planning.case import open_case
from tests.support.fleet import condition, owner


def on_cluster_scope(bench):
    """Move template, model and target profile of an unplanned bench to the cluster, and plan."""
    fleet = bench.fleet
    template = fleet.only("AIMServiceTemplate")
    fleet.remove("AIMServiceTemplate", "qwen3-32b-latency")
    cluster_template = fleet.add(
        "AIMClusterServiceTemplate", template["apiVersion"], "qwen3-32b-latency", manager="kubectl-create",
        spec=template["spec"], status=template["status"],
    )  # fmt: skip
    fleet.only("AIMService")["status"]["resolvedTemplate"] = {
        "name": "qwen3-32b-latency", "scope": "Cluster", "uid": cluster_template["metadata"]["uid"]
    }  # fmt: skip
    model = fleet.only("AIMModel")
    fleet.remove("AIMModel", "qwen3-32b")
    cluster_model = fleet.add(
        "AIMClusterModel", model["apiVersion"], "qwen3-32b", manager="kubectl-create", spec=model["spec"],
        status=model["status"],
    )  # fmt: skip
    fleet.only("AIMService")["status"]["resolvedModel"] = {
        "name": "qwen3-32b", "scope": "Cluster", "uid": cluster_model["metadata"]["uid"]
    }  # fmt: skip
    fleet.only("AIMTemplateCache")["spec"]["templateScope"] = "Cluster"
    snapshot = fleet.snapshot()
    case = open_case(snapshot, fleet.settings(), snapshot.namespace("team-a").get(AIM_SERVICE, "qwen-chat"))
    profile = fleet.add(
        "AIMClusterProfile", "aim.eai.amd.com/v1alpha2", "qwen3-32b-latency", manager="kubectl-create",
        spec=case.profile_body["spec"],
    )  # fmt: skip
    runtime = fleet.add(
        "ClusterServingRuntime", "serving.kserve.io/v1alpha1", "qwen-runtime",
        metadata={"ownerReferences": [owner(profile)]},
    )  # fmt: skip
    profile["status"] = {
        "status": "Ready", "observedGeneration": 1, "projectedRuntimeName": runtime["metadata"]["name"],
        "conditions": [condition("Ready"), condition("RuntimeProjected")],
    }  # fmt: skip
    bench.operator._cache = cluster_cache(bench)
    plan = bench.plan()
    (unit,) = plan.units
    assert unit.outcome == "SharedNoRollout", unit.reasons
    assert [target.id.split("/")[0] for target in plan.targets] == ["AIMProfileCache"]
    return bench


def cluster_cache(bench):
    """Let the operator adopt the one artifact for a cache whose profile is cluster-scoped."""

    def adopt(fleet, cache):
        artifact = fleet.only("AIMArtifact")
        claim = artifact["status"]["persistentVolumeClaim"]
        entry = {"uid": artifact["metadata"]["uid"], "persistentVolumeClaim": claim}
        cache["status"] = {
            "status": "Ready", "observedGeneration": 1, "artifacts": {artifact["metadata"]["name"]: entry},
            "conditions": [condition("Ready")],
        }  # fmt: skip

    return adopt
