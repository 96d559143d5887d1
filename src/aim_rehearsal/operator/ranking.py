"""The total order in which profiles are preferred (profile pipeline facts, ranking; template selection)."""

import re

from aim_api.tree import JsonObject, get_bool, get_int, get_str
from aim_rehearsal.operator.projection import image_tag
from aim_rehearsal.operator.store import name

TYPES = ("optimized", "general", "preview", "unoptimized")
ACCELERATORS = ("MI325X", "MI300X", "MI250X", "MI210", "R9700", "W7900")
METRICS = ("latency", "throughput")
PRECISIONS = ("fp4", "int4", "fp8", "int8", "fp16", "bf16", "fp32", "fp64")
_STATUS = ("Running", "Ready", "Progressing", "Starting", "Pending", "Degraded", "NotAvailable", "Failed")
_LAST = 1 << 31

Rank = tuple[int | str | tuple[int, ...], ...]


def profile_rank(profile: JsonObject) -> Rank:
    """Return a profile's sort key, best first; the name decides last, so that the order is total."""
    spec = profile.get("spec")
    count = get_int(spec, "acceleratorCount") or 0
    return (
        place(get_str(profile, "status", "status"), _STATUS),
        0 if get_bool(spec, "primary") else 1,
        type_tier(get_str(spec, "type")),
        place(get_str(spec, "acceleratorModel"), ACCELERATORS),
        place(get_str(spec, "metric"), METRICS),
        place(get_str(spec, "precision"), PRECISIONS),
        count or _LAST,
        1 if get_str(spec, "acceleratorType") == "cpu" else 0,
        tuple(-number for number in _version(get_str(spec, "image") or "")),
        name(profile),
    )


def type_tier(profile_type: str | None) -> int:
    """Return the tier of a profile type, 0 for the best; an unset type ranks as unoptimized."""
    return place(profile_type or "unoptimized", TYPES)


def place(value: str | None, order: tuple[str, ...]) -> int:
    """Return the place of a value in an order; unknown values come last."""
    return order.index(value) if value in order else len(order)


def _version(image: str) -> tuple[int, ...]:
    numbers = [int(text) for text in re.findall(r"\d+", image_tag(image))][:3]
    return tuple(numbers + [0] * (3 - len(numbers)))
