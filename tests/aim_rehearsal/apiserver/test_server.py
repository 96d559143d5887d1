import json
import ssl
import stat
import urllib.error
import urllib.request

import pytest

from aim_rehearsal.apiserver import LocalApiServer
from tests.aim_rehearsal.apiserver.api import Api, widget, widget_crd

W = Api.widgets


def test_the_first_objects_have_identities(api):
    uids = {api.get(f"/api/v1/namespaces/{name}").body["metadata"]["uid"] for name in ("default", "kube-system")}
    assert len(uids) == 2
    other = Api(LocalApiServer(controllers=False)).get("/api/v1/namespaces/kube-system").body["metadata"]["uid"]
    assert other not in uids


def test_seeded_objects_stay_as_they_are(api, server):
    metadata = {
        "name": "a",
        "namespace": "copied",
        "uid": "11111111-2222-3333-4444-555555555555",
        "generation": 7,
        "creationTimestamp": "2026-01-02T03:04:05Z",
        "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "c", "uid": "u"}],
        "managedFields": [
            {"manager": "m", "operation": "Update", "apiVersion": "example.com/v1", "fieldsType": "FieldsV1"}
        ],
        "resourceVersion": "123456",
    }
    copied = {**widget("a", version="v1", metadata=metadata, size=9), "status": {"phase": "x"}}
    server.seed([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "copied", "uid": "n"}}, copied])
    found = api.get(W.replace("default", "copied") + "/a").body
    assert found["apiVersion"] == "example.com/v2"
    assert found["status"] == {"phase": "x"}
    for key in ("uid", "generation", "creationTimestamp", "ownerReferences", "managedFields"):
        assert found["metadata"][key] == metadata[key]
    assert found["metadata"]["resourceVersion"] != "123456"
    assert api.get("/api/v1/namespaces/copied").body["metadata"]["uid"] == "n"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"apiVersion": "nothing/v1", "kind": "X", "metadata": {"name": "x"}}, "X of nothing/v1 is not served here"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}, "a ConfigMap without metadata.name"),
        ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}}, "ConfigMap x has no metadata.namespace"),
    ],
)
def test_objects_that_cannot_be_seeded(server, value, message):
    with pytest.raises(ValueError, match=message):
        server.seed([value])


def test_definitions_are_replaced_and_bad_ones_refused(api, server):
    changed = widget_crd()
    schema = changed["spec"]["versions"][1]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"]["properties"]["size"]["default"] = 4
    before = api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com").body["metadata"]
    server.install_crds([changed])
    after = api.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com").body["metadata"]
    assert (after["uid"], after["generation"]) == (before["uid"], before["generation"] + 1)
    assert api.post(W, widget("a")).body["spec"] == {"size": 4}
    schema["properties"]["spec"]["type"] = ""
    with pytest.raises(ValueError, match=r"CustomResourceDefinition widgets\.example\.com is not acceptable"):
        server.install_crds([changed])


def test_ten_thousand_objects_are_listed_in_pages(api, server):
    annotations = {"text": "x" * 3000}
    server.seed(
        widget(f"w{number:05}", metadata={"namespace": "default", "annotations": annotations})
        for number in range(10_000)
    )
    seen, token = 0, ""
    while True:
        page = api.get(f"{W}?limit=500&continue={token}").body
        seen += len(page["items"])
        token = page["metadata"]["continue"]
        if not token:
            break
    assert seen == 10_000


def get(server, token, context):
    request = urllib.request.Request(f"{server.url}{W}", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, context=context, timeout=20) as answer:
        return json.load(answer)


def test_https_with_a_certificate_of_its_own_and_a_kubeconfig(tmp_path):
    server = LocalApiServer(identities={"bob": []}, controllers=False)
    server.install_crds([widget_crd()])
    with pytest.raises(RuntimeError):
        _ = server.url
    with server:
        assert server.url.startswith("https://127.0.0.1:")
        context = ssl.create_default_context(cadata=server.ca_pem)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        assert get(server, server.token("admin"), context)["kind"] == "WidgetList"
        with pytest.raises(urllib.error.HTTPError) as refusal:
            get(server, server.token("bob"), context)
        assert refusal.value.code == 403
        refusal.value.close()
        with pytest.raises(urllib.error.URLError, match="CERTIFICATE_VERIFY_FAILED"):
            get(server, server.token("admin"), ssl.create_default_context())
        path = server.write_kubeconfig(tmp_path / "config", "bob", namespace="team")
        server.write_kubeconfig(path, "bob", namespace="team")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        config = json.loads(path.read_text())
        assert config["users"][0]["user"]["token"] == server.token("bob")
        assert config["contexts"][0]["context"]["namespace"] == "team"
    with pytest.raises(KeyError):
        server.token("nobody")
