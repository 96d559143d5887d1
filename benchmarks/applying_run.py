"""One apply in a process of its own: what it cost, and which requests it sent.

``python -m benchmarks.applying_run KUBECONFIG PLAN RESULT RECORD [--commit] [--parallel N] [--limit N]`` writes each
request as a line of ``RECORD`` and prints the cost as JSON, counted from the moment at which the first unit may begin.
"""

import argparse
import json
import os
import resource
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from aim_template_migration.applying.events import Event, RunStarted
from aim_template_migration.applying.run import ApplyOptions, apply_plan
from aim_template_migration.kube import Cluster, ConnectionOptions, connect
from aim_template_migration.kube.answers import RawAnswer
from aim_template_migration.kube.tls import ClientCertificate
from aim_template_migration.kube.transport import Transport
from aim_template_migration.planning.secret_scan import redact


class Sent(msgspec.Struct, frozen=True, array_like=True):
    """One request, without credentials."""

    method: str
    target: str
    content_type: str
    body: bytes | None


class Watch:
    """Keeps what is sent, and the CPU time of syncing files."""

    def __init__(self, record: Path) -> None:
        self._file = record.open("wb")
        self._lock = threading.Lock()
        self.requests = 0
        self.sync_cpu = 0.0
        self._send = Transport.send

    def install(self) -> None:
        """Stand between this process and what it sends and syncs."""
        watch = self

        def send(
            self: Transport,
            method: str,
            target: str,
            headers: Iterable[tuple[str, str]],
            body: bytes | None,
            *,
            client: ClientCertificate | None,
            timeout: float,
        ) -> RawAnswer:
            headers = tuple(headers)
            watch.note(Sent(method, target, dict(headers).get("Content-Type", ""), body))
            return watch._send(self, method, target, headers, body, client=client, timeout=timeout)

        setattr(Transport, "send", send)  # noqa: B010 - for the type checker it is a method for good
        for name, call in (("fsync", os.fsync), ("fdatasync", os.fdatasync)):
            setattr(os, name, self._timed(call))

    def note(self, sent: Sent) -> None:
        """Keep one request."""
        line = msgspec.json.encode(sent) + b"\n"
        with self._lock:
            self._file.write(line)
            self.requests += 1

    def close(self) -> None:
        """Write the rest."""
        self._file.close()

    def _timed(self, call: Callable[[int], None]) -> Callable[[int], None]:
        def timed(descriptor: int) -> None:
            began = time.thread_time()
            try:
                call(descriptor)
            finally:
                with self._lock:
                    self.sync_cpu += time.thread_time() - began

        return timed


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name in ("kubeconfig", "plan", "result", "record"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--commit", action="store_true")
    parser.add_argument("--parallel", type=int, default=16)
    parser.add_argument("--limit", type=int, default=0, help="how many units to run; 0 for all")
    given = parser.parse_args()
    watch = Watch(given.record)
    watch.install()
    began = {"cpu": 0.0, "wall": 0.0, "requests": 0.0}

    def listener(event: Event) -> None:
        if isinstance(event, RunStarted):
            began.update(cpu=time.process_time(), wall=time.monotonic(), requests=watch.requests)

    def connected() -> Cluster:
        return connect(ConnectionOptions(kubeconfig=str(given.kubeconfig)), redact=redact, environ={})

    options = ApplyOptions(
        plan=given.plan,
        result=given.result,
        commit=given.commit,
        parallel=given.parallel,
        soak_seconds=1.0,
        limit=given.limit or None,
    )
    outcome = apply_plan(options, connected, listener=listener, stop=threading.Event())
    cpu, wall = time.process_time() - began["cpu"], time.monotonic() - began["wall"]
    watch.close()
    counts = outcome.result.counts
    print(
        json.dumps(
            {
                "units": counts["succeeded"],
                "failed": counts["failed"] + counts["unknown"] + counts["interrupted"],
                "others": counts["manual"] + counts["skipped"],
                "cpu": cpu,
                "wall": wall,
                "sync_cpu": watch.sync_cpu,
                "requests": watch.requests - began["requests"],
                "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
            }
        )
    )


if __name__ == "__main__":
    main()
