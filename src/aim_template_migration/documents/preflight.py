"""What ``preflight`` found: the runbook's prerequisites as a checklist with evidence (R, "Prerequisites")."""

from typing import Literal

import msgspec

from aim_template_migration.documents.plan import ClusterIdentity, Document, Finding, Reference

KIND = "MigrationPreflight"
SCHEMA_URI = "https://aim-template-migration.example/schemas/preflight-v1.json"

Answer = Literal["ok", "attention", "stop", "unchecked"]
ANSWERS: tuple[Answer, ...] = ("ok", "attention", "stop", "unchecked")


class Prerequisite(Document, frozen=True):
    """One line of the checklist.

    Attributes:
        code: which prerequisite, as a code of the closed set.
        answer: ``ok``; ``attention`` where units will stay manual or a later command is refused; ``stop`` where the
            runbook says to stop; ``unchecked`` where it could not be looked at.
        message: one sentence: what was seen.
        evidence: what the answer rests on, one sentence each.
        findings: everything that does not hold, with its object.
    """

    code: str
    answer: Answer
    message: str
    evidence: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


class RecordedIdentity(Document, frozen=True):
    """A UID that the runbook wants recorded outside the repository before planning."""

    role: str
    reference: Reference
    uid: str


class CheckedService(Document, frozen=True):
    """One service of the selected namespaces.

    Attributes:
        id: the service.
        pipeline: ``template`` or ``profile``: which pipeline owns it.
        bridge: by what it is known that the operator is the bridge: ``BridgeCompatible``, ``observedGeneration`` (which
            plan accepts only when told to) or empty.
        inference_service_current: by what it is known that its InferenceService is current: ``own``, ``deployment`` or
            empty.
        codes: the codes of everything found about it.
        recorded: the UIDs of service, InferenceService, template cache, artifacts and PersistentVolumeClaims.
    """

    id: str
    pipeline: str
    bridge: str
    inference_service_current: str
    codes: tuple[str, ...]
    recorded: tuple[RecordedIdentity, ...]


class Preflight(Document, frozen=True):
    """The whole checklist.

    Attributes:
        checked_at: when, UTC, RFC 3339.
        server: the API server that was read.
        cluster: which cluster it is, with the versions of its CRDs.
        namespaces: the selected namespaces.
        counts: prerequisites by answer.
        prerequisites: the checklist.
        services: every service of the namespaces that could be read.
        exclusion: what the proof of the bridge does not cover.
    """

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    tool_version: str
    checked_at: str
    server: str
    cluster: ClusterIdentity
    namespaces: tuple[str, ...]
    counts: dict[str, int]
    prerequisites: tuple[Prerequisite, ...]
    services: tuple[CheckedService, ...]
    exclusion: str
