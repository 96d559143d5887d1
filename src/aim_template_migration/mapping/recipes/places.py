"""Directories of an input that belong to different clusters or environments (pure).

Whoever keeps a directory for each cluster has objects of one id in several of them. What one directory gets is nothing
that another has.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import pairwise
from operator import itemgetter
from typing import Generic, TypeVar

Item = TypeVar("Item")


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


def with_all_above(place: str) -> Iterator[str]:
    """Yield a place and those that it is below of, the empty one at the end."""
    while place:
        yield place
        place = place.rpartition("/")[0]
    yield ""


class Placed(Generic[Item]):
    """What stands in directories of clusters, found for one of them without a look at what the others have.

    Two places belong to different clusters or environments where neither is below the other.
    """

    def __init__(self) -> None:
        self._count = 0
        self._at: dict[str, list[tuple[int, Item]]] = {}
        self._below: dict[str, list[tuple[int, Item]]] = {}

    def add(self, place: str, item: Item) -> None:
        """Add what stands in a place."""
        numbered = (self._count, item)
        self._count += 1
        here, *above = with_all_above(place)
        self._at.setdefault(here, []).append(numbered)
        for other in above:
            self._below.setdefault(other, []).append(numbered)

    def near(self, place: str) -> Iterator[Item]:
        """Return what is not apart from a place, in the order in which it was added."""
        lists = [self._at.get(other, ()) for other in with_all_above(place)]
        numbered = merge(*lists, self._below.get(place, ()), key=itemgetter(0))
        return (item for _, item in numbered)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(posixpath.normpath(name.replace("\\", "/")).split("/"))


def _deepest(parts: tuple[str, ...], roots: set[str]) -> str:
    above = ("/".join(parts[:length]) for length in range(len(parts) - 1, 0, -1))
    return next((path for path in above if path in roots), "")
