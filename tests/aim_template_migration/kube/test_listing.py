import gc
import json

import pytest

from aim_api.kinds import AIM_SERVICE, POD
from aim_template_migration.kube import Pacing, listing
from aim_template_migration.kube.errors import (
    Forbidden,
    IncompleteList,
    NotServed,
    RequestError,
    UnreadableAnswer,
)
from tests.aim_template_migration.kube.scripted_server import LOST, Reply, refusal

EXPIRED = refusal(410, "Expired", "The provided continue parameter is too old")


def service(name, namespace="team-a", **more):
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "aim.eai.amd.com/v1alpha2", "kind": "AIMService", "metadata": metadata} | more


def page(*names, token="", remaining=None, version="7", **replaced):
    metadata = {"resourceVersion": version}
    if token:
        metadata["continue"] = token
    if remaining is not None:
        metadata["remainingItemCount"] = remaining
    body = {
        "apiVersion": "aim.eai.amd.com/v1alpha2",
        "kind": "AIMServiceList",
        "metadata": metadata,
        "items": [service(name) for name in names],
    }
    return Reply(200, {key: value for key, value in (body | replaced).items() if value is not ...})


def names(objects):
    return [each["metadata"]["name"] for each in objects]


def test_pages_are_put_together_from_one_snapshot(server, connected):
    server.replies = [page("a", "b", token="x", remaining=3), page("c", "d", token="y", remaining=1), page("e")]
    found = connected(server).list(AIM_SERVICE, "team-a", label_selector="k=v", field_selector="f=g", page_size=2)
    assert names(found) == ["a", "b", "c", "d", "e"]
    selectors = {"limit": "2", "labelSelector": "k=v", "fieldSelector": "f=g"}
    assert [each.query for each in server.requests()] == [
        selectors,
        selectors | {"continue": "x"},
        selectors | {"continue": "y"},
    ]


def test_a_limit_in_time_binds_all_pages_together(server, connected):
    now, sleeps = [0.0], []

    def answer(received):
        now[0] += 2.0
        if "continue" in received.query:
            return refusal(503, "ServiceUnavailable")
        return page("a", token="x", remaining=1)

    def sleep(seconds):
        sleeps.append(seconds)
        now[0] += seconds

    server.answer = answer
    pacing = Pacing(attempts=1000, first_wait=0.1, longest_wait=0.1, monotonic=lambda: now[0], sleep=sleep)
    cluster = connected(server, pacing=pacing)
    with pytest.raises(RequestError):
        cluster.list(AIM_SERVICE, "team-a", within=7.0)
    assert 7.0 - 2.1 <= now[0] <= 7.0 + 2.0
    assert len(sleeps) < 4


def test_an_empty_list_is_empty(server, connected):
    server.replies = [page()]
    assert connected(server).list(AIM_SERVICE, "team-a") == []


def test_only_what_is_reduced_is_kept(server, connected):
    server.replies = [page("a", "b", token="x"), page("c")]
    found = connected(server).list_reduced(AIM_SERVICE, "team-a", lambda each: each["metadata"]["name"])
    assert found == ["a", "b", "c"]


@pytest.mark.parametrize(
    "lost", [EXPIRED, page("c", version="8"), page("c", token="z", version="8")], ids=["410", "last", "middle"]
)
def test_a_list_whose_snapshot_is_lost_starts_again_from_its_first_page(server, connected, lost):
    server.replies = [
        page("old", token="x"),
        lost,
        page("a", token="y", version="9"),
        page("b", version="9"),
    ]
    assert names(connected(server).list(AIM_SERVICE, "team-a")) == ["a", "b"]
    assert [each.query.get("continue") for each in server.requests()] == [None, "x", None, "y"]


def test_a_snapshot_that_is_lost_again_and_again_ends_as_incomplete(server, connected):
    server.answer = lambda received: EXPIRED if "continue" in received.query else page("a", token="x")
    with pytest.raises(IncompleteList, match=r"list AIMService in namespace team-a: .* its snapshot expired"):
        connected(server).list(AIM_SERVICE, "team-a")
    assert len(server.requests()) == 2 * (listing.RESTARTS + 1)


INCOMPLETE = {
    "no items": page(items=...),
    "items are null": page(items=None),
    "items are an object": page(items={}),
    "objects remain": page("a", remaining=2),
    "another kind": page("a", kind="AIMModelList"),
    "another version": page("a", apiVersion="aim.eai.amd.com/v1alpha1"),
    "a single object": Reply(200, service("a")),
    "no kind": page("a", kind=...),
    "an item of another kind": page(items=[service("a", kind="AIMModel")]),
    "an item of another version": page(items=[service("a", apiVersion="aim.eai.amd.com/v1alpha1")]),
    "an item of another namespace": page(items=[service("a", namespace="team-b")]),
    "an item without a name": page(items=[{"metadata": {}}]),
    "an item that is no object": page(items=["a"]),
    "an item with a number beyond any": Reply(200, json.dumps(page("a").body).replace('"a"', "1e999").encode()),
    "a token that is no string": page("a", metadata={"resourceVersion": "7", "continue": 3}),
}


