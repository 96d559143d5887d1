import pytest

from tests.aim_rehearsal.apiserver.api import Api, widget

W = Api.widgets
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (widget("Foo_"), 422, 'metadata.name: Invalid value: "Foo_": a lowercase RFC 1123 subdomain must consist of'),
        (widget("a" * 254), 422, "must be no more than 253 characters"),
        ({**widget("a"), "metadata": {}}, 422, "metadata.name: Required value: name or generateName is required"),
        (widget("a", metadata={"namespace": "other"}), 400, "does not match the namespace sent on the request"),
        (
            widget("a", metadata={"labels": {"a": 1}}),
            400,
            "cannot unmarshal number into Go struct field ObjectMeta.labels",
        ),
        (widget("a", metadata={"labels": {"a b": "x"}}), 422, 'metadata.labels: Invalid value: "a b": name part must'),
        (widget("a", metadata={"labels": {"a": "!"}}), 422, 'metadata.labels: Invalid value: "!": a valid label must'),
        (
            widget("a", metadata={"annotations": {"a": "x" * 262144}}),
            422,
            "Too long: may not be more than 262144 bytes",
        ),
        (
            widget("a", metadata={"resourceVersion": "5"}),
            500,
            "resourceVersion should not be set on objects to be created",
        ),
        (
            widget("a", metadata={"ownerReferences": [{"kind": "X", "name": "x", "uid": "u"}]}),
            422,
            "version must not be",
        ),
        (
            widget("a", version="v1"),
            400,
            "the API version in the data (example.com/v1) does not match the expected API",
        ),
        ({**widget("a"), "kind": "Other"}, 422, 'kind: Invalid value: "Other": must be Widget'),
        ({"metadata": {"name": "a"}}, 400, "Object 'Kind' is missing in"),
        (b'{"a":', 400, "couldn't get version/kind; json parse error: unexpected end of JSON input"),
        (widget("a", size=100), 422, "size must stay below 100"),
    ],
)
def test_objects_that_are_refused(api, body, status, message):
    answer = api.post(W, body)
    assert answer.status == status
    assert message in answer.message
    assert api.get(W).body["items"] == []


def test_annotations_may_fill_the_limit_to_the_byte(api):
    assert api.post(W, widget("a", metadata={"annotations": {"a": "x" * 262143}})).status == 201


def test_names_are_generated(api):
    names = {
        api.post(W, {**widget("x"), "metadata": {"generateName": "gen-"}}).body["metadata"]["name"] for _ in range(5)
    }
    assert len(names) == 5
    assert all(name.startswith("gen-") and len(name) == 9 for name in names)


def test_the_namespace_must_exist_and_stay(api):
    answer = api.post(W.replace("default", "nowhere"), widget("a"))
    assert (answer.status, answer.message) == (404, 'namespaces "nowhere" not found')
    api.post("/api/v1/namespaces", {"metadata": {"name": "brief"}})
    assert api.delete("/api/v1/namespaces/brief").body["status"]["phase"] == "Terminating"
    answer = api.post(W.replace("default", "brief"), widget("a"))
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert "unable to create new content in namespace brief because it is being terminated" in answer.message
    assert answer.body["details"]["causes"][0]["reason"] == "NamespaceTerminating"


def test_both_versions_show_one_object(api):
    api.post(W, widget("a", color="red"))
    old = api.get(f"{Api.old_widgets}/a")
    assert (old.body["apiVersion"], old.body["spec"]["color"]) == ("example.com/v1", "red")
    assert old.warnings == ['299 - "example.com/v1 Widget is deprecated; use example.com/v2 Widget"']
    api.merge(f"{Api.old_widgets}/a", {"spec": {"color": "blue"}})
    new = api.get(f"{W}/a").body
    assert (new["apiVersion"], new["spec"]["color"], new["metadata"]["generation"]) == ("example.com/v2", "blue", 2)


@pytest.mark.parametrize(
    ("metadata", "status", "message"),
    [
        ({"name": "b"}, 400, "the name of the object (b) does not match the name on the URL (a)"),
        ({"name": "a"}, 422, "metadata.resourceVersion: Invalid value: 0: must be specified for an update"),
        ({"name": "a", "resourceVersion": "x"}, 500, 'strconv.ParseUint: parsing "x": invalid syntax'),
        ({"name": "a", "resourceVersion": "1"}, 409, "the object has been modified"),
        ({"name": "a", "uid": "u"}, 409, "Precondition failed: UID in precondition: u"),
    ],
)
def test_replacements_that_are_refused(api, metadata, status, message):
    api.post(W, widget("a"))
    answer = api.put(f"{W}/a", {**widget("a", color="x"), "metadata": metadata})
    assert answer.status == status
    assert message in answer.message


def test_most_built_in_kinds_may_be_replaced_unconditionally(api):
    api.post(CONFIG_MAPS, {"metadata": {"name": "c"}, "data": {"a": "1"}})
    answer = api.put(f"{CONFIG_MAPS}/c", {"metadata": {"name": "c"}, "data": {"b": "2"}})
    assert (answer.status, answer.body["data"]) == (200, {"b": "2"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "b"}, "the name of the object (b) does not match the name on the URL (a)"),
        ({"namespace": "b"}, "the namespace of the provided object does not match the namespace sent on the request"),
        ({"uid": "u"}, 'metadata.uid: Invalid value: "u": field is immutable'),
        ({"deletionTimestamp": "2026-01-01T00:00:00Z"}, "metadata.deletionTimestamp: Invalid value:"),
    ],
)
def test_identity_cannot_be_patched(api, change, message):
    api.post(W, widget("a"))
    answer = api.merge(f"{W}/a", {"metadata": change})
    assert answer.status in (400, 422)
    assert message in answer.message


