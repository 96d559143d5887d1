"""The command line as a process of its own, which can be killed."""

import os
import subprocess
import threading
from dataclasses import dataclass

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

    def run(self, arguments: list[str]) -> Ended:
        """Start it, wait for its end, and return how it ended; no proxy is between it and a loopback address."""
        environment = {name: value for name, value in os.environ.items() if name not in _PROXIES}
        with subprocess.Popen(  # noqa: S603 - our own command line, with arguments of our own
            [*self._command, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        ) as process:
            with self._lock:
                self._process = process
            output, errors = process.communicate()
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
