"""Fences (pure): does what a unit was planned on still hold?

Five messages, one per way in which a recorded fact can fail (R, "Dry-run and commit"): replaced, edited, appeared,
gone, terminating. Status and resourceVersion churn is tolerated, but runtime configs are pinned by exact version.
"""

from dataclasses import dataclass
from typing import Literal

from aim_template_migration.documents.plan import Pin

FenceCode = Literal["PinReplaced", "PinEdited", "PinAppeared", "PinGone", "PinTerminating"]


@dataclass(frozen=True, slots=True)
class Live:
    """One object as it is now: its pin taken afresh, and whether it is being deleted."""

    pin: Pin
    terminating: bool = False


@dataclass(frozen=True, slots=True)
class Breach:
    """A fence that does not hold: its code and one sentence."""

    code: FenceCode
    message: str


def check_pin(planned: Pin, live: Live | None) -> Breach | None:
    """Compare one planned fact with the live object (None where it does not exist)."""
    name = planned.reference.id
    if planned.absent:
        return (
            None
            if live is None
            else Breach("PinAppeared", f"{name} has appeared; it did not exist when the plan was made")
        )
    if live is None:
        return Breach("PinGone", f"{name} is gone; the plan was made on UID {planned.uid}")
    if live.pin.uid != planned.uid:
        return Breach(
            "PinReplaced", f"{name} was replaced: its UID is {live.pin.uid}, the plan was made on {planned.uid}"
        )
    if live.terminating:
        return Breach("PinTerminating", f"{name} is terminating (it has a deletionTimestamp)")
    edited = _edited_facts(planned, live.pin)
    return Breach("PinEdited", f"{name} was edited since the plan was made: {edited} differs") if edited else None


def _edited_facts(planned: Pin, live: Pin) -> str:
    changed = [
        label
        for label, before, after in (
            ("metadata.generation", planned.generation, live.generation),
            ("content", planned.content_digest, live.content_digest),
            ("metadata.ownerReferences", planned.owner_references, live.owner_references),
            ("the pause annotation", planned.paused, live.paused),
            ("metadata.resourceVersion", planned.resource_version, live.resource_version),
            ("the pod template", planned.pod_template_hash, live.pod_template_hash),
        )
        if before != after
    ]
    return " and ".join(changed)


def check_membership(planned: tuple[Pin, ...], fresh: tuple[Pin, ...], own_effects: frozenset[str]) -> Breach | None:
    """Compare which objects the closure consists of: nothing may have appeared or vanished.

    Args:
        planned: the plan's pins of the unit.
        fresh: the pins that planning's own function gives for fresh reads.
        own_effects: ids of targets that this plan creates; they may be present.
    """
    was = {(pin.role, pin.reference, pin.absent) for pin in planned}
    now = {(pin.role, pin.reference, pin.absent) for pin in fresh}
    if was == now:
        return None
    before = {(role, reference.id, absent) for role, reference, absent in was - now if reference.id not in own_effects}
    after = {(role, reference.id, absent) for role, reference, absent in now - was if reference.id not in own_effects}
    for role, object_id, absent in sorted(after - before):
        if not absent:
            return Breach(
                "PinAppeared", f"{object_id} has appeared in the closure (as {role}); the plan was made without it"
            )
    for role, object_id, absent in sorted(before - after):
        if not absent:
            return Breach("PinGone", f"{object_id} no longer belongs to the closure (as {role})")
    return None
