"""What kubectl does with a kubeconfig, tried one by one against a TLS server; each row once failed in some client."""

import base64
import contextlib
import json
import os
import socket
import threading

import pytest
import trustme

from aim_api.kinds import AIM_SERVICE, POD
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.kube.errors import ConnectError, CredentialsUnavailable, Unauthorized
from tests.aim_template_migration.kube.scripted_server import Reply, ScriptedServer, refusal

SERVICE = {
    "apiVersion": "aim.eai.amd.com/v1alpha2",
    "kind": "AIMService",
    "metadata": {"name": "llama", "namespace": "team-a"},
}
UNAUTHORIZED = refusal(401, "Unauthorized", "Unauthorized")
OPERATIONS = [{"op": "test", "path": "/metadata/name", "value": "llama"}]


def encoded(content):
    return base64.b64encode(content).decode()


def refused(call, *arguments, **keywords):
    with pytest.raises(ConnectError) as caught:
        call(*arguments, **keywords)
    text = str(caught.value)
    assert "\n" not in text
    assert "hunter2" not in text
    return text


def authorizations(server):
    return [each.header("authorization") for each in server.received]


@pytest.fixture
def counting_plugin(tmp_path):
    """An exec plugin that returns token-1, token-2 and so on, and how often it ran."""
    count = tmp_path / "runs"
    count.write_text("0")

    def write(**status):
        credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential"}
        text = json.dumps(credential | {"status": status | {"token": "token-@"}}).replace("@", "'$n'")
        path = tmp_path / "plugin"
        path.write_text(f"#!/bin/sh\nn=$(($(cat {count}) + 1))\necho $n > {count}\necho '{text}'\n")
        path.chmod(0o700)
        return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(path)}}

    write.runs = lambda: int(count.read_text())
    return write


@pytest.fixture
def issue(authority):
    """Issue a client certificate and return it as kubeconfig data."""

    def issue(name):
        issued = authority.issue_cert(name, common_name=name)
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        return chain, issued.private_key_pem.bytes()

    return issue


# Credentials


def test_a_plugin_runs_once_for_many_requests(server, connected, counting_plugin):
    cluster = connected(server, user=counting_plugin())
    server.answer = lambda received: Reply(200, SERVICE)
    for _ in range(3):
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert counting_plugin.runs() == 1
    assert authorizations(server) == ["Bearer token-1"] * 4


def test_a_plugin_runs_again_when_its_token_expires(server, connected, counting_plugin):
    now = [1_800_000_000.0]
    user = counting_plugin(expirationTimestamp="2027-01-15T08:10:00Z")
    cluster = connected(server, user=user, wall_clock=lambda: now[0])
    server.answer = lambda received: Reply(200, SERVICE)
    cluster.get(AIM_SERVICE, "llama", "team-a")
    now[0] += 600
    cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=True))
    assert authorizations(server) == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]


def test_a_plugin_runs_again_when_a_read_is_refused(server, connected, counting_plugin):
    cluster = connected(server, user=counting_plugin())
    server.replies = [UNAUTHORIZED, Reply(200, SERVICE), Reply(200, SERVICE)]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE
    cluster.get(AIM_SERVICE, "llama", "team-a")
    assert authorizations(server) == ["Bearer token-1", "Bearer token-1", "Bearer token-2", "Bearer token-2"]


def test_a_second_refusal_ends_the_read(server, connected, counting_plugin, waits):
    cluster = connected(server, user=counting_plugin())
    server.answer = lambda received: UNAUTHORIZED
    with pytest.raises(Unauthorized):
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert len(server.requests()) == 2
    assert waits == []


def test_a_refused_write_is_not_repeated_but_the_next_request_has_new_credentials(server, connected, counting_plugin):
    cluster = connected(server, user=counting_plugin())
    server.replies = [UNAUTHORIZED, Reply(200, SERVICE)]
    with pytest.raises(Unauthorized):
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
    assert len(server.requests("PATCH")) == 1
    cluster.get(AIM_SERVICE, "llama", "team-a")
    assert authorizations(server)[-1] == "Bearer token-2"


