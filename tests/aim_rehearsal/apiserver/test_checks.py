"""The checks by which any claim to be a Kubernetes API can be judged, as one table."""

import base64
import json

import pytest

from tests.aim_rehearsal.apiserver.api import Api, widget, widget_crd

W = Api.widgets
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def made(api, name="a", **spec):
    return api.post(W, widget(name, **spec)).body


def crd_accepted_and_served(api):
    assert api.post(CRDS, widget_crd("things", "Thing")).status == 201
    conditions = api.get(f"{CRDS}/things.example.com").body["status"]["conditions"]
    assert {item["type"]: item["status"] for item in conditions} == {"NamesAccepted": "True", "Established": "True"}
    assert "things" in [item["name"] for item in api.get("/apis/example.com/v2").body["resources"]]


def unserved_kind(api):
    assert api.get(W.replace("widgets", "nothings")).status == 404
    assert api.get(W.replace("/v2/", "/v9/")).status == 404


def create_fills_metadata(api):
    answer = api.post(W, widget("a", color="red"))
    assert answer.status == 201
    metadata = answer.body["metadata"]
    assert (metadata["generation"], metadata["namespace"]) == (1, "default")
    assert all(metadata[key] for key in ("uid", "resourceVersion", "creationTimestamp"))


def create_drops_status(api):
    assert "status" not in api.post(W, {**widget("a"), "status": {"phase": "x"}}).body


def create_defaults_and_prunes(api):
    answer = api.post(W, widget("a", unknown=1))
    assert answer.body["spec"] == {"size": 3}
    assert answer.warnings == ['299 - "unknown field \\"spec.unknown\\""']


def create_twice(api):
    made(api)
    answer = api.post(W, widget("a"))
    assert (answer.status, answer.reason) == (409, "AlreadyExists")
    assert answer.message == 'widgets.example.com "a" already exists'


def schema_violation(api):
    answer = api.post(W, widget("a", size="big"))
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.body["details"]["causes"][0]["field"] == "spec.size"
    assert answer.message.startswith('Widget.example.com "a" is invalid: [spec.size: Invalid value: "string"')


def missing_object(api):
    answer = api.get(f"{W}/nobody")
    assert (answer.status, answer.reason) == (404, "NotFound")
    assert answer.body["details"] == {"name": "nobody", "group": "example.com", "kind": "widgets"}


def dry_run_create(api):
    answer = api.post(f"{W}?dryRun=All", widget("a"))
    assert answer.status == 201
    assert answer.body["metadata"]["uid"]
    assert "resourceVersion" not in answer.body["metadata"]
    assert api.get(f"{W}/a").status == 404


def merge_patch_moves_generation(api):
    before = made(api)["metadata"]
    after = api.merge(f"{W}/a", {"spec": {"color": "blue"}}).body
    assert after["spec"]["color"] == "blue"
    assert after["metadata"]["generation"] == 2
    assert after["metadata"]["resourceVersion"] != before["resourceVersion"]


def merge_null_deletes(api):
    made(api, color="red")
    assert "color" not in api.merge(f"{W}/a", {"spec": {"color": None}}).body["spec"]


def label_change_keeps_generation(api):
    made(api)
    after = api.merge(f"{W}/a", {"metadata": {"labels": {"x": "y"}, "annotations": {"a": "b"}}}).body["metadata"]
    assert (after["generation"], after["labels"]) == (1, {"x": "y"})


def no_op_keeps_revision(api):
    before = made(api, color="red")
    assert api.merge(f"{W}/a", {"spec": {"color": "red"}}).body == before


