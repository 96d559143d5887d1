"""Ten thousand services in the local API: they load and list, memory is bounded, slow and rude clients hurt nobody."""

import contextlib
import json
import os
import secrets
import socket
import ssl
import subprocess
import threading
import time
import tracemalloc

import pytest

from aim_api.crds import load_crds
from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.apiserver import LocalApiServer
from aim_rehearsal.client import Client
from aim_rehearsal.worlds.storing import stored_objects
from aim_rehearsal.worlds.world import load_world
from tests.aim_rehearsal.apiserver.api import Api

NAMESPACES, SERVICES = 100, 100
ALL = NAMESPACES * SERVICES
HISTORY, AUDIT = 500, 1000
SECONDS = 60
BASE = "/apis/aim.eai.amd.com/v1alpha2"
pytestmark = pytest.mark.slow


def services():
    """Yield services as a server holds them, all alike but for their names."""
    objects = stored_objects(load_world("shared-happy-path").objects)
    sample = next(item for item in objects if item["kind"] == "AIMService")
    for space in range(NAMESPACES):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"ns-{space:03}"}}
        for number in range(SERVICES):
            place = {"name": f"svc-{number:03}", "namespace": f"ns-{space:03}", "uid": f"{space}-{number}"}
            labels = {"tier": "gold" if number % 10 == 0 else "basic"}
            metadata = {**sample["metadata"], **place, "labels": labels}
            yield {**sample, "metadata": metadata}


@pytest.fixture(scope="module")
def server():
    server = LocalApiServer(history=HISTORY, audit_limit=AUDIT)
    server.install_crds(load_crds())
    with server:
        server.seed(services())
        yield server


@pytest.fixture
def client(server):
    return Client(server.url, token=server.token(), ca_pem=server.ca_pem)


@pytest.fixture
def rude(server):
    """Return a function that opens a bare TLS connection and sends one request over it."""
    context = ssl.create_default_context(cadata=server.ca_pem)
    port = int(server.url.rpartition(":")[2])
    with contextlib.ExitStack() as stack:

        def send(method, path, *headers, body=b""):
            plain = stack.enter_context(socket.create_connection(("127.0.0.1", port), SECONDS))
            connection = stack.enter_context(context.wrap_socket(plain, server_hostname="127.0.0.1"))
            lines = [f"{method} {path} HTTP/1.1", "Host: x", f"Authorization: Bearer {server.token()}", *headers]
            connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode() + body)
            return connection

        yield send


def touch(server, times, size=0):
    """Write to one service again and again, each time something else than any test wrote before."""
    api, by = Api(server), secrets.token_hex(4)
    for number in range(times):
        note = {"metadata": {"annotations": {"note": f"{number}", "by": by, "ballast": "x" * size}}}
        assert api.merge(f"{BASE}/namespaces/ns-000/aimservices/svc-000", note).status == 200


@pytest.mark.parametrize("page_size", [500, 7_000, ALL])
def test_a_list_is_whole_in_pages_of_any_size(client, page_size):
    items = client.list_all(AIM_SERVICE, page_size=page_size).items
    places = [(item["metadata"]["namespace"], item["metadata"]["name"]) for item in items]
    assert len(places) == len(set(places)) == ALL
    assert places == sorted(places)


def test_a_list_in_pages_is_of_one_moment_while_others_write(server, client):
    done = threading.Event()

    def write():
        while not done.is_set():
            touch(server, 1)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert len(client.list_all(AIM_SERVICE, page_size=2_000).items) == ALL
    finally:
        done.set()
        writer.join(SECONDS)


def test_a_namespace_and_a_label_are_found_among_all(client):
    assert len(client.list_all(AIM_SERVICE, "ns-042").items) == SERVICES
    assert len(client.list_all(AIM_SERVICE, label_selector="tier=gold").items) == ALL // 10


def test_a_page_costs_a_page_and_not_the_whole_collection(server):
    api = Api(server)

    def peak(limit):
        tracemalloc.start()
        answer = api.get(f"{BASE}/aimservices?limit={limit}")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert answer.status == 200
        return found

    assert peak(100) < peak(ALL) / 5