def test_a_plugin_that_fails_later_sends_nothing(server, connected, counting_plugin):
    now = [1_800_000_000.0]
    user = counting_plugin(expirationTimestamp="2027-01-15T08:10:00Z")
    cluster = connected(server, user=user, wall_clock=lambda: now[0])
    now[0] += 600
    os.truncate(user["exec"]["command"], 0)
    with pytest.raises(CredentialsUnavailable, match=r"patch AIMService team-a/llama: user .* the exec plugin"):
        cluster.send(cluster.prepare_json_patch(AIM_SERVICE, "llama", "team-a", OPERATIONS, dry_run=False))
    assert server.requests() == []


def test_a_plugin_is_told_the_cluster_with_the_authority_as_data(server, connected, tmp_path):
    (tmp_path / "ca.crt").write_bytes(server.authority_pem)
    plugin = tmp_path / "plugin"
    credential = '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "t"}}'
    plugin.write_text(f"#!/bin/sh\necho $KUBERNETES_EXEC_INFO > {tmp_path}/info\necho '{credential}'\n")
    plugin.chmod(0o700)
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "x"}}
    connected(
        server,
        user={
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": str(plugin),
                "provideClusterInfo": True,
            }
        },
        cluster={
            "certificate-authority-data": None,
            "certificate-authority": "ca.crt",
            "extensions": [{"name": "other", "extension": {}}, extension],
        },
    )
    told = json.loads((tmp_path / "info").read_text())["spec"]["cluster"]
    assert told == {
        "server": server.url,
        "certificate-authority-data": encoded(server.authority_pem),
        "config": {"audience": "x"},
    }


def test_a_client_certificate_as_data_or_file(authority, connected, issue, tmp_path):
    chain, key = issue("alice")
    (tmp_path / "alice.crt").write_bytes(chain)
    (tmp_path / "alice.key").write_bytes(key)
    with ScriptedServer(authority, require_client_certificate=True) as server:
        connected(server, user={"client-certificate-data": encoded(chain), "client-key-data": encoded(key)})
        connected(server, user={"client-certificate": "alice.crt", "client-key": "alice.key"})
        assert [each.client_name for each in server.received] == ["alice", "alice"]
        assert authorizations(server) == [None, None]