@pytest.mark.parametrize("reply", INCOMPLETE.values(), ids=INCOMPLETE)
@pytest.mark.parametrize("on_page", [1, 2])
def test_a_list_that_cannot_be_relied_on_is_never_taken_for_a_short_one(server, connected, reply, on_page):
    server.replies = [*[page("first", token="x")] * (on_page - 1), reply]
    with pytest.raises(IncompleteList, match="list AIMService in namespace team-a: the list cannot be relied on"):
        connected(server).list(AIM_SERVICE, "team-a")
    assert len(server.requests()) == on_page


def test_a_continue_token_that_repeats_ends_the_list(server, connected):
    server.answer = lambda received: page("a", token="x")
    with pytest.raises(IncompleteList, match="same continue token"):
        connected(server).list(AIM_SERVICE, "team-a")
    assert len(server.requests()) == 2


def test_a_page_that_is_cut_off_is_read_again_and_the_list_goes_on(server, connected):
    whole = page("c").encoded()
    cut = Reply(raw=whole[:-5], end="close")
    server.replies = [page("a", "b", token="x"), cut, LOST, page("c")]
    assert names(connected(server).list(AIM_SERVICE, "team-a")) == ["a", "b", "c"]
    assert [each.query.get("continue") for each in server.requests()] == [None, "x", "x", "x"]


def test_a_page_that_stays_unreadable_ends_the_list(server, connected):
    body = json.dumps(page("a").body).encode()[:-5]
    server.answer = lambda received: Reply(200, body)
    with pytest.raises(UnreadableAnswer, match="not JSON, or was cut off"):
        connected(server).list(AIM_SERVICE, "team-a")
    assert len(server.requests()) == 5


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(404, b"404 page not found\n", headers=(("content-type", "text/plain"),)), NotServed),
        (refusal(404, "NotFound", "the server could not find the requested resource"), NotServed),
        (refusal(403, "Forbidden", kind="aimservices"), Forbidden),
    ],
)
def test_errors_are_errors_and_no_empty_lists(server, connected, reply, expected):
    server.replies = [reply]
    with pytest.raises(expected):
        connected(server).list(AIM_SERVICE, "team-a")


def test_items_of_built_in_lists_get_the_kind_that_the_server_leaves_out(server, connected):
    body = {"apiVersion": "v1", "kind": "PodList", "metadata": {}, "items": [{"metadata": {"name": "p"}}]}
    server.replies = [Reply(200, body)]
    assert connected(server).list(POD) == [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}]
    assert server.requests()[0].path == "/api/v1/pods"


def test_pages_of_large_objects_shrink(server, connected, monkeypatch):
    monkeypatch.setattr(listing, "PAGE_BYTES", 40_000)
    server.replies = [
        page(items=[service(f"a{number}", spec={"text": "x" * 1000}) for number in range(100)], token="x"),
        page(items=[service("b", spec={"text": "x" * 10_000})], token="y"),
        page("c"),
    ]
    connected(server).list_reduced(AIM_SERVICE, "team-a", lambda each: None, page_size=100)
    limits = [int(each.query["limit"]) for each in server.requests()]
    assert limits[0] == 100
    assert 30 <= limits[1] <= 40
    assert limits[2] == 20


def test_the_first_page_of_a_kind_is_small_until_the_size_of_its_objects_is_known(server, connected):
    cluster = connected(server)
    server.replies = [page("a", token="x"), page("b"), page("c")]
    cluster.list(AIM_SERVICE, "team-a")
    cluster.list(AIM_SERVICE, "team-a")
    assert [each.query["limit"] for each in server.requests()] == ["100", "500", "500"]


def test_objects_are_decoded_one_after_the_other(server, connected):
    """Of a page, one decoded object exists at a time, so that memory does not grow with the size of the list."""
    server.replies = [page(*(f"name-{number}" for number in range(8)))]
    gc.disable()
    try:
        alive = []
        connected(server).list_reduced(
            AIM_SERVICE,
            "team-a",
            lambda each: alive.append(
                sum(1 for other in gc.get_objects() if type(other) is dict and other.get("kind") == "AIMService")
            ),
        )
    finally:
        gc.enable()
    assert max(alive) <= min(alive) + 1


def test_warnings_of_reads_are_kept_once(server, connected):
    warned = Reply(200, page("a").body, headers=(("warning", '299 - "v1alpha1 is deprecated"'),))
    server.replies = [warned, warned]
    cluster = connected(server)
    cluster.list(AIM_SERVICE, "team-a")
    cluster.list(AIM_SERVICE, "team-a")
    assert cluster.read_warnings == ("v1alpha1 is deprecated",)


def test_a_refused_page_names_what_was_listed(server, connected):
    server.replies = [page("a", token="x"), refusal(403, "Forbidden", "not any more")]
    with pytest.raises(RequestError, match="list AIMService in namespace team-a: the server answered 403 Forbidden"):
        connected(server).list(AIM_SERVICE, "team-a")
