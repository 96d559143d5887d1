"""Directories of an input that belong to different clusters or environments (pure).

Whoever keeps a directory for each cluster has objects of one id in several of them. What one directory gets is nothing
that another has.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise


def places_of(names: Sequence[str], files_by_id: Mapping[str, Iterable[str]], known: Iterable[str] = ()) -> list[str]:
    """Return for each file the directory that is applied on its own, empty where the input has none such.

    Args:
        names: the files, by path.
        files_by_id: the files that hold an object of an id, by path.
        known: directories that are known to be such.
    """
    roots = {"/".join(_parts(folder)) for folder in known}
    for files in files_by_id.values():
        for one, other in pairwise(sorted({_parts(name) for name in files})):
            common = next((n for n, both in enumerate(zip(one, other, strict=False)) if both[0] != both[1]), -1)
            if 0 <= common < min(len(one), len(other)) - 1:
                roots |= {"/".join(path[: common + 1]) for path in (one, other)}
    return [_deepest(_parts(name), roots) for name in names]


def are_apart(one: str, other: str) -> bool:
    """Return whether two places belong to different clusters or environments: neither is below the other."""
    return not _is_below(one, other) and not _is_below(other, one)


def with_all_above(place: str) -> Iterator[str]:
    """Yield a place and those that it is below of, the empty one at the end."""
    while place:
        yield place
        place = place.rpartition("/")[0]
    yield ""


def _is_below(path: str, above: str) -> bool:
    return not above or path == above or path.startswith(f"{above}/")


def _parts(name: str) -> tuple[str, ...]:
    return tuple(posixpath.normpath(name.replace("\\", "/")).split("/"))


def _deepest(parts: tuple[str, ...], roots: set[str]) -> str:
    above = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    return next((path for path in above if path in roots), "")
