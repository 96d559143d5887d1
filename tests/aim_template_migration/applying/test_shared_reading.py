"""One reading for many: never older than the question, and nobody is left waiting whatever becomes of it."""

import itertools
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from aim_template_migration.applying.shared_reading import LONGEST_SECONDS, SharedReading

PATIENCE = 20.0


class Scripted:
    """A reading that waits until the test lets it end; ``outcomes`` are what the readings give or raise, in order."""

    def __init__(self, *outcomes):
        self.begun = [threading.Event() for _ in outcomes]
        self.released = [threading.Event() for _ in outcomes]
        self.withins = []
        self._outcomes = outcomes

    def __call__(self, within):
        number = len(self.withins)
        self.withins.append(within)
        self.begun[number].set()
        assert self.released[number].wait(PATIENCE)
        outcome = self._outcomes[number]
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


def until(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


class Asking:
    """Askers of one shared reading, each in a thread of its own."""

    def __init__(self, *outcomes):
        self.reads = Scripted(*outcomes)
        self.shared = SharedReading(self.reads, time.monotonic)
        self.pool = ThreadPoolExecutor(32)

    def ask(self, within=None):
        waiting, number = len(self.shared._next.asking), len(self.reads.withins)
        future = self.pool.submit(self.shared.get, within)
        until(lambda: len(self.shared._next.asking) > waiting or len(self.reads.withins) > number)
        return future

    def release(self, number):
        assert self.reads.begun[number].wait(PATIENCE)
        self.reads.released[number].set()


@pytest.fixture
def asking():
    made = []

    def make(*outcomes):
        made.append(Asking(*outcomes))
        return made[-1]

    yield make
    for each in made:
        for event in each.reads.released:
            event.set()
        each.pool.shutdown()


def results(futures):
    return [future.result(PATIENCE) for future in futures]


def test_who_asks_alone_reads_at_once_and_each_time_anew():
    answers = itertools.count()
    shared = SharedReading(lambda within: next(answers), time.monotonic)
    assert [shared.get(), shared.get(), shared.get()] == [0, 1, 2]


def test_who_asks_during_a_reading_shares_the_next_one_and_not_this_one(asking):
    these = asking("old", "new")
    first = these.ask()
    later = [these.ask() for _ in range(8)]
    these.release(0)
    assert first.result(PATIENCE) == "old"
    these.release(1)
    assert results(later) == ["new"] * 8
    assert len(these.reads.withins) == 2


def test_who_asks_when_the_next_one_has_begun_waits_for_another(asking):
    these = asking("first", "second", "third")
    first, second = these.ask(), these.ask()
    these.release(0)
    assert these.reads.begun[1].wait(PATIENCE)
    third = these.ask()
    these.release(1)
    these.release(2)
    assert results([first, second, third]) == ["first", "second", "third"]


def test_no_answer_is_older_than_its_question_whatever_the_order():
    ticks = itertools.count()
    chance = random.Random(5)
    waits = [chance.random() * 0.002 for _ in range(100)]

    def read(within):
        began = next(ticks)
        time.sleep(waits[began % 100])
        return began

    shared = SharedReading(read, time.monotonic)

    def ask(number):
        for _ in range(20):
            asked = next(ticks)
            assert shared.get() > asked
            time.sleep(waits[number])
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(16)))
    assert next(ticks) < 2 * 16 * 20  # some were shared


def test_a_failure_reaches_everybody_who_shares_the_reading_and_nobody_else(asking):
    failure = ValueError("503")
    these = asking("old", failure, "newest")
    first = these.ask()
    second = [these.ask() for _ in range(5)]
    these.release(0)
    assert these.reads.begun[1].wait(PATIENCE)
    third = these.ask()
    these.release(1)
    these.release(2)
    assert [future.exception(PATIENCE) for future in second] == [failure] * 5
    assert (first.result(PATIENCE), third.result(PATIENCE)) == ("old", "newest")


def test_a_failure_is_not_taken_for_the_next_answer(asking):
    these = asking(ValueError("lost"), "new")
    first = these.ask()
    later = [these.ask() for _ in range(5)]
    these.release(0)
    assert str(first.exception(PATIENCE)) == "lost"
    these.release(1)
    assert results(later) == ["new"] * 5


def test_who_shares_a_reading_whose_thread_was_ended_reads_anew(asking):
    these = asking("old", SystemExit(), *["new"] * 4)
    first = these.ask()
    later = [these.ask() for _ in range(5)]
    these.release(0)
    these.release(1)
    for released in these.reads.released[2:]:  # one may begin before the others have joined it
        released.set()
    assert first.result(PATIENCE) == "old"
    ended = [future for future in later if isinstance(future.exception(PATIENCE), SystemExit)]
    assert len(ended) == 1
    assert results([future for future in later if future not in ended]) == ["new"] * 4


@pytest.mark.parametrize("limits", [(14.0, 25.0, 16.0), (25.0, 14.0, 16.0), (14.0, None, 16.0), (None, 14.0, 16.0)])
def test_a_reading_is_limited_as_the_one_who_may_wait_longest(asking, limits):
    these = asking("old", "new")
    first = these.ask(12.0)
    later = [these.ask(limit) for limit in limits]
    these.release(0)
    these.release(1)
    assert results([first, *later]) == ["old", "new", "new", "new"]
    assert 0 < these.reads.withins[0] <= 12.0
    longest = these.reads.withins[1]
    assert longest == LONGEST_SECONDS if None in limits else 20.0 < longest <= 25.0


def test_who_may_not_wait_longer_leaves_the_others_to_it(asking):
    these = asking("old", "new")
    first, patient = these.ask(), these.ask()
    hasty = these.ask(0.05)
    assert isinstance(hasty.exception(PATIENCE), TimeoutError)
    assert these.reads.withins == [LONGEST_SECONDS]  # nothing was asked for it
    these.release(0)
    these.release(1)
    assert results([first, patient]) == ["old", "new"]


def test_who_leaves_while_another_reads_for_it_does_not_disturb_the_reading(asking):
    these = asking("old", "new")
    first, patient = these.ask(), these.ask()
    hasty = these.ask(0.5)
    these.release(0)
    assert isinstance(hasty.exception(PATIENCE), TimeoutError)
    these.release(1)
    assert results([first, patient]) == ["old", "new"]


def test_the_limit_of_who_reads_alone_reaches_the_reading():
    seen = []
    shared = SharedReading(seen.append, lambda: 100.0)
    for within in (7.0, None, 3600.0):
        shared.get(within)
    shared.get(0.0)  # no time at all is not the same as no limit
    assert seen[:3] == [7.0, LONGEST_SECONDS, LONGEST_SECONDS]  # others may wait behind it
    assert 0 < seen[3] < 0.01
