"""A list whose past is forgotten may go on with what there is."""

from tests.aim_rehearsal.apiserver.api import Api, widget

W = Api.widgets


def names(body):
    return [item["metadata"]["name"] for item in body["items"]]


def test_the_token_of_the_refusal_continues_after_the_last_page(api, server):
    for name in "abc":
        api.post(W, widget(name))
    token = api.get(f"{W}?limit=1").body["metadata"]["continue"]
    api.post(W, widget("d"))
    assert names(api.get(f"{W}?continue={token}").body) == ["b", "c"]
    server.store.forget_history()
    api.post(W, widget("e"))
    gone = api.get(f"{W}?continue={token}")
    assert (gone.status, gone.reason) == (410, "Expired")
    rest = api.get(f"{W}?limit=3&continue={gone.body['metadata']['continue']}").body
    assert names(rest) == ["b", "c", "d"]
    assert names(api.get(f"{W}?continue={rest['metadata']['continue']}").body) == ["e"]


def test_an_exact_list_has_no_token_to_go_on_with(api, server):
    first = api.post(W, widget("a")).body["metadata"]["resourceVersion"]
    api.post(W, widget("b"))
    server.store.forget_history()
    gone = api.get(f"{W}?resourceVersion={first}&resourceVersionMatch=Exact")
    assert gone.status == 410
    assert gone.body["metadata"] == {}
