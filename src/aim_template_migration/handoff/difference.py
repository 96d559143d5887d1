"""One fact that is not as it must be: a reason to stop and reassess (R, "Manual Dedicated handoff")."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is not as it must be.

    Attributes:
        object: id of the object.
        message: one sentence: what is, and what had to be.
    """

    object: str
    message: str
