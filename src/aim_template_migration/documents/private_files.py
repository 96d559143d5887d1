"""Private, durable files: 0600 from birth, created exclusively, synced, renamed into place; no symlink is followed.

Everything the tool writes may name credentials or show how a cluster is built, so nothing is ever readable by others,
not even for the moment between creation and a later chmod (R, "Plan and review"). Modes do not depend on the umask.
"""

import contextlib
import errno
import hashlib
import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

FILE_MODE = 0o600
DIRECTORY_MODE = 0o700
_WRITABLE_BY_OTHERS = 0o022
_NO_HARD_LINKS = frozenset({errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS})
_NO_DIRECTORY_SYNC = frozenset({errno.EINVAL, errno.EOPNOTSUPP, errno.ENOTSUP})


class PrivateFileError(Exception):
    """A private file or directory can't be made, read or replaced; the message names the path and the reason."""


def write_new(path: Path, data: bytes) -> None:
    """Create ``path`` with ``data``; it must not exist, under that name not even half-written.

    Raises:
        PrivateFileError: it exists, or the disk or the permissions do not allow it.
    """
    temporary = _write_temporary(path, data)
    try:
        _publish(temporary, path)
        sync_directory(path.parent)
    except FileExistsError:
        raise PrivateFileError(f"{path} exists already and is never overwritten; choose another name") from None
    except OSError as error:
        raise PrivateFileError(f"{path} can't be written: {_reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def replace(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Replace ``path`` with ``data`` in one step: readers see the old bytes or the new, never a mixture.

    Args:
        path: the file.
        data: its new content.
        durable: wait until the new content would survive a power failure.

    Raises:
        PrivateFileError: the path is a symlink, or the disk or the permissions do not allow it.
    """
    if path.is_symlink():
        raise PrivateFileError(f"{path} is a symbolic link, which is never followed or replaced; remove it first")
    temporary = _write_temporary(path, data, durable=durable)
    try:
        temporary.replace(path)
        if durable:
            sync_directory(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise PrivateFileError(f"{path} can't be replaced: {_reason(error)}") from error


def read(path: Path, *, limit: int = 1 << 30) -> bytes:
    """Return the bytes of a regular file that is no symlink and belongs to this user (or to root).

    Raises:
        PrivateFileError: it is absent, a link, no regular file, someone else's, or larger than ``limit`` bytes.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PrivateFileError(
                f"{path} is a symbolic link, which is never followed; name the file itself"
            ) from None
        raise PrivateFileError(f"{path} can't be read: {_reason(error)}") from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise PrivateFileError(f"{path} is no regular file")
        if facts.st_uid not in (os.geteuid(), 0):
            raise PrivateFileError(
                f"{path} belongs to user id {facts.st_uid}, not to you; a private file is never taken from others"
            )
        if facts.st_size > limit:
            raise PrivateFileError(f"{path} has {facts.st_size} bytes, more than the {limit} that are read")
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    except OSError as error:
        raise PrivateFileError(f"{path} can't be read: {_reason(error)}") from error
    finally:
        os.close(descriptor)


