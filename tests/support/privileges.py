"""Lets a test that runs as root meet the permissions of files, as everybody else does."""

import contextlib
import ctypes
import os
from collections.abc import Iterator

_VERSION_3 = 0x20080522  # of the structures, as linux/capability.h names it
_IGNORES_MODES = (1 << 1) | (1 << 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


class _Set(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint32) for name in ("effective", "permitted", "inheritable")]


@contextlib.contextmanager
def bound_by_file_modes() -> Iterator[None]:
    """Let file modes bind this thread, whoever runs it.

    Raises:
        OSError: the capabilities of the thread can't be read or changed.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = _Header(_VERSION_3, 0), (_Set * 2)()
    _call(libc.capget, header, sets)
    before = sets[0].effective
    sets[0].effective = before & ~_IGNORES_MODES
    _call(libc.capset, header, sets)
    try:
        yield
    finally:
        sets[0].effective = before
        _call(libc.capset, header, sets)


def _call(function: "ctypes._CFunctionType", header: _Header, sets: "ctypes.Array[_Set]") -> None:
    if function(ctypes.byref(header), sets) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
