"""Faults of requests: which request they befall, what the client sees, what the store holds."""

import pytest

from aim_rehearsal.apiserver import DropConnectionError, LocalApiServer, Request
from aim_rehearsal.faults import Fault, Moment, Trouble
from tests.aim_rehearsal.apiserver.api import JSON, Api, widget, widget_crd

W = Api.widgets
CREATE = Moment(frozenset({"create"}), frozenset({"widgets"}))
GET = Moment(frozenset({"get"}), frozenset({"widgets"}))
LIST = Moment(frozenset({"list"}), frozenset({"widgets"}))


def api_with(trouble, moment, *, armed=True, **more):
    fault = Fault(trouble, moment, user_agent="tool/", **more)
    server = LocalApiServer(faults=fault, controllers=False)
    server.install_crds([widget_crd()])
    if armed:
        fault.arm()
    return Tool(server), fault


class Tool(Api):
    """The client that the fault is for."""

    agent = "tool/1.0"

    def send(self, method, path, body=None, content_type=JSON, headers=None):
        return super().send(method, path, body, content_type, {"user-agent": self.agent, **(headers or {})})


def stored(api, name="a"):
    return api.server.store.get("widgets.example.com", "default", name) is not None


@pytest.mark.parametrize(
    ("trouble", "status", "reason"),
    [
        (Trouble.CONFLICT, 409, "Conflict"),
        (Trouble.TOO_MANY_REQUESTS, 429, "TooManyRequests"),
        (Trouble.SERVER_ERROR, 500, "InternalError"),
    ],
)
def test_a_refusal_stores_nothing_and_comes_once(trouble, status, reason):
    api, fault = api_with(trouble, CREATE)
    assert not fault.happened
    answer = api.post(W, widget("a"))
    assert (answer.status, answer.body["reason"]) == (status, reason)
    assert fault.happened
    assert not stored(api)
    assert api.post(W, widget("a")).status == 201


def test_429_says_when_to_come_back():
    api, _ = api_with(Trouble.TOO_MANY_REQUESTS, CREATE)
    assert api.post(W, widget("a")).response.header("retry-after") == "1"


@pytest.mark.parametrize(
    ("trouble", "is_stored"), [(Trouble.LOST_ANSWER_BEFORE, False), (Trouble.LOST_ANSWER_AFTER, True)]
)
def test_an_answer_is_lost_before_or_after_the_store_changed(trouble, is_stored):
    api, fault = api_with(trouble, CREATE)
    with pytest.raises(DropConnectionError):
        api.post(W, widget("a"))
    assert fault.happened
    assert stored(api) is is_stored


def test_a_truncated_answer_declares_more_than_it_holds():
    api, _ = api_with(Trouble.TRUNCATED, CREATE)
    response = api.post(W, widget("a")).response
    assert response.declared_length - len(response.body) >= len(response.body) > 0
    assert stored(api)


def test_a_killed_client_gets_no_answer_and_the_store_has_changed():
    killed = []
    api, fault = api_with(Trouble.KILL, CREATE, kill=lambda: killed.append(True))
    with pytest.raises(DropConnectionError):
        api.post(W, widget("a"))
    assert (killed, fault.happened, stored(api)) == ([True], True, True)


def test_a_list_s_second_page_is_gone_and_the_next_list_is_whole():
    api, fault = api_with(Trouble.GONE, LIST, armed=False)
    for name in "abc":
        api.post(W, widget(name))
    fault.arm()
    first = api.get(W)
    assert [item["metadata"]["name"] for item in first.body["items"]] == ["a"]
    assert not fault.happened
    gone = api.get(f"{W}?continue={first.body['metadata']['continue']}")
    assert (gone.status, gone.body["reason"]) == (410, "Expired")
    assert fault.happened
    assert len(api.get(W).body["items"]) == 3


def test_it_waits_until_it_is_armed_and_leaves_dry_runs_and_other_clients_alone():
    api, fault = api_with(Trouble.CONFLICT, CREATE, armed=False)
    assert api.post(W, widget("early")).status == 201
    fault.arm()
    assert api.post(f"{W}?dryRun=All", widget("dry")).status == 201
    api.agent = "kubectl/1.36"
    assert api.post(W, widget("kubectl")).status == 201
    api.agent = Tool.agent
    assert api.get(f"{W}/early").status == 200
    assert not fault.happened
    assert api.post(W, widget("a")).status == 409


def test_a_moment_can_lie_behind_a_write_and_behind_other_requests():
    api, fault = api_with(Trouble.SERVER_ERROR, Moment(GET.verbs, GET.resources, after="widgets", skip=1))
    Api(api.server).post(W, widget("by-another"))
    assert api.get(f"{W}/by-another").status == 200
    api.post(f"{W}?dryRun=All", widget("dry"))
    assert [api.get(f"{W}/by-another").status for _ in range(3)] == [200] * 3
    api.post(W, widget("a"))
    assert [api.get(f"{W}/a").status for _ in range(3)] == [200, 500, 200]
    assert fault.happened


def test_a_refused_write_is_no_write():
    api, fault = api_with(Trouble.SERVER_ERROR, Moment(GET.verbs, GET.resources, after="widgets"))
    assert api.post(W, {"kind": "Widget"}).status >= 400
    assert api.get(f"{W}/a").status == 404
    assert not fault.happened


def test_requests_without_a_user_agent_are_nobody_s():
    api, fault = api_with(Trouble.CONFLICT, CREATE)
    api.server.handle(Request("GET", "/readyz"))
    assert not fault.happened
