"""What durability costs: journal lines, alone and shared, and the result file beside them."""

import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from aim_template_migration.applying.clock import SystemClock
from aim_template_migration.applying.journal import Journal
from aim_template_migration.applying.running_result import RunningResult
from aim_template_migration.documents.journal import Entry, encode_line
from aim_template_migration.documents.result import ApplyResult, OpenAttempt, UnitResult, count_units
from benchmarks.figures import Figure
from benchmarks.registry import Benchmark, Size

_FACTS = {"object": "AIMProfile/team-a/qwen-tp1", "bodySha256": "0" * 64, "method": "POST", "path": "/apis/x/y/z"}
_UNIT = "AIMService/team-a/chat"


def journal_figures(size: Size) -> Iterator[Figure]:
    """Yield the time for each journal line that must be on disk, beside bare writes of the same bytes."""
    lines = 2_000 if size == "full" else 200
    for threads in (1, 16):
        with tempfile.TemporaryDirectory() as folder:
            bare = _per_call(_bare_append(Path(folder) / "bare"), lines, threads=1)
            journal = Journal(Path(folder) / "journal", SystemClock(threading.Event()), durable=True)
            own = _per_call(partial(journal.append, "attempt", unit=_UNIT, facts={**_FACTS}), lines, threads)
            journal.close()
        shared = "one thread" if threads == 1 else f"{threads} threads share syncs"
        yield Figure(f"journal line, {shared}", own * 1e3, "ms", bare * 1e3, "append and fdatasync of one thread")
    for units in (1_000, 10_000):
        yield from _result_figures(units, times=lines // 10)


def _result_figures(units: int, *, times: int) -> Iterator[Figure]:
    """Yield what it costs to show an attempt while so many units have ended, and to write them all at the end."""
    ids = tuple(f"AIMService/team-a/chat-{number:05}" for number in range(units))
    with tempfile.TemporaryDirectory() as folder:
        running = RunningResult(Path(folder) / "result.json", _EMPTY, ids, durable=True)
        running.record(UnitResult(unit, "automatic", "succeeded", attempted_steps=("CutOver",)) for unit in ids)
        attempt = OpenAttempt(ids[0], "CutOver", ids[0], "2026-06-02T10:00:00Z")
        while_running = _per_call(partial(running.attempt, attempt), times)
        at_the_end = _per_call(partial(running.complete, "2026-06-02T10:00:00Z", ""), 3)
        yield Figure(f"result while running, {units:,} units", while_running * 1e3, "ms")
        yield Figure(f"result at the end, {units:,} units", at_the_end * 1e3, "ms")


def _bare_append(path: Path) -> Callable[[], None]:
    line, _ = encode_line(Entry(1, "2026-06-02T10:00:00.000000Z", "attempt", _UNIT, "", {**_FACTS}), "0" * 32)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def append() -> None:
        os.write(descriptor, line)
        os.fdatasync(descriptor)

    return append


def _per_call(call: Callable[[], object], times: int, threads: int = 1) -> float:
    """Return the seconds on the clock for each of so many calls, shared out to threads."""

    def repeated() -> None:
        for _ in range(times // threads):
            call()

    began = time.monotonic()
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(repeated) for _ in range(threads)]:
            done.result()
    return (time.monotonic() - began) / (times // threads * threads)


_EMPTY = ApplyResult(
    schema="",
    api_version="",
    kind="ApplyResult",
    tool_version="",
    run_id="",
    mode="commit",
    state="incomplete",
    plan_id="",
    plan_sha256="",
    started_at="",
    finished_at="",
    journal="",
    counts=count_units(()),
)

BENCHMARKS = (Benchmark("journal", "Records of a run on disk; on the clock, with every sync.", journal_figures),)
