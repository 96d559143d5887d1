"""R's ten phases (pure): what must hold at each, beyond what must never change, and what only people can confirm.

Phases 1 and 2, 7 and 8, 9 and 10 differ in nothing that a read can tell: what lies between them is people's work,
so that 2, 8 and 10 are never found by reading; they are named.
"""

from dataclasses import dataclass
from typing import Literal

Owners = Literal["source", "staged", "target"]


@dataclass(frozen=True, slots=True)
class Phase:
    """One phase of the procedure.

    Attributes:
        number: 1 to 10.
        title: its name.
        source_paused: whether the source cache must be paused.
        target: what the target side must be: absent is not required, so an empty word asks for nothing.
        owners: who must own the artifacts.
        cut_over: whether the service must select the approved profile.
        confirmations: what people must confirm before going on; no read can.
    """

    number: int
    title: str
    source_paused: bool
    target: Literal["", "paused", "active"]
    owners: Owners
    cut_over: bool
    confirmations: tuple[str, ...]


_HEALTH = "serving health and storage health were observed independently and are unchanged"
_QUIESCENCE = (
    "the platform's own method, not the pause annotation, shows that no legacy writer of the source cache or artifact "
    "is active; the annotation alone is no evidence of quiescence"
)
_APPROVAL = "the maintenance is approved, and each resource has a named owner who is present"
_FROZEN = "nobody else changes these objects, by hand or through desired-state management"

PHASES: tuple[Phase, ...] = (
    Phase(1, "Hold the source pipeline", False, "", "source", False, (_APPROVAL, _HEALTH, _FROZEN)),
    Phase(2, "Quiesce the legacy writer externally", False, "", "source", False, (_QUIESCENCE, _HEALTH, _APPROVAL)),
    Phase(3, "Pause the source cache", True, "", "source", False, (_QUIESCENCE, _HEALTH)),
    Phase(
        4,
        "Prepare the target paused",
        True,
        "paused",
        "source",
        False,
        ("the target profile and cache are the approved ones", _QUIESCENCE),
    ),
    Phase(
        5,
        "Stage secondary ownership",
        True,
        "paused",
        "staged",
        False,
        ("admission did not rewrite the owners: they were read again after the write", _QUIESCENCE),
    ),
    Phase(
        6,
        "Activate and verify the target",
        True,
        "active",
        "staged",
        False,
        ("the storage owner confirms that the same volume is used", _HEALTH),
    ),
    Phase(
        7,
        "Transfer controller ownership",
        True,
        "active",
        "target",
        False,
        ("target adoption was proven before the transfer", _HEALTH),
    ),
    Phase(
        8,
        "Revalidate the full closure",
        True,
        "active",
        "target",
        False,
        ("controller events and logs show no reaction to the transfer", _HEALTH, _APPROVAL),
    ),
    Phase(
        9,
        "Cut over the existing AIMService",
        True,
        "active",
        "target",
        True,
        ("the service answers inference as before", _HEALTH),
    ),
    Phase(
        10,
        "Leave the predecessor in place",
        True,
        "active",
        "target",
        True,
        ("the observation period is agreed; cleanup needs an approval of its own", _HEALTH),
    ),
)

INDISTINGUISHABLE: tuple[tuple[int, int], ...] = ((1, 2), (7, 8), (9, 10))


def phase(number: int) -> Phase:
    """Return a phase by its number, 1 to 10."""
    return PHASES[number - 1]
