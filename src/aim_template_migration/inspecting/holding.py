"""Whether weights and targets of a migrated unit are what the migration left (pure)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from aim_api.tree import JsonObject, get_str
from aim_template_migration.applying.pinned_kinds import PINNED_KINDS
from aim_template_migration.applying.readiness import (
    artifact_fault,
    cache_missing,
    is_protected,
    profile_missing,
    pvc_fault,
    runtime_missing,
)
from aim_template_migration.applying.targets import difference
from aim_template_migration.documents.plan import Reference
from aim_template_migration.documents.verification import VerifiedFact
from aim_template_migration.inspecting.live import Migration, UnitLive
from aim_template_migration.inspecting.neighbours import Beside, second_artifact, second_inference_service

_GONE = "it is gone"


@dataclass(frozen=True, slots=True)
class Planned:
    """What the targets of a plan must be.

    Attributes:
        bodies: bodies of what the plan creates, by id.
        schemas: schemas of the targets' CRDs, for defaulting.
    """

    bodies: Mapping[str, JsonObject]
    schemas: Mapping[str, JsonObject]


def neighbour_facts(migration: Migration, live: UnitLive, beside: Beside) -> Iterator[VerifiedFact]:
    """Yield the facts about what could have taken the place of the unit's objects."""
    rival = second_inference_service(migration, beside.inference_services)
    yield _fact("NoSecondInferenceService", migration.unit.id, rival, "no other InferenceService is its own")
    rival = second_artifact(migration, live, beside.artifacts)
    yield _fact("NoSecondArtifact", migration.unit.id, rival, "no other artifact that is its own holds its sources")


def weight_facts(migration: Migration, live: UnitLive) -> Iterator[VerifiedFact]:
    """Yield the facts about the weights.

    Args:
        migration: the unit.
        live: what is there now.
    """
    pinned = migration.cache.artifacts
    for item in pinned:
        artifact_id = f"AIMArtifact/{migration.namespace}/{item.name}"
        artifact = live.raw(artifact_id)
        fault = artifact_fault(artifact, item) if artifact else _GONE
        yield _fact("ArtifactInPlace", artifact_id, fault, f"UID {item.uid}, Ready, ownerless, on {item.pvc_name}")
        fault = "" if is_protected(artifact) else "it is not protected from quota eviction"
        yield _fact("ArtifactProtected", artifact_id, fault, "protected from quota eviction")
        claim_id = f"PersistentVolumeClaim/{migration.namespace}/{item.pvc_name}"
        claim = live.raw(claim_id)
        fault = pvc_fault(claim, item) if claim else _GONE
        yield _fact("ClaimInPlace", claim_id, fault, f"UID {item.pvc_uid}, Bound")


def target_facts(
    migration: Migration, live: UnitLive, planned: Planned, runtime: JsonObject | None
) -> Iterator[VerifiedFact]:
    """Yield the facts about the targets.

    Args:
        migration: the unit.
        live: what is there now.
        planned: what the targets must be.
        runtime: the runtime that the target profile says it projects, None where there is none.
    """
    reference = migration.profile
    profile = live.raw(reference.id)
    fault = _identity_fault(live, reference, planned)
    if not fault and profile is not None:
        missing = profile_missing(profile) or runtime_missing(profile, runtime)
        fault = missing.message if missing else ""
    name = get_str(profile, "status", "projectedRuntimeName") or ""
    yield _fact("TargetProfileReady", reference.id, fault, f"as planned, Ready, with its own runtime {name}")
    reference = migration.cache.profile_cache
    cache = live.raw(reference.id)
    fault = _identity_fault(live, reference, planned)
    if not fault and cache is not None:
        absent = cache_missing(cache, migration.cache.artifacts)
        fault = absent.message if absent else ""
    held = ", ".join(f"{item.name} on {item.pvc_name}" for item in migration.cache.artifacts)
    yield _fact("TargetCacheReady", reference.id, fault, f"as planned, Ready with exactly {held}")


def _identity_fault(live: UnitLive, reference: Reference, planned: Planned) -> str:
    """Return why an object is not the target: of a planned one its content decides, of a pinned one its pin."""
    reading = next((item for item in live.pins if item.pin.reference.id == reference.id), None)
    if reading is None or reading.raw is None:
        return _GONE
    body = planned.bodies.get(reference.id)
    if reading.pin.absent and body is not None:
        return difference(PINNED_KINDS[reference.kind], body, reading.raw, planned.schemas)
    return reading.breach.message if reading.breach else ""


def _fact(code: str, object_id: str, fault: str, good: str) -> VerifiedFact:
    return VerifiedFact(code, object_id, holds=not fault, message=fault or good)
