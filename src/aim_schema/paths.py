"""Paths into an object, linked from the leaf to the root so that a walk pays next to nothing for them.

The API server writes one path in two ways: value validation joins everything with dots (``spec.labels.a``), list types
and CEL rules write the keys of maps in brackets (``spec.labels[a]``).
"""

from aim_schema.errors import ROOT


class MapKey(str):
    """A key below ``additionalProperties``, as against the name of a property."""

    __slots__ = ()


Segment = str | int
Path = tuple["Path", Segment] | None
"""None is the root."""


def segments(path: Path) -> list[Segment]:
    """Return the segments from the root to the leaf."""
    found: list[Segment] = []
    while path is not None:
        path, segment = path
        found.append(segment)
    found.reverse()
    return found


def value_name(path: Path) -> str:
    """Return the name of a value as value validation writes it, the empty string for the root."""
    name = ""
    for segment in segments(path):
        if isinstance(segment, int):
            name += f"[{segment}]"
        elif isinstance(segment, MapKey) or name:
            name += f".{segment}"
        else:
            name = segment
    return name


def field_of(name: str) -> str:
    """Return the field of a finding for a name made by :func:`value_name`."""
    return name.removeprefix(".") or ROOT


def field_path(path: Path) -> str:
    """Return a path as list types and CEL rules write it, ``<nil>`` for the root."""
    name = ""
    for segment in segments(path):
        if isinstance(segment, int | MapKey):
            name += f"[{segment}]"
        elif name:
            name += f".{segment}"
        else:
            name = segment
    return name or ROOT
