"""The command line as a process of its own, which can be killed."""

import os
import signal
import subprocess
import threading
from dataclasses import dataclass

_TICK_SECONDS = 0.1
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: its exit code, negative for a signal, and what it wrote to stdout and stderr."""

    code: int
    output: str
    errors: str


class ChildProcess:
    """Runs the command line, one process at a time.

    Args:
        command: how it is started; the arguments follow.
    """

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def run(self, arguments: list[str], stop: threading.Event) -> Ended:
        """Start it, wait for its end, and return how it ended; no proxy is between it and a loopback address.

        It is no part of the terminal's foreground job, so that a Ctrl-C reaches it once, as any stop does.

        Args:
            arguments: what follows the command.
            stop: once set, the process is told to stop (SIGINT), as the run in this process is.
        """
        environment = {name: value for name, value in os.environ.items() if name not in _PROXIES}
        with subprocess.Popen(  # noqa: S603 - our own command line, with arguments of our own
            [*self._command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        ) as process:
            with self._lock:
                self._process = process
            output, errors = _end_of(process, stop)
            with self._lock:
                self._process = None
        return Ended(process.returncode, output, errors)

    def kill(self) -> None:
        """Kill the process that runs now, if one does (SIGKILL), and wait until it is dead."""
        with self._lock:
            process = self._process
        if process is not None:
            process.kill()
            process.wait()


def _end_of(process: subprocess.Popen[str], stop: threading.Event) -> tuple[str, str]:
    """Return what a process wrote, once it has ended; a stop is passed on to it once."""
    told = False
    while True:
        try:
            return process.communicate(timeout=_TICK_SECONDS)
        except subprocess.TimeoutExpired:
            if stop.is_set() and not told:
                process.send_signal(signal.SIGINT)
                told = True