def dry_run_patch(api):
    before = made(api)
    answer = api.send("PATCH", f"{W}/a?dryRun=All", {"spec": {"color": "x"}}, "application/merge-patch+json")
    assert answer.body["metadata"]["generation"] == 2
    assert answer.body["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert api.get(f"{W}/a").body == before


def stale_merge_patch(api):
    stale = made(api)["metadata"]["resourceVersion"]
    api.merge(f"{W}/a", {"spec": {"color": "x"}})
    answer = api.merge(f"{W}/a", {"metadata": {"resourceVersion": stale}, "spec": {"color": "y"}})
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert "the object has been modified; please apply your changes to the latest version" in answer.message


def json_patch(api):
    made(api, color="red")
    answer = api.patch(
        f"{W}/a",
        {"op": "test", "path": "/spec/color", "value": "red"},
        {"op": "replace", "path": "/spec/color", "value": "blue"},
    )
    assert answer.body["spec"]["color"] == "blue"


def failing_test(api):
    before = made(api, color="red")
    answer = api.patch(
        f"{W}/a",
        {"op": "add", "path": "/spec/color", "value": "blue"},
        {"op": "test", "path": "/spec/size", "value": 99},
    )
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.message == "the server rejected our request due to an error in our request"
    assert api.get(f"{W}/a").body == before


def strategic_merge_on_custom(api):
    made(api)
    answer = api.send("PATCH", f"{W}/a", {}, "application/strategic-merge-patch+json")
    assert (answer.status, answer.reason) == (415, "UnsupportedMediaType")


def apply_creates(api):
    answer = api.apply(f"{W}/a", widget("a", color="red"), "me")
    assert answer.status == 201
    (entry,) = answer.body["metadata"]["managedFields"]
    assert (entry["manager"], entry["operation"]) == ("me", "Apply")
    assert entry["fieldsV1"] == {"f:spec": {"f:color": {}}}


def apply_conflicts(api):
    api.apply(f"{W}/a", widget("a", color="red"), "me")
    answer = api.apply(f"{W}/a", widget("a", color="blue"), "you")
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert answer.message == 'Apply failed with 1 conflict: conflict with "me": .spec.color'


def stale_put(api):
    stale = made(api)
    api.merge(f"{W}/a", {"spec": {"color": "x"}})
    assert api.put(f"{W}/a", stale).status == 409


def good_put(api):
    before = made(api)
    answer = api.put(f"{W}/a", {**before, "spec": {"size": 5}})
    assert (answer.status, answer.body["spec"], answer.body["metadata"]["generation"]) == (200, {"size": 5}, 2)


def transition_rule(api):
    made(api, fixed="x")
    answer = api.merge(f"{W}/a", {"spec": {"fixed": "y"}})
    assert answer.status == 422
    assert "fixed is immutable" in answer.message


def main_endpoint_ignores_status(api):
    before = made(api)
    assert api.merge(f"{W}/a", {"status": {"phase": "x"}}).body == before


def status_endpoint_ignores_spec(api):
    made(api)
    after = api.merge(f"{W}/a/status", {"status": {"phase": "x"}, "spec": {"size": 9}}).body
    assert (after["status"], after["spec"], after["metadata"]["generation"]) == ({"phase": "x"}, {"size": 3}, 1)


def paging(api):
    for name in ("c", "a", "e", "b", "d"):
        made(api, name)
    names, token = [], ""
    while True:
        page = api.get(f"{W}?limit=2&continue={token}").body
        names += [item["metadata"]["name"] for item in page["items"]]
        token = page["metadata"].get("continue")
        if not token:
            break
    assert names == ["a", "b", "c", "d", "e"]


def list_kind_and_revision(api):
    made(api)
    listed = api.get(W).body
    assert (listed["kind"], listed["apiVersion"]) == ("WidgetList", "example.com/v2")
    assert listed["metadata"]["resourceVersion"].isdigit()


def selectors(api):
    api.post(W, widget("a", metadata={"labels": {"app": "x"}}, color="red"))
    api.post(W, widget("b", metadata={"labels": {"app": "y"}}))
    found = {
        query: [item["metadata"]["name"] for item in api.get(f"{W}?{query}").body["items"]]
        for query in ("labelSelector=app%3Dx", "fieldSelector=metadata.name%3Db", "fieldSelector=spec.color%3Dred")
    }
    assert list(found.values()) == [["a"], ["b"], ["a"]]


def bad_continue(api):
    answer = api.get(f"{W}?limit=2&continue=nonsense")
    assert answer.status == 400
    assert answer.message.startswith("invalid continue token: ")


def watch_in_order(api):
    revision = api.get(W).body["metadata"]["resourceVersion"]
    made(api)
    api.merge(f"{W}/a", {"spec": {"color": "x"}})
    api.delete(f"{W}/a")
    events = list(api.watch(W, f"resourceVersion={revision}&timeoutSeconds=0"))
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    revisions = [int(event["object"]["metadata"]["resourceVersion"]) for event in events]
    assert revisions == sorted(set(revisions))


def finalizer_holds_delete(api):
    api.post(W, widget("a", metadata={"finalizers": ["example.com/hold"]}))
    held = api.delete(f"{W}/a").body["metadata"]
    assert (held["deletionGracePeriodSeconds"], held["generation"]) == (0, 2)
    assert api.get(f"{W}/a").status == 200
    assert api.merge(f"{W}/a", {"metadata": {"finalizers": None}}).status == 200
    assert api.get(f"{W}/a").status == 404


def delete_with_precondition(api):
    made(api)
    answer = api.delete(f"{W}/a", {"preconditions": {"uid": "other"}})
    assert (answer.status, answer.reason) == (409, "Conflict")
    assert api.get(f"{W}/a").status == 200


def uid_is_immutable(api):
    made(api)
    assert api.merge(f"{W}/a", {"metadata": {"uid": "other"}}).status == 422


def strict_validation(api):
    answer = api.post(f"{W}?fieldValidation=Strict", widget("a", x=1))
    assert (answer.status, answer.reason) == (400, "BadRequest")
    assert 'strict decoding error: unknown field "spec.x"' in answer.message


def openapi(api):
    index = api.get("/openapi/v3").body["paths"]
    document = api.get(index["apis/example.com/v2"]["serverRelativeURL"]).body
    kinds = [item.get("x-kubernetes-group-version-kind") for item in document["components"]["schemas"].values()]
    assert [{"group": "example.com", "kind": "Widget", "version": "v2"}] in kinds


def bad_token(api):
    answer = api.get(W, authorization="Bearer nonsense")
    assert (answer.status, answer.reason, answer.message) == (401, "Unauthorized", "Unauthorized")


def admission_kinds(api):
    assert api.get("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies").status == 200


def claim(api):
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    answer = api.post("/api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": spec})
    assert (answer.status, answer.body["status"]) == (201, {"phase": "Pending"})


