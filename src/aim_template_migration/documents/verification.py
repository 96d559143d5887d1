"""What ``verify`` found: which facts of a migrated unit hold, and what remains; evidence for a change record."""

from typing import Literal

import msgspec

from aim_template_migration.documents.plan import Document, Finding

KIND = "MigrationVerification"
SCHEMA_URI = "https://aim-template-migration.example/schemas/verification-v1.json"

Standing = Literal["holding", "differing", "notCutOver", "unreadable"]
STANDINGS: tuple[Standing, ...] = ("holding", "differing", "notCutOver", "unreadable")


class VerifiedFact(Document, frozen=True):
    """One fact, read just now.

    Attributes:
        code: which fact, as a code of the closed set.
        object: id of the object that it is about.
        holds: whether it holds.
        message: one sentence: what was seen.
    """

    code: str
    object: str
    holds: bool
    message: str


class VerifiedUnit(Document, frozen=True):
    """One automatic unit of the plan.

    Attributes:
        id: the unit.
        cut_over: whether its service is what the plan's cutover leaves.
        standing: ``holding`` where every fact holds, ``differing``, ``notCutOver`` where the service is as planned, or
            ``unreadable``.
        resolved_profile: the profile that the service reports.
        facts: the facts; of a service that is not cut over only this one.
        message: why it can't be read, if so.
        warnings: what was not compared.
    """

    id: str
    cut_over: bool
    standing: Standing
    resolved_profile: str
    facts: tuple[VerifiedFact, ...]
    message: str = ""
    warnings: tuple[Finding, ...] = ()


class Remaining(Document, frozen=True):
    """Something that the migration leaves in place, for a later and separate decision (R, "Partial recovery").

    Attributes:
        code: what it is, as a code of the closed set.
        object: id of the object.
        message: one sentence: what it is and what touching it means.
        units: the units that it belongs to.
        details: of a pin, what normal rendering would change once it expires.
    """

    code: str
    object: str
    message: str
    units: tuple[str, ...]
    details: tuple[str, ...] = ()


class Removal(Document, frozen=True):
    """What the removal of one CRD or of one version would take with it, by what was read.

    Attributes:
        crd: name of the CustomResourceDefinition.
        cascades: whether it would take more than the objects of the CRD itself, or weights.
        deleted: ids of this plan's objects that would be deleted with the CRD.
        collected: ids of this plan's objects that garbage collection would delete next, because their owners are gone.
        message: one sentence.
    """

    crd: str
    cascades: bool
    deleted: tuple[str, ...]
    collected: tuple[str, ...]
    message: str


class Verification(Document, frozen=True):
    """The whole verification.

    Attributes:
        verified_at: when, UTC, RFC 3339.
        server: the API server that was read.
        kube_system_uid: which cluster it is; empty where that may not be read.
        plan: path of the plan file.
        plan_id: the plan.
        plan_sha256: SHA-256 of the plan file.
        result: path of the result that pods were compared with, empty where there is none.
        run_id: the run of that result.
        problems: what of the run's files is missing, damaged or of another plan, each a sentence.
        counts: units by ``holding``, ``differing``, ``notCutOver`` and ``unreadable``.
        units: every selected automatic unit, in plan order.
        remaining: what is left in place.
        removals: what removing the v1alpha1 CRDs would take with it.
        limits: what none of this proves.
    """

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    tool_version: str
    verified_at: str
    server: str
    kube_system_uid: str
    plan: str
    plan_id: str
    plan_sha256: str
    result: str
    run_id: str
    problems: tuple[str, ...]
    counts: dict[str, int]
    units: tuple[VerifiedUnit, ...]
    remaining: tuple[Remaining, ...]
    removals: tuple[Removal, ...]
    limits: str
