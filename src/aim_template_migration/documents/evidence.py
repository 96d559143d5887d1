"""Evidence of a Dedicated unit: what its manual handoff is compared with at each phase (R, "Manual Dedicated handoff").

A snapshot, not a manifest: it names no apiVersion and no kind at its top, so that kubectl refuses it. It states neither
plan id nor time, so that the same live state gives the same bytes; plan.json beside it states both.
"""

import hashlib

import msgspec

from aim_template_migration.documents.canonical import document_digest
from aim_template_migration.documents.plan import Document, OwnerReference, Reference

SCHEMA_VERSION = 1
NOTICE = (
    "Planning-time evidence for a manual Dedicated handoff. It is no manifest: never apply it. Compare it with live "
    "state at every phase of the runbook; a difference is a reason to stop and reassess, not to edit this file."
)
_PREFIX = "dedicated-handoff-"
_LONGEST_NAME = 240


class ArtifactReport(Document, frozen=True):
    """What a template cache reports of one artifact."""

    name: str
    uid: str
    model: str
    status: str
    persistent_volume_claim: str = ""


class SourceObject(Document, frozen=True):
    """One source object with every fact that must not differ.

    Attributes:
        role: what the object is to the unit, as in the plan's pins.
        reference: which object.
        uid: its UID.
        content_digest: digest of its desired state, as in the plan's pins.
        generation: metadata.generation, where the kind has one.
        observed_generation: status.observedGeneration, where the operator sets it.
        owner_references: exact owner references with flags, in order.
        finalizers: its finalizers, in order.
        paused: whether the reconciliation-pause annotation is set.
        terminating: whether it has a deletionTimestamp.
        ready: status of its condition Ready, empty where it has none.
        status: status.status, empty where it has none.
        phase: of a PersistentVolumeClaim, its phase.
        artifacts: of a cache, what it reports of its artifacts.
        beside_selection_digest: of the service, digest of its desired state without the fields that a cutover changes.
        eviction_protected: of an artifact, whether it is protected from quota eviction.
    """

    role: str
    reference: Reference
    uid: str
    content_digest: str
    generation: int | None = None
    observed_generation: int | None = None
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    paused: bool = False
    terminating: bool = False
    ready: str = ""
    status: str = ""
    phase: str = ""
    artifacts: tuple[ArtifactReport, ...] = ()
    beside_selection_digest: str = ""
    eviction_protected: bool = False


class DedicatedEvidence(Document, frozen=True):
    """The evidence file. ``own_digest`` covers everything but itself."""

    document: str
    schema_version: int
    notice: str
    tool_version: str
    unit: str
    own_digest: str
    kube_system_uid: str
    objects: tuple[SourceObject, ...]


class EvidenceError(Exception):
    """An evidence file is not valid, or was edited; the message says where and why."""


DOCUMENT = "DedicatedHandoffEvidence"
_DECODER = msgspec.json.Decoder(DedicatedEvidence)


def make_evidence(
    unit: str, objects: tuple[SourceObject, ...], *, tool_version: str, kube_system_uid: str
) -> DedicatedEvidence:
    """Return evidence with its own digest."""
    evidence = DedicatedEvidence(
        document=DOCUMENT,
        schema_version=SCHEMA_VERSION,
        notice=NOTICE,
        tool_version=tool_version,
        unit=unit,
        own_digest="",
        kube_system_uid=kube_system_uid,
        objects=objects,
    )
    return msgspec.structs.replace(evidence, own_digest=evidence_digest(evidence))


def evidence_digest(evidence: DedicatedEvidence) -> str:
    """Return the digest of evidence, taken without the digest that it states."""
    return document_digest(msgspec.structs.replace(evidence, own_digest=""))


def encode_evidence(evidence: DedicatedEvidence) -> bytes:
    """Return evidence as indented JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(evidence), indent=2) + b"\n"


def decode_evidence(data: bytes) -> DedicatedEvidence:
    """Read evidence, and check the digest that it states.

    Raises:
        EvidenceError: it is no evidence, or it was edited after it was made.
    """
    try:
        evidence = _DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise EvidenceError(f"it does not fit the evidence schema: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise EvidenceError(f"it is not JSON: {error}") from error
    if evidence.document != DOCUMENT or evidence.schema_version != SCHEMA_VERSION:
        raise EvidenceError(
            f"it is {evidence.document} version {evidence.schema_version}, not {DOCUMENT} version {SCHEMA_VERSION}"
        )
    if evidence_digest(evidence) != evidence.own_digest:
        raise EvidenceError("its content does not match the digest that it states, so it was edited after planning")
    return evidence


def evidence_file_name(namespace: str, service: str) -> str:
    """Return the file's name in the plan directory; no two services share one, however long their names are.

    A namespace has no dot, so namespace and service are told apart by the first one. A name that a file system might
    refuse is cut and gets a hash behind ``~``, which no Kubernetes name can contain.
    """
    name = f"{_PREFIX}{namespace}.{service}"
    if len(name) <= _LONGEST_NAME:
        return f"{name}.json"
    mark = hashlib.sha256(f"{namespace}/{service}".encode()).hexdigest()[:32]
    return f"{name[: _LONGEST_NAME - len(mark) - 1]}~{mark}.json"
