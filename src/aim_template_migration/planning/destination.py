"""Where the files of a plan go while it is made: into a directory on disk, or into memory."""

import hashlib
import io
from collections.abc import Iterable, Sequence
from typing import BinaryIO, Protocol


class Destination(Protocol):
    """Takes the files of a plan."""

    def scratch(self) -> BinaryIO:
        """Return an empty file for what is put in order later; nobody else sees it, and it needs no closing."""

    def write(self, name: str, pieces: Iterable[bytes], *, copies: Sequence[str] = ()) -> str:
        """Write a file, once, and copies of it under other names, and return the SHA-256 of its bytes."""


class Memory:
    """Keeps the files of a plan.

    Attributes:
        files: the bytes of every file, by name.
    """

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def scratch(self) -> BinaryIO:
        """Return an empty file in memory."""
        return io.BytesIO()

    def write(self, name: str, pieces: Iterable[bytes], *, copies: Sequence[str] = ()) -> str:
        """Keep a file, and copies of it under other names, and return the SHA-256 of its bytes."""
        self.files[name] = b"".join(pieces)
        self.files |= dict.fromkeys(copies, self.files[name])
        return hashlib.sha256(self.files[name]).hexdigest()
