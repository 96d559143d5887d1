"""The caller's own namespaces in memory: what is read, what stays as it was, what is said of the rest."""

import copy
import secrets
import threading

import pytest

from aim_api.crds import load_crds
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_SERVICE,
    AIM_TEMPLATE_CACHE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    POD,
    PVC,
    REPLICA_SET,
)
from aim_rehearsal.apiserver import LocalApiServer
from aim_rehearsal.client import Client
from aim_rehearsal.operator import BridgeOperator, Misbehaviour, Settings
from aim_rehearsal.roles import VIEWER
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import apply_world, load_world
from aim_rehearsal.worlds.storing import stored_objects
from aim_template_migration.applying.events import nobody
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.kube.errors import Forbidden
from aim_template_migration.planning.inventory import PlanningError, read_identity
from aim_template_migration.rehearsing.copying import copy_namespaces
from aim_template_migration.rehearsing.rehearsal import Rehearsal, RehearsalOptions, RunTuning
from tests.support.worlds import renamed

NAMESPACES = ("team-a", "team-b")
COPIED = (AIM_SERVICE, AIM_TEMPLATE_CACHE, AIM_ARTIFACT, PVC, INFERENCE_SERVICE, DEPLOYMENT, REPLICA_SET, POD)
RBAC = "rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def theirs(tmp_path_factory):
    """Somebody's cluster, without a bridge, whose workload is not what the simulation would render."""
    work_dir = tmp_path_factory.mktemp("theirs")
    session = RehearsalSession(load_world("shared-happy-path"), misbehaviour=Misbehaviour.NO_BRIDGE, work_dir=work_dir)
    with session:
        (serving,) = session.client.list_all(INFERENCE_SERVICE, "team-a").items
        container = serving["spec"]["predictor"]["containers"][0]
        container["env"].append({"name": "ADDED_BY", "value": "an older operator"})
        session.client.replace(INFERENCE_SERVICE, serving, manager="aim-service-controller")
        session.operator.settle()
        yield session


def reading(session, user=None):
    """Connect with reading rights, or as a user with rights of its own."""
    kubeconfig = session.kubeconfig("admin" if user else VIEWER)
    return connect(ConnectionOptions(kubeconfig=str(kubeconfig), impersonate=user), environ={})


@pytest.fixture(scope="module")
def copied(theirs):
    return copy_namespaces(reading(theirs), NAMESPACES)


@pytest.fixture(scope="module")
def rehearsed(copied, tmp_path_factory):
    with RehearsalSession(copied.world, work_dir=tmp_path_factory.mktemp("rehearsed")) as session:
        yield session


def everything(session):
    found = [item for kind in COPIED for name in NAMESPACES for item in session.client.list_all(kind, name).items]
    return {(item["kind"], item["metadata"]["namespace"], item["metadata"]["name"]): item for item in found}


def without_versions(item):
    metadata = {key: value for key, value in item["metadata"].items() if key != "resourceVersion"}
    return {**item, "metadata": metadata}


def test_everything_is_copied_with_its_identity(theirs, copied):
    originals, copies = everything(theirs), {}
    for item in copied.world.objects:
        metadata = item["metadata"]
        copies[item["kind"], metadata.get("namespace"), metadata["name"]] = item
    assert originals.keys() <= copies.keys()
    for key, original in originals.items():
        assert copies[key] == original


def test_only_reads_are_sent_and_no_secret_is_asked_for(theirs, copied):
    events = [event for event in theirs.server.audit_events() if event["user"]["username"] == VIEWER]
    assert {event["verb"] for event in events} == {"get", "list"}
    assert "secrets" not in {event.get("objectRef", {}).get("resource") for event in events}


