"""Memory of ``plan`` at scale, measured from outside on a process of its own: it does not grow with the fleet.

The ceilings are those that the docs state, with room for other builds of Python.
"""

import sys

import pytest

from aim_template_migration.planning.processors import MOST_WORKERS
from benchmarks.processes import measured
from benchmarks.servers import page_server

pytestmark = pytest.mark.slow

MEGABYTE = 1_000_000
FLEET_CEILING = 200
CEILING = 300
"""Of all processes together."""


def plan_of(served, workers):
    """Make a plan of a whole fleet and return what it cost, in MB at most and by its size."""
    output = served.folder / f"plan-{workers}"
    names = [part for name in served.namespaces for part in ("--namespace", name)]
    options = ["--kubeconfig", served.kubeconfig, "--runtime-projection-mode", "Both", "--output-dir", output]
    options += ["--workers", str(workers)]
    command = [sys.executable, "-m", "aim_template_migration", "plan", *options, *names]
    cost = measured(command, folder=served.folder)
    return cost.peak_mb, (output / "plan.json").stat().st_size


def test_forty_thousand_services_need_little_more_memory_than_one_thousand():
    with page_server(10, 100) as small, page_server(400, 100) as large:
        few, few_bytes = plan_of(small, 1)
        many, many_bytes = plan_of(large, 1)
        by_several, _ = plan_of(large, MOST_WORKERS)
    assert many_bytes > 39 * few_bytes > 40 * 10 * MEGABYTE
    assert many < FLEET_CEILING
    assert many < few + 60
    assert by_several < CEILING


@pytest.mark.parametrize("workers", [1, 2])
def test_a_gigabyte_of_lists_of_large_objects_is_read_in_little_memory(workers):
    padding = 100_000
    with page_server(13, 100, padding=padding) as served:
        peak, _ = plan_of(served, workers)
        asked = served.report()
    assert asked["bytes"] > 10_000 * padding
    assert peak < CEILING
