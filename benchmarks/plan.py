"""``plan`` at several sizes, beside the bare download of the same lists and beside ``kubectl get -o json``."""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.kube.permissions import LISTED_KINDS
from benchmarks.figures import Figure
from benchmarks.kube_server import is_built, kube_apiserver
from benchmarks.processes import Cost, measured, middle
from benchmarks.registry import Benchmark, Size
from benchmarks.servers import Served, local_api, page_server

_SIZES = {100: (1, 100), 1_000: (10, 100), 10_000: (100, 100), 40_000: (400, 100)}
_QUICK = (100, 1_000)
_KUBECTL_UP_TO = 10_000
_REPEATED_UP_TO = 1_000
_JUDGED = 10_000
_SNAPSHOT_LIMIT, _COMMAND_LIMIT, _MEMORY_LIMIT = 1.5, 3.0, 300.0


@dataclass(frozen=True, slots=True)
class _Costs:
    """What one size cost: the bare lists, up to the classified snapshot, the whole command, and kubectl."""

    bare: Cost
    snapshot: Cost
    command: Cost
    kubectl: Cost | None


def page_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures of every size on the server that makes pages, the fastest there is."""
    costs: dict[int, _Costs] = {}
    for services in _QUICK if size == "quick" else _SIZES:
        with page_server(*_SIZES[services]) as served:
            costs[services] = _measure(served, services)
            yield from _compared(f"{services:,}", costs[services], judged=services == _JUDGED)
            if services == _JUDGED:
                yield from _with_workers(served, f"{services:,}", costs[services].command)
            yield from _requests(served, f"{services:,}")
    yield from _growth(costs)


def local_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures on the local API."""
    services = 100 if size == "quick" else 1_000
    with local_api(*_SIZES[services]) as served:
        yield from _compared(f"{services:,}", _measure(served, services), judged=True)


