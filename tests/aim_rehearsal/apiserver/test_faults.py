import http.client
import json
import ssl

import pytest

from aim_rehearsal.apiserver import DropConnectionError, LocalApiServer, Response
from aim_rehearsal.apiserver.messages import json_response
from tests.aim_rehearsal.apiserver.api import Api, widget, widget_crd

W = Api.widgets


def server_with(hook):
    server = LocalApiServer(faults=hook, controllers=False)
    server.install_crds([widget_crd()])
    return server


def on_create(act_before=None, act_after=None):
    def hook(request, response):
        if request.method != "POST":
            return None
        act = act_before if response is None else act_after
        return act(response) if act else None

    return hook


def drop(_):
    raise DropConnectionError


def test_an_answer_in_place_of_the_request_stores_nothing():
    refusal = json_response(429, {"kind": "Status", "code": 429}).with_headers(("Retry-After", "3"))
    api = Api(server_with(on_create(act_before=lambda _: refusal)))
    answer = api.post(W, widget("a"))
    assert (answer.status, answer.response.header("retry-after")) == (429, "3")
    assert api.get(f"{W}/a").status == 404


def test_an_answer_lost_before_and_after_the_store_changed():
    api = Api(server_with(on_create(act_before=drop)))
    with pytest.raises(DropConnectionError):
        api.post(W, widget("a"))
    assert api.get(f"{W}/a").status == 404
    api = Api(server_with(on_create(act_after=drop)))
    with pytest.raises(DropConnectionError):
        api.post(W, widget("a"))
    assert api.get(f"{W}/a").status == 200
    assert [event["verb"] for event in api.server.audit_events()] == ["create", "get"]


def test_a_lying_answer_and_a_malformed_one():
    lie = json_response(200, widget("a"))
    api = Api(server_with(on_create(act_before=lambda _: lie)))
    assert api.post(W, widget("a")).status == 200
    assert api.get(f"{W}/a").status == 404
    api = Api(server_with(on_create(act_after=lambda _: Response(201, body=b"{nonsense"))))
    assert api.post(W, widget("a")).response.body == b"{nonsense"


@pytest.mark.parametrize("drops", [True, False])
def test_the_socket_shows_dropped_and_truncated_answers(drops):
    def truncate(response):
        return Response(200, body=response.body[:10], declared_length=len(response.body))

    with server_with(on_create(act_after=drop if drops else truncate)) as server:
        context = ssl.create_default_context(cadata=server.ca_pem)
        connection = http.client.HTTPSConnection(server.url.removeprefix("https://"), context=context, timeout=20)
        headers = {"Authorization": f"Bearer {server.token()}", "Content-Type": "application/json"}
        connection.request("POST", W, json.dumps(widget("a")), headers)
        if drops:
            with pytest.raises((http.client.RemoteDisconnected, ssl.SSLError)):
                connection.getresponse()
        else:
            with pytest.raises(http.client.IncompleteRead):
                connection.getresponse().read()
        connection.close()
        assert Api(server).get(f"{W}/a").status == 200
