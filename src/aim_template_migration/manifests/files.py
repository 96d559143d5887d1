"""The files of a conversion: found, read, and replaced in place (shell)."""

import contextlib
import os
import secrets
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aim_template_migration.documents.private_files import sync_directory, write_all
from aim_template_migration.manifests.file_attributes import copy_attributes

STDIN = "-"
_SUFFIXES = frozenset({".yaml", ".yml", ".json"})
_WITHOUT_SUFFIX = "Kustomization"
_LARGEST = 1 << 28
_ON_ONE_LINE = str.maketrans({"\n": "\\n", "\r": "\\r", "\t": "\\t"})


class FileError(Exception):
    """A file can't be read or replaced; the message names it and says why."""


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file as it was read.

    Attributes:
        name: the file as messages name it.
        path: where it is, None for standard input.
        root: the file or directory that was named and led to it.
        data: its bytes.
        facts: what the file system said about it when it was read, None for standard input.
    """

    name: str
    path: Path | None
    root: Path | None
    data: bytes
    facts: os.stat_result | None


@dataclass(frozen=True, slots=True)
class Inputs:
    """What was read.

    Attributes:
        files: the files, in the order in which they were named, those of a directory by name.
        refused: why files of directories were not read, each a sentence.
    """

    files: tuple[InputFile, ...]
    refused: tuple[str, ...]


def read_inputs(arguments: Sequence[str], *, follow_links: bool) -> Inputs:
    """Read files, the manifests of directories and of all below them, and standard input for ``-``.

    Args:
        arguments: what was named.
        follow_links: whether a file may be read through a symbolic link.

    Raises:
        FileError: what was named can't be read, or there is nothing to read.
    """
    seen: set[Path] = set()
    files: list[InputFile] = []
    refused: list[str] = []
    for argument in arguments:
        if argument == STDIN:
            files.append(InputFile("stdin", None, None, _standard_input(), None))
            continue
        root = Path(argument)
        paths = list(_paths(root, follow_links=follow_links))
        if not paths:
            raise FileError(f"{root} has no manifest: no file that ends in {', '.join(sorted(_SUFFIXES))}")
        for path in (path for path in paths if path not in seen):
            seen.add(path)
            try:
                files.append(_read(path, root, follow_links=follow_links))
            except FileError as error:
                if path == root:
                    raise
                refused.append(str(error))
    return Inputs(tuple(files), tuple(refused))


def replace_in_place(file: InputFile, data: bytes) -> None:
    """Replace a file in one step with its mode, owner and attributes kept; readers see the old bytes or the new.

    Raises:
        FileError: it is a link, lies outside what was named, has changed since it was read, has other names or an
            attribute that would be lost, or can't be written.
    """
    if file.path is None or file.root is None or file.facts is None:
        raise FileError("standard input can't be written in place")
    _require_inside(file.path, file.root)
    if file.facts.st_nlink > 1:
        raise FileError(f"{file.path} has other names (hard links), which would keep the old text; copy the file first")
    temporary = file.path.parent / f".{secrets.token_hex(8)}.partial"
    try:
        lost = _write_like(temporary, data, file)
        if lost:
            raise FileError(f"{file.path} has the attribute {lost}, which can't be kept, so it is left as it is")
        if not _same_file(file.path.lstat(), file.facts):
            raise FileError(f"{file.path} has changed since it was read, so it is left as it is; convert it again")
        temporary.replace(file.path)
        sync_directory(file.path.parent)
    except OSError as error:
        raise FileError(f"{file.path} can't be replaced: {_reason(error)}") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _standard_input() -> bytes:
    try:
        return sys.stdin.buffer.read()
    except (OSError, ValueError) as error:
        raise FileError(f"standard input can't be read: {error}") from error


def _paths(root: Path, *, follow_links: bool) -> Iterator[Path]:
    if root.is_symlink() and not follow_links:
        raise FileError(f"{root} is a symbolic link, which is never replaced; name the file itself")
    if not root.is_dir():
        yield root
        return
    for folder, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            named = Path(name).suffix in _SUFFIXES and not name.startswith(".")
            if named or name == _WITHOUT_SUFFIX:
                yield Path(folder) / name


def _read(path: Path, root: Path, *, follow_links: bool) -> InputFile:
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | (0 if follow_links else os.O_NOFOLLOW)
    try:
        if path.is_symlink() and not follow_links:
            raise FileError(f"{path} is a symbolic link, which is never replaced; name the file itself")
        descriptor = os.open(path, flags)
        with os.fdopen(descriptor, "rb") as opened:
            facts = os.fstat(descriptor)
            # A pipe that was named itself comes from the shell; one that lies in a directory would be taken for empty.
            if not stat.S_ISREG(facts.st_mode) and not (stat.S_ISFIFO(facts.st_mode) and path == root):
                raise FileError(f"{path} is no regular file")
            if facts.st_size > _LARGEST:
                raise FileError(f"{path} has {facts.st_size} bytes, more than the {_LARGEST} that are read")
            os.set_blocking(descriptor, True)
            return InputFile(str(path).translate(_ON_ONE_LINE), path, root, opened.read(), facts)
    except OSError as error:
        raise FileError(f"{path} can't be read: {_reason(error)}") from error


def _require_inside(path: Path, root: Path) -> None:
    """Refuse a link, and a file that a link on the way leads out of what was named."""
    if path.is_symlink() or root.is_symlink():
        raise FileError(f"{path} is a symbolic link, which is never replaced; name the file itself")
    real = path.resolve()
    if real != root.resolve() and root.resolve() not in real.parents:
        raise FileError(f"{path} lies outside {root}, so it is left as it is")


def _write_like(path: Path, data: bytes, file: InputFile) -> str:
    """Write a new file with owner, mode and attributes of another one; return an attribute that can't be kept."""
    assert file.path is not None
    assert file.facts is not None
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    like = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        descriptor = os.open(path, flags, 0o600)
        try:
            own = os.fstat(descriptor)
            if (own.st_uid, own.st_gid) != (file.facts.st_uid, file.facts.st_gid):
                os.fchown(descriptor, file.facts.st_uid, file.facts.st_gid)
            # The mode comes last: it is part of an access control list, and removing an inherited one changes it.
            lost = copy_attributes(like, descriptor)
            os.fchmod(descriptor, stat.S_IMODE(file.facts.st_mode))
            write_all(descriptor, data)
            os.fsync(descriptor)
            return lost
        finally:
            os.close(descriptor)
    finally:
        os.close(like)


def _same_file(now: os.stat_result, then: os.stat_result) -> bool:
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns) == (
        then.st_dev,
        then.st_ino,
        then.st_size,
        then.st_mtime_ns,
    )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