def continue_tokens_are_the_servers_own_format(api):
    for name in ("a", "b"):
        made(api, name)
    token = api.get(f"{W}?limit=1").body["metadata"]["continue"]
    decoded = json.loads(base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)))
    assert (decoded["v"], decoded["start"]) == ("meta.k8s.io/v1", "default/a\0")


CHECKS = [
    crd_accepted_and_served,
    unserved_kind,
    create_fills_metadata,
    create_drops_status,
    create_defaults_and_prunes,
    create_twice,
    schema_violation,
    missing_object,
    dry_run_create,
    merge_patch_moves_generation,
    merge_null_deletes,
    label_change_keeps_generation,
    no_op_keeps_revision,
    dry_run_patch,
    stale_merge_patch,
    json_patch,
    failing_test,
    strategic_merge_on_custom,
    apply_creates,
    apply_conflicts,
    stale_put,
    good_put,
    transition_rule,
    main_endpoint_ignores_status,
    status_endpoint_ignores_spec,
    paging,
    list_kind_and_revision,
    selectors,
    bad_continue,
    watch_in_order,
    finalizer_holds_delete,
    delete_with_precondition,
    uid_is_immutable,
    strict_validation,
    openapi,
    bad_token,
    admission_kinds,
    claim,
    continue_tokens_are_the_servers_own_format,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_check(check, api):
    check(api)