def test_the_rehearsal_changes_nothing_but_the_proofs_on_services(theirs, rehearsed):
    originals, copies = everything(theirs), everything(rehearsed)
    assert originals.keys() == copies.keys()
    for key, original in originals.items():
        live = copies[key]
        if key[0] != "AIMService":
            assert without_versions(live) == without_versions(original)
            continue
        assert live["spec"] == original["spec"]
        assert live["metadata"]["uid"] == original["metadata"]["uid"]
        assert live["metadata"]["generation"] == original["metadata"]["generation"]
        assert live["status"]["observedGeneration"] == original["metadata"]["generation"]
        added = [item for item in live["status"]["conditions"] if item not in original["status"]["conditions"]]
        assert [item["type"] for item in added] == ["BridgeCompatible"]


def test_kube_system_and_the_definitions_are_the_rehearsal_s_own(theirs, rehearsed):
    one, other = read_identity(reading(theirs)), read_identity(reading(rehearsed))
    assert one.kube_system_uid != other.kube_system_uid
    assert not {crd.uid for crd in one.crds} & {crd.uid for crd in other.crds}


def test_the_proofs_that_the_cluster_lacks_are_named(copied):
    bridge, observed = copied.supplied
    assert bridge.startswith("the bridge itself: none of the copied services reports the condition BridgeCompatible")
    assert "BridgeNotProven" in bridge
    assert "2 of 2 copied services" in observed
    assert "AIMService/team-a/qwen-chat" in observed
    assert copied.not_rehearsed == ()


def test_a_bridge_s_cluster_lacks_no_proof_and_its_refusals_stand(tmp_path):
    world = load_world("bridge-warning")
    with RehearsalSession(world, work_dir=tmp_path) as session:
        subject = copy_namespaces(reading(session), world.namespaces)
    assert subject.supplied == ()
    (incompatible,) = subject.world.operator["incompatible"]
    assert incompatible.startswith("team-a/")


def grant(session, user, rules, *, cluster_rules):
    """Give a user a Role in both namespaces and a ClusterRole."""
    admin = session.client
    subject = {"kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io"}
    for namespace in (*NAMESPACES, None):
        prefix, place = ("", {"namespace": namespace}) if namespace else ("Cluster", {})
        path = f"/apis/{RBAC}/" + (f"namespaces/{namespace}/" if namespace else "")
        metadata = {"name": user, **place}
        own = rules if namespace else cluster_rules
        admin._request(
            "POST",
            f"{path}{prefix.lower()}roles",
            {"apiVersion": RBAC, "kind": f"{prefix}Role", "metadata": metadata, "rules": own},
        )
        reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": f"{prefix}Role", "name": user}
        binding = {"apiVersion": RBAC, "kind": f"{prefix}RoleBinding", "metadata": metadata, "roleRef": reference}
        admin._request("POST", f"{path}{prefix.lower()}rolebindings", {**binding, "subjects": [subject]})


def rules_for_plan(*left_out):
    groups = {
        "aim.eai.amd.com": ["*"],
        "serving.kserve.io": ["inferenceservices", "servingruntimes"],
        "": ["persistentvolumeclaims"],
        "apps": ["deployments"],
    }
    return [
        {"apiGroups": [group], "resources": [item for item in names if item not in left_out], "verbs": ["get", "list"]}
        for group, names in groups.items()
    ]