class NewDirectory:
    """A directory in the making, under another name until it is complete. ``new_directory`` makes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._scratch = contextlib.ExitStack()

    def write(self, name: str, pieces: Iterable[bytes], *, copies: Sequence[str] = ()) -> str:
        """Write a file (0600), and copies of it under other names, and return the SHA-256 of its bytes.

        Raises:
            OSError: the disk or the permissions do not allow it, or there is a file of that name.
        """
        return _write_exclusive([self._path / each for each in (name, *copies)], pieces)

    def scratch(self) -> BinaryIO:
        """Return an empty file without a name, which is gone when the directory is complete.

        Raises:
            OSError: the disk or the permissions do not allow it.
        """
        path = self._path / f".{secrets.token_hex(8)}.scratch"
        descriptor = open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
        file = self._scratch.enter_context(os.fdopen(descriptor, "w+b"))
        path.unlink()
        return file

    def drop_scratch(self) -> None:
        """Give up the files without a name."""
        self._scratch.close()


@contextlib.contextmanager
def new_directory(directory: Path) -> Iterator[NewDirectory]:
    """Make ``directory`` (0700) in one step, when the block ends; a failure in it leaves nothing under its name.

    Raises:
        PrivateFileError: the directory exists, its parent does not, or the disk or the permissions do not allow it.
    """
    require_absent(directory)
    temporary = directory.parent / f".{secrets.token_hex(8)}.partial"
    made = NewDirectory(temporary)
    try:
        temporary.mkdir(mode=DIRECTORY_MODE)
        temporary.chmod(DIRECTORY_MODE)
        yield made
        made.drop_scratch()
        sync_directory(temporary)
        _rename_directory(temporary, directory)
    except FileExistsError:
        _remove_partial(temporary)
        raise _already_exists(directory) from None
    except OSError as error:
        _remove_partial(temporary)
        raise PrivateFileError(f"{directory} can't be made: {_reason(error)}") from error
    except BaseException:
        _remove_partial(temporary)
        raise
    finally:
        with contextlib.suppress(OSError):
            made.drop_scratch()


def publish_directory(directory: Path, files: Mapping[str, bytes]) -> None:
    """Make ``directory`` (0700) with ``files`` (0600) in one step; a failure leaves nothing under its name.

    Raises:
        PrivateFileError: the directory exists, its parent does not, or the disk or the permissions do not allow it.
    """
    with new_directory(directory) as made:
        for name, data in files.items():
            made.write(name, (data,))


def require_absent(directory: Path) -> None:
    """Refuse a directory name that is taken, or whose parent is missing, before any work is done for it.

    Raises:
        PrivateFileError: the name is taken, also by a dangling symlink, or the parent directory is missing.
    """
    if os.path.lexists(directory):
        raise _already_exists(directory)
    if not directory.parent.is_dir():
        raise PrivateFileError(
            f"{directory.parent} is no directory; make it first, the plan directory itself is made by this tool"
        )


def require_private_directory(directory: Path) -> None:
    """Refuse a directory whose content others could exchange under this tool's eyes.

    Raises:
        PrivateFileError: it is absent, a symlink, no directory, someone else's, or writable by others.
    """
    try:
        facts = directory.lstat()
    except OSError as error:
        raise PrivateFileError(f"{directory} can't be read: {_reason(error)}") from error
    if stat.S_ISLNK(facts.st_mode):
        raise PrivateFileError(f"{directory} is a symbolic link, which is never followed; name the directory itself")
    if not stat.S_ISDIR(facts.st_mode):
        raise PrivateFileError(f"{directory} is no directory")
    if facts.st_uid not in (os.geteuid(), 0):
        raise PrivateFileError(
            f"{directory} belongs to user id {facts.st_uid}, not to you; private files are never taken from others"
        )
    if facts.st_mode & _WRITABLE_BY_OTHERS:
        raise PrivateFileError(
            f"{directory} can be written by others (mode {stat.S_IMODE(facts.st_mode):04o}); "
            "make it private with chmod 700"
        )


def sync_directory(directory: Path) -> None:
    """Make a new name in ``directory`` durable, on file systems that can.

    Raises:
        OSError: it can't be synced.
    """
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _NO_DIRECTORY_SYNC:
            raise
    finally:
        os.close(descriptor)


def open_private(path: Path, flags: int) -> int:
    """Open ``path`` with ``flags`` for a descriptor that is private (0600) whatever the umask, following no link.

    Raises:
        OSError: it can't be opened.
    """
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, FILE_MODE)
    try:
        os.fchmod(descriptor, FILE_MODE)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``; a short write goes on where it stopped."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _publish(temporary: Path, path: Path) -> None:
    """Give a finished file its name, unless the name is taken."""
    try:
        # A hard link fails if the name exists, even a dangling symlink; a rename would replace it silently.
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_HARD_LINKS:
            raise
        # A file system without hard links: the name is taken exclusively, then the finished file renamed onto it.
        os.close(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        temporary.replace(path)


def _rename_directory(temporary: Path, directory: Path) -> None:
    """Rename unless the name is taken: onto an empty directory just made here, which a rename may replace."""
    directory.mkdir(mode=DIRECTORY_MODE)
    try:
        temporary.rename(directory)
        sync_directory(directory.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            directory.rename(temporary)  # fails where nothing was renamed yet
        with contextlib.suppress(OSError):
            directory.rmdir()
        raise


def _write_temporary(path: Path, data: bytes, *, durable: bool = True) -> Path:
    temporary = path.parent / f".{secrets.token_hex(8)}.partial"
    try:
        _write_exclusive([temporary], (data,), durable=durable)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise PrivateFileError(f"{path} can't be written: {_reason(error)}") from error
    return temporary


def _write_exclusive(paths: Sequence[Path], pieces: Iterable[bytes], *, durable: bool = True) -> str:
    """Write the same bytes to each of several new files, and return their SHA-256."""
    digest = hashlib.sha256()
    with contextlib.ExitStack() as opened:
        descriptors: list[int] = []
        for path in paths:
            descriptors.append(open_private(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
            opened.callback(os.close, descriptors[-1])
        for piece in pieces:
            digest.update(piece)
            for descriptor in descriptors:
                write_all(descriptor, piece)
        for descriptor in descriptors if durable else ():
            os.fsync(descriptor)
    return digest.hexdigest()


def _remove_partial(directory: Path) -> None:
    """Remove a partial directory that this process made; what can't be removed is left, never the final name."""
    with contextlib.suppress(OSError):
        for file in directory.iterdir():
            file.unlink(missing_ok=True)
        directory.rmdir()


def _already_exists(directory: Path) -> PrivateFileError:
    return PrivateFileError(
        f"{directory} exists already; a plan directory is never reused, so choose a name that does not exist"
    )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
