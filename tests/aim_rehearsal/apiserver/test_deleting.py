import pytest

from tests.aim_rehearsal.apiserver.api import Api, widget

W = Api.widgets


def test_the_answer_names_what_is_gone(api):
    uid = api.post(W, widget("a")).body["metadata"]["uid"]
    answer = api.delete(f"{W}/a")
    assert answer.body["status"] == "Success"
    assert answer.body["details"] == {"name": "a", "group": "example.com", "kind": "widgets", "uid": uid}
    assert api.delete(f"{W}/a").status == 404


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        ({"preconditions": {"uid": "x"}}, 409, "the UID in the precondition (x) does not match the UID in record"),
        (
            {"preconditions": {"resourceVersion": "1"}},
            409,
            "the ResourceVersion in the precondition (1) does not match",
        ),
        ({"propagationPolicy": "Never"}, 422, 'propagationPolicy: Unsupported value: "Never"'),
        ({"propagationPolicy": "Orphan", "orphanDependents": True}, 422, "cannot be both set"),
        ({"kind": "Widget"}, 400, 'no kind "Widget" is registered for version'),
    ],
)
def test_options_that_are_refused(api, options, status, message):
    api.post(W, widget("a"))
    answer = api.delete(f"{W}/a", options)
    assert answer.status == status
    assert message in answer.message
    assert api.get(f"{W}/a").status == 200


def test_a_dry_run_deletes_nothing(api):
    api.post(W, widget("a"))
    assert api.delete(f"{W}/a?dryRun=All").status == 200
    assert api.delete(f"{W}/a", {"dryRun": ["All"]}).status == 200
    assert api.get(f"{W}/a").status == 200


def test_deleting_again_changes_nothing_while_finalizers_hold(api):
    api.post(W, widget("a", metadata={"finalizers": ["a.b/c"]}))
    first = api.delete(f"{W}/a").body
    assert api.delete(f"{W}/a").body == first
    answer = api.merge(f"{W}/a", {"metadata": {"finalizers": ["a.b/c", "d.e/f"]}})
    assert 'no new finalizers can be added if the object is being deleted, found new finalizers []string{"d.e/f"}' in (
        answer.message
    )


@pytest.mark.parametrize(("policy", "finalizer"), [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")])
def test_propagation_leaves_its_finalizer_for_the_collector(api, policy, finalizer):
    api.post(W, widget("a"))
    assert api.delete(f"{W}/a?propagationPolicy={policy}").body["metadata"]["finalizers"] == [finalizer]


def test_collections_are_deleted_by_selector(api):
    for name, label in (("a", "x"), ("b", "y"), ("c", "x")):
        api.post(W, widget(name, metadata={"labels": {"l": label}}))
    deleted = api.delete(f"{W}?labelSelector=l%3Dx").body
    assert [item["metadata"]["name"] for item in deleted["items"]] == ["a", "c"]
    assert [item["metadata"]["name"] for item in api.get(W).body["items"]] == ["b"]


def test_running_pods_get_a_grace_period_and_others_go_at_once(api):
    pods = "/api/v1/namespaces/default/pods"
    spec = {"containers": [{"name": "c", "image": "i"}]}
    api.post(pods, {"metadata": {"name": "idle"}, "spec": spec})
    api.post(pods, {"metadata": {"name": "busy"}, "spec": {**spec, "nodeName": "n"}})
    api.delete(f"{pods}/idle")
    assert api.get(f"{pods}/idle").status == 404
    assert api.delete(f"{pods}/busy").body["metadata"]["deletionGracePeriodSeconds"] == 30
    assert api.delete(f"{pods}/busy?gracePeriodSeconds=5").body["metadata"]["deletionGracePeriodSeconds"] == 5
    api.delete(f"{pods}/busy?gracePeriodSeconds=0")
    assert api.get(f"{pods}/busy").status == 404


def test_the_first_namespaces_stay(api):
    answer = api.delete("/api/v1/namespaces/kube-system")
    assert (answer.status, answer.message) == (
        403,
        'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    )
