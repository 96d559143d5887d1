"""The exclusive lock beside the plan: one apply at a time, and never a lock removed for the user.

The file's existence is the lock (R: apply refuses to start while it exists). An flock is held on it for the holder's
life, so that a later run can state whether a holder on this host still lives; it never decides on its own.
"""

import contextlib
import errno
import fcntl
import os
import shlex
import socket
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from aim_template_migration.documents.plan import Document
from aim_template_migration.documents.private_files import open_private, sync_directory, write_all

LOCK_NAME = "apply.lock"
_HELD = "that process, or a child of it, still lives on this host"
_WAIT = "wait for it to end, and leave its lock alone"
_LONGEST_HOLDER = 65536
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Holder(Document, frozen=True):
    """Who holds the lock.

    Attributes:
        host: the host's name.
        boot_id: the kernel's boot id, so that a process id of an earlier boot is not taken for this one's.
        pid: process id on that host.
        process_start: the kernel's start time of that process in clock ticks since boot, so that a reused pid is seen.
        run_id: the run.
        command: the command line.
    """

    host: str
    boot_id: str
    pid: int
    process_start: str
    run_id: str
    command: str


class LockHeldError(Exception):
    """The lock exists; the message names the holder and says whether that process lives on this host."""


class ApplyLock:
    """The lock file of one plan directory, as a context manager.

    Raises:
        LockHeldError: on entering, where the lock file exists already.
        OSError: on entering, where it can't be made.
    """

    def __init__(self, directory: Path, run_id: str, command: str) -> None:
        self._path = directory / LOCK_NAME
        self._holder = Holder(
            host=socket.gethostname(),
            boot_id=_read_boot_id(),
            pid=os.getpid(),
            process_start=_process_start(os.getpid()),
            run_id=run_id,
            command=command,
        )
        self._descriptor = -1

    def __enter__(self) -> Self:
        try:
            self._descriptor = open_private(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            raise LockHeldError(describe_holder(self._path)) from None
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            write_all(self._descriptor, msgspec.json.encode(self._holder) + b"\n")
            os.fsync(self._descriptor)
            sync_directory(self._path.parent)
        except OSError:
            self._release()  # a half-made lock would shut everybody out, and name nobody
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._release()

    def _release(self) -> None:
        # Only the file that this process made is removed: another's under the same name stays.
        if self.is_ours():
            # Where it can't be removed the next run says that its holder no longer lives.
            with contextlib.suppress(OSError):
                self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = -1

    def is_ours(self) -> bool:
        """Return whether the lock file on disk is still the one made here."""
        try:
            on_disk, ours = self._path.lstat(), os.fstat(self._descriptor)
        except OSError:
            return False
        return (on_disk.st_dev, on_disk.st_ino) == (ours.st_dev, ours.st_ino)


@dataclass(frozen=True, slots=True)
class LockReading:
    """What a lock file says.

    Attributes:
        sentence: who holds it, whether that process lives here, and what to do.
        gone: whether it is certain that the holder no longer lives.
    """

    sentence: str
    gone: bool = False


def describe_holder(path: Path) -> str:
    """Return a sentence on who holds the lock at ``path``, whether that process lives here, and what to do."""
    return read_lock(path).sentence


def read_lock(path: Path) -> LockReading:
    """Read the lock file at ``path`` without changing it."""
    quoted = shlex.quote(str(path))
    remove = f"only after proving that no apply runs, remove it: rm -- {quoted}"
    try:
        # A pipe of this name must not make us wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return LockReading(f"{path} exists but can't be read ({error.strerror}), so its holder is unknown; {remove}")
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return LockReading(
                f"{path} exists but is no regular file, so no apply made it; "
                f"find out what it is, and move it away: mv -n -- {quoted} {quoted}.found"
            )
        holder = msgspec.json.decode(os.read(descriptor, _LONGEST_HOLDER), type=Holder)
        alive, gone = _liveness(descriptor, holder)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return LockReading(f"{path} exists but names no holder (an apply may be starting, or died at once); {remove}")
    except OSError as error:
        return LockReading(f"{path} exists but can't be read ({error.strerror}), so its holder is unknown; {remove}")
    finally:
        os.close(descriptor)
    return LockReading(
        f"{path} is held by run {holder.run_id} (process {holder.pid} on host {holder.host}: {holder.command}); "
        f"{alive}; {_WAIT if alive == _HELD else remove}",
        gone,
    )


def _liveness(descriptor: int, holder: Holder) -> tuple[str, bool]:
    """Return a clause on whether the holder lives, and whether it certainly does not."""
    if holder.host != socket.gethostname():
        return f"whether it still runs can be told on {holder.host} only", False
    if holder.boot_id != _read_boot_id():
        return "this host has been restarted since, so that process is gone", True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return _HELD, False
        return "whether it still runs can't be told on this file system", False
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    if _process_start(holder.pid) == holder.process_start and holder.process_start:
        return "that process still lives on this host, but holds the lock no more", False
    return "that process no longer lives on this host", True


def _read_boot_id() -> str:
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def _process_start(pid: int) -> str:
    try:
        # Field 22 of stat; the command in field 2 may hold spaces and parentheses, so count after the last one.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
