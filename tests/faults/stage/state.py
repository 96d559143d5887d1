"""When two faults leave the same: what changed, but for what no two runs have in common."""

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

_UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_BOOKKEEPING = ("resourceVersion", "managedFields")

Changed = Mapping[tuple[str, str], dict[str, Any] | None]
"""Objects by collection and key; None for those that are gone."""


def state_of(changed: Changed) -> str:
    """Return a digest that two runs share if they left objects of the same content."""
    made = {
        value["metadata"]["uid"]: f"uid of {collection} {key}"
        for (collection, key), value in changed.items()
        if value is not None
    }
    text = json.dumps([[*place, _bare(value)] for place, value in sorted(changed.items())], sort_keys=True)
    text = _TIME.sub("time", _UID.sub(lambda found: made.get(found[0], found[0]), text))
    return hashlib.sha256(text.encode()).hexdigest()


def _bare(value: dict[str, Any] | None) -> dict[str, Any] | None:
    if value is None:
        return None
    metadata = {name: item for name, item in value["metadata"].items() if name not in _BOOKKEEPING}
    return {**value, "metadata": metadata}
