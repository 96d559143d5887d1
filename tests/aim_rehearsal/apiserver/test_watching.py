import threading

import pytest

from aim_rehearsal.apiserver import LocalApiServer
from tests.aim_rehearsal.apiserver.api import TABLE, Api, widget, widget_crd

W = Api.widgets


def kinds(events):
    return [(event["type"], event["object"]["metadata"].get("name")) for event in events]


def test_without_a_revision_everything_comes_first(api):
    api.post(W, widget("a"))
    api.post(W, widget("b"))
    assert kinds(api.watch(W, "timeoutSeconds=0")) == [("ADDED", "a"), ("ADDED", "b")]


def test_initial_events_end_with_a_bookmark(api):
    api.post(W, widget("a"))
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=0"
    first, second = api.watch(W, query)
    assert kinds([first]) == [("ADDED", "a")]
    assert second["type"] == "BOOKMARK"
    assert second["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_selectors_turn_changes_into_arrivals_and_departures(api):
    revision = api.get(W).body["metadata"]["resourceVersion"]
    api.post(W, widget("a"))
    for label in ("x", "x2", "y"):
        api.merge(f"{W}/a", {"metadata": {"labels": {"l": label[0], "n": label}}})
    events = list(api.watch(W, f"resourceVersion={revision}&labelSelector=l%3Dx&timeoutSeconds=0"))
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert events[2]["object"]["metadata"]["labels"]["n"] == "x2"


def test_other_namespaces_and_kinds_are_not_seen(api):
    revision = api.get(W).body["metadata"]["resourceVersion"]
    api.post("/api/v1/namespaces", {"metadata": {"name": "other"}})
    api.post(W.replace("default", "other"), widget("a"))
    api.post("/api/v1/namespaces/default/configmaps", {"metadata": {"name": "c"}})
    assert list(api.watch(W, f"resourceVersion={revision}&timeoutSeconds=0")) == []
    everywhere = "/apis/example.com/v2/widgets"
    assert kinds(api.watch(everywhere, f"resourceVersion={revision}&timeoutSeconds=0")) == [("ADDED", "a")]


def test_a_watch_shows_its_own_version(api):
    revision = api.get(W).body["metadata"]["resourceVersion"]
    api.post(W, widget("a"))
    (event,) = api.watch(Api.old_widgets, f"resourceVersion={revision}&timeoutSeconds=0")
    assert event["object"]["apiVersion"] == "example.com/v1"


def test_what_history_forgot_is_gone(api, server):
    revision = api.get(W).body["metadata"]["resourceVersion"]
    api.post(W, widget("a"))
    server.store.forget_history()
    (event,) = api.watch(W, f"resourceVersion={revision}&timeoutSeconds=5")
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"].startswith("too old resource version: ")


def test_a_page_whose_beginning_is_forgotten_is_gone(api, server):
    for name in "abc":
        api.post(W, widget(name))
    token = api.get(f"{W}?limit=1").body["metadata"]["continue"]
    api.post(W, widget("d"))
    server.store.forget_history()
    answer = api.get(f"{W}?limit=1&continue={token}")
    assert (answer.status, answer.reason) == (410, "Expired")
    assert answer.message.startswith("The provided continue parameter is too old to display a consistent list result.")


def test_pages_show_one_moment(api):
    for name in "abcd":
        api.post(W, widget(name))
    first = api.get(f"{W}?limit=2").body
    api.delete(f"{W}/c")
    api.merge(f"{W}/d", {"spec": {"color": "new"}})
    api.post(W, widget("bb"))
    rest = api.get(f"{W}?limit=9&continue={first['metadata']['continue']}").body
    assert [item["metadata"]["name"] for item in rest["items"]] == ["c", "d"]
    assert "color" not in rest["items"][1]["spec"]
    assert rest["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_tables_carry_their_headings_once(api):
    api.post(W, widget("a"))
    api.post(W, widget("b"))
    answer = api.get(f"{W}?watch=1&timeoutSeconds=0", accept=TABLE)
    first, second = (chunk for chunk in answer.response.stream if chunk)
    assert b'"columnDefinitions":[' in first
    assert b'"columnDefinitions":null' in second


@pytest.mark.parametrize("query", ["sendInitialEvents=true", "resourceVersionMatch=NotOlderThan", "timeoutSeconds=x"])
def test_options_that_are_refused(api, query):
    assert api.get(f"{W}?watch=1&{query}").status in (400, 422)


def test_a_change_reaches_an_open_watch_and_closing_ends_it():
    server = LocalApiServer(controllers=False)
    server.install_crds([widget_crd()])
    api, seen, arrived = Api(server), [], threading.Event()

    def follow():
        for event in api.watch(W, "timeoutSeconds=60"):
            seen.append(event)
            arrived.set()

    thread = threading.Thread(target=follow)
    thread.start()
    api.post(W, widget("a"))
    assert arrived.wait(20)
    server.store.close()
    thread.join(20)
    assert not thread.is_alive()
    assert kinds(seen) == [("ADDED", "a")]
