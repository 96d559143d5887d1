import pytest

from tests.aim_rehearsal.apiserver.api import TABLE, Api, widget

W = Api.widgets


def rows(answer):
    return [row["cells"] for row in answer.body["rows"]]


def heads(answer):
    return [(column["name"], column["priority"]) for column in answer.body["columnDefinitions"]]


def test_columns_of_a_definition(api):
    api.post(W, widget("a", color="red"))
    api.merge(f"{W}/a/status", {"status": {"conditions": [{"type": "Ready", "status": "True"}]}})
    api.post(W, widget("b"))
    answer = api.table(W)
    assert (answer.body["kind"], answer.body["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert heads(answer) == [("Name", 0), ("Size", 0), ("Ready", 0), ("Color", 1)]
    assert rows(answer) == [["a", 3, "True", "red"], ["b", 3, None, None]]
    assert answer.body["rows"][0]["object"]["kind"] == "PartialObjectMetadata"


@pytest.mark.parametrize(
    ("include", "kind"), [("Object", "Widget"), ("Metadata", "PartialObjectMetadata"), ("None", None)]
)
def test_rows_carry_what_is_asked(api, include, kind):
    api.post(W, widget("a"))
    shown = api.table(f"{W}/a?includeObject={include}").body["rows"][0]["object"]
    assert (shown and shown["kind"]) == kind


def test_metadata_alone(api):
    api.post(W, widget("a"))
    one = api.get(f"{W}/a", accept="application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1").body
    assert (one["kind"], sorted(one)) == ("PartialObjectMetadata", ["apiVersion", "kind", "metadata"])
    many = api.get(W, accept="application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1").body
    assert (many["kind"], len(many["items"])) == ("PartialObjectMetadataList", 1)


@pytest.mark.parametrize(
    ("accept", "status", "content_type"),
    [
        ("application/json", 200, "application/json"),
        ("application/vnd.kubernetes.protobuf,application/json", 200, "application/json"),
        ("application/yaml", 200, "application/yaml"),
        ("*/*", 200, "application/json"),
        ("text/html", 406, "application/json"),
        ("application/vnd.kubernetes.protobuf", 406, "application/json"),
        ("application/json;as=Table;g=meta.k8s.io;v=v9,application/json", 200, "application/json"),
    ],
)
def test_formats(api, accept, status, content_type):
    api.post(W, widget("a"))
    answer = api.get(f"{W}/a", accept=accept)
    assert (answer.status, answer.response.header("content-type")) == (status, content_type)


def test_built_in_kinds(api):
    namespace = "/api/v1/namespaces/default"
    api.post(f"{namespace}/configmaps", {"metadata": {"name": "c"}, "data": {"a": "1", "b": "2"}})
    assert rows(api.table(f"{namespace}/configmaps"))[0][:2] == ["c", 2]
    pod = {"metadata": {"name": "p"}, "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]}}
    api.post(f"{namespace}/pods", pod)
    statuses = [{"name": "c", "ready": True, "restartCount": 2, "state": {"running": {}}}]
    api.merge(
        f"{namespace}/pods/p/status",
        {"status": {"phase": "Running", "podIP": "1.2.3.4", "containerStatuses": statuses}},
    )
    cells = rows(api.table(f"{namespace}/pods"))[0]
    assert cells[:4] == ["p", "1/1", "Running", "2"]
    assert cells[5:7] == ["1.2.3.4", "n"]
    api.delete(f"{namespace}/pods/p")
    assert rows(api.table(f"{namespace}/pods"))[0][2] == "Terminating"
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 2, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    api.post("/apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec})
    cells = rows(api.table("/apis/apps/v1/namespaces/default/deployments"))[0]
    assert [*cells[:4], *cells[5:]] == ["d", "0/2", 0, 0, "c", "i", "a=b"]


def test_the_answer_to_a_write_may_be_a_table(api):
    answer = api.post(W, widget("a"), headers={"accept": TABLE})
    assert (answer.status, answer.body["kind"]) == (201, "Table")
