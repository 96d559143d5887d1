import time

import pytest

from aim_rehearsal.apiserver import LocalApiServer
from tests.aim_rehearsal.apiserver.api import Api, widget, widget_crd

W = Api.widgets
DEADLINE_SECONDS = 20


@pytest.fixture
def api():
    server = LocalApiServer()
    server.install_crds([widget_crd()])
    with server:
        yield Api(server)


def until(condition):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the controllers did not do it"
        time.sleep(0.005)


def gone(api, path):
    return lambda: api.get(path).status == 404


def owner(body, **fields):
    metadata = body["metadata"]
    return {
        "apiVersion": "example.com/v2",
        "kind": "Widget",
        "name": metadata["name"],
        "uid": metadata["uid"],
        **fields,
    }


def child(api, name, *owners, **metadata):
    return api.post(W, widget(name, metadata={"ownerReferences": list(owners), **metadata})).body


def test_dependents_go_with_their_last_owner(api):
    one, two = (api.post(W, widget(name)).body for name in ("one", "two"))
    child(api, "child", owner(one), owner(two))
    child(api, "grandchild", owner(api.get(f"{W}/child").body))
    api.delete(f"{W}/one")
    until(lambda: len(api.get(f"{W}/child").body["metadata"]["ownerReferences"]) == 1)
    api.delete(f"{W}/two")
    until(gone(api, f"{W}/grandchild"))
    assert api.get(f"{W}/child").status == 404


def test_orphans_lose_their_owner_and_stay(api):
    parent = api.post(W, widget("parent")).body
    child(api, "child", owner(parent))
    api.delete(f"{W}/parent?propagationPolicy=Orphan")
    until(gone(api, f"{W}/parent"))
    assert "ownerReferences" not in api.get(f"{W}/child").body["metadata"]


def test_foreground_waits_for_blocking_dependents(api):
    parent = api.post(W, widget("parent")).body
    child(api, "child", owner(parent, blockOwnerDeletion=True), finalizers=["a.b/c"])
    api.delete(f"{W}/parent?propagationPolicy=Foreground")
    until(lambda: "deletionTimestamp" in api.get(f"{W}/child").body["metadata"])
    assert api.get(f"{W}/parent").status == 200
    api.merge(f"{W}/child", {"metadata": {"finalizers": None}})
    until(gone(api, f"{W}/parent"))


def test_an_object_whose_owner_never_was_goes_but_a_copied_one_stays(api):
    absent = {"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "not-here"}
    copied = widget("copied", metadata={"namespace": "default", "ownerReferences": [{**absent, "uid": "elsewhere"}]})
    api.server.seed([copied])
    child(api, "stray", absent)
    until(gone(api, f"{W}/stray"))
    assert api.get(f"{W}/copied").status == 200


def test_namespaces_are_emptied_and_go(api):
    api.post("/api/v1/namespaces", {"metadata": {"name": "brief"}})
    inside = W.replace("default", "brief")
    api.post(inside, widget("a", metadata={"finalizers": ["a.b/c"]}))
    api.post("/api/v1/namespaces/brief/configmaps", {"metadata": {"name": "c"}})
    api.delete("/api/v1/namespaces/brief")
    until(gone(api, "/api/v1/namespaces/brief/configmaps/c"))
    assert api.get("/api/v1/namespaces/brief").body["status"]["phase"] == "Terminating"
    api.merge(f"{inside}/a", {"metadata": {"finalizers": None}})
    until(gone(api, "/api/v1/namespaces/brief"))


def test_a_definition_takes_its_objects_along(api):
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com"
    api.post(W, widget("a", metadata={"finalizers": ["a.b/c"]}))
    api.delete(crd)
    until(lambda: "deletionTimestamp" in api.get(f"{W}/a").body["metadata"])
    answer = api.post(W, widget("b"))
    assert answer.status == 405
    assert answer.message == "create not allowed while custom resource definition is terminating"
    api.merge(f"{W}/a", {"metadata": {"finalizers": None}})
    until(gone(api, crd))
    assert api.get(W).status == 404


def test_a_claim_stays_while_a_pod_uses_it(api):
    claims, pods = "/api/v1/namespaces/default/persistentvolumeclaims", "/api/v1/namespaces/default/pods"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    api.post(claims, {"metadata": {"name": "c"}, "spec": spec})
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    api.post(
        pods, {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], "volumes": [volume]}}
    )
    assert "deletionTimestamp" in api.delete(f"{claims}/c").body["metadata"]
    api.post(W, widget("anything"))
    assert api.get(f"{claims}/c").status == 200
    api.delete(f"{pods}/p")
    until(gone(api, f"{claims}/c"))


def test_what_history_swallowed_is_cleaned_up_all_the_same():
    server = LocalApiServer(history=2)
    server.install_crds([widget_crd()])
    with server:
        api = Api(server)
        parent = api.post(W, widget("parent")).body
        child(api, "child", owner(parent))
        with server.store:  # the controllers see none of these writes in time
            api.delete(f"{W}/parent")
            for number in range(5):
                api.post(W, widget(f"noise-{number}"))
        until(gone(api, f"{W}/child"))
