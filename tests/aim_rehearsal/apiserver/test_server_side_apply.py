import pytest

from tests.aim_rehearsal.apiserver.api import Api, widget

A = f"{Api.widgets}/a"


def owners(body):
    return {
        (entry["manager"], entry["operation"], entry.get("subresource", "")): entry["fieldsV1"]
        for entry in body["metadata"]["managedFields"]
    }


def spec_fields(body, manager, operation="Apply"):
    return owners(body)[manager, operation, ""].get("f:spec", {})


def test_what_is_no_longer_applied_goes_unless_somebody_else_owns_it(api):
    api.apply(A, widget("a", color="red", env=[{"name": "A", "value": "1"}, {"name": "B"}], tags=["x", "y"]), "me")
    api.apply(A, widget("a", color="red", tags=["y"]), "you")
    body = api.apply(A, widget("a", env=[{"name": "B"}]), "me").body
    assert body["spec"] == {"color": "red", "env": [{"name": "B"}], "tags": ["y"], "size": 3}
    assert spec_fields(body, "me") == {"f:env": {'k:{"name":"B"}': {".": {}, "f:name": {}}}}


def test_conflicts_name_every_field_and_manager(api):
    api.apply(A, widget("a", color="red", env=[{"name": "A", "value": "1"}]), "me")
    api.send("PATCH", f"{A}?fieldManager=hand", {"spec": {"size": 4}}, "application/merge-patch+json")
    answer = api.apply(A, widget("a", color="blue", size=5, env=[{"name": "A", "value": "2"}]), "you")
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert answer.message == (
        'Apply failed with 3 conflicts: conflicts with "hand" using example.com/v2:\n- .spec.size\n'
        'conflicts with "me":\n- .spec.color\n- .spec.env[name="A"].value'
    )
    assert {cause["reason"] for cause in answer.body["details"]["causes"]} == {"FieldManagerConflict"}


def test_force_takes_fields_over(api):
    api.apply(A, widget("a", color="red"), "me")
    body = api.apply(A, widget("a", color="blue"), "you", "&force=true").body
    assert body["spec"]["color"] == "blue"
    assert ("me", "Apply", "") not in owners(body)


def test_equal_values_are_shared(api):
    api.apply(A, widget("a", color="red"), "me")
    before = api.get(A).body["metadata"]["generation"]
    body = api.apply(A, widget("a", color="red"), "you").body
    assert body["metadata"]["generation"] == before
    assert spec_fields(body, "me") == spec_fields(body, "you") == {"f:color": {}}


def test_applying_again_changes_nothing(api):
    first = api.apply(A, widget("a", color="red", env=[{"name": "A"}]), "me").body
    assert api.apply(A, widget("a", color="red", env=[{"name": "A"}]), "me").body == first


def test_a_dry_run_stores_nothing(api):
    assert api.apply(A, widget("a", color="red"), "me", "&dryRun=All").status == 201
    assert api.get(A).status == 404


def test_order_of_list_items_follows_the_configuration(api):
    api.post(Api.widgets, widget("a", env=[{"name": name} for name in "ABC"]))
    body = api.apply(A, widget("a", env=[{"name": "C"}, {"name": "D"}]), "me").body
    assert [item["name"] for item in body["spec"]["env"]] == ["A", "B", "C", "D"]


def test_an_untracked_object_belongs_to_a_manager_of_its_own(api, server):
    server.seed([widget("a", metadata={"namespace": "default"}, color="red")])
    answer = api.apply(A, widget("a", color="blue"), "me")
    assert answer.message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using example.com/v2: .spec.color'
    )


def test_status_is_applied_through_its_own_endpoint(api):
    api.apply(A, {**widget("a", color="red"), "status": {"phase": "x"}}, "me")
    assert "status" not in api.get(A).body
    body = api.apply(f"{A}/status", {**widget("a", color="blue"), "status": {"phase": "y"}}, "st").body
    assert (body["spec"]["color"], body["status"]) == ("red", {"phase": "y"})
    assert owners(body)["st", "Apply", "status"] == {"f:status": {"f:phase": {}}}


@pytest.mark.parametrize(
    ("config", "status", "message"),
    [
        (widget("a", unknown=1), 500, ".spec.unknown: field not declared in schema"),
        (widget("a", size="x"), 500, ".spec.size: expected numeric (int or float), got string"),
        (widget("a", env=[{"name": "A"}, {"name": "A"}]), 500, '.spec.env: duplicate entries for key [name="A"]'),
        (widget("a", tags=["x", "x"]), 500, '.spec.tags: duplicate entries for key [="x"]'),
        (widget("a", env=[{"value": "1"}]), 500, 'an element that omits all key fields ["name"]'),
        (widget("b"), 400, "the name of the object (b) does not match the name on the URL (a)"),
        (widget("a", version="v1"), 400, "invalid object type: example.com/v1, Kind=Widget"),
        ({"kind": "Widget"}, 400, "invalid object type: /, Kind="),
        (widget("a", metadata={"managedFields": [{"manager": "x"}]}), 400, "metadata.managedFields must be nil"),
        (widget("a", metadata={"uid": "u"}), 409, "uid mismatch: the provided object specified uid u"),
        (widget("a", color=None), 422, "spec.color in body must be of type string"),
    ],
)
def test_configurations_that_are_refused(api, config, status, message):
    answer = api.apply(A, config, "me")
    assert answer.status == status
    assert message in answer.message
    assert api.get(A).status == 404


def test_a_manager_must_be_named(api):
    answer = api.send("PATCH", A, widget("a"), "application/apply-patch+yaml")
    assert answer.message == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )


def test_yaml_is_taken(api):
    body = b"apiVersion: example.com/v2\nkind: Widget\nmetadata:\n  name: a\nspec:\n  color: red\n"
    answer = api.send("PATCH", f"{A}?fieldManager=me", body, "application/apply-patch+yaml")
    assert (answer.status, answer.body["spec"]["color"]) == (201, "red")


def test_owners_at_another_version_keep_their_fields(api):
    api.apply(f"{Api.old_widgets}/a", widget("a", version="v1", color="red"), "me")
    answer = api.apply(A, widget("a", color="blue"), "you")
    assert (answer.status, answer.body["details"]["causes"][0]["message"]) == (409, 'conflict with "me"')
