"""Sizes of artifacts: quantities, headroom, what a claim asks for (legacy pipeline facts, PVC)."""

import math
import re

from aim_api.tree import Json, JsonObject, get_int, get_str
from aim_rehearsal.operator.runtime_config import merged_config
from aim_rehearsal.operator.view import View

GIBIBYTE = 2**30
_UNITS = {"Ki": 2**10, "Mi": 2**20, "Gi": GIBIBYTE, "Ti": 2**40, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "": 1}
_UNKNOWN_SIZE = "50Gi"
_DEFAULT_HEADROOM_PERCENT = 10


def bytes_of(quantity: Json) -> int:
    """Return a Kubernetes quantity as a number of bytes; 0 for none and for what is no quantity."""
    if isinstance(quantity, int) and not isinstance(quantity, bool):
        return quantity
    found = re.fullmatch(r"([0-9.]+)([KMGT]i|[kMGT]|)", quantity) if isinstance(quantity, str) else None
    return int(float(found.group(1)) * _UNITS[found.group(2)]) if found else 0


def size_bytes(artifact: JsonObject) -> int:
    """Return an artifact's size; one that states none is taken for 50 GiB, since nothing is looked up."""
    return bytes_of(get_str(artifact, "spec", "size")) or bytes_of(_UNKNOWN_SIZE)


def headroom_percent(artifact: JsonObject, view: View) -> int:
    """Return how much more than its size an artifact's claim asks for."""
    configured = get_int(merged_config(artifact, view), "storage", "pvcHeadroomPercent")
    return _DEFAULT_HEADROOM_PERCENT if configured is None else configured


def allocated(artifact: JsonObject, view: View) -> str:
    """Return what an artifact's claim asks for, in whole Gi."""
    return f"{math.ceil(size_bytes(artifact) * (100 + headroom_percent(artifact, view)) / 100 / GIBIBYTE)}Gi"
