"""Runs of the command line in processes that can be killed, as the parent sees them."""

import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.faults.child.job import Job

LONGEST_RUN_SECONDS = 120.0
_ROOT = Path(__file__).parents[2]
_SECONDS = struct.Struct("d")
_LONGEST = 1 << 16


@dataclass(frozen=True, slots=True)
class Ending:
    """How a process ended: its exit code, negative for the signal that ended it, None where it had to be stopped."""

    code: int | None

    @property
    def killed(self) -> bool:
        """Whether a SIGKILL ended it."""
        return self.code == -signal.SIGKILL


class Launcher:
    """One process that forks runs, one at a time."""

    def __init__(self) -> None:
        self._control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._time, time_channel = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        descriptors = (control.fileno(), time_channel.fileno())
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.child.launcher", *map(str, descriptors)],
            pass_fds=descriptors,
            cwd=_ROOT,
            stdin=subprocess.DEVNULL,
        )
        control.close()
        time_channel.close()
        self._on_sleep: Callable[[float], None] = _nothing
        self._clock = threading.Thread(target=self._serve_time, name="time", daemon=True)
        self._clock.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._control.close()
        self._process.wait(30)
        self._time.shutdown(socket.SHUT_RDWR)
        self._clock.join(10)
        self._time.close()

    def start(self, job: Job, on_sleep: Callable[[float], None] = lambda _: None) -> "Running":
        """Start a run; ``on_sleep`` is called, from another thread, whenever it sleeps, before the sleep is over."""
        self._on_sleep = on_sleep
        self._control.send(job.encode())
        return Running(self._control, json.loads(self._control.recv(_LONGEST))["pid"])

    def run(self, job: Job, on_sleep: Callable[[float], None] = lambda _: None) -> Ending:
        """Run to the end."""
        return self.start(job, on_sleep).wait()

    def _serve_time(self) -> None:
        while True:
            try:
                data = self._time.recv(_SECONDS.size, socket.MSG_WAITALL)
            except OSError:
                return
            if len(data) < _SECONDS.size:
                return
            self._on_sleep(_SECONDS.unpack(data)[0])
            self._time.send(b".")


class Running:
    """A run that was started."""

    def __init__(self, control: socket.socket, pid: int) -> None:
        self._control = control
        self.pid = pid

    def signal(self, number: int) -> None:
        """Send a signal to the run; one that is over gets none."""
        try:
            os.kill(self.pid, number)
        except ProcessLookupError:
            return

    def wait(self, seconds: float = LONGEST_RUN_SECONDS) -> Ending:
        """Wait for the run's end; one that takes longer than ``seconds`` is killed and has no exit code."""
        ready, _, _ = select.select([self._control], [], [], seconds)
        if not ready:
            self.signal(signal.SIGKILL)
        code = json.loads(self._control.recv(_LONGEST))["status"]
        return Ending(code if ready else None)


def _nothing(seconds: float) -> None:
    del seconds
