"""Work on several things at once that nobody has to wait for."""

import threading

import pytest

from aim_template_migration.kube.side_by_side import side_by_side


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
    for thread in threading.enumerate():
        if thread.name.startswith("side-by-side"):
            thread.join(10)
    assert len(begun) <= 4
