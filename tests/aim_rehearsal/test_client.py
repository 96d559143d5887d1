"""The rehearsal's own client against the local API and a real API server."""

import json
import queue
import threading

import pytest

from aim_api.kinds import AIM_SERVICE, CONFIG_MAP, NAMESPACE
from aim_api.tree import get_str
from aim_rehearsal.apiserver import LocalApiServer, Response
from aim_rehearsal.client import ApiError, Change, Client, Listing

WAIT = 20


@pytest.fixture(params=["local", pytest.param("real", marks=pytest.mark.controlplane)])
def client(request):
    if request.param == "local":
        server = request.getfixturevalue("local_server")
        return Client(server.url, token=server.token("admin"), ca_pem=server.ca_pem)
    plane = request.getfixturevalue("aim_plane")
    return Client(plane.url, token=plane.token("admin"), ca_pem=plane.ca_file.read_text())


@pytest.fixture
def namespace(client):
    return get_str(client.create(NAMESPACE, {"metadata": {"generateName": "client-"}}), "metadata", "name")


def config_map(namespace, name, **data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": namespace, "labels": {"colour": "red" if name < "m" else "blue"}},
        "data": data,
    }


def names(items):
    return [get_str(item, "metadata", "name") for item in items]


def test_lists_are_read_in_pages_and_items_carry_their_kind(client, namespace):
    for name in ("a", "b", "c", "x"):
        client.create(CONFIG_MAP, config_map(namespace, name))
    listing = client.list_all(CONFIG_MAP, namespace, page_size=2, label_selector="colour")
    assert names(listing.items) == ["a", "b", "c", "x"]
    assert {item["kind"] for item in listing.items} == {"ConfigMap"}
    assert listing.resource_version
    assert names(client.list_all(CONFIG_MAP, namespace, label_selector="colour=red").items) == ["a", "b", "c"]


def test_writes_of_every_kind(client, namespace):
    client.create(CONFIG_MAP, config_map(namespace, "a", one="1"), manager="first")
    client.merge_patch(CONFIG_MAP, namespace, "a", {"data": {"two": "2"}}, manager="second")
    operations = [{"op": "replace", "path": "/data/one", "value": "uno"}]
    assert client.json_patch(CONFIG_MAP, namespace, "a", operations, dry_run=True)["data"]["one"] == "uno"
    live = client.get(CONFIG_MAP, namespace, "a")
    assert live["data"] == {"one": "1", "two": "2"}
    assert {entry["manager"] for entry in live["metadata"]["managedFields"]} == {"first", "second"}
    applied = client.apply(CONFIG_MAP, config_map(namespace, "a", one="eins"), manager="third")
    assert applied["data"] == {"one": "eins", "two": "2"}
    assert client.apply(CONFIG_MAP, config_map(namespace, "a"), manager="third")["data"] == {"two": "2"}
    live["data"] = {"three": "3"}
    with pytest.raises(ApiError) as refused:
        client.replace(CONFIG_MAP, live)
    assert (refused.value.status, refused.value.reason) == (409, "Conflict")
    client.delete(CONFIG_MAP, namespace, "a", uid=live["metadata"]["uid"])
    with pytest.raises(ApiError) as gone:
        client.get(CONFIG_MAP, namespace, "a")
    assert (gone.value.status, gone.value.reason) == (404, "NotFound")


def test_a_status_is_written_through_its_subresource(client, namespace):
    service = {
        "apiVersion": AIM_SERVICE.api_version,
        "kind": "AIMService",
        "metadata": {"name": "s", "namespace": namespace},
        "spec": {"profile": {"name": "p"}},
    }
    live = client.create(AIM_SERVICE, service)
    patched = client.merge_patch(
        AIM_SERVICE, namespace, "s", {"spec": {"replicas": 5}, "status": {"status": "Running"}}, subresource="status"
    )
    assert (patched["status"]["status"], patched["spec"]["replicas"]) == ("Running", 1)
    replaced = client.replace(AIM_SERVICE, patched | {"status": {"status": "Failed"}}, subresource="status")
    assert replaced["status"] == {"status": "Failed"}
    assert replaced["metadata"]["generation"] == live["metadata"]["generation"]


