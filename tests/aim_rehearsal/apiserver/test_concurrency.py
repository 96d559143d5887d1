from concurrent.futures import ThreadPoolExecutor

from tests.aim_rehearsal.apiserver.api import Api, widget

W = Api.widgets


def test_of_two_creates_one_wins(api):
    for number in range(20):
        name = f"w{number}"
        with ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda _, name=name: api.post(W, widget(name)).status, range(4)))
        assert sorted(answers) == [201, 409, 409, 409]


def test_no_write_is_lost(api):
    api.post(W, widget("a", free={}))

    def count(worker):
        for number in range(25):
            answer = api.merge(f"{W}/a", {"spec": {"free": {f"{worker}-{number}": 1}}})
            assert answer.status == 200

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))
    body = api.get(f"{W}/a").body
    assert len(body["spec"]["free"]) == 100
    assert body["metadata"]["generation"] == 101


def test_optimistic_writers_take_turns(api):
    api.post(W, widget("a", size=0))

    def add(_):
        while True:
            current = api.get(f"{W}/a").body
            current["spec"]["size"] += 1
            if api.put(f"{W}/a", current).status == 200:
                return

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(20)))
    assert api.get(f"{W}/a").body["spec"]["size"] == 20
