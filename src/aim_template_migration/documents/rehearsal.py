"""The report of a rehearsal: what was there before and after, as an independent reader saw it, and what the tool did.

The facts about InferenceServices and pods are read from the local API by the rehearsal itself, and the counts of writes
come from the server's audit log, so that the report rests on nothing that the tool says about itself.
"""

import msgspec

from aim_template_migration.documents.plan import Disposition, Document

KIND = "RehearsalReport"
SCHEMA_URI = "https://aim-template-migration.example/schemas/rehearsal-report-v1.json"


class ReasonCode(Document, frozen=True):
    """A reason by its code alone; the plan says more."""

    code: str


class InferenceServiceFacts(Document, frozen=True):
    """An InferenceService at one moment.

    Attributes:
        uid: its UID.
        generation: metadata.generation.
        spec_digest: SHA-256 of its desired spec.
        metadata_digest: SHA-256 of its labels, annotations, owner references and finalizers.
    """

    uid: str
    generation: int
    spec_digest: str
    metadata_digest: str


class InferenceServiceComparison(Document, frozen=True):
    """An InferenceService before planning and after the last run; None where there was none."""

    before: InferenceServiceFacts | None
    after: InferenceServiceFacts | None


class PodComparison(Document, frozen=True):
    """The UIDs of the service's pods before planning and after the last run, sorted."""

    before: tuple[str, ...]
    after: tuple[str, ...]


class RehearsedUnit(Document, frozen=True):
    """One unit of the rehearsed plan.

    Attributes:
        id: the unit.
        disposition: as in the plan.
        outcome: as in the plan.
        reasons: as in the plan, by code.
        status: how it ended in the last run.
        resolved_profile: the profile that the service reports after the last run, or empty.
        inference_service: before and after.
        pods: before and after.
    """

    id: str
    disposition: Disposition
    outcome: str
    reasons: tuple[ReasonCode, ...]
    status: str
    resolved_profile: str
    inference_service: InferenceServiceComparison
    pods: PodComparison


class AuditCounts(Document, frozen=True):
    """What the tool's identity did, counted by the server's audit log.

    Attributes:
        mutations: writes that the server was asked to keep.
        dry_runs: writes with ``dryRun=All``.
        deletes: deletes of any kind.
        secret_reads: reads of Secrets.
    """

    mutations: int
    dry_runs: int
    deletes: int
    secret_reads: int


class FaultAnswer(Document, frozen=True):
    """How a unit ended in the run with the fault.

    Attributes:
        id: the unit.
        status: its status, or ``inFlight`` where the process was killed over it.
        code: why, as a code of the closed set, or empty.
        next_step: what the tool says to do next, or empty.
    """

    id: str
    status: str
    code: str
    next_step: str


class RehearsedFault(Document, frozen=True):
    """The fault of a rehearsal; the report's counts and statuses are those of the rerun after it.

    Attributes:
        name: its name in the catalogue.
        step: the step at which it was to come up.
        happened: whether it came up at all.
        answers: how the automatic units ended in the run with the fault.
        rerun: whether a rerun followed.
    """

    name: str
    step: str
    happened: bool
    answers: tuple[FaultAnswer, ...]
    rerun: bool


class RehearsalReport(Document, frozen=True):
    """The whole report.

    Attributes:
        world: the sample fleet.
        runtime_projection_mode: the simulated operator's mode.
        plan_sha256: SHA-256 of the plan that was rehearsed.
        last_run: the mode of the run that ``counts`` and the units' statuses are of.
        counts: units by status.
        units: every unit, in plan order.
        audit: what the tool's identity did.
        supplied_by_simulation: proofs that the simulation supplied, which a real cluster must supply itself.
        limits: what none of this proves.
        not_rehearsed: what this rehearsal could not show of the cluster or the files that it was made from.
        fault: the fault that was asked for, None for none.
    """

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    world: str
    runtime_projection_mode: str
    plan_sha256: str
    last_run: str
    counts: dict[str, int]
    units: tuple[RehearsedUnit, ...]
    audit: AuditCounts
    supplied_by_simulation: tuple[str, ...]
    limits: str
    not_rehearsed: tuple[str, ...] = ()
    fault: RehearsedFault | None = None


def encode_report(report: RehearsalReport) -> bytes:
    """Return the report as indented JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(report), indent=2) + b"\n"
