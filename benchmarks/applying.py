"""``apply``, as a dry run and as a commit, beside the same requests sent bare to the same server.

The operator that the commits wait for is simulated and shares the machine, so that the time on the clock of a commit
says nothing about the tool; its CPU time does.
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from benchmarks.figures import Figure
from benchmarks.kube_server import is_built, kube_apiserver
from benchmarks.plan import write_plan_of
from benchmarks.processes import measured
from benchmarks.registry import Benchmark, Size
from benchmarks.servers import Served, local_api

_SIZES = {200: (4, 50), 1_000: (20, 50)}
_LARGE = (100, 100)
_PARALLEL = 16
_CROWDED_LIMIT = 100
_DRY_RUN_LIMIT, _OWN_LIMIT = 1.3, 3.0


class _Cost(msgspec.Struct, frozen=True):
    cpu: float
    wall: float
    requests: float
    units: int = 0
    failed: int = 0
    others: int = 0
    sync_cpu: float = 0.0
    peak_mb: float = 0.0


@dataclass(frozen=True, slots=True)
class _Pair:
    """One run, and its requests sent bare."""

    run: _Cost
    bare: _Cost


def local_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures on the local API."""
    services = 200 if size == "quick" else 1_000
    with local_api(*_SIZES[services]) as served:
        plan = write_plan_of(served)
        yield from _dry_run(_measure(served, plan, commit=False), f"{services:,}")
        yield from _commit(_measure(served, plan, commit=True), f"{services:,}")


def crowded_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures of a namespace whose lists are long; some of its units are committed."""
    services = 200 if size == "quick" else 1_000
    with local_api(1, services) as served:
        plan = write_plan_of(served)
        yield from _dry_run(_measure(served, plan, commit=False), f"{services:,}")
        # What is beyond the requests says nothing here: sent bare, each unit parses the long lists that units share.
        yield from _commit_cost(_measure(served, plan, commit=True, limit=_CROWDED_LIMIT), f"commit among {services:,}")


def large_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures of a dry run of a large fleet; smaller ones are ``apply``'s."""
    if size == "quick":
        return
    with local_api(*_LARGE) as served:
        yield from _dry_run(_measure(served, write_plan_of(served), commit=False), "10,000")


def large_commit_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures of a commit of a large fleet."""
    if size == "quick":
        return
    with local_api(*_LARGE) as served:
        yield from _commit(_measure(served, write_plan_of(served), commit=True), "10,000")


def real_figures(size: Size) -> Iterator[Figure]:
    """Yield the figures on a real kube-apiserver, where its programs are built."""
    if not is_built():
        return
    services = 200 if size == "quick" else 1_000
    with kube_apiserver(*_SIZES[services], operator=True) as served:
        plan = write_plan_of(served)
        yield from _dry_run(_measure(served, plan, commit=False), f"{services:,}")
        yield from _commit(_measure(served, plan, commit=True), f"{services:,}")


def _dry_run(pair: _Pair, services: str) -> Iterator[Figure]:
    run, bare = pair.run, pair.bare
    name = f"dry run {services}"
    units = f"{run.units:,} automatic units, {run.others:,} others"
    peer = "the same requests bare"
    yield Figure(f"{name}: clock", run.wall, "s", bare.wall, peer, _DRY_RUN_LIMIT, note=units)
    yield Figure(f"{name}: CPU", run.cpu, "s", bare.cpu, peer)
    yield Figure(f"{name}: requests per unit", run.requests / run.units, "requests")
    yield Figure(f"{name}: peak memory", run.peak_mb, "MB")


def _commit(pair: _Pair, services: str) -> Iterator[Figure]:
    run, bare = pair.run, pair.bare
    own = (run.cpu - bare.cpu - run.sync_cpu) / run.units
    name = f"commit {services}"
    yield Figure(
        f"{name}: own CPU per unit beyond requests, waits and sync",
        own * 1e3,
        "ms",
        limit=_OWN_LIMIT,
        limit_of="value",
        note=f"{run.units:,} automatic units",
    )
    yield from _commit_cost(pair, name)


def _commit_cost(pair: _Pair, name: str) -> Iterator[Figure]:
    run, bare = pair.run, pair.bare
    yield Figure(f"{name}: CPU per unit", run.cpu / run.units * 1e3, "ms", bare.cpu / run.units * 1e3, "requests bare")
    yield Figure(f"{name}: CPU of syncing per unit", run.sync_cpu / run.units * 1e3, "ms")
    yield Figure(f"{name}: requests per unit", run.requests / run.units, "requests")
    yield Figure(f"{name}: peak memory", run.peak_mb, "MB")


def _measure(served: Served, plan: Path, *, commit: bool, limit: int = 0) -> _Pair:
    name = "commit" if commit else "dry-run"
    record, result = served.folder / f"{name}.requests", served.folder / f"{name}.json"
    more = ("--parallel", str(_PARALLEL), "--limit", str(limit), *(["--commit"] if commit else []))
    run = _child("benchmarks.applying_run", served, plan, result, record, *more)
    if run.failed or not run.units:
        raise RuntimeError(f"{run.failed} units of the {name} failed, {run.units} succeeded: see {result}")
    return _Pair(run, _child("benchmarks.applying_bare", served, record, "--parallel", str(_PARALLEL)))


def _child(module: str, served: Served, *arguments: Path | str) -> _Cost:
    command = (sys.executable, "-m", module, served.kubeconfig, *arguments)
    return msgspec.json.decode(measured(command, folder=served.folder).output, type=_Cost)


BENCHMARKS = (
    Benchmark("apply", "`apply` against the local API, dry run and commit, 16 units side by side.", local_figures),
    Benchmark(
        "apply-one-namespace",
        f"The same with all services in one namespace; {_CROWDED_LIMIT} units are committed.",
        crowded_figures,
    ),
    Benchmark("apply-large", "A dry run of 10,000 services; it takes some minutes.", large_figures),
    Benchmark("apply-large-commit", "A commit of 10,000 services; it takes half an hour.", large_commit_figures),
    Benchmark("apply-kube-apiserver", "The same against a real kube-apiserver.", real_figures),
)