def test_generation_and_creation_time_are_the_servers(api):
    before = api.post(W, widget("a")).body
    assert api.merge(f"{W}/a", {"metadata": {"generation": 9, "creationTimestamp": None}}).body == before


def test_status_keeps_generation_and_spec_changes_keep_status(api):
    api.post(W, widget("a"))
    api.merge(f"{W}/a/status", {"status": {"phase": "x"}})
    body = api.merge(f"{W}/a", {"spec": {"color": "x"}, "status": {"phase": "y"}}).body
    assert (body["status"], body["metadata"]["generation"]) == ({"phase": "x"}, 2)


def test_true_is_not_one(api):
    api.post(W, widget("a", free={"x": 1}))
    body = api.merge(f"{W}/a", {"spec": {"free": {"x": True}}}).body
    assert body["spec"]["free"]["x"] is True
    assert body["metadata"]["generation"] == 2


def test_strict_validation_of_patches(api):
    api.post(W, widget("a"))
    answer = api.send("PATCH", f"{W}/a?fieldValidation=Strict", {"spec": {"x": 1}}, "application/merge-patch+json")
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert 'strict decoding error: unknown field "spec.x"' in answer.message
    answer = api.send(
        "PATCH",
        f"{W}/a",
        [{"op": "test", "path": "/spec/size", "value": 3, "extra": 1}],
        "application/json-patch+json",
    )
    assert answer.warnings == ['299 - "json patch unknown field \\"[0].extra\\""']


@pytest.mark.parametrize("option", ["dryRun=Some", "fieldValidation=Maybe", "fieldManager=" + "x" * 129])
def test_options_that_are_refused(api, option):
    answer = api.post(f"{W}?{option}", widget("a"))
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert answer.message.startswith('CreateOptions.meta.k8s.io "" is invalid: ')


def test_finalizers_without_a_domain_are_warned_about(api):
    answer = api.post(W, widget("a", metadata={"finalizers": ["hold", "example.com"]}))
    assert len(answer.warnings) == 2
    assert "prefer a domain-qualified finalizer name" in answer.warnings[0]


def test_types_of_built_in_fields_are_checked_while_decoding(api):
    answer = api.post(CONFIG_MAPS, {"metadata": {"name": "c"}, "data": {"a": 1}})
    assert answer.status == 400
    assert answer.message.endswith("cannot unmarshal number into Go struct field ConfigMap.data of type string")


def test_built_in_kinds_get_what_the_server_adds(api):
    secret = api.post("/api/v1/namespaces/default/secrets", {"metadata": {"name": "s"}, "stringData": {"a": "b"}}).body
    assert (secret["type"], secret["data"]) == ("Opaque", {"a": "Yg=="})
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i:1"}]}}
    created = api.post("/api/v1/namespaces/default/pods", pod).body
    assert created["spec"]["restartPolicy"] == "Always"
    assert created["spec"]["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    claim = {"metadata": {"name": "p"}, "spec": {}}
    answer = api.post("/api/v1/namespaces/default/persistentvolumeclaims", claim)
    assert "spec.accessModes: Required value: at least 1 access mode is required" in answer.message


def test_generation_of_workloads_counts_their_spec(api):
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
    path = "/apis/apps/v1/namespaces/default/deployments"
    assert api.post(path, {"metadata": {"name": "d"}, "spec": spec}).body["spec"]["replicas"] == 1
    assert api.merge(f"{path}/d", {"metadata": {"labels": {"x": "y"}}}).body["metadata"]["generation"] == 1
    assert api.merge(f"{path}/d", {"spec": {"replicas": 2}}).body["metadata"]["generation"] == 2
    answer = api.merge(f"{path}/d", {"spec": {"selector": {"matchLabels": {"a": "c"}}}})
    assert "field is immutable" in answer.message


def test_events_have_two_faces(api):
    old, new = "/api/v1/namespaces/default/events", "/apis/events.k8s.io/v1/namespaces/default/events"
    about = {"kind": "Widget", "name": "a", "namespace": "default"}
    api.post(old, {"metadata": {"name": "one"}, "involvedObject": about, "message": "hello", "count": 2})
    assert api.get(f"{new}/one").body["note"] == "hello"
    assert api.get(f"{new}/one").body["regarding"] == about
    api.post(new, {"metadata": {"name": "two"}, "regarding": about, "note": "again", "reportingController": "c"})
    stored = api.get(f"{old}/two").body
    assert (stored["apiVersion"], stored["message"], stored["reportingComponent"]) == ("v1", "again", "c")
    assert len(api.get(f"{old}?fieldSelector=involvedObject.name%3Da").body["items"]) == 2


def test_what_a_real_store_could_not_take_is_refused(api):
    answer = api.post(W, widget("a", color="x" * 1_600_000))
    assert (answer.status, answer.message) == (500, "etcdserver: request is too large")
    assert api.post(W, widget("a", color="x" * 1_400_000)).status == 201
    assert api.merge(f"{W}/a", {"spec": {"args": ["y" * 300_000]}}).status == 500
    answer = api.post(W, widget("b", color="x" * 3_200_000))
    assert (answer.status, answer.message) == (413, "Request entity too large: limit is 3145728")
