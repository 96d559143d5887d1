"""Plans that were edited at random, in both copies, so that no edit is seen as one: refused, or harmless."""

import contextlib
import copy
import random

import msgspec
import pytest

from aim_template_migration.applying.plan_files import PlanRejected
from tests.aim_template_migration.applying.bench import Bench

VALUES = (None, True, 0, -1, 10**12, "", "x", "../..", "kube-system", "Secret", [], {}, ["x"], {"a": "b"}, 1.5)


def places(value, path=()):
    """Yield the path of every value in a document."""
    yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, (*path, index))


def mutate(document, chance):
    """Change one place of a document: remove it, repeat it, exchange it with another, or give it another value."""
    path = chance.choice([path for path in places(document) if path])
    parent = document
    for key in path[:-1]:
        parent = parent[key]
    what = chance.randrange(4)
    if what == 0:
        del parent[path[-1]]
    elif what == 1 and isinstance(parent, list):
        parent.insert(chance.randrange(len(parent) + 1), copy.deepcopy(parent[path[-1]]))
    elif what == 2 and isinstance(parent, dict):
        other = chance.choice(list(parent))
        parent[path[-1]], parent[other] = parent[other], parent[path[-1]]
    else:
        parent[path[-1]] = copy.deepcopy(chance.choice(VALUES))


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    bench = Bench(tmp_path_factory.mktemp("edited"))
    bench.plan()
    original = msgspec.json.decode((bench.plan_directory / "plan.json").read_bytes())
    bench.apply()
    bench.archive()
    wanted = [(item.method, item.kind, item.name) for item in bench.cluster.sent]
    return original, bench.plan_directory, wanted


@pytest.mark.parametrize("seed", range(120))
def test_nothing_else_is_written_and_no_unit_is_left_without_an_ending(planned, tmp_path, seed):
    chance = random.Random(seed)
    document = copy.deepcopy(planned[0])
    for _ in range(chance.randint(1, 3)):
        mutate(document, chance)
    bench = Bench(tmp_path)
    bench.plan()
    bench.rewrite(msgspec.json.encode(document), everywhere=True)
    outcome = None
    with contextlib.suppress(PlanRejected):
        outcome = bench.apply(soak_seconds=0.0)
    if outcome is None:
        assert bench.cluster.sent == []
        return
    assert {(item.method, item.kind, item.name) for item in bench.cluster.sent} <= set(planned[2])
    assert sum(outcome.result.counts.values()) == len(outcome.result.units)
    assert [unit.code for unit in outcome.result.units].count("UnexpectedError") == 0
    service = bench.fleet.only("AIMService")
    assert set(service["spec"]) <= {"model", "template", "profile", "replicas", "caching"}
    if "profile" in service["spec"]:
        assert service["metadata"]["annotations"]
