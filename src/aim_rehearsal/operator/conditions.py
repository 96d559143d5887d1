"""Status conditions as the operator's framework keeps them.

Facts: legacy pipeline (reconcile framework), profile pipeline (service conditions). Conditions are seeded from the old
status and never removed, so that a stale one of the other pipeline still counts in the roll-up.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aim_api.tree import Json, JsonObject, get_objects, get_str

READY = "Ready"
ALL_READY = "AllComponentsReady"
_WORDS = ("Ready", "Progressing", "Pending", "Degraded", "NotAvailable", "Failed")
_KEPT_STATES = frozenset({"Failed", "Degraded", "NotAvailable", "Pending"})


@dataclass(frozen=True, slots=True)
class Condition:
    """What one pass found about one component.

    Attributes:
        type: the condition's type, for example ``ProfileReady``.
        true: whether it holds.
        reason: one CamelCase word.
        message: one sentence.
        state: the component's state word; it decides the root status where the condition is false.
        observed_generation: the generation that the finding is about, where the condition says so.
    """

    type: str
    true: bool
    reason: str
    message: str
    state: str = "Progressing"
    observed_generation: int | None = None


@dataclass(frozen=True, slots=True)
class Rollup:
    """The root status word and the conditions, the ``Ready`` condition included."""

    word: str
    conditions: list[Json]


def roll_up(old: Json, found: Sequence[Condition], now: str) -> Rollup:
    """Merge ``found`` into the conditions of the old status and derive the root status word and ``Ready``.

    The word is the worst of all conditions whose type ends in ``Ready``; a stale false one counts as Progressing.
    """
    states = {item.type: item for item in found}
    merged = merge(old, found, now)
    worst, reason = "Ready", ALL_READY
    for item in merged:
        kind = get_str(item, "type") or ""
        if kind == READY or not kind.endswith(READY) or get_str(item, "status") == "True":
            continue
        state = states[kind].state if kind in states else "Progressing"
        word = state if state in _KEPT_STATES else "Progressing"
        if _WORDS.index(word) > _WORDS.index(worst):
            worst = word
            reason = (get_str(item, "reason") or "") if word == "Failed" else "Progressing"
    ready = worst == "Ready"
    message = "All components are ready." if ready else "Some components are not ready."
    root = Condition(READY, ready, reason, message)
    return Rollup(worst, list(merge(merged, [root], now)))


def merge(old: Json, found: Iterable[Condition], now: str) -> list[Json]:
    """Return the old conditions with ``found`` in place or appended; none is removed.

    ``lastTransitionTime`` stays while status and reason are unchanged.
    """
    result: list[JsonObject] = [dict(item) for item in get_objects(old)]
    places = {item.get("type"): index for index, item in enumerate(result)}
    for condition in found:
        fresh = _render(condition, now)
        place = places.get(condition.type)
        if place is None:
            places[condition.type] = len(result)
            result.append(fresh)
            continue
        before = result[place]
        if before.get("status") == fresh["status"] and before.get("reason") == fresh["reason"]:
            fresh["lastTransitionTime"] = before.get("lastTransitionTime", now)
        result[place] = fresh
    return list(result)


def status_place(obj: JsonObject) -> int:
    """Return the place of an object's status word, 0 for Ready; unknown and missing words come last."""
    word = get_str(obj, "status", "status") or ""
    return _WORDS.index(word) if word in _WORDS else len(_WORDS)


def is_true(obj: Json, kind: str) -> bool:
    """Return whether an object's status has the condition ``kind`` and it is True."""
    found = find(obj, kind)
    return found is not None and found.get("status") == "True"


def find(obj: Json, kind: str) -> JsonObject | None:
    """Return the condition ``kind`` of an object's status."""
    if not isinstance(obj, dict):
        return None
    for item in get_objects(obj, "status", "conditions"):
        if item.get("type") == kind:
            return item
    return None


def _render(condition: Condition, now: str) -> JsonObject:
    rendered: JsonObject = {
        "type": condition.type,
        "status": "True" if condition.true else "False",
        "reason": condition.reason,
        "message": condition.message,
        "lastTransitionTime": now,
    }
    if condition.observed_generation is not None:
        rendered["observedGeneration"] = condition.observed_generation
    return rendered
