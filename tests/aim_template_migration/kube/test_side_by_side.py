"""Work on several things at once that nobody has to wait for."""

import threading

import pytest

from aim_template_migration.kube.side_by_side import ahead, side_by_side


def join_threads():
    for thread in threading.enumerate():
        if thread.name == "side-by-side":
            thread.join(10)


def test_everything_is_done_once_and_by_several_threads_at_once():
    meeting = threading.Barrier(3, timeout=10)

    def work(number):
        if number < 3:
            meeting.wait()
        return number * 2

    assert sorted(side_by_side(work, range(10), 3)) == [(number, number * 2) for number in range(10)]


def test_nothing_to_do_is_nothing_done():
    assert list(side_by_side(str, [], 4)) == []


def test_what_goes_wrong_is_raised_where_it_is_waited_for():
    def work(number):
        if number == 1:
            raise LookupError("one")
        return number

    with pytest.raises(LookupError, match="one"):
        list(side_by_side(work, [1, 2, 3], 1))


def test_who_leaves_waits_for_nobody_and_nothing_further_is_begun():
    begun, hold = [], threading.Event()

    def work(number):
        begun.append(number)
        if number:
            hold.wait(10)
        return number

    results = side_by_side(work, range(20), 2)
    assert next(results) == (0, 0)
    results.close()
    hold.set()
    join_threads()
    assert len(begun) <= 4


def test_ahead_keeps_the_order_of_the_items():
    second_is_done = threading.Event()

    def work(number):
        if number == 0:
            assert second_is_done.wait(10)
        if number == 1:
            second_is_done.set()
        return number * 2

    assert list(ahead(work, range(10), 2)) == [number * 2 for number in range(10)]


def test_only_a_few_are_begun_ahead_of_what_is_in_use():
    begun = []
    results = ahead(begun.append, range(100), 3)
    next(results)
    results.close()
    assert len(begun) <= 4


def test_what_goes_wrong_ahead_is_raised_in_its_turn():
    def work(number):
        if number == 2:
            raise LookupError("two")
        return number

    results = ahead(work, range(10), 4)
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(LookupError, match="two"):
        next(results)


def test_who_leaves_what_is_read_ahead_waits_for_nobody():
    begun, hold = [], threading.Event()

    def work(number):
        begun.append(number)
        if number:
            hold.wait(10)
        return number

    results = ahead(work, range(20), 2)
    assert next(results) == 0
    results.close()
    hold.set()
    join_threads()
    assert len(begun) <= 3
