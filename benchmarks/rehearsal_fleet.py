"""How long a generated fleet takes to make, to load, to settle, to list and to plan, and how much memory it needs.

``python benchmarks/rehearsal_fleet.py 10x10 50x20 100x100`` prints one row per size; each size runs in a process of its
own. Seconds are CPU time of the process, beside the time on the clock; read them as ratios.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from aim_api.kinds import AIM_SERVICE
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import fleet
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import Settings, make_plan

COLUMNS = ("services", "objects", "make", "load", "list", "plan", "clock", "memory")


def measured(namespaces: int, services: int) -> dict[str, str]:
    """Return the figures of one size, for this process."""
    figures: dict[str, str] = {"services": f"{namespaces * services:,}"}
    began, clock = time.process_time(), time.monotonic()

    def lap(name: str) -> None:
        nonlocal began
        figures[name] = f"{time.process_time() - began:.1f} s"
        began = time.process_time()

    world = fleet(namespaces, services)
    figures["objects"] = f"{len(world.objects):,}"
    lap("make")
    with tempfile.TemporaryDirectory() as folder, RehearsalSession(world, work_dir=Path(folder)) as session:
        lap("load")
        assert len(session.client.list_all(AIM_SERVICE).items) == namespaces * services
        lap("list")
        cluster = connect(ConnectionOptions(kubeconfig=str(session.kubeconfig())), environ={})
        settings = Settings(namespaces=world.namespaces, runtime_projection_mode="Both")
        make_plan(cluster, settings, now=datetime.now(UTC), plan_id="benchmark")
        cluster.close()
        lap("plan")
    figures["clock"] = f"{time.monotonic() - clock:.0f} s"
    figures["memory"] = f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MiB"
    return figures


def main() -> None:
    """Measure the sizes of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sizes", nargs="*", default=["10x10", "50x20"], metavar="NxM")
    parser.add_argument("--one", metavar="NxM", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        namespaces, services = map(int, arguments.one.split("x"))
        print(json.dumps(measured(namespaces, services)))
        return
    print(" | ".join(f"{name:>9}" for name in COLUMNS))
    for size in arguments.sizes:
        done = subprocess.run([sys.executable, __file__, "--one", size], stdout=subprocess.PIPE, text=True, check=True)
        figures = json.loads(done.stdout)
        print(" | ".join(f"{figures[name]:>9}" for name in COLUMNS), flush=True)


if __name__ == "__main__":
    main()
