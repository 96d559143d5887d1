"""Starts runs of the command line in processes of their own, forked from one that has imported everything.

``python -m tests.faults.child.launcher CONTROL TIME``: both are descriptors of sockets to the parent. A run is a real
process, so that a SIGKILL is a real one, and a forked one, since hundreds of interpreters would take too long to start.
"""

import functools
import gc
import importlib
import json
import os
import signal
import socket
import sys
import traceback
from datetime import datetime, timedelta
from pathlib import Path

from aim_template_migration.applying import run as run_module
from aim_template_migration.cli import main as main_module
from aim_template_migration.cli.commands import apply, inspect, plan, verify
from aim_template_migration.kube import connecting
from aim_template_migration.kube.pacing import Pacing
from aim_template_migration.planning.secret_scan import redact
from tests.faults.child.clock import TellingClock
from tests.faults.child.disk import Disk
from tests.faults.child.job import Job
from tests.faults.child.sabotage import SABOTAGES

_LONGEST = 1 << 16
_COMMANDS = (apply, inspect, plan, verify)  # imported before the fork
_PROGRAM = "aim-template-migration"
_LATER = timedelta(minutes=10)


class _Later(datetime):
    """The time at which somebody has come to look: the server has given up whatever it was working on."""

    @classmethod
    def now(cls, tz=None) -> datetime:
        return datetime.now(tz) + _LATER


def main() -> None:
    """Take jobs until the parent goes."""
    control = socket.socket(fileno=int(sys.argv[1]))
    time_channel = int(sys.argv[2])
    _import_what_is_imported_late()
    gc.collect()
    gc.freeze()
    while True:
        data = control.recv(_LONGEST)
        if not data:
            return
        pid = os.fork()
        if pid == 0:
            control.close()
            _run(Job.decode(data), time_channel)
        control.send(json.dumps({"pid": pid}).encode())
        _, status = os.waitpid(pid, 0)
        control.send(json.dumps({"status": os.waitstatus_to_exitcode(status)}).encode())


def _import_what_is_imported_late() -> None:
    for name in ("kubernetes.config.kube_config", "dateutil.tz", "encodings.idna", "stringprep"):
        importlib.import_module(name)
    redact("token=abcdefghij0123456789")


def _run(job: Job, time_channel: int) -> None:
    """Run one job and end the process."""
    code = 1
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _redirect(job)
        synced = os.open(job.synced, os.O_RDWR | os.O_CREAT, 0o600)
        disk = Disk(job.directory, job.disk, synced)
        _play_time(job, time_channel)
        disk.install()
        code = _command(job)
        with open(job.report, "w", encoding="utf-8") as report:
            json.dump(disk.calls, report)
    except BaseException:  # noqa: BLE001 - a traceback is what the checker looks for
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _redirect(job: Job) -> None:
    for descriptor, path in ((0, os.devnull), (1, job.out), (2, job.err)):
        flags = os.O_RDONLY if descriptor == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)


def _play_time(job: Job, time_channel: int) -> None:
    def clock(stop):
        made = TellingClock(stop, time_channel, job.jumps)

        def resume(number, frame):
            made.stand_still()
            Path(f"{job.err}.resumed").touch()

        signal.signal(signal.SIGCONT, resume)
        return made

    class NeverSet:
        @staticmethod
        def is_set() -> bool:
            return False

    sleep = clock(NeverSet()).sleep
    run_module.SystemClock = clock
    inspect.datetime = _Later
    connecting.Pacing = functools.partial(Pacing, sleep=sleep, jitter=lambda: 0.5)


def _command(job: Job) -> int:
    sys.argv = [_PROGRAM, *job.argv]
    if job.sabotage:
        SABOTAGES[job.sabotage]()
    try:
        main_module.run()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    return 0


if __name__ == "__main__":
    main()
