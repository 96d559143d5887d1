"""What a handoff check sees: the evidence's objects as they are now, and the target side (values only)."""

from collections.abc import Mapping
from dataclasses import dataclass

from aim_template_migration.documents.evidence import DedicatedEvidence, SourceObject
from aim_template_migration.planning.snapshot import Observed


@dataclass(frozen=True, slots=True)
class Sighting:
    """One reading of everything that a phase looks at.

    Attributes:
        evidence: the planning-time snapshot.
        sources: the evidence's objects as they are now, by id; absent ones are None.
        profile_name: the approved target profile: the name of the template that the service selected.
        profile: that profile (namespaced, else cluster-scoped), if it exists.
        service_caches: every profile cache that the service controls.
        target_caches: those of them that are Dedicated caches of that profile.
        inference_services: what the service controls, and what carries its name.
        owned_artifacts: every artifact that the service, its source cache or one of its profile caches owns.
        namespace_terminating: whether the namespace is being deleted.
        outside: markers of external desired-state management, each a sentence.
    """

    evidence: DedicatedEvidence
    sources: Mapping[str, Observed | None]
    profile_name: str
    profile: Observed | None
    service_caches: tuple[Observed, ...]
    target_caches: tuple[Observed, ...]
    inference_services: tuple[Observed, ...] = ()
    owned_artifacts: tuple[Observed, ...] = ()
    namespace_terminating: bool = False
    outside: tuple[str, ...] = ()

    @property
    def namespace(self) -> str:
        """The unit's namespace."""
        return self.evidence.unit.split("/")[1]

    @property
    def claims(self) -> dict[str, str]:
        """The claim of each artifact by its UID, as the evidence has it; what is live may have moved since."""
        reports = (report for cache in self.of("templateCache") for report in cache.artifacts)
        return {report.uid: report.persistent_volume_claim for report in reports}

    def of(self, role: str) -> tuple[SourceObject, ...]:
        """Return the evidence's objects that play a role."""
        return tuple(item for item in self.evidence.objects if item.role == role)

    def live(self, source: SourceObject) -> Observed | None:
        """Return an object of the evidence as it is now."""
        return self.sources[source.reference.id]

    @property
    def target_cache(self) -> Observed | None:
        """The one target cache, or None where there is none or more than one."""
        return self.target_caches[0] if len(self.target_caches) == 1 else None