def test_a_client_certificate_of_a_plugin_and_its_renewal(authority, connected, issue, tmp_path):
    now = [1_800_000_000.0]
    plugin = tmp_path / "plugin"

    def prepare(name):
        chain, key = issue(name)
        status = {
            "clientCertificateData": chain.decode(),
            "clientKeyData": key.decode(),
            "expirationTimestamp": "2027-01-15T08:10:00Z",
        }
        credential = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
        plugin.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(credential)}\nEND\n")
        plugin.chmod(0o700)

    prepare("first")
    user = {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": str(plugin)}}
    with ScriptedServer(authority, require_client_certificate=True) as server:
        cluster = connected(server, user=user, wall_clock=lambda: now[0])
        prepare("second")
        now[0] += 600
        cluster.server_version()
        assert [each.client_name for each in server.received] == ["first", "second"]


def test_a_token_file_is_read_again_after_a_minute_and_after_a_refusal(server, connected, tmp_path):
    now = [1_800_000_000.0]
    token = tmp_path / "token"
    token.write_text("one\n")
    cluster = connected(server, user={"tokenFile": "token"}, wall_clock=lambda: now[0])
    token.write_text("two\n")
    cluster.server_version()
    now[0] += 61
    cluster.server_version()
    token.write_text("three\n")
    server.replies = [UNAUTHORIZED, Reply(200, SERVICE)]
    cluster.get(AIM_SERVICE, "llama", "team-a")
    assert authorizations(server) == [f"Bearer {word}" for word in ("one", "one", "two", "two", "three")]


def test_a_token_that_was_renewed_in_the_kubeconfig_is_used_after_a_refusal(server, connected, write_kubeconfig):
    cluster = connected(server, user={"token": "old"})
    write_kubeconfig(server, user={"token": "new"})
    server.replies = [UNAUTHORIZED, Reply(200, SERVICE)]
    assert cluster.get(AIM_SERVICE, "llama", "team-a") == SERVICE
    assert authorizations(server)[-1] == "Bearer new"


def test_new_credentials_for_another_server_are_not_sent_to_the_old_one(server, connected, write_kubeconfig):
    cluster = connected(server, user={"token": "old"})
    write_kubeconfig(server, user={"token": "new"}, cluster={"server": "https://elsewhere.example.com"})
    server.replies = [UNAUTHORIZED]
    with pytest.raises(CredentialsUnavailable, match="leads to another server now"):
        cluster.get(AIM_SERVICE, "llama", "team-a")
    assert authorizations(server) == ["Bearer old", "Bearer old"]


def test_impersonation_of_the_kubeconfig_and_of_the_command_line(server, write_kubeconfig):
    user = {"token": "t", "as": "bob", "as-groups": ["devs", "ops"], "as-user-extra": {"reason": ["drill"]}}
    path = write_kubeconfig(server, user=user)
    connect(ConnectionOptions(kubeconfig=path)).close()
    connect(ConnectionOptions(kubeconfig=path, impersonate="cärol", impersonate_groups=("qa",))).close()
    first, second = server.received
    assert first.values("impersonate-user") == ["bob"]
    assert first.values("impersonate-group") == ["devs", "ops"]
    assert first.values("impersonate-extra-reason") == ["drill"]
    assert second.values("impersonate-user")[0].encode("latin-1").decode() == "cärol"
    assert second.values("impersonate-group") == ["qa"]


def test_over_plain_http_there_are_no_credentials(write_kubeconfig, authority):
    listener = socket.create_server(("127.0.0.1", 0))
    heard = []

    def serve():
        connection, _ = listener.accept()
        with connection:
            heard.append(connection.recv(65536).decode())
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    thread = threading.Thread(target=serve)
    thread.start()
    with ScriptedServer(authority) as server:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        path = write_kubeconfig(server, cluster={"server": url, "certificate-authority-data": None})
        connect(ConnectionOptions(kubeconfig=path)).close()
    thread.join()
    listener.close()
    assert heard[0].startswith("GET /version HTTP/1.1")
    assert "authorization" not in heard[0].lower()


# The server's identity


def test_another_name_is_expected_and_sent_with_tls_server_name(authority, connected):
    with ScriptedServer(authority, names=("api.internal",)) as server:
        text = refused(connected, server)
        assert f"the certificate of {server.url} is not accepted" in text
        connected(server, cluster={"tls-server-name": "api.internal"})
        assert server.server_names[-1] == "api.internal"


def test_a_wrong_authority_is_explained(server, connected):
    other = encoded(trustme.CA().cert_pem.bytes())
    text = refused(connected, server, cluster={"certificate-authority-data": other})
    assert 'context "test" of' in text
    assert f"the certificate of {server.url} is not accepted" in text
    assert "check certificate-authority" in text
    assert server.received == []


def test_without_an_authority_those_of_the_system_must_vouch(server, connected):
    assert "is not accepted" in refused(connected, server, cluster={"certificate-authority-data": None})


def test_verification_is_skipped_only_on_request(server, connected):
    connected(server, cluster={"certificate-authority-data": None, "insecure-skip-tls-verify": True})
    assert len(server.received) == 1


def test_an_intermediate_authority_is_enough(connected):
    """As with kubectl: any trusted certificate ends a chain."""
    intermediate = trustme.CA().create_child_ca()
    with ScriptedServer(intermediate) as server:
        connected(server)
        assert len(server.received) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"user": {"client-certificate-data": "QQ==", "client-key-data": "QQ=="}}, "no matching PEM pair"),
        ({"cluster": {"certificate-authority-data": "QQ=="}}, "holds no PEM certificate"),
    ],
)
def test_a_bad_certificate_in_the_kubeconfig_is_explained(server, connected, change, words):
    text = refused(connected, server, **change)
    assert words in text
    assert 'context "test" of' in text


def test_a_client_certificate_that_the_server_does_not_know_is_explained(authority, connected):
    stranger = trustme.CA().issue_cert("mallory")
    user = {
        "client-certificate-data": encoded(stranger.cert_chain_pems[0].bytes()),
        "client-key-data": encoded(stranger.private_key_pem.bytes()),
    }
    with ScriptedServer(authority, require_client_certificate=True) as server:
        text = refused(connected, server, user=user)
    assert "check the client certificate" in text or "the connection" in text


# Ways to the server


def test_several_files_in_the_variable(server, write_kubeconfig, tmp_path):
    """Server, user and current context come from three files, the certificate beside the user's."""
    cluster = write_kubeconfig(server, users=[], contexts=[], file="a/config", **{"current-context": ""})
    user = write_kubeconfig(server, user={"tokenFile": "token"}, clusters=[], contexts=[], file="b/config")
    context = write_kubeconfig(server, users=[], clusters=[], file="c/config")
    (tmp_path / "b" / "token").write_text("beside-b")
    environ = {"KUBECONFIG": os.pathsep.join([str(tmp_path / "missing"), cluster, user, context])}
    connect(ConnectionOptions(), environ=environ).close()
    assert authorizations(server) == ["Bearer beside-b"]


