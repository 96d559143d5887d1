"""The result of an apply: per unit what was attempted, what completed, what is there now, and what to do next.

While a run lasts the result is small and replaced atomically before each request; at the end it is complete. With the
journal it is readable after any crash (R, "Dry-run and commit").
"""

from typing import Literal

import msgspec

from aim_template_migration.documents.limits import LIMITS
from aim_template_migration.documents.plan import API_VERSION, Document, Finding, OwnerReference, Reference

KIND = "ApplyResult"
SCHEMA_URI = "https://aim-template-migration.example/schemas/apply-result-v1.json"

Mode = Literal["dry-run", "commit"]
State = Literal["incomplete", "complete"]
UnitStatus = Literal["succeeded", "failed", "manual", "skipped", "unknown", "interrupted"]

UNIT_STATUSES: tuple[UnitStatus, ...] = ("succeeded", "failed", "manual", "skipped", "unknown", "interrupted")


class Identity(Document, frozen=True):
    """One object of the unit as it was last read: who it is, who owns it, whether it is paused."""

    role: str
    reference: Reference
    uid: str
    generation: int | None = None
    resource_version: str = ""
    owner_references: tuple[OwnerReference, ...] = ()
    paused: bool = False


class PodFacts(Document, frozen=True):
    """One pod of the InferenceService: a restart or another template hash would show here.

    Attributes:
        name: the pod's name.
        uid: its UID.
        restarts: the sum of its containers' restart counts.
        template_hash: its ``pod-template-hash`` label.
    """

    name: str
    uid: str
    restarts: int
    template_hash: str


class WorkloadFacts(Document, frozen=True):
    """What must not change while a service is cut over.

    Attributes:
        inference_service: name of the InferenceService.
        uid: its UID.
        generation: its generation.
        spec_digest: SHA-256 of its desired spec.
        metadata_digest: SHA-256 of its labels, annotations, owner references and finalizers.
        ready: whether its Ready condition is True.
        template_hash: hash of the pod template of the Deployment that it owns.
        pods: its pods, by name.
        autoscaled: whether an autoscaler may add or remove pods.
    """

    inference_service: str
    uid: str
    generation: int
    spec_digest: str
    metadata_digest: str
    ready: bool
    template_hash: str
    pods: tuple[PodFacts, ...] = ()
    autoscaled: bool = False


class OpenAttempt(Document, frozen=True):
    """A request that may have left without its outcome being known yet; a dry run stores nothing either way."""

    unit: str
    step: str
    object: str
    at: str
    dry_run: bool = False


class UnitResult(Document, frozen=True):
    """How one unit ended, or how far it has come.

    Attributes:
        id: the unit.
        disposition: as in the plan.
        status: exactly one final status.
        code: why, as a code of the closed set; empty after a plain success.
        message: one sentence.
        http_status: of the answer that decided it, if one did.
        server_message: the API server's own words, if any.
        next_step: what an administrator does now.
        attempted_steps: steps begun, in order.
        completed_steps: steps that completed, in order.
        last_attempted_step: the last step begun.
        last_completed_step: the last step completed.
        identities: the unit's objects as last read.
        resolved_profile: the profile that the service reports, if any.
        workload_before: facts before the cutover.
        workload_after: facts at the last confirmation.
        warnings: warnings met on the way.
        not_checked: what this run could not check (a dry run can't wait for an operator).
    """

    id: str
    disposition: str
    status: UnitStatus
    code: str = ""
    message: str = ""
    http_status: int | None = None
    server_message: str = ""
    next_step: str = ""
    attempted_steps: tuple[str, ...] = ()
    completed_steps: tuple[str, ...] = ()
    last_attempted_step: str = ""
    last_completed_step: str = ""
    identities: tuple[Identity, ...] = ()
    resolved_profile: str = ""
    workload_before: WorkloadFacts | None = None
    workload_after: WorkloadFacts | None = None
    warnings: tuple[Finding, ...] = ()
    not_checked: tuple[str, ...] = ()


class ApplyResult(Document, frozen=True):
    """The whole result.

    While state is ``incomplete``, ``inFlight`` holds what is under way and ``units`` the first 50 that did not succeed;
    the journal has all of them.
    """

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    tool_version: str
    run_id: str
    mode: Mode
    state: State
    plan_id: str
    plan_sha256: str
    started_at: str
    finished_at: str
    journal: str
    counts: dict[str, int]
    in_flight: tuple[OpenAttempt, ...] = ()
    units: tuple[UnitResult, ...] = ()
    stopped: str = ""
    limits: str = ""


class ResultError(Exception):
    """A result file is no valid result; the message says where and why."""


_DECODER = msgspec.json.Decoder(ApplyResult)


def count_units(units: tuple[UnitResult, ...]) -> dict[str, int]:
    """Return the number of units by status, every status named."""
    return {status: sum(unit.status == status for unit in units) for status in UNIT_STATUSES}


def with_limits(result: ApplyResult) -> ApplyResult:
    """Return a result as it is answered: that of a commit says what it does not prove."""
    return msgspec.structs.replace(result, limits=LIMITS) if result.mode == "commit" else result


def encode_result(result: ApplyResult) -> bytes:
    """Return the result as indented JSON with a final newline."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2) + b"\n"


def decode_result(data: bytes) -> ApplyResult:
    """Read a result.

    Raises:
        ResultError: the bytes are no JSON or no result of this API version.
    """
    try:
        result = _DECODER.decode(data)
    except msgspec.ValidationError as error:
        raise ResultError(f"it does not fit the result schema: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise ResultError(f"it is not JSON: {error}") from error
    if result.kind != KIND or result.api_version != API_VERSION:
        raise ResultError(f"it is {result.api_version} {result.kind}, not {API_VERSION} {KIND}")
    return result
