"""Where the files of a plan go while it is made: into a directory on disk, or into memory."""

import hashlib
import io
from collections.abc import Iterable
from typing import BinaryIO, Protocol


class Destination(Protocol):
    """Takes the files of a plan."""

    def scratch(self) -> BinaryIO:
        """Return an empty file for what is put in order later; nobody else sees it, and it needs no closing."""

    def write(self, name: str, pieces: Iterable[bytes]) -> str:
        """Write a file, once, and return the SHA-256 of its bytes."""


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

    def write(self, name: str, pieces: Iterable[bytes]) -> str:
        """Keep a file, and return the SHA-256 of its bytes."""
        self.files[name] = b"".join(pieces)
        return hashlib.sha256(self.files[name]).hexdigest()