def test_a_server_below_a_path(server, connected):
    server.answer_version = False
    server.replies = [Reply(200, {"gitVersion": "v1"})]
    cluster = connected(server, cluster={"server": f"{server.url}/k8s/clusters/c-1/"})
    assert server.received[0].path == "/k8s/clusters/c-1/version"
    assert cluster.server == f"{server.url}/k8s/clusters/c-1"


class TunnelProxy:
    """Forwards to one server whatever an HTTP CONNECT or a SOCKS5 client asks for, and notes what that was."""

    def __init__(self, port, *, refuse=False):
        self.heard = []
        self._port = port
        self._refuse = refuse
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def _serve(self):
        client, _ = self._listener.accept()
        self._listener.close()
        with client:
            first = client.recv(65536)
            answer = self._socks(client) if first[0] == 5 else self._connect(first)
            client.sendall(answer)
            if self._refuse:
                return
            with socket.create_connection(("127.0.0.1", self._port)) as upstream:
                back = threading.Thread(target=self._copy, args=(upstream, client), daemon=True)
                back.start()
                self._copy(client, upstream)
                back.join()

    def _connect(self, head):
        self.heard.append(head.decode())
        status = "407 Proxy Authentication Required" if self._refuse else "200 OK"
        return f"HTTP/1.1 {status}\r\n\r\n".encode()

    def _socks(self, client):
        client.sendall(b"\x05\x00")
        self.heard.append(client.recv(65536))
        return b"\x05" + (b"\x05" if self._refuse else b"\x00") + b"\x00\x01" + bytes(6)

    def _copy(self, source, target):
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        finally:
            for each in (source, target):
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def tunnel():
    proxies = []

    def start(server, **keywords):
        proxies.append(TunnelProxy(server.port, **keywords))
        return proxies[-1]

    yield start
    for proxy in proxies:
        proxy.thread.join(10)


def test_a_proxy_of_the_kubeconfig(server, tunnel, connected):
    proxy = tunnel(server)
    cluster = connected(server, cluster={"proxy-url": f"http://us%40er:hunter2@{proxy.address}"})
    assert len(server.received) == 1
    assert proxy.heard[0].startswith(f"CONNECT 127.0.0.1:{server.port} ")
    assert f"Proxy-Authorization: Basic {encoded(b'us@er:hunter2')}".lower() in proxy.heard[0].lower()
    assert "t0ken" not in proxy.heard[0]
    assert "proxy-authorization" not in dict(server.received[0].headers)
    assert "hunter2" not in cluster.server + cluster.origin


def test_a_socks_proxy_resolves_the_name_itself(authority, tunnel, connected):
    with ScriptedServer(authority, names=("api.invalid",)) as server:
        proxy = tunnel(server)
        settings = {"proxy-url": f"socks5://{proxy.address}", "server": "https://api.invalid:6443"}
        connected(server, cluster=settings).close()
        assert len(server.received) == 1
        assert b"api.invalid" in proxy.heard[0]


def test_a_proxy_of_the_environment(authority, tunnel, connected):
    with ScriptedServer(authority, names=("api.invalid",)) as server:
        proxy = tunnel(server)
        environ = {"HTTPS_PROXY": f"http://{proxy.address}"}
        connected(server, cluster={"server": "https://api.invalid:6443"}, environ=environ).close()
        assert len(server.received) == 1
        assert proxy.heard[0].startswith("CONNECT api.invalid:6443 ")


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_refuses_is_explained(server, tunnel, connected, scheme):
    proxy = tunnel(server, refuse=True)
    text = refused(connected, server, cluster={"proxy-url": f"{scheme}://user:hunter2@{proxy.address}"})
    assert f"{server.url}" in text
    assert server.received == []


def test_a_pods_service_account(server, tmp_path, monkeypatch):
    (tmp_path / "token").write_text("pod-token")
    (tmp_path / "ca.crt").write_bytes(server.authority_pem)
    module = "kubernetes.config.incluster_config"
    monkeypatch.setattr(f"{module}.SERVICE_TOKEN_FILENAME", str(tmp_path / "token"))
    monkeypatch.setattr(f"{module}.SERVICE_CERT_FILENAME", str(tmp_path / "ca.crt"))
    environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(server.port)}
    cluster = connect(ConnectionOptions(), environ=environ)
    assert authorizations(server) == ["Bearer pod-token"]
    assert cluster.origin == "the pod's service account"
    (tmp_path / "token").write_text("renewed")
    server.replies = [UNAUTHORIZED, Reply(200, SERVICE)]
    cluster.get(AIM_SERVICE, "llama", "team-a")
    assert authorizations(server)[-1] == "Bearer renewed"
    cluster.close()


