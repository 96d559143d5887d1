"""Units in plan order, one at a time per target, and the gate before the cutovers."""

import itertools
import random
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aim_template_migration.applying.schedule import CutoverGate, UnitQueue, shared_groups
from aim_template_migration.documents.plan import CreateProfile, CreateProfileCache, Unit


def unit(name, *targets):
    steps = tuple(
        (CreateProfileCache if target.startswith("AIMProfileCache") else CreateProfile)(target=target)
        for target in targets
    )
    return Unit(id=name, disposition="automatic", outcome="SharedNoRollout", steps=steps)


def test_units_that_share_a_target_even_through_others_are_one_group():
    groups = shared_groups(
        [unit("a", "p1"), unit("b", "p2", "AIMProfileCache/x"), unit("c", "AIMProfileCache/x", "p1")]
    )
    assert groups["a"] == groups["b"] == groups["c"]
    assert len(set(shared_groups([unit("a", "p1"), unit("b", "p2"), unit("c")]).values())) == 3


FLEETS = st.lists(st.lists(st.integers(0, 4), max_size=3), max_size=8)


@given(FLEETS, st.integers(1, 4), st.randoms(use_true_random=False))
def test_every_unit_runs_once_in_plan_order_per_group_and_never_two_of_a_group(fleet, parallel, chance):
    units = [unit(f"u{number}", *(f"p{target}" for target in targets)) for number, targets in enumerate(fleet)]
    groups = shared_groups(units)
    queue = UnitQueue(units)
    active, begun = [], []
    while len(queue) or active:
        while len(active) < parallel and (taken := queue.take()) is not None:
            assert groups[taken] not in {groups[other] for other in active}
            # The first in plan order of those that may run.
            free = [
                item.id
                for item in units
                if item.id not in begun and groups[item.id] not in {groups[other] for other in active}
            ]
            assert taken == free[0]
            active.append(taken)
            begun.append(taken)
        assert active
        queue.release(active.pop(chance.randrange(len(active))))
    assert sorted(begun) == sorted(item.id for item in units)
    for group in set(groups.values()):
        members = [name for name in begun if groups[name] == group]
        assert members == sorted(members, key=lambda name: int(name[1:]))


def test_what_has_not_begun_is_drained_in_plan_order():
    queue = UnitQueue([unit("u0", "p"), unit("u1", "p"), unit("u2"), unit("u3", "p")])
    assert queue.take() == "u0"
    assert queue.drain() == ("u1", "u2", "u3")
    queue.release("u0")
    assert (len(queue), queue.take()) == (0, None)


def test_ten_thousand_units_of_one_target_are_queued_without_searching():
    units = [unit(f"u{number:05}", "p", f"AIMProfileCache/{number % 7}") for number in range(10_000)]
    queue, looked = UnitQueue(units), 0
    while (taken := queue.take()) is not None:
        assert queue.take() is None  # the whole group waits
        looked += 1
        queue.release(taken)
    assert looked == 10_000


class Run:
    """Units as threads that wait for their turn, with endings as a model says."""

    def __init__(self, endings, order=None):
        names = [f"u{number}" for number in range(len(endings))]
        self.gate = CutoverGate(names)
        self.endings = dict(zip(names, endings, strict=True))
        self.cut, self.turned, self.lock = [], {}, threading.Lock()
        self.cutting, self.most_before_open = set(), 0

    def unit(self, name):
        ending = self.endings[name]
        if ending == "fails before":
            self.gate.left(name)
            return
        turn = self.gate.wait(name)
        with self.lock:
            self.turned[name] = turn
        if not turn:
            self.gate.left(name)
            return
        first = self.gate.is_first(name)
        with self.lock:
            self.cut.append((name, first))
            self.cutting.add(name)
            if first:
                assert self.cutting == {name}
        with self.lock:
            self.cutting.discard(name)
        if ending == "rolls":
            self.gate.halt(name)
            self.gate.left(name)
        elif ending == "fails at cutover":
            self.gate.left(name)
        else:
            self.gate.passed(name)


ENDINGS = ("passes", "fails before", "fails at cutover", "rolls")


@pytest.mark.parametrize("endings", [pair for count in (1, 2, 3) for pair in itertools.product(ENDINGS, repeat=count)])
def test_nobody_waits_for_ever_and_the_first_is_alone(endings):
    run = Run(endings)
    threads = [threading.Thread(target=run.unit, args=(name,), daemon=True) for name in reversed(run.endings)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)
    check(run, endings)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(ENDINGS), min_size=1, max_size=6), st.integers(1, 4), st.integers(0, 2**32))
def test_a_pool_that_starts_in_plan_order_never_deadlocks(endings, parallel, seed):
    run = Run(endings)
    names = list(run.endings)
    chance = random.Random(seed)
    places = threading.Semaphore(parallel)
    threads = []

    def work(name):
        try:
            run.unit(name)
        finally:
            places.release()

    for name in names:
        assert places.acquire(timeout=5)
        threads.append(threading.Thread(target=work, args=(name,), daemon=True))
        threads[-1].start()
        if chance.random() < 0.3:
            threads[-1].join(0.001)
    for thread in threads:
        thread.join(5)
    assert not any(thread.is_alive() for thread in threads)
    check(run, endings)


def check(run, endings):
    firsts = [name for name, first in run.cut if first]
    passing = next((number for number, ending in enumerate(endings) if ending in ("passes", "rolls")), None)
    assert firsts == [
        name
        for number, name in enumerate(run.endings)
        if endings[number] != "fails before" and (passing is None or number <= passing)
    ]
    if passing is not None and endings[passing] == "rolls":
        assert [name for name, _ in run.cut] == firsts
        assert run.gate.halted_by == f"u{passing}"
        waited = [name for name in run.endings if name not in firsts and endings[int(name[1:])] != "fails before"]
        assert [run.turned[name] for name in waited] == [False] * len(waited)


@pytest.mark.parametrize("end", [lambda gate: gate.halt("u0"), lambda gate: gate.cancel()])
def test_a_halt_and_a_cancel_wake_everybody(end):
    gate = CutoverGate(["u0", "u1", "u2"])
    turns = []
    threads = [threading.Thread(target=lambda name=name: turns.append(gate.wait(name))) for name in ("u1", "u2")]
    for thread in threads:
        thread.start()
    end(gate)
    for thread in threads:
        thread.join(5)
    assert turns == [False, False]
    assert gate.wait("u0") is False


def test_the_first_halt_is_named():
    gate = CutoverGate(["u0", "u1"])
    gate.halt("u1")
    gate.halt("u0")
    assert gate.halted_by == "u1"
