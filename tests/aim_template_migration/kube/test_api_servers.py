"""The same requests to the local rehearsal API and to a real kube-apiserver; both must be understood alike."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from aim_api.crds import load_crds
from aim_api.kinds import AIM_PROFILE_CACHE, AIM_SERVICE, CONFIG_MAP, CRD, NAMESPACE, Kind
from aim_rehearsal.apiserver.faults import DropConnectionError
from aim_rehearsal.apiserver.server import LocalApiServer
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.kube.errors import (
    AlreadyExists,
    BadRequest,
    ConnectError,
    Forbidden,
    Invalid,
    NotFound,
    NotServed,
    OutcomeUnknown,
)

GHOSTS = [
    Kind("Ghost", "ghost.example.com", "v1", "ghosts"),
    Kind("Ghost", "", "v1", "ghosts"),
    Kind("Ghost", "aim.eai.amd.com", "v1alpha2", "ghosts"),
    AIM_SERVICE.at("v9"),
]


@dataclass
class Running:
    kubeconfig: Callable[[str], Path]
    namespace: str

    def connect(self, identity="admin", **options):
        return connect(ConnectionOptions(kubeconfig=str(self.kubeconfig(identity)), **options))


@pytest.fixture(scope="module")
def rehearsal():
    with LocalApiServer(identities={"nobody": []}) as server:
        server.install_crds(load_crds())
        yield server


@pytest.fixture(params=["rehearsal", "aim_plane"])
def running(request, tmp_path):
    server = request.getfixturevalue(request.param)
    if request.param == "aim_plane":
        yield Running(server.kubeconfig, request.getfixturevalue("namespace"))
        return
    name = f"test-{len(server.audit_events())}"
    server.seed([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}])
    yield Running(lambda identity: server.write_kubeconfig(tmp_path / identity, identity, "trap"), name)


@pytest.fixture
def cluster(running):
    with_admin = running.connect()
    yield with_admin
    with_admin.close()


def config_map(name, namespace, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace},
        "data": data,
    }


def test_the_version_is_read(cluster):
    assert cluster.server_version()["gitVersion"].startswith("v1.")


def test_absent_objects_and_kinds_that_are_not_served_are_two_things(cluster, running):
    with pytest.raises(NotFound):
        cluster.get(AIM_SERVICE, "absent", running.namespace)
    with pytest.raises(NotFound):
        cluster.get(CRD, "ghosts.ghost.example.com")
    for ghost in GHOSTS:
        with pytest.raises(NotServed):
            cluster.get(ghost, "absent", running.namespace)
        with pytest.raises(NotServed):
            cluster.list(ghost, running.namespace)


def test_a_dry_run_stores_nothing_and_the_same_request_then_does(cluster, running):
    body = config_map("one", running.namespace, key="value")
    dry = cluster.send(cluster.prepare_create(CONFIG_MAP, body, running.namespace, dry_run=True))
    assert dry.body["data"] == {"key": "value"}
    with pytest.raises(NotFound):
        cluster.get(CONFIG_MAP, "one", running.namespace)
    created = cluster.send(cluster.prepare_create(CONFIG_MAP, body, running.namespace, dry_run=False))
    assert created.status == 201
    managers = created.body["metadata"]["managedFields"]
    assert [entry["manager"] for entry in managers] == ["aim-template-migration"]
    with pytest.raises(AlreadyExists):
        cluster.send(cluster.prepare_create(CONFIG_MAP, body, running.namespace, dry_run=False))


def test_json_patches_with_tests(cluster, running):
    created = cluster.send(
        cluster.prepare_create(CONFIG_MAP, config_map("one", running.namespace), running.namespace, dry_run=False)
    )
    uid = created.body["metadata"]["uid"]
    change = {"op": "add", "path": "/data", "value": {"a": "b"}}
    right, wrong = ({"op": "test", "path": "/metadata/uid", "value": value} for value in (uid, "another"))
    with pytest.raises(Invalid):
        cluster.send(cluster.prepare_json_patch(CONFIG_MAP, "one", running.namespace, [wrong, change], dry_run=False))
    answer = cluster.send(
        cluster.prepare_json_patch(CONFIG_MAP, "one", running.namespace, [right, change], dry_run=False)
    )
    assert answer.body["data"] == {"a": "b"}
    with pytest.raises(NotFound):
        cluster.send(cluster.prepare_json_patch(CONFIG_MAP, "absent", running.namespace, [change], dry_run=False))


def test_unknown_fields_are_refused(cluster, running):
    body = {
        "apiVersion": AIM_PROFILE_CACHE.api_version,
        "kind": AIM_PROFILE_CACHE.name,
        "metadata": {"name": "one", "namespace": running.namespace},
        "spec": {"noSuchField": 1},
    }
    with pytest.raises((BadRequest, Invalid), match="noSuchField"):
        cluster.send(cluster.prepare_create(AIM_PROFILE_CACHE, body, running.namespace, dry_run=True))


def test_a_namespace_that_is_not_there(cluster):
    with pytest.raises(NotFound, match="absent"):
        cluster.send(cluster.prepare_create(CONFIG_MAP, config_map("one", "absent"), "absent", dry_run=False))
    assert cluster.list(AIM_SERVICE, "absent") == []
    with pytest.raises(NotFound):
        cluster.get(NAMESPACE, "absent")


def test_a_list_in_pages_has_every_object_once(cluster, running):
    for number in range(5):
        cluster.send(
            cluster.prepare_create(
                CONFIG_MAP, config_map(f"n{number}", running.namespace), running.namespace, dry_run=False
            )
        )
    before = cluster.requests_sent.get("list", 0)
    found = cluster.list(CONFIG_MAP, running.namespace, page_size=2, field_selector="metadata.name!=kube-root-ca.crt")
    assert [each["metadata"]["name"] for each in found] == [f"n{number}" for number in range(5)]
    assert {(each["apiVersion"], each["kind"]) for each in found} == {("v1", "ConfigMap")}
    assert cluster.requests_sent["list"] - before == 3


def test_permissions(running, cluster):
    assert cluster.access_review("create", AIM_SERVICE, running.namespace)
    for nobody in (running.connect("nobody"), running.connect(impersonate="nobody")):
        assert not nobody.access_review("create", AIM_SERVICE, running.namespace)
        with pytest.raises(Forbidden):
            nobody.get(AIM_SERVICE, "one", running.namespace)
        with pytest.raises(Forbidden):
            nobody.send(
                nobody.prepare_create(CONFIG_MAP, config_map("x", running.namespace), running.namespace, dry_run=True)
            )
        nobody.close()


def test_a_token_that_the_server_does_not_know(running, tmp_path):
    content = yaml.safe_load(running.kubeconfig("admin").read_text())
    content["users"][0]["user"] = {"token": "hunter2"}
    wrong = tmp_path / "wrong"
    wrong.write_text(yaml.safe_dump(content))
    with pytest.raises(ConnectError, match="does not accept the token of user") as caught:
        connect(ConnectionOptions(kubeconfig=str(wrong)))
    assert "hunter2" not in str(caught.value)


def test_a_list_whose_snapshot_expires_starts_again(tmp_path):
    """Only the rehearsal can be told how long a snapshot lasts."""
    with LocalApiServer(history=5) as server:
        server.seed([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}])
        server.seed([config_map(f"n{number}", "team-a") for number in range(4)])
        cluster = connect(ConnectionOptions(kubeconfig=str(server.write_kubeconfig(tmp_path / "config"))))
        busy = [True]

        def reduce(item):
            if busy.pop() if busy else False:
                for number in range(10):
                    cluster.send(
                        cluster.prepare_create(CONFIG_MAP, config_map(f"m{number}", "team-a"), "team-a", dry_run=False)
                    )
            return item["metadata"]["name"]

        found = cluster.list_reduced(CONFIG_MAP, "team-a", reduce, page_size=2)
        cluster.close()
    assert sorted(found) == sorted([f"n{number}" for number in range(4)] + [f"m{number}" for number in range(10)])


@pytest.mark.parametrize("stored", [True, False])
def test_a_lost_answer_leaves_both_outcomes_possible_and_reading_tells(tmp_path, stored):
    def faults(request, response):
        if request.method == "POST" and (response is not None) == stored:
            raise DropConnectionError

    with LocalApiServer(faults=faults) as server:
        server.seed([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}}])
        cluster = connect(ConnectionOptions(kubeconfig=str(server.write_kubeconfig(tmp_path / "config"))))
        with pytest.raises(OutcomeUnknown):
            cluster.send(cluster.prepare_create(CONFIG_MAP, config_map("one", "team-a"), "team-a", dry_run=False))
        found = [each["metadata"]["name"] for each in cluster.list(CONFIG_MAP, "team-a")]
        cluster.close()
    assert ("one" in found) == stored
    assert cluster.requests_sent["create"] == 1
