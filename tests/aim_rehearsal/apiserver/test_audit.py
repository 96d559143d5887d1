import json

import pytest

from aim_rehearsal.apiserver import LocalApiServer
from tests.aim_rehearsal.apiserver.api import Api, widget, widget_crd
from tests.support.audit import AuditTrail

W = Api.widgets


def last(server):
    return server.audit_events()[-1]


def test_a_write_is_recorded_with_what_was_sent(api, server):
    api.post(f"{W}?dryRun=All", widget("a"))
    event = last(server)
    assert (event["kind"], event["apiVersion"], event["stage"]) == ("Event", "audit.k8s.io/v1", "ResponseComplete")
    assert (event["verb"], event["user"]["username"]) == ("create", "admin")
    assert event["requestURI"].endswith("?dryRun=All")
    assert event["objectRef"] == {
        "resource": "widgets",
        "namespace": "default",
        "name": "a",
        "apiGroup": "example.com",
        "apiVersion": "v2",
    }
    assert event["requestObject"]["metadata"]["name"] == "a"
    assert event["responseStatus"]["code"] == 201


@pytest.mark.parametrize(
    ("send", "verb", "code"),
    [
        (lambda api: api.get(W), "list", 200),
        (lambda api: api.get(f"{W}/a"), "get", 404),
        (lambda api: api.get(f"{W}?watch=1"), "watch", 200),
        (lambda api: api.merge(f"{W}/a/status", {}), "patch", 404),
        (lambda api: api.delete(W), "deletecollection", 200),
        (lambda api: api.get("/version"), "get", 200),
        (lambda api: api.get(W, authorization="Bearer x"), "list", 401),
    ],
)
def test_every_request_is_recorded_refused_ones_too(api, server, send, verb, code):
    send(api)
    event = last(server)
    assert (event["verb"], event["responseStatus"]["code"]) == (verb, code)
    if code >= 400:
        assert event["responseStatus"]["reason"]


def test_secrets_are_not_recorded(api, server):
    path = "/api/v1/namespaces/default/secrets"
    api.post(path, {"metadata": {"name": "s"}, "stringData": {"a": "hidden"}})
    assert "hidden" not in json.dumps(server.audit_events())


def test_impersonation_names_both(api, server):
    api.get(W, **{"impersonate-user": "bob"})
    event = last(server)
    assert (event["user"]["username"], event["impersonatedUser"]["username"]) == ("admin", "bob")


def test_the_file_can_be_read_by_the_audit_checker(tmp_path):
    path = tmp_path / "audit.jsonl"
    server = LocalApiServer(audit_path=path, controllers=False)
    server.install_crds([widget_crd()])
    with server:
        api = Api(server)
        api.post(W, widget("a"))
        api.get(W)
    trail = AuditTrail.read(path)
    assert [event.verb for event in trail.events] == ["create", "list"]
    assert [event.user for event in trail.events] == ["admin", "admin"]


def test_memory_is_bounded():
    server = LocalApiServer(audit_limit=5, controllers=False)
    for _ in range(8):
        Api(server).get("/version")
    assert len(server.audit_events()) == 5


def test_an_observer_sees_every_event_also_those_that_memory_drops():
    seen = []
    server = LocalApiServer(audit_limit=2, on_audit=seen.append, controllers=False)
    api = Api(server)
    for number in range(5):
        api.get(f"/api/v1/namespaces/n{number}")
    assert [event["requestURI"].rpartition("/")[2] for event in seen] == [f"n{number}" for number in range(5)]
    assert server.audit_events() == seen[-2:]