def test_a_pod_without_a_service_account_is_explained(tmp_path, monkeypatch):
    monkeypatch.setattr("kubernetes.config.incluster_config.SERVICE_TOKEN_FILENAME", str(tmp_path / "none"))
    environ = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": "6443"}
    assert "this pod has no usable service account" in refused(connect, ConnectionOptions(), environ=environ)


# No connection


def test_no_kubeconfig_at_all():
    assert "there is no kubeconfig" in refused(connect, ConnectionOptions())
    assert "name a file with --kubeconfig" in refused(connect, ConnectionOptions(context="prod"))


def test_an_unreachable_server_is_named_at_once(server, connected, waits):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    text = refused(connected, server, cluster={"server": f"https://127.0.0.1:{free}"})
    assert f"no connection to https://127.0.0.1:{free}: connection refused" in text
    assert 'context "test" of' in text
    assert waits == []


def test_a_server_that_accepts_and_says_nothing_got_nothing(server, write_kubeconfig):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        path = write_kubeconfig(server, cluster={"server": url})
        text = refused(connect, ConnectionOptions(kubeconfig=path, request_timeout=0.2))
    assert f"no connection to {url} in time" in text


def test_a_name_that_does_not_resolve_is_named(server, connected):
    text = refused(connected, server, cluster={"server": "https://api.invalid"})
    assert "the host name of https://api.invalid cannot be resolved" in text


def test_a_server_that_speaks_no_tls_is_explained(server, connected):
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = listener.accept()
        connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    text = refused(connected, server, cluster={"server": f"https://127.0.0.1:{listener.getsockname()[1]}"})
    thread.join()
    listener.close()
    assert "TLS handshake" in text


@pytest.mark.parametrize(
    ("user", "step"),
    [
        ({"token": "hunter2"}, "log in again"),
        ({"auth-provider": {"name": "oidc", "config": {"id-token": "hunter2"}}}, "run any kubectl command"),
    ],
)
def test_an_expired_token_is_explained(server, connected, user, step):
    server.answer_version = False
    server.answer = lambda received: UNAUTHORIZED
    text = refused(connected, server, user=user)
    assert f"{server.url} does not accept" in text
    assert 'user "alice" in' in text
    assert step in text
    assert len(server.received) == 2


def test_a_page_of_a_proxy_instead_of_an_api_server_is_explained(server, connected):
    server.answer_version = False
    server.answer = lambda received: Reply(200, b"<html>Sign in</html>", headers=(("content-type", "text/html"),))
    assert "an HTML page (200), probably of a proxy" in refused(connected, server)


def test_a_server_that_is_not_ready_is_explained(server, connected, waits):
    server.answer_version = False
    server.answer = lambda received: refusal(503, "ServiceUnavailable", "starting")
    assert "503 ServiceUnavailable: starting; try again later" in refused(connected, server)
    assert len(waits) == 4


def test_a_user_who_may_not_read_the_version_is_connected(server, connected):
    server.answer_version = False
    server.replies = [refusal(403, "Forbidden", "no"), Reply(200, SERVICE)]
    assert connected(server).get(AIM_SERVICE, "llama", "team-a") == SERVICE


def test_a_negative_timeout_is_refused(server, write_kubeconfig):
    options = ConnectionOptions(kubeconfig=write_kubeconfig(server), request_timeout=-1)
    assert "must not be negative" in refused(connect, options)


# Side effects


def test_connecting_writes_nothing_and_leaves_no_key_behind(authority, connected, issue, tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    chain, key = issue("alice")
    with ScriptedServer(authority, require_client_certificate=True) as server:
        connected(server, user={"client-certificate-data": encoded(chain), "client-key-data": encoded(key)})
    assert list(temporary.iterdir()) == []


def test_the_namespace_of_the_context_reaches_no_request(server, connected):
    cluster = connected(server)
    server.answer = lambda received: Reply(200, {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": []})
    cluster.list(POD)
    assert "trap" not in server.requests()[0].path
