"""Extended attributes of a file that is replaced: access control lists, security labels, and those of users (shell)."""

import os
import sys

_OF_THE_CONTENT = frozenset({"security.ima", "security.evm"})
"""Signatures of what a file holds, which are the kernel's to make anew."""


def copy_attributes(source: int, target: int) -> str:
    """Give an open file the extended attributes of another one, and no others.

    On Linux access control lists are among them; elsewhere Python has no access to them, and nothing is done.

    Args:
        source: descriptor of the file that is replaced.
        target: descriptor of the new file, which may have inherited attributes from its directory.

    Returns:
        The attribute that can't be kept, empty where all are.
    """
    if sys.platform != "linux":
        return ""
    wanted, present = _attributes(source), _attributes(target)
    for name in sorted(wanted.keys() | present.keys()):
        if wanted.get(name) == present.get(name):
            continue
        try:
            if name in wanted:
                os.setxattr(target, name, wanted[name])
            else:
                os.removexattr(target, name)
        except OSError:
            return name
    return ""


def _attributes(descriptor: int) -> dict[str, bytes]:
    try:
        names = os.listxattr(descriptor)
    except OSError:
        return {}  # the file system has none
    return {name: os.getxattr(descriptor, name) for name in names if name not in _OF_THE_CONTENT}