def real_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures on a real kube-apiserver, where its programs are built."""
    if not is_built():
        return
    for services in (100,) if size == "quick" else (1_000, _JUDGED):
        with kube_apiserver(*_SIZES[services]) as served:
            yield from _compared(f"{services:,}", _measure(served, services), judged=True)


def compressed_figures(size: Size) -> Iterator[Figure]:
    """Yield what compressed answers cost on a loopback, and how much less goes over a network."""
    services = 100 if size == "quick" else 1_000
    plain, small = [], []
    with page_server(*_SIZES[services]) as served, page_server(*_SIZES[services], compress=True) as compressed:
        for _ in range(3):
            plain.append(_plan(served))
            small.append(_plan(compressed))
        cost = middle(small)
        yield Figure(f"plan {services:,}: CPU", cost.cpu, "s", middle(plain).cpu, "plan without compression")
        yield Figure(
            f"plan {services:,}: bytes",
            compressed.report()["sent"] / 3e6,
            "MB",
            served.report()["sent"] / 3e6,
            "plan without compression",
        )


def write_plan_of(served: Served) -> Path:
    """Make a plan of a fleet and return its directory."""
    _plan(served)
    return _output(served)


def _measure(served: Served, services: int) -> _Costs:
    repeats = 3 if services <= _REPEATED_UP_TO else 1
    targets = served.folder / "targets"
    kinds = [kind for kind in LISTED_KINDS if kind.namespaced]
    targets.write_text("".join(f"{kind.path(name, None)}\n" for name in served.namespaces for kind in kinds))
    bare, snapshot, command, kubectl = [], [], [], []
    for _ in range(repeats):
        bare.append(_bare(served, targets))
        snapshot.append(_snapshot(served))
        bare.append(_bare(served, targets))
        command.append(_plan(served))
        if services <= _KUBECTL_UP_TO:
            kubectl.append(_kubectl(served))
    return _Costs(middle(bare), middle(snapshot), middle(command), middle(kubectl) if kubectl else None)


def _compared(name: str, costs: _Costs, *, judged: bool) -> Iterator[Figure]:
    phases = (
        ("to the classified snapshot", costs.snapshot, _SNAPSHOT_LIMIT),
        ("whole command", costs.command, _COMMAND_LIMIT),
    )
    for what, cost, limit in phases:
        wanted = limit if judged else None
        yield Figure(f"plan {name}: {what}, CPU", cost.cpu, "s", costs.bare.cpu, "bare lists", wanted)
        yield Figure(f"plan {name}: {what}, clock", cost.wall, "s", costs.bare.wall, "bare lists", wanted)
    if costs.kubectl:
        peer = "kubectl get -o json"
        yield Figure(f"plan {name}: CPU", costs.command.cpu, "s", costs.kubectl.cpu, peer, 1.0 if judged else None)
        yield Figure(f"plan {name}: clock", costs.command.wall, "s", costs.kubectl.wall, peer, 1.0 if judged else None)
        yield Figure(f"plan {name}: peak memory", costs.command.peak_mb, "MB", costs.kubectl.peak_mb, peer)
    yield Figure(f"plan {name}: peak memory", costs.command.peak_mb, "MB", limit=_MEMORY_LIMIT, limit_of="value")


def _with_workers(served: Served, name: str, several: Cost) -> Iterator[Figure]:
    alone = _plan(served, "--workers", "1")
    for what, cost, peer in (("clock", several.wall, alone.wall), ("CPU", several.cpu, alone.cpu)):
        yield Figure(f"plan {name}: {what}, several processes", cost, "s", peer, "--workers 1")
    yield Figure(f"plan {name}: peak memory, several processes", several.peak_mb, "MB", alone.peak_mb, "--workers 1")


def _requests(served: Served, name: str) -> Iterator[Figure]:
    served.report()
    _plan(served)
    report = served.report()
    lists = len(served.namespaces) * sum(kind.namespaced for kind in LISTED_KINDS)
    yield Figure(f"plan {name}: list requests", report["lists"], "requests", lists, "kinds in namespaces")
    yield Figure(
        f"plan {name}: most requests in flight", report["mostInFlight"], "requests", limit=16, limit_of="value"
    )


def _growth(costs: dict[int, _Costs]) -> Iterator[Figure]:
    small, large = 1_000, max(costs)
    if large <= small:
        return
    new, old = costs[large].command, costs[small].command
    for what, now, then in (
        ("CPU", new.cpu / large, old.cpu / small),
        ("clock", new.wall / large, old.wall / small),
    ):
        name = f"plan {large:,}: {what} per 1,000 services"
        yield Figure(name, now * 1e3, "s", then * 1e3, f"plan {small:,}", 1.2)
    # Of two fleets that are both worth several processes.
    smaller = sorted(costs)[-2]
    old = costs[smaller].command
    yield Figure(f"plan {large:,}: peak memory", new.peak_mb, "MB", old.peak_mb, f"plan {smaller:,}", 1.5)


def _bare(served: Served, targets: Path) -> Cost:
    return measured([sys.executable, "-m", "benchmarks.bare", served.kubeconfig], stdin=targets, folder=served.folder)


def _snapshot(served: Served) -> Cost:
    command = [sys.executable, "-m", "benchmarks.plan_phases", str(served.kubeconfig), *served.namespaces]
    return measured(command, folder=served.folder)


def _plan(served: Served, *options: str) -> Cost:
    output = _output(served)
    shutil.rmtree(output, ignore_errors=True)
    names = [part for name in served.namespaces for part in ("--namespace", name)]
    tool = (sys.executable, "-m", "aim_template_migration", "plan")
    mode = ("--runtime-projection-mode", "Both")
    files = ("--kubeconfig", str(served.kubeconfig), "--output-dir", str(output))
    return measured([*tool, *files, *mode, *options, *names], folder=served.folder)


def _output(served: Served) -> Path:
    return served.folder / "plan"


def _kubectl(served: Served) -> Cost:
    """Read the same lists with kubectl in the cheapest way that it has: all kinds and namespaces at once."""
    kinds = ",".join(f"{kind.plural}.{kind.group}".rstrip(".") for kind in LISTED_KINDS if kind.namespaced)
    command = ("kubectl", "get", kinds, "-A", "-o", "json", "--kubeconfig", served.kubeconfig)
    return measured(command, environment={"HOME": str(served.folder)}, folder=served.folder)


BENCHMARKS = (
    Benchmark(
        "plan",
        "`plan` against generated pages: the fastest server there is, so that nothing but the client is measured.",
        page_figures,
    ),
    Benchmark("plan-local", "`plan` against the local API.", local_figures),
    Benchmark("plan-kube-apiserver", "`plan` against a real kube-apiserver.", real_figures),
    Benchmark("plan-compressed", "`plan` against a server that compresses large answers.", compressed_figures),
)
