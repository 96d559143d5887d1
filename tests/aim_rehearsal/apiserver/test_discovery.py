import pytest

from tests.aim_rehearsal.apiserver.api import widget_crd

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"


def test_the_old_way(api):
    assert api.get("/api").body["versions"] == ["v1"]
    groups = {item["name"]: item for item in api.get("/apis").body["groups"]}
    assert groups["example.com"]["preferredVersion"]["version"] == "v2"
    assert api.get("/apis/example.com").body["versions"][1]["groupVersion"] == "example.com/v1"
    resources = {item["name"]: item for item in api.get("/apis/example.com/v2").body["resources"]}
    assert resources["widgets"]["shortNames"] == ["wi"]
    assert resources["gadgets"]["namespaced"] is False
    assert resources["widgets/status"]["verbs"] == ["get", "patch", "update"]
    core = {item["name"]: item for item in api.get("/api/v1").body["resources"]}
    assert core["persistentvolumeclaims"]["shortNames"] == ["pvc"]


@pytest.mark.parametrize("version", ["v2", "v2beta1"])
def test_the_aggregated_way(api, version):
    answer = api.get("/apis", accept=AGGREGATED.format(version))
    assert answer.response.header("content-type") == AGGREGATED.format(version)
    assert answer.body["apiVersion"] == f"apidiscovery.k8s.io/{version}"
    group = next(item for item in answer.body["items"] if item["metadata"]["name"] == "example.com")
    assert [item["version"] for item in group["versions"]] == ["v2", "v1"]
    (core,) = api.get("/api", accept=AGGREGATED.format(version)).body["items"]
    assert "pods" in [item["resource"] for item in core["versions"][0]["resources"]]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/version", 200),
        ("/healthz", 200),
        ("/livez", 200),
        ("/readyz", 200),
        ("/openapi/v3", 200),
        ("/openapi/v3/api/v1", 200),
        ("/openapi/v3/apis/example.com/v9", 404),
        ("/openapi/v2", 404),
        ("/apis/nothing.example.com", 404),
        ("/apis/example.com/v9", 404),
        ("/api/v2", 404),
        ("/nothing", 404),
    ],
)
def test_paths(api, path, status):
    assert api.get(path).status == status


def test_openapi_says_what_kubectl_looks_for(api):
    document = api.get("/openapi/v3/apis/example.com/v2").body
    single = document["paths"]["/apis/example.com/v2/namespaces/{namespace}/widgets/{name}"]
    assert {"dryRun", "fieldValidation", "fieldManager"} <= {item["name"] for item in single["patch"]["parameters"]}
    assert single["patch"]["x-kubernetes-group-version-kind"]["kind"] == "Widget"
    schema = document["components"]["schemas"]["com.example.v2.Widget"]
    assert schema["properties"]["spec"]["properties"]["size"]["default"] == 3


def test_a_new_definition_is_served_at_once_under_another_hash(api, server):
    before = api.get("/openapi/v3").body["paths"]["apis/example.com/v2"]["serverRelativeURL"]
    server.install_crds([widget_crd("things", "Thing")])
    assert api.get("/openapi/v3").body["paths"]["apis/example.com/v2"]["serverRelativeURL"] != before
    assert api.get("/apis/example.com/v2/namespaces/default/things").status == 200