class Follower:
    """A watch that is iterated in a thread of its own."""

    def __init__(self, watch):
        self.watch = watch
        self.seen = queue.Queue()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        for what in self.watch:
            self.seen.put(what)

    def next(self):
        return self.seen.get(timeout=WAIT)

    def close(self):
        self.watch.close()
        self.thread.join(timeout=WAIT)
        assert not self.thread.is_alive()


def test_a_watch_begins_with_a_listing_and_ends_when_it_is_closed(client, namespace):
    client.create(CONFIG_MAP, config_map(namespace, "a"))
    follower = Follower(client.watch(CONFIG_MAP, namespace, label_selector="colour"))
    first = follower.next()
    assert isinstance(first, Listing)
    assert names(first.items) == ["a"]
    client.create(CONFIG_MAP, config_map(namespace, "b"))
    client.delete(CONFIG_MAP, namespace, "b")
    assert [(follower.next().type, follower.next().type)] == [("ADDED", "DELETED")]
    follower.close()


def test_a_watch_can_go_on_from_a_listing(client, namespace):
    listing = client.list_all(CONFIG_MAP, namespace)
    client.create(CONFIG_MAP, config_map(namespace, "a"))
    follower = Follower(client.watch(CONFIG_MAP, namespace, since=listing.resource_version, label_selector="colour"))
    change = follower.next()
    assert isinstance(change, Change)
    assert get_str(change.object, "metadata", "name") == "a"
    follower.close()


def test_a_watch_whose_history_is_gone_lists_again():
    with LocalApiServer(history=4, controllers=False) as server:
        client = Client(server.url, token=server.token(), ca_pem=server.ca_pem)
        client.create(NAMESPACE, {"metadata": {"name": "n"}})
        since = client.list_all(CONFIG_MAP, "n").resource_version
        for number in range(10):
            client.create(CONFIG_MAP, config_map("n", f"c{number}"))
        follower = Follower(client.watch(CONFIG_MAP, "n", since=since))
        again = follower.next()
        assert isinstance(again, Listing)
        assert len(again.items) == 10
        client.create(CONFIG_MAP, config_map("n", "later"))
        assert get_str(follower.next().object, "metadata", "name") == "later"
        follower.close()


def test_a_list_whose_token_expired_starts_again():
    asked = []

    def expire_once(request, answer):
        if "continue=" not in request.target or asked:
            return answer
        asked.append(request.target)
        status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
        return Response(410, body=json.dumps(status).encode())

    with LocalApiServer(faults=expire_once, controllers=False) as server:
        client = Client(server.url, token=server.token(), ca_pem=server.ca_pem)
        client.create(NAMESPACE, {"metadata": {"name": "n"}})
        for number in range(3):
            client.create(CONFIG_MAP, config_map("n", f"c{number}"))
        assert names(client.list_all(CONFIG_MAP, "n", page_size=2).items) == ["c0", "c1", "c2"]
    assert len(asked) == 1


def test_a_server_that_does_not_answer_is_named():
    with LocalApiServer(controllers=False) as server:
        client = Client(server.url, token=server.token(), ca_pem=server.ca_pem)
    with pytest.raises(ApiError, match=r"GET /api/v1/namespaces/n: no answer from 127\.0\.0\.1:") as caught:
        client.get(NAMESPACE, None, "n")
    assert caught.value.status == 0


def test_a_kubeconfig_gives_server_authority_and_token(tmp_path):
    with LocalApiServer(controllers=False) as server:
        client = Client.from_kubeconfig(server.write_kubeconfig(tmp_path / "config"))
        assert get_str(client.get(NAMESPACE, None, "default"), "metadata", "name") == "default"


def test_a_kubeconfig_without_a_token_or_context_is_named(tmp_path):
    path = tmp_path / "config"
    path.write_text("current-context: x\ncontexts: []\n")
    with pytest.raises(ValueError, match="contexts has no entry named 'x'"):
        Client.from_kubeconfig(path)
