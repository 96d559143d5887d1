"""Child processes that never outlive the test process."""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

# The child asks the kernel (Linux: PR_SET_PDEATHSIG, which is 1) to kill it when its parent goes, however it goes, and
# then becomes the program. A parent that went before that is noticed by the changed parent id. Elsewhere than on Linux
# only an orderly end stops the program.
_LAUNCHER = """
import ctypes, os, signal, sys
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.argv[2], sys.argv[2:])
"""

_TAIL = 4000


class Program:
    """A running program, in a session of its own so that a terminal's Ctrl-C reaches the tests and not the program."""

    def __init__(self, arguments: Sequence[str | Path], log: Path) -> None:
        """Start the program; its output goes to ``log``."""
        self.log = log
        self._name = Path(arguments[0]).name
        launcher = [sys.executable, "-I", "-S", "-c", _LAUNCHER, str(os.getpid())]
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [*launcher, *(str(argument) for argument in arguments)],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __str__(self) -> str:
        """Return the program's name and state."""
        code = self._process.poll()
        return f"{self._name} (pid {self.pid}, {'running' if code is None else f'ended with {code}'})"

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended."""
        return self._process.poll() is None

    def log_tail(self) -> str:
        """Return the last part of the program's output."""
        return self.log.read_bytes()[-_TAIL:].decode(errors="replace")

    def stop(self, grace: float = 5.0) -> None:
        """End the program, by force after ``grace`` seconds; a program that has ended already is no error."""
        try:
            self._process.terminate()
            self._process.wait(grace)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self._process.kill()
            self._process.wait()
