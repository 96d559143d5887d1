import threading

import pytest

from aim_rehearsal.apiserver.store import CompactedError, Store


def thing(name, **fields):
    return {"metadata": {"name": name}, **fields}


@pytest.fixture
def store():
    return Store(history=5)


def names(found):
    return [value["metadata"]["name"] for _, value in found]


def test_objects_are_listed_in_the_order_of_their_keys_bytewise(store):
    for namespace, name in (("a-b", "x"), ("a", "y"), ("a", "x"), ("b", "x")):
        store.put("things", namespace, name, thing(f"{namespace}/{name}"))
    assert names(store.scan("things")) == ["a-b/x", "a/x", "a/y", "b/x"]
    assert names(store.scan("things", "a")) == ["a/x", "a/y"]
    assert names(store.scan("things", "a", after="a/x")) == ["a/y"]


def test_each_write_has_a_revision_of_its_own_and_leaves_older_trees_alone(store):
    first = store.put("things", "", "x", thing("x", n=1))
    second = store.put("things", "", "x", {**first, "n": 2})
    assert int(second["metadata"]["resourceVersion"]) == int(first["metadata"]["resourceVersion"]) + 1
    assert first["n"] == 1
    assert store.get("things", "", "x") is second


def test_a_past_revision_is_rebuilt_from_history(store):
    store.put("things", "", "a", thing("a", n=1))
    store.put("things", "", "b", thing("b", n=1))
    revision = store.revision
    store.put("things", "", "a", thing("a", n=2))
    store.remove("things", "", "b")
    store.put("things", "", "c", thing("c"))
    assert [(value["metadata"]["name"], value["n"]) for _, value in store.scan("things", revision=revision)] == [
        ("a", 1),
        ("b", 1),
    ]
    assert names(store.scan("things")) == ["a", "c"]


def test_history_is_bounded_and_says_what_it_no_longer_covers(store):
    for number in range(10):
        store.put("things", "", "a", thing("a", n=number))
    assert len(store.changes_since(store.revision - 5)) == 5
    with pytest.raises(CompactedError):
        store.changes_since(store.revision - 6)
    with pytest.raises(CompactedError):
        store.scan("things", revision=2)


def test_a_removed_object_carries_the_revision_of_its_removal(store):
    store.put("things", "", "a", thing("a"))
    removed = store.remove("things", "", "a")
    assert removed["metadata"]["resourceVersion"] == str(store.revision)
    assert store.changes_since(store.revision - 1)[0].removed == removed


def test_waiters_wake_on_a_write_and_on_close(store):
    woken = []
    started = threading.Barrier(2)

    def wait():
        started.wait()
        woken.append(store.wait(store.revision, 30))

    for act in (lambda: store.put("things", "", "a", thing("a")), store.close):
        thread = threading.Thread(target=wait)
        thread.start()
        started.wait()
        # The waiter may not wait yet: repeat until it has seen the change.
        while thread.is_alive():
            act()
            thread.join(0.01)
    assert woken == [True, False]
