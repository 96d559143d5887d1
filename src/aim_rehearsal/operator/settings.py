"""What an operator build is told at its start, and how a rehearsal can make it misbehave."""

import enum
from dataclasses import dataclass


class ProjectionMode(enum.StrEnum):
    """Which serving runtimes the profile controllers publish (profile pipeline facts, runtime projection)."""

    EXHAUSTIVE = "Exhaustive"
    REDUCED = "Reduced"
    BOTH = "Both"

    @property
    def per_profile(self) -> bool:
        """Whether each profile gets a runtime of its own."""
        return self is not ProjectionMode.REDUCED

    @property
    def per_model(self) -> bool:
        """Whether each model gets one runtime, of its elected profile."""
        return self is not ProjectionMode.EXHAUSTIVE


class NameFormulas(enum.StrEnum):
    """Which name formulas the build uses; they changed between operator versions (legacy pipeline facts, names)."""

    NEWER = "newer"
    OLDER = "older"


class Misbehaviour(enum.StrEnum):
    """One way in which an operator can fail the migration; a rehearsal shows what the tool answers."""

    NONE = "none"
    SLOW = "slow"
    PROFILE_STUCK = "profile-stuck"
    CACHE_STUCK = "cache-stuck"
    SERVICE_NOT_OBSERVED = "service-not-observed"
    ROLLS_DESPITE_PIN = "rolls-despite-pin"
    ADOPTS_WRONG_ARTIFACT = "adopts-wrong-artifact"
    DOWNLOADS_AGAIN = "downloads-again"
    NO_BRIDGE = "no-bridge"
    FOREIGN_OBSERVED_GENERATION = "foreign-observed-generation"


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's settings.

    Attributes:
        projection_mode: which runtimes profiles publish.
        names: which name formulas apply to InferenceServices and template caches.
        misbehaviour: what this operator does wrong.
        hardware: accelerator models that count as present although no Node and no Ready template shows them.
        incompatible: services, as ``namespace/name``, that the bridge reports as incompatible.
        slow_seconds: how long a slow operator waits before each write.
        keeps_loaded: whether what was loaded without a status is left without one, as in a copied cluster.
    """

    projection_mode: ProjectionMode = ProjectionMode.BOTH
    names: NameFormulas = NameFormulas.NEWER
    misbehaviour: Misbehaviour = Misbehaviour.NONE
    hardware: frozenset[str] = frozenset()
    incompatible: frozenset[str] = frozenset()
    slow_seconds: float = 1.0
    keeps_loaded: bool = False

    @property
    def bridge(self) -> bool:
        """Whether this build is the bridge, so that it honours pins and reports compatibility."""
        return self.misbehaviour is not Misbehaviour.NO_BRIDGE

    def does(self, misbehaviour: Misbehaviour) -> bool:
        """Return whether the operator misbehaves in this way."""
        return self.misbehaviour is misbehaviour