def test_what_is_kept_of_the_past_is_bounded(server):
    revision = server.store.revision
    touch(server, 3 * HISTORY)
    (event,) = Api(server).watch(f"{BASE}/aimservices", f"resourceVersion={revision}&timeoutSeconds=5")
    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
    recent = server.store.revision - HISTORY
    assert len(list(Api(server).watch(f"{BASE}/aimservices", f"resourceVersion={recent}&timeoutSeconds=0"))) == HISTORY
    assert len(server.audit_events()) == AUDIT


def test_a_watch_that_nobody_reads_delays_nobody_and_is_told_what_it_missed(server, client, rude):
    revision = server.store.revision
    slow = rude("GET", f"{BASE}/aimservices?watch=1&resourceVersion={revision}&timeoutSeconds=600")
    touch(server, 2 * HISTORY, size=20_000)
    assert len(client.list_all(AIM_SERVICE, "ns-001").items) == SERVICES
    data = b""
    while b'"code":410' not in data[-4096:]:
        part = slow.recv(1 << 20)
        assert part, "the stream ended without saying why"
        data += part
    assert b'"type":"ERROR"' in data


def test_many_watches_follow_at_once(server, client, rude):
    revision = server.store.revision
    path = f"{BASE}/namespaces/ns-000/aimservices?watch=1&resourceVersion={revision}&timeoutSeconds=600"
    connections = [rude("GET", path) for _ in range(50)]
    touch(server, 20)
    for connection in connections:
        data = b""
        while data.count(b'"note":"19"') == 0:
            part = connection.recv(1 << 16)
            assert part
            data += part
        assert data.count(b'"type":"MODIFIED"') == 20


@pytest.mark.parametrize(
    ("method", "path", "headers", "body", "status"),
    [
        ("GET", f"{BASE}/aimservices?limit=many", (), b"", 400),
        ("GET", f"{BASE}/aimservices?continue=zzzz", (), b"", 400),
        ("GET", f"{BASE}/aimservices?labelSelector=((", (), b"", 400),
        ("GET", f"{BASE}/aimservices?resourceVersion=1&resourceVersionMatch=Exact", (), b"", 410),
        (
            "POST",
            f"{BASE}/namespaces/ns-000/aimservices",
            ("Content-Type: application/json", "Content-Length: 3"),
            b"{]}",
            400,
        ),
        ("DELETE", f"{BASE}/namespaces/ns-000/aimservices/none", (), b"", 404),
    ],
)
def test_hostile_requests_get_a_status_and_leave_everything_in_place(
    server, client, rude, method, path, headers, body, status
):
    connection = rude(method, path, *headers, body=body)
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(65536)
    assert head.split(b" ", 2)[1] == str(status).encode(), head
    assert b'"kind":"Status"' in head.partition(b"\r\n\r\n")[2]
    assert b"Traceback" not in head
    assert len(client.list_all(AIM_SERVICE, "ns-000").items) == SERVICES


def test_without_a_token_nothing_is_said_of_ten_thousand_services(server):
    answer = Api(server, None).get(f"{BASE}/aimservices")
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert "items" not in answer.body


@pytest.mark.kubectl
def test_kubectl_lists_them_all(server, tmp_path):
    kubeconfig = server.write_kubeconfig(tmp_path / "kubeconfig")
    environment = {**os.environ, "KUBECONFIG": str(kubeconfig), "HOME": str(tmp_path)}
    command = ["kubectl", "get", "aimservices", "-A", "--no-headers"]
    began = time.monotonic()
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=2 * SECONDS)
    assert len(done.stdout.splitlines()) == ALL, time.monotonic() - began
    names = subprocess.run(
        [*command[:-1], "-l", "tier=gold", "-o", "json"], env=environment, capture_output=True, check=True
    ).stdout
    assert len(json.loads(names)["items"]) == ALL // 10
