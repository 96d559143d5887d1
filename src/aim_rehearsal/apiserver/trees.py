"""Comparison of JSON values as the API compares them: a boolean is no number, the order of fields does not count."""

from aim_api.tree import Json
from aim_rehearsal.apiserver.messages import encode_sorted


def same_value(left: Json, right: Json) -> bool:
    """Return whether two values are the same JSON; ``1`` and ``true`` differ, which Python's ``==`` does not see."""
    return left == right and encode_sorted(left) == encode_sorted(right)
