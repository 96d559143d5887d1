"""Reading: what can't be read whole is an error that names it, and never taken for empty."""

import pytest

from aim_template_migration.kube.errors import Forbidden, IncompleteList
from aim_template_migration.planning.inventory import (
    CLUSTER_KINDS,
    NAMESPACED_KINDS,
    PlanningError,
    read_cluster_scope,
    read_definitions,
    read_identity,
    read_namespace,
)
from aim_template_migration.planning.make import Settings, make_plan
from tests.support.fleet import NOW, Fleet, FleetCluster, happy_fleet


def test_a_missing_namespace_is_an_error_that_names_it():
    fleet = happy_fleet()
    with pytest.raises(PlanningError, match="namespace team-z does not exist"):
        read_namespace(FleetCluster(fleet), "team-z")


def test_a_plan_without_namespaces_is_refused():
    with pytest.raises(PlanningError, match="no namespace was named"):
        make_plan(FleetCluster(happy_fleet()), Settings((), "Both"), now=NOW, plan_id="x")


@pytest.mark.parametrize("kind", [*CLUSTER_KINDS, *NAMESPACED_KINDS], ids=lambda kind: kind.name)
def test_a_list_that_is_forbidden_or_incomplete_stops_the_plan(kind):
    fleet = happy_fleet()
    fleet.forbidden = {kind.name}
    with pytest.raises(Forbidden, match=kind.name):
        fleet.files()
    fleet.forbidden, fleet.incomplete = set(), {kind.name}
    with pytest.raises(IncompleteList, match=kind.name):
        fleet.files()


def test_a_cluster_without_the_new_kinds_is_readable_and_manual():
    """An operator of before the profile pipeline: no profile kinds, AIMService at v1alpha1 only."""
    fleet = happy_fleet()
    for name in list(fleet.definitions):
        if "profile" in name:
            del fleet.definitions[name]
    definition = fleet.definition("aimservices.aim.eai.amd.com")
    definition["spec"]["versions"] = [
        {**version, "storage": True} for version in definition["spec"]["versions"] if version["name"] == "v1alpha1"
    ]
    unit = fleet.unit()
    assert unit.outcome == "CrdVersionsUnsuitable"
    assert {reason.object for reason in unit.reasons} == {
        "CustomResourceDefinition/aimservices.aim.eai.amd.com",
        "CustomResourceDefinition/aimprofiles.aim.eai.amd.com",
        "CustomResourceDefinition/aimprofilecaches.aim.eai.amd.com",
    }


def test_the_identity_is_that_of_kube_system_and_of_the_crds():
    fleet = happy_fleet()
    identity = read_identity(FleetCluster(fleet))
    assert identity.kube_system_uid == fleet.objects["Namespace/kube-system"]["metadata"]["uid"]
    assert identity.server_version == "v1.36.2"
    crd = next(crd for crd in identity.crds if crd.name == "aimservices.aim.eai.amd.com")
    assert (crd.storage_version, crd.served_versions) == ("v1alpha2", ("v1alpha1", "v1alpha2"))


def test_an_unreadable_kube_system_only_warns():
    fleet = happy_fleet()
    fleet.remove("Namespace", "kube-system")
    plan = fleet.plan()
    assert plan.cluster.kube_system_uid == ""
    assert [warning.code for warning in plan.warnings] == ["ClusterIdentityPartial"]
    assert plan.units[0].disposition == "automatic"


def test_crds_are_not_read_again_where_they_are_known():
    cluster = FleetCluster(happy_fleet())
    definitions = read_definitions(cluster)
    cluster.read.clear()
    scope = read_cluster_scope(cluster, definitions)
    assert "CustomResourceDefinition" not in cluster.read
    assert scope.identity == definitions.identity


def test_other_deployments_of_the_namespace_are_not_kept():
    fleet = happy_fleet()
    fleet.add("Deployment", "apps/v1", "web", "team-a", manager="helm", spec={"template": {}})
    scope = read_namespace(FleetCluster(fleet), "team-a")
    names = [item.name for item in scope.every() if item.kind.name == "Deployment"]
    assert names == ["qwen-chat-66a1c54b-predictor"]


def test_reduction_drops_what_is_never_used():
    fleet = happy_fleet()
    service = fleet.only("AIMService")
    service["status"]["conditions"][0]["message"] = "x" * 1000
    service["status"]["runtime"] = {"replicas": "1"}
    scope = read_namespace(FleetCluster(fleet), "team-a")
    (observed,) = [item for item in scope.every() if item.kind.name == "AIMService"]
    assert "managedFields" not in observed.obj["metadata"]
    assert "runtime" not in observed.obj["status"]
    assert "message" not in observed.obj["status"]["conditions"][0]
    assert observed.managers == ("kubectl-client-side-apply",)


def test_an_empty_namespace_reads_as_empty():
    fleet = Fleet()
    fleet.add("AIMModel", "aim.eai.amd.com/v1alpha2", "m", "team-a", spec={})
    assert [item.name for item in read_namespace(FleetCluster(fleet), "team-a").every()] == ["m"]
