"""What the administrator chose for a plan; recorded in it, so that apply classifies with the same settings."""

from dataclasses import dataclass

from aim_template_migration.documents.plan import ProjectionMode

PROFILE_DEADLINE_SECONDS = 120
PROFILE_CACHE_DEADLINE_SECONDS = 300
CUTOVER_DEADLINE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one plan.

    Attributes:
        namespaces: the selected namespaces.
        runtime_projection_mode: the operator's projection mode, as the administrator states it (R).
        accept_observed_generation: take status.observedGeneration for a proof of the bridge.
        profile_deadline_seconds: how long to wait for a profile to be Ready with its runtime.
        profile_cache_deadline_seconds: how long to wait for a profile cache to adopt the artifacts.
        cutover_deadline_seconds: how long to wait for the cutover to be observed; at most 600.
    """

    namespaces: tuple[str, ...]
    runtime_projection_mode: ProjectionMode
    accept_observed_generation: bool = False
    profile_deadline_seconds: int = PROFILE_DEADLINE_SECONDS
    profile_cache_deadline_seconds: int = PROFILE_CACHE_DEADLINE_SECONDS
    cutover_deadline_seconds: int = CUTOVER_DEADLINE_SECONDS