CLUSTER_RULES = [
    {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get"]},
    {"apiGroups": ["aim.eai.amd.com"], "resources": ["*"], "verbs": ["list"]},
    {"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["get"]},
]


def test_what_only_the_simulation_needs_may_be_missing_and_is_named(theirs, tmp_path):
    grant(theirs, "planner", rules_for_plan(), cluster_rules=CLUSTER_RULES)
    subject = copy_namespaces(reading(theirs, "planner"), NAMESPACES)
    kinds = {item["kind"] for item in subject.world.objects}
    assert "Deployment" in kinds
    assert not kinds & {"Pod", "ReplicaSet"}
    named = {sentence.partition(" ")[0] for sentence in subject.not_rehearsed}
    assert named == {"jobs", "pods", "replicasets"}
    assert any(
        "pods may not be read in team-a, team-b (it takes list on pods)" in item for item in subject.not_rehearsed
    )
    with RehearsalSession(subject.world, work_dir=tmp_path) as session:
        assert session.client.list_all(POD).items == []


def test_what_the_plan_needs_must_be_readable(theirs):
    grant(theirs, "blind", rules_for_plan("inferenceservices"), cluster_rules=CLUSTER_RULES)
    with pytest.raises(Forbidden, match='cannot list resource "inferenceservices"'):
        copy_namespaces(reading(theirs, "blind"), NAMESPACES)


def test_namespaces_must_exist_and_hold_services(theirs):
    with pytest.raises(PlanningError, match="namespace nowhere does not exist"):
        copy_namespaces(reading(theirs), ("nowhere",))
    with pytest.raises(PlanningError, match="no AIMService was found in default"):
        copy_namespaces(reading(theirs), ("default",))


def older_definitions():
    """Return the definitions of a cluster from before v1alpha2."""
    for definition in copy.deepcopy(load_crds()):
        versions = [item for item in definition["spec"]["versions"] if item["name"] != "v1alpha2"]
        if versions:
            versions[0]["storage"] = True
            definition["spec"]["versions"] = versions
            yield definition


def test_a_cluster_from_before_v1alpha2_is_read_as_it_is_and_gets_the_definitions(tmp_path):
    with LocalApiServer() as server:
        server.install_crds(older_definitions())
        objects = []
        for item in stored_objects(load_world("shared-happy-path").objects):
            group, _, version = item["apiVersion"].rpartition("/")
            older = f"{group}/v1alpha1" if version == "v1alpha2" else item["apiVersion"]
            objects.append({**item, "apiVersion": older})
        server.seed(objects)
        kubeconfig = server.write_kubeconfig(tmp_path / "older.kubeconfig")
        cluster = connect(ConnectionOptions(kubeconfig=str(kubeconfig)), environ={})
        subject = copy_namespaces(cluster, NAMESPACES)
    assert "the CRDs of a bridge build" in subject.supplied[0]
    assert "aimprofiles.aim.eai.amd.com (the CRD is not installed)" in subject.supplied[0]
    with RehearsalSession(subject.world, work_dir=tmp_path) as session:
        client = Client(session.server.url, token=session.server.token(), ca_pem=session.server.ca_pem)
        (service,) = client.list_all(AIM_SERVICE, "team-a").items
        assert service["status"]["observedGeneration"] == 1


@pytest.mark.controlplane
def test_a_real_cluster_is_copied_rehearsed_and_left_as_it_was(aim_plane, tmp_path):
    admin = Client(aim_plane.url, token=aim_plane.token("admin"), ca_pem=aim_plane.ca_file.read_text())
    world = renamed("shared-happy-path", secrets.token_hex(3))
    apply_world(world, admin)
    with BridgeOperator(admin, Settings()) as operator:
        operator.settle()

    def everything_there():
        found = [item for kind in COPIED for name in world.namespaces for item in admin.list_all(kind, name).items]
        return {item["metadata"]["uid"]: item for item in found}

    before = everything_there()
    cluster = connect(ConnectionOptions(kubeconfig=str(aim_plane.kubeconfig("admin"))), environ={})
    subject = copy_namespaces(cluster, world.namespaces)
    assert set(cluster.requests_sent) <= {"get", "list"}
    cluster.close()
    assert (subject.supplied, subject.not_rehearsed) == ((), ())
    options = RehearsalOptions(
        subject=subject, mode="Both", directory=tmp_path / "plan", work_dir=tmp_path, tuning=RunTuning(soak_seconds=0.1)
    )
    with Rehearsal(options) as rehearsal:
        report = rehearsal.run(lambda chapter: None, nobody, threading.Event()).report
    assert report.counts["succeeded"] == len(report.units) == 2
    for unit in report.units:
        assert unit.inference_service.before == unit.inference_service.after
        assert unit.inference_service.before.uid in before
        assert set(unit.pods.after) <= before.keys()
    assert everything_there() == before
