"""Names in a sentence (pure): a few of them, since ten thousand services can't each name all others."""

from collections.abc import Iterable
from itertools import islice

NAMED = 10


def few_of(names: Iterable[str], count: int) -> str:
    """Return the first ten names, and how many of all ``count`` names they leave out."""
    named = ", ".join(islice(names, NAMED))
    return f"{named} and {count - NAMED} more" if count > NAMED else named
