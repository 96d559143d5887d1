import base64
import json
import random

import pytest
import trustme

from aim_template_migration.kube import ConnectionOptions, Pacing, connect
from tests.aim_template_migration.kube.scripted_server import ScriptedServer


@pytest.fixture(autouse=True)
def _no_configuration_of_the_machine(monkeypatch, tmp_path):
    """No test reads the kubeconfig, the proxies or the service account of the machine that it runs on."""
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setattr("aim_template_migration.kube.kubeconfig.DEFAULT_FILE", str(tmp_path / "home/.kube/config"))


@pytest.fixture(scope="session")
def authority():
    return trustme.CA()


@pytest.fixture
def server(authority):
    with ScriptedServer(authority) as running:
        yield running


@pytest.fixture
def waits():
    """The seconds that a connection made by ``connected`` waited between attempts, without waiting."""
    return []


@pytest.fixture
def write_kubeconfig(tmp_path):
    """Write a kubeconfig for a server and return its path; keyword arguments replace or add parts."""

    def write(server, *, user=None, cluster=None, context=None, file="config", **rest):
        settings = {
            "server": server.url,
            "certificate-authority-data": base64.b64encode(server.authority_pem).decode(),
        }
        settings |= cluster or {}
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test-cluster", "cluster": {k: v for k, v in settings.items() if v is not None}}],
            "contexts": [
                {"name": "test", "context": {"cluster": "test-cluster", "user": "alice", "namespace": "trap"}}
                | (context or {})
            ],
            "users": [{"name": "alice", "user": {"token": "t0ken"} if user is None else user}],
        }
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content | rest))
        return str(path)

    return write


@pytest.fixture
def connected(write_kubeconfig, waits):
    """Connect to a server with a token; nothing waits, and the waits are deterministic."""
    clusters = []

    def make(server, *, user=None, cluster=None, options=None, **keywords):
        path = write_kubeconfig(server, user=user, cluster=cluster)
        given = options or ConnectionOptions(kubeconfig=path)
        keywords.setdefault("pacing", Pacing(sleep=waits.append, jitter=random.Random(7).random))
        clusters.append(connect(given, **keywords))
        return clusters[-1]

    yield make
    for each in clusters:
        each.close()
