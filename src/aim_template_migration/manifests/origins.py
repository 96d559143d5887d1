"""Where the parts of a value that is written come from in the text."""

from collections.abc import Mapping
from functools import cached_property

from aim_api.tree import Key

Path = tuple[Key, ...]
Origins = Mapping[Path, Path | None]
"""Where parts of the new value come from: path in the new value to path in the document, None for nowhere.

What is not listed comes from the same place below its parent's origin.
"""


class Provenance:
    """Looks up origins."""

    def __init__(self, origins: Origins) -> None:
        self._origins = origins

    def stated(self, path: Path) -> Path | None:
        """Return the origin that is listed for a path."""
        return self._origins.get(path)

    def of(self, path: Path, parent: Path | None) -> Path | None:
        """Return the origin of a path whose parent comes from ``parent``."""
        if path in self._origins:
            return self._origins[path]
        return None if parent is None else (*parent, path[-1])

    def has_below(self, path: Path) -> bool:
        """Return whether an origin is listed for a path or for something below it."""
        return path in self._with_all_above

    @cached_property
    def _with_all_above(self) -> frozenset[Path]:
        return frozenset(path[:length] for path in self._origins for length in range(len(path) + 1))
