"""A disk that counts its calls and can fail, tear or stop the process at any of them.

Only what happens in the run's own directory counts. Nothing is really synced, since no power fails here and these runs
would spend most of their time on it; what has been synced so far is told to the parent instead.
"""

import errno
import os
import signal
import struct
import threading
import time
from dataclasses import dataclass

SIZE = struct.Struct("q")
MOMENT = struct.Struct("d")
CALLS = ("open", "fchmod", "write", "fsync", "fdatasync", "replace", "link", "unlink")
_PATH_FIRST = frozenset({"open", "replace", "link", "unlink"})
_JOURNAL = ".journal.jsonl"


@dataclass(frozen=True, slots=True)
class DiskFault:
    """What happens at one call.

    Attributes:
        at: the number of the call in the run, from 1.
        how: name of an error of ``errno``; ``short`` for a write of one byte only, or ``kill``, ``torn`` (half of what
            is written is there) and ``late`` (all of it is there) for a SIGKILL.
        lasting: every further call of that name fails, too.
    """

    at: int
    how: str
    lasting: bool = False


class Disk:
    """Takes the place of ``os`` functions.

    Args:
        directory: where calls count.
        fault: what happens, or None.
        synced: a descriptor of a file that holds how many bytes of the journal were synced, and when the disk failed.
    """

    def __init__(self, directory: str, fault: DiskFault | None, synced: int) -> None:
        self._directory = directory
        self._fault = fault
        self._synced = synced
        self._lock = threading.Lock()
        self._paths: dict[int, str] = {}
        self._real = {name: getattr(os, name) for name in (*CALLS, "close")}
        self._broken = ""
        self.calls: list[str] = []

    def install(self) -> None:
        """Put the functions in place."""
        for name in CALLS:
            setattr(os, name, self._wrapped(name))
        os.close = self._close

    def _wrapped(self, name):
        def call(*args, **kwargs):
            path = self._path(name, args)
            if path is None:
                return self._real[name](*args, **kwargs)
            how = self._note(name, path)
            if how:
                return self._fail(name, how, args, kwargs)
            return self._carry_out(name, path, args, kwargs)

        return call

    def _path(self, name: str, args) -> str | None:
        path = os.fspath(args[0]) if name in _PATH_FIRST else self._paths.get(args[0])
        inside = isinstance(path, str) and (path == self._directory or path.startswith(self._directory + "/"))
        return path if inside else None

    def _note(self, name: str, path: str) -> str:
        """Count the call; return what happens at it, empty for nothing."""
        with self._lock:
            self.calls.append(f"{name} {_shown(path)}")
            fault = self._fault
            if fault is None:
                return ""
            if len(self.calls) == fault.at:
                self._broken = name if fault.lasting else ""
                return fault.how
            return fault.how if self._broken == name else ""

    def _fail(self, name: str, how: str, args, kwargs):
        os.pwrite(self._synced, MOMENT.pack(time.time()), SIZE.size)
        if how in ("kill", "torn", "late"):
            if name == "write" and how != "kill":
                data = bytes(args[1])
                self._real["write"](args[0], data if how == "late" else data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "short" and name == "write":
            return self._real["write"](args[0], bytes(args[1])[:1])
        number = getattr(errno, how)
        raise OSError(number, os.strerror(number))

    def _carry_out(self, name: str, path: str, args, kwargs):
        if name in ("fsync", "fdatasync"):
            if path.endswith(_JOURNAL):
                os.pwrite(self._synced, SIZE.pack(os.fstat(args[0]).st_size), 0)
            return None
        result = self._real[name](*args, **kwargs)
        if name == "open":
            self._paths[result] = path
        return result

    def _close(self, descriptor):
        self._paths.pop(descriptor, None)
        return self._real["close"](descriptor)


def _shown(path: str) -> str:
    name = os.path.basename(path)
    return "temporary file" if name.endswith(".partial") else name
