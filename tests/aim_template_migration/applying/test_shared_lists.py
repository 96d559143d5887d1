"""Units that ask for one list at the same moment share its answer, through a real connection to a troubled server."""

import base64
import json
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import trustme

from aim_api.kinds import AIM_ARTIFACT, JOB
from aim_template_migration.applying.clock import SystemClock
from aim_template_migration.applying.glimpses import FreshGlimpses, RepeatedList
from aim_template_migration.kube import ConnectionOptions, Pacing, connect
from aim_template_migration.kube.errors import Forbidden, RequestError, TooManyRequests, Unauthorized, UnreadableAnswer
from tests.aim_template_migration.applying.bench import unit_of
from tests.aim_template_migration.kube.scripted_server import LOST, Reply, ScriptedServer, refusal

EXPIRED = refusal(410, "Expired", "The provided continue parameter is too old")
CROWD, PATIENCE = 6, 20.0


def page(*names, kind=AIM_ARTIFACT, namespace="n", token=""):
    metadata = {"resourceVersion": "7"} | ({"continue": token, "remainingItemCount": 1} if token else {})
    items = [{"metadata": {"name": name, "namespace": namespace}, "spec": {"sourceUri": "hf://a/b"}} for name in names]
    head = {"apiVersion": kind.api_version, "kind": f"{kind.name}List"}
    return Reply(200, head | {"metadata": metadata, "items": items})


class Crowd:
    """Several units that ask for a list while the server holds back its answer to an earlier one."""

    def __init__(self, server, folder, stop):
        authority = base64.b64encode(server.authority_pem).decode()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": server.url, "certificate-authority-data": authority}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
        }
        path = folder / "kubeconfig"
        path.write_text(json.dumps(config))
        self.waits = []
        pacing = Pacing(sleep=self.waits.append, jitter=lambda: 0.5)
        self.cluster = connect(ConnectionOptions(kubeconfig=str(path)), pacing=pacing, environ={})
        self.glimpses = FreshGlimpses(self.cluster, SystemClock(stop))
        self.server = server
        self.pool = ThreadPoolExecutor(2 * CROWD)
        self.held, self.released = threading.Event(), threading.Event()
        self.later = []
        server.answer = self._answer

    def _answer(self, received):
        if not self.held.is_set():
            self.held.set()
            assert self.released.wait(PATIENCE)
            return page("old")
        return self.later.pop(0)

    def ask(self, within=None):
        return self.pool.submit(self.glimpses.artifacts, "n", ["hf://a/b"], within=within)

    def meet(self, *later):
        """Let the earlier reading end once all wait; return what the earlier unit and the crowd got."""
        self.later = list(later)
        first = self.ask()
        assert self.held.wait(PATIENCE)
        crowd = [self.ask() for _ in range(CROWD)]
        (reading,) = self.glimpses._readings.values()
        deadline = time.monotonic() + PATIENCE
        while len(reading._next.asking) < CROWD:
            assert time.monotonic() < deadline
            time.sleep(0.001)
        self.released.set()
        return [outcome(future) for future in (first, *crowd)]


def outcome(future):
    try:
        return [item["metadata"]["name"] for item in future.result(PATIENCE)]
    except RequestError as error:
        return type(error)


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


@pytest.fixture
def stop():
    return threading.Event()


@pytest.fixture
def crowd(authority, tmp_path, stop, monkeypatch):
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    with ScriptedServer(authority) as server:
        made = Crowd(server, tmp_path, stop)
        yield made
        made.released.set()
        made.pool.shutdown()
        made.cluster.close()


def test_one_request_answers_all_who_asked_before_it_began(crowd):
    assert crowd.meet(page("old", "new")) == [["old"], *[["old", "new"]] * CROWD]
    assert len(crowd.server.requests()) == 2


def test_a_list_that_expires_in_the_middle_of_its_pages_begins_again_for_all(crowd):
    answers = crowd.meet(page("a", token="x"), EXPIRED, page("b", token="y"), page("c"))
    assert answers == [["old"], *[["b", "c"]] * CROWD]
    assert [each.query.get("continue") for each in crowd.server.requests()] == [None, None, "x", None, "y"]


@pytest.mark.parametrize(
    "trouble",
    [LOST, refusal(429, "TooManyRequests", headers=[("retry-after", "1")]), refusal(503, "ServiceUnavailable")],
    ids=["lost", "429", "503"],
)
def test_a_list_that_fails_is_repeated_once_for_all(crowd, trouble):
    assert crowd.meet(trouble, trouble, page("new")) == [["old"], *[["new"]] * CROWD]
    assert len(crowd.server.requests()) == 4
    assert len(crowd.waits) == 2


