"""The real kubectl against the local API: what it prints, and how it exits."""

import json
import os
import re
import subprocess

import pytest

from aim_rehearsal.apiserver import LocalApiServer
from tests.aim_rehearsal.apiserver.api import Api, widget, widget_crd

pytestmark = pytest.mark.kubectl
TIMEOUT_SECONDS = 60


@pytest.fixture(scope="module")
def server():
    server = LocalApiServer(identities={"bob": []})
    server.install_crds([widget_crd()])
    with server:
        yield server


@pytest.fixture
def kubectl(server, tmp_path_factory):
    """Return a function that runs kubectl as an administrator in a namespace of its own."""
    home = tmp_path_factory.mktemp("kubectl")
    namespace = f"ns-{home.name.lower()}"
    Api(server).post("/api/v1/namespaces", {"metadata": {"name": namespace}})
    config = server.write_kubeconfig(home / "config", "admin", namespace=namespace)

    def run(*arguments, document=None, status=0):
        environment = {"PATH": os.environ["PATH"], "HOME": str(home), "KUBECONFIG": str(config)}
        text = None if document is None else json.dumps(document)
        done = subprocess.run(
            ["kubectl", *arguments],
            input=text,
            env=environment,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        assert done.returncode == status, f"{arguments}: {done.stdout}{done.stderr}"
        return done.stdout + done.stderr

    return run


def test_get_and_describe(kubectl):
    assert kubectl("create", "-f", "-", document=widget("a", color="red")) == "widget.example.com/a created\n"
    lines = kubectl("get", "widgets", "-o", "wide").splitlines()
    assert lines[0].split() == ["NAME", "SIZE", "READY", "COLOR"]
    assert lines[1].split() == ["a", "3", "red"]
    assert kubectl("get", "wi", "a", "-o", "jsonpath={.spec.color}") == "red"
    assert kubectl("get", "widgets.v1.example.com", "a", "-o", "jsonpath={.apiVersion}").startswith(
        ("example.com/v1", "Warning: example.com/v1 Widget is deprecated")
    )
    described = kubectl("describe", "widget", "a")
    assert "API Version:  example.com/v2" in described
    assert re.search(r"Events: +<none>", described)
    assert "NotFound" in kubectl("get", "widget", "b", status=1)


def test_apply_diff_and_apply_again(kubectl):
    assert kubectl("apply", "-f", "-", document=widget("a", color="red")) == "widget.example.com/a created\n"
    changed = kubectl("diff", "-f", "-", document=widget("a", color="blue"), status=1)
    assert "-  color: red" in changed
    assert "+  color: blue" in changed
    assert kubectl("apply", "-f", "-", document=widget("a", color="blue")) == "widget.example.com/a configured\n"
    assert kubectl("apply", "-f", "-", document=widget("a", color="blue")) == "widget.example.com/a unchanged\n"
    assert kubectl("diff", "-f", "-", document=widget("a", color="blue")) == ""
    assert "(server dry run)" in kubectl("apply", "--dry-run=server", "-f", "-", document=widget("a", color="green"))
    assert kubectl("get", "widget", "a", "-o", "jsonpath={.spec.color}") == "blue"


def test_apply_refuses_unknown_fields_and_broken_rules(kubectl):
    refused = kubectl("apply", "-f", "-", document=widget("a", colour="red"), status=1)
    assert 'strict decoding error: unknown field "spec.colour"' in refused
    refused = kubectl("apply", "-f", "-", document=widget("a", size=1000), status=1)
    assert "size must stay below 100" in refused


def test_server_side_apply(kubectl):
    apply = ("apply", "--server-side", "-f", "-")
    assert kubectl(*apply, document=widget("a", color="red")) == "widget.example.com/a serverside-applied\n"
    refused = kubectl(*apply, "--field-manager=other", document=widget("a", color="blue"), status=1)
    assert 'conflict with "kubectl": .spec.color' in refused
    kubectl(*apply, "--field-manager=other", "--force-conflicts", document=widget("a", color="blue"))
    assert kubectl("get", "widget", "a", "-o", "jsonpath={.spec.color}") == "blue"


def test_from_client_side_to_server_side_apply(kubectl):
    kubectl("apply", "-f", "-", document=widget("a", color="red"))
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", "-", document=widget("a", color="blue"))
    assert kubectl("apply", "-f", "-", document=widget("a", color="green")) == "widget.example.com/a configured\n"


@pytest.mark.parametrize(
    ("kind", "patch", "color"),
    [
        ("merge", {"spec": {"color": "blue"}}, "blue"),
        ("json", [{"op": "replace", "path": "/spec/color", "value": "green"}], "green"),
    ],
)
def test_patch(kubectl, kind, patch, color):
    kubectl("create", "-f", "-", document=widget("a", color="red"))
    kubectl("patch", "widget", "a", "--type", kind, "-p", json.dumps(patch))
    assert kubectl("get", "widget", "a", "-o", "jsonpath={.spec.color} {.metadata.generation}") == f"{color} 2"


def test_patch_that_is_refused(kubectl):
    kubectl("create", "-f", "-", document=widget("a", color="red"))
    test = [{"op": "test", "path": "/spec/color", "value": "blue"}]
    refused = kubectl("patch", "widget", "a", "--type", "json", "-p", json.dumps(test), status=1)
    assert "the server rejected our request due to an error in our request" in refused


def test_status_and_wait(kubectl):
    kubectl("create", "-f", "-", document=widget("a"))
    status = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    waiting = ("wait", "widget/a", "--for=condition=Ready", "--timeout=1s")
    assert "timed out" in kubectl(*waiting, status=1)
    kubectl("patch", "widget", "a", "--subresource=status", "--type=merge", "-p", json.dumps(status))
    assert kubectl(*waiting) == "widget.example.com/a condition met\n"
    assert "condition met" in kubectl("wait", "crd/widgets.example.com", "--for=condition=Established", "--timeout=5s")


def test_label_annotate_replace_and_delete(kubectl):
    kubectl("create", "-f", "-", document=widget("a", color="red"))
    kubectl("label", "widget", "a", "app=x")
    kubectl("annotate", "widget", "a", "note=y")
    assert kubectl("get", "widgets", "-l", "app=x", "-o", "name") == "widget.example.com/a\n"
    assert "replaced" in kubectl("replace", "-f", "-", document=widget("a", color="blue"))
    assert 'widget.example.com "a" deleted' in kubectl("delete", "widget", "a")
    assert "No resources found" in kubectl("get", "widgets")


def test_explain(kubectl):
    explained = kubectl("explain", "widget.spec")
    assert "color\t<string>" in explained
    assert "KIND:       Widget" in explained


def test_built_in_kinds_written_in_protobuf(kubectl):
    kubectl("create", "configmap", "c", "--from-literal=a=b")
    assert kubectl("get", "configmap", "c", "-o", "jsonpath={.data.a}") == "b"
    kubectl("create", "secret", "generic", "s", "--from-literal=x=y")
    assert kubectl("get", "secret", "s", "-o", "jsonpath={.data.x}") == "eQ=="
    kubectl("create", "role", "r", "--verb=get,list", "--resource=configmaps")
    kubectl("create", "rolebinding", "b", "--role=r", "--user=bob")
    assert kubectl("auth", "can-i", "list", "configmaps", "--as=bob") == "yes\n"
    assert kubectl("auth", "can-i", "delete", "configmaps", "--as=bob", status=1) == "no\n"
    assert "Forbidden" in kubectl("delete", "configmap", "c", "--as=bob", status=1)
    assert "admin" in kubectl("auth", "whoami")


def test_namespaces_come_and_go(kubectl):
    kubectl("create", "namespace", "brief")
    kubectl("create", "-n", "brief", "-f", "-", document=widget("a"))
    assert 'namespace "brief" deleted' in kubectl("delete", "namespace", "brief")
    assert "NotFound" in kubectl("get", "namespace", "brief", status=1)


def test_workloads(kubectl):
    document = json.loads(kubectl("create", "deployment", "d", "--image=i:1", "--dry-run=client", "-o", "json"))
    kubectl("apply", "-f", "-", document=document)
    kubectl(
        "patch",
        "deployment",
        "d",
        "-p",
        json.dumps({"spec": {"template": {"spec": {"containers": [{"name": "i", "image": "j:2"}]}}}}),
    )
    assert kubectl("get", "deployment", "d", "-o", "jsonpath={.spec.template.spec.containers[*].image}") == "j:2"
    assert "StrategyType:           RollingUpdate" in kubectl("describe", "deployment", "d")
