"""Comparison of JSON values as the API compares them: a boolean is no number, the order of fields does not count."""

import msgspec

from aim_api.tree import Json

_encoder = msgspec.json.Encoder(order="deterministic")


def same_value(left: Json, right: Json) -> bool:
    """Return whether two values are the same JSON; ``1`` and ``true`` differ, which Python's ``==`` does not see."""
    return left == right and _encoder.encode(left) == _encoder.encode(right)