@pytest.mark.parametrize(
    ("trouble", "error", "requests"),
    [
        (LOST, UnreadableAnswer, 5),
        (refusal(429, "TooManyRequests"), TooManyRequests, 5),
        (refusal(403, "Forbidden"), Forbidden, 1),
        (refusal(401, "Unauthorized"), Unauthorized, 2),
    ],
    ids=["lost", "429", "403", "401"],
)
def test_a_list_that_keeps_failing_fails_for_each_who_asked_with_as_many_requests_as_for_one(
    crowd, trouble, error, requests
):
    assert crowd.meet(*[trouble] * requests) == [["old"], *[error] * CROWD]
    assert len(crowd.server.requests()) == 1 + requests
    crowd.later = [page("back")]
    assert outcome(crowd.ask()) == ["back"]


def test_a_stop_of_the_run_leaves_nobody_waiting(crowd, stop):
    stop.set()
    assert crowd.meet(page("new")) == [["old"], *[["new"]] * CROWD]


def test_who_has_no_time_left_gives_up_alone(crowd):
    first = crowd.ask()
    assert crowd.held.wait(PATIENCE)
    with pytest.raises(TimeoutError):
        crowd.ask(0.05).result(PATIENCE)
    crowd.released.set()
    assert outcome(first) == ["old"]
    assert len(crowd.server.requests()) == 1


def test_lists_of_other_kinds_and_namespaces_are_others(crowd):
    first = crowd.ask()
    assert crowd.held.wait(PATIENCE)
    crowd.later = [page(kind=JOB), page("x", namespace="other")]
    assert crowd.glimpses.jobs("n", ["o"], within=None) == []
    assert len(crowd.glimpses.artifacts("other", ["hf://a/b"], within=None)) == 1
    crowd.released.set()
    assert outcome(first) == ["old"]


def test_a_unit_whose_time_is_over_while_another_one_reads_says_what_was_not_read(bench, monkeypatch):
    def late(*_, **__):
        raise TimeoutError

    monkeypatch.setattr(FreshGlimpses, "artifacts", late)
    unit = unit_of(bench.apply())
    assert (unit.status, unit.code) == ("failed", "UnreadableAnswer")
    assert unit.message == "listing of AIMArtifact/team-a got no answer in time"


def test_a_list_that_is_read_again_is_what_the_server_says_now_whatever_was_read_before(crowd):
    crowd.held.set()
    chance = random.Random(3)
    names = [f"a{number}" for number in range(8)]
    repeated = RepeatedList(AIM_ARTIFACT, "n")
    for _ in range(40):
        change = chance.choice(("nothing", "nothing", "rename", "insert", "remove", "restart"))
        place = chance.randrange(len(names))
        if change == "rename":
            names[place] = f"b{chance.random()}"
        elif change == "insert":
            names.insert(place, f"c{chance.random()}")
        elif change == "remove" and len(names) > 2:
            del names[place]
        pages = [page(*names[:place], token="x"), page(*names[place:])]
        crowd.later = [page(*names[:3], "gone", token="y"), EXPIRED, *pages] if change == "restart" else pages
        found = repeated.read(crowd.cluster, None)
        assert [item["metadata"]["name"] for item in found.objects] == names
        assert [item["metadata"]["name"] for item in found.of(["hf://a/b"])] == names


def test_what_is_the_same_as_the_last_time_is_not_decoded_and_indexed_again(crowd):
    crowd.held.set()
    repeated = RepeatedList(AIM_ARTIFACT, "n")
    crowd.later = [page("a", "b"), page("a", "b"), page("a", "c"), page("a", "c", "d"), page(), page("a")]
    first, same, changed, longer, empty, again = (repeated.read(crowd.cluster, None) for _ in range(6))
    assert same is first
    assert changed.objects[0] is longer.objects[0] is first.objects[0]
    assert longer.objects[1] is changed.objects[1]
    assert [len(each.objects) for each in (first, changed, longer, empty, again)] == [2, 2, 3, 0, 1]


def test_a_failed_reading_leaves_the_next_one_as_fresh_as_ever(crowd):
    crowd.held.set()
    repeated = RepeatedList(AIM_ARTIFACT, "n")
    crowd.later = [page("a", "b"), page("c", token="x"), refusal(403, "Forbidden"), page("a", "d")]
    repeated.read(crowd.cluster, None)
    with pytest.raises(Forbidden):
        repeated.read(crowd.cluster, None)
    assert [item["metadata"]["name"] for item in repeated.read(crowd.cluster, None).objects] == ["a", "d"]


def test_the_json_of_a_long_list_is_not_kept(crowd, monkeypatch):
    monkeypatch.setattr("aim_template_migration.applying.glimpses._REMEMBERED_BYTES", 200)
    crowd.held.set()
    repeated = RepeatedList(AIM_ARTIFACT, "n")
    crowd.later = [page("a", token="x"), page("b", "c"), page("a", token="x"), page("b", "c"), page("b"), page("b")]
    first, second, short, again = (repeated.read(crowd.cluster, None) for _ in range(4))
    assert [item["metadata"]["name"] for item in second.objects] == ["a", "b", "c"]
    assert not any(one is other for one, other in zip(first.objects[1:], second.objects[1:], strict=True))
    assert (len(short.objects), again is short) == (1, True)
