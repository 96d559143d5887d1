from tests.aim_rehearsal.apiserver.api import Api, widget

A = f"{Api.widgets}/a"


def entries(body):
    return [
        (entry["manager"], entry["operation"], entry["fieldsV1"]) for entry in body["metadata"].get("managedFields", [])
    ]


def test_a_create_owns_what_is_stored_defaults_included(api):
    body = api.post(Api.widgets, widget("a", metadata={"labels": {"x": "y"}}, color="red")).body
    fields = {
        "f:metadata": {"f:labels": {".": {}, "f:x": {}}},
        "f:spec": {".": {}, "f:color": {}, "f:size": {}},
    }
    assert entries(body) == [("test", "Update", fields)]


def test_the_manager_is_named_by_parameter_or_user_agent(api):
    body = api.post(f"{Api.widgets}?fieldManager=hand", widget("a")).body
    assert entries(body)[0][0] == "hand"
    body = api.post(Api.widgets, widget("b"), headers={"user-agent": "kubectl/v1.36 (linux)"}).body
    assert entries(body)[0][0] == "kubectl"


def test_who_changes_a_field_takes_it_and_who_removes_one_leaves_none(api):
    api.post(f"{Api.widgets}?fieldManager=one", widget("a", color="red", args=["x"]))
    merge = "application/merge-patch+json"
    body = api.send("PATCH", f"{A}?fieldManager=two", {"spec": {"color": "blue", "args": None}}, merge).body
    assert entries(body) == [
        ("one", "Update", {"f:spec": {".": {}, "f:size": {}}}),
        ("two", "Update", {"f:spec": {"f:color": {}}}),
    ]


def test_status_writers_have_entries_of_their_own(api):
    api.post(Api.widgets, widget("a"))
    body = api.merge(f"{A}/status", {"status": {"phase": "x"}, "metadata": {"labels": {"a": "b"}}}).body
    entry = body["metadata"]["managedFields"][1]
    assert (entry["subresource"], entry["fieldsV1"]) == ("status", {"f:status": {".": {}, "f:phase": {}}})
    assert "labels" not in body["metadata"]


def test_an_untracked_object_stays_untracked_until_it_is_applied(api, server):
    server.seed([widget("a", metadata={"namespace": "default"}, color="red")])
    assert entries(api.merge(A, {"spec": {"color": "blue"}}).body) == []


def test_managed_fields_can_be_cleared_but_not_by_leaving_them_out(api):
    api.post(Api.widgets, widget("a"))
    assert entries(api.merge(A, {"metadata": {"managedFields": []}}).body)
    assert entries(api.merge(A, {"metadata": {"managedFields": [{}]}}).body) == []


def test_too_many_updaters_become_one(api):
    api.post(f"{Api.widgets}?fieldManager=m0", widget("a"))
    for number in range(1, 13):
        patch = {"metadata": {"labels": {f"l{number}": "x"}}}
        api.send("PATCH", f"{A}?fieldManager=m{number}", patch, "application/merge-patch+json")
    managers = [manager for manager, _, _ in entries(api.get(A).body)]
    assert len(managers) == 10
    assert "ancient-changes" in managers


def test_structures_of_built_in_kinds_belong_to_nobody(api):
    claim = {
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1"}}},
    }
    body = api.post("/api/v1/namespaces/default/persistentvolumeclaims", claim).body
    assert entries(body)[0][2] == {
        "f:spec": {"f:accessModes": {}, "f:resources": {"f:requests": {".": {}, "f:storage": {}}}, "f:volumeMode": {}}
    }
