"""The plan: what was read, what is proposed per unit, and the facts that must still hold when it is applied.

The structure is the contract between planning, review and apply (R, "Plan and review"). Unknown keys are refused, so a
misspelt hand edit can't pass unnoticed. The JSON Schema published as ``schemas/plan-v1.json`` is generated from here.
"""

from typing import TYPE_CHECKING, Any, Literal, get_args

import msgspec

from aim_template_migration.documents.unique_keys import doubled_key

if TYPE_CHECKING:
    from aim_api.tree import Json, JsonObject
else:
    # msgspec resolves annotations at run time and knows no recursive types; any JSON value is what it accepts here.
    Json = Any
    JsonObject = dict[str, Any]

API_VERSION = "migration.aim.eai.amd.com/v1"
KIND = "MigrationPlan"
SCHEMA_URI = "https://aim-template-migration.example/schemas/plan-v1.json"
PLAN_NAME = "plan.json"
GENERATED_NAME = "plan.generated.json"

Disposition = Literal["automatic", "manual", "skip"]
ProjectionMode = Literal["Exhaustive", "Reduced", "Both"]


class Document(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True):
    """Base of everything that is written to disk: camelCase keys, unknown keys refused, absent means default."""


class Reference(Document, frozen=True):
    """Which object: ``namespace`` is empty for cluster-scoped kinds."""

    api_version: str
    kind: str
    name: str
    namespace: str = ""

    @property
    def id(self) -> str:
        """``Kind/namespace/name``, or ``Kind/name`` for a cluster-scoped object."""
        return "/".join(filter(None, (self.kind, self.namespace, self.name)))


class OwnerReference(Document, frozen=True):
    """An owner reference with both flags as they stand on the object, in the object's order."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Finding(Document, frozen=True):
    """One reason or warning.

    Attributes:
        code: a code of the closed set; ``explain CODE`` says more.
        object: id of the object concerned (``Kind/namespace/name``).
        message: one sentence: what was found.
        field: path of the field concerned, where there is one.
        advice: one sentence: what an administrator can do.
    """

    code: str
    object: str
    message: str
    field: str = ""
    advice: str = ""


class Imputation(Document, frozen=True):
    """A value of a target that the predecessor does not state in that form.

    Attributes:
        object: id of the target.
        field: path of the field in the target.
        value: the imputed value.
        source: id and field path that it was taken from.
        rule: code of the imputation rule.
    """

    object: str
    field: str
    value: Json
    source: str
    rule: str


class Pin(Document, frozen=True):
    """A recorded fact that must still hold: the identity and content of one object of the closure, or its absence.

    Attributes:
        role: what the object is to the unit, for example ``service`` or ``templateCache``.
        reference: which object.
        absent: the object must not exist; then only role and reference are set.
        uid: the object's UID.
        generation: metadata.generation, where the kind has one.
        content_digest: SHA-256 of the fields that count as content for its kind.
        owner_references: exact owner references with flags, in order.
        paused: whether the reconciliation-pause annotation is set.
        resource_version: only for runtime configs, which R pins by exact version.
        pod_template_hash: only for the Deployment: hash of its pod template, which a rollout would change.
    """

    role: str
    reference: Reference
    absent: bool = False
    uid: str = ""
    generation: int | None = None
    content_digest: str = ""
    owner_references: tuple[OwnerReference, ...] = ()
    paused: bool = False
    resource_version: str = ""
    pod_template_hash: str = ""


class SecretReference(Document, frozen=True):
    """A Secret that the closure names; it is never read."""

    namespace: str
    name: str
    keys: tuple[str, ...] = ()


class PinnedArtifact(Document, frozen=True):
    """An artifact of the predecessor cache with its PersistentVolumeClaim, by identity.

    Attributes:
        name: name of the AIMArtifact.
        uid: its UID.
        model_id: the model source that it holds.
        source_uri: where the weights came from.
        pvc_name: name of its PersistentVolumeClaim.
        pvc_uid: UID of that PersistentVolumeClaim.
    """

    name: str
    uid: str
    model_id: str
    source_uri: str
    pvc_name: str
    pvc_uid: str


class Step(Document, frozen=True, tag_field="step"):
    """Base of the closed set of steps, in the order in which they run."""


class CreateProfile(Step, frozen=True, tag="CreateProfile"):
    """Create the AIMProfile only if absent; equal counts as done. ``target`` names an entry of ``targets``."""

    target: str


class AwaitProfile(Step, frozen=True, tag="AwaitProfile"):
    """Wait for the profile to be Ready at its generation with its own projected runtime."""

    profile: Reference
    deadline_seconds: int


class CreateProfileCache(Step, frozen=True, tag="CreateProfileCache"):
    """Create the service-driven Shared AIMProfileCache only if absent; equal counts as done."""

    target: str


class AwaitProfileCache(Step, frozen=True, tag="AwaitProfileCache"):
    """Wait for the cache to be Ready at its generation with exactly the predecessor's artifacts and PVCs."""

    profile_cache: Reference
    artifacts: tuple[PinnedArtifact, ...]
    deadline_seconds: int


class ProtectArtifact(Step, frozen=True, tag="ProtectArtifact"):
    """Protect one ownerless artifact from quota eviction; already protected counts as done."""

    artifact: Reference
    uid: str


class ReverifyProfileCache(Step, frozen=True, tag="ReverifyProfileCache"):
    """AwaitProfileCache again, immediately before the cutover."""

    profile_cache: Reference
    artifacts: tuple[PinnedArtifact, ...]
    deadline_seconds: int


class CutOver(Step, frozen=True, tag="CutOver"):
    """Move the AIMService to the profile pipeline with one JSON Patch.

    Attributes:
        service: the AIMService.
        uid: its UID.
        generation: its generation before the patch.
        operations: the changing operations; tests of the current state come from the read that passed the fences.
        pinned_generation: the generation that the patch leads to, and that the pin binds.
        pinned_inference_service_uid: UID of the InferenceService that the pin binds.
    """

    service: Reference
    uid: str
    generation: int
    operations: tuple[JsonObject, ...]
    pinned_generation: int
    pinned_inference_service_uid: str


class ConfirmNoRollout(Step, frozen=True, tag="ConfirmNoRollout"):
    """Prove that the InferenceService and its pods are the same as before, now and after the soak."""

    service: Reference
    inference_service: Reference
    inference_service_uid: str
    inference_service_generation: int
    profile_name: str
    deadline_seconds: int


AnyStep = (
    CreateProfile
    | AwaitProfile
    | CreateProfileCache
    | AwaitProfileCache
    | ProtectArtifact
    | ReverifyProfileCache
    | CutOver
    | ConfirmNoRollout
)


def step_name(step: AnyStep) -> str:
    """Return the step's name as it stands in documents and in ``--stop-before``."""
    return type(step).__name__


STEP_NAMES: tuple[str, ...] = tuple(step.__name__ for step in get_args(AnyStep))


class Target(Document, frozen=True):
    """An object that the plan creates, once, however many units share it. ``id`` is ``Kind/namespace/name``."""

    id: str
    body: JsonObject


class EvidenceReference(Document, frozen=True):
    """The Dedicated evidence file of a unit: its name in the plan directory and the SHA-256 of its bytes."""

    file: str
    sha256: str


class AfterExpiry(Document, frozen=True):
    """What normal profile rendering would change in the InferenceService once the pin expires (each a sentence)."""

    changes: tuple[str, ...] = ()


class Unit(Document, frozen=True):
    """One service with its closure, or one unreferenced legacy object.

    Attributes:
        id: ``Kind/namespace/name``.
        disposition: automatic units are applied; manual ones make no writes; skip needs nothing.
        outcome: the code of the outcome.
        inference_service: the InferenceService of the unit, if one was found.
        resolved_profile: name of the target profile, if one is known.
        reasons: every finding that keeps the unit from being automatic.
        warnings: findings that do not.
        imputations: values of the targets that were not stated in that form.
        pins: the facts that must still hold.
        steps: what apply does, in order; empty unless automatic.
        secret_refs: Secrets that the closure names.
        evidence: the Dedicated evidence file, if any.
        after_expiry: what a later spec change would roll.
        proofs: of an automatic unit, by what it is known that the operator is the bridge (``bridge``) and that the
            InferenceService is current (``inferenceServiceCurrent``).
    """

    id: str
    disposition: Disposition
    outcome: str
    inference_service: str = ""
    resolved_profile: str = ""
    reasons: tuple[Finding, ...] = ()
    warnings: tuple[Finding, ...] = ()
    imputations: tuple[Imputation, ...] = ()
    pins: tuple[Pin, ...] = ()
    steps: tuple[AnyStep, ...] = ()
    secret_refs: tuple[SecretReference, ...] = ()
    evidence: EvidenceReference | None = None
    after_expiry: AfterExpiry | None = None
    proofs: dict[str, str] = {}


class CrdIdentity(Document, frozen=True):
    """A CustomResourceDefinition as found: its UID identifies the cluster, its versions inform."""

    name: str
    uid: str
    storage_version: str
    served_versions: tuple[str, ...]
    converted_by_webhook: bool = False


class ClusterIdentity(Document, frozen=True):
    """Which cluster the plan was made on.

    Attributes:
        kube_system_uid: UID of the kube-system namespace; empty where it may not be read.
        crds: the CRDs that the migration uses.
        server_version: the API server's gitVersion, as information.
    """

    kube_system_uid: str
    crds: tuple[CrdIdentity, ...]
    server_version: str = ""


class Forecast(Document, frozen=True):
    """What a commit will ask of the API server: requests by verb and kind, waits in seconds, bytes to send."""

    requests: dict[str, int]
    deadline_seconds: int
    bytes: int


class Plan(Document, frozen=True):
    """A whole plan. ``content_digest`` covers all but itself, ``plan_id`` and ``generated_at``."""

    schema: str = msgspec.field(name="$schema")
    api_version: str
    kind: str
    schema_version: int
    tool_version: str
    plan_id: str
    generated_at: str
    content_digest: str
    cluster: ClusterIdentity
    namespaces: tuple[str, ...]
    runtime_projection_mode: ProjectionMode
    accept_observed_generation: bool
    units: tuple[Unit, ...]
    targets: tuple[Target, ...]
    forecast: Forecast
    warnings: tuple[Finding, ...] = ()


class PlanError(Exception):
    """A plan file is no valid plan; the message says where and why."""


_DECODER = msgspec.json.Decoder(Plan)
_ENCODER = msgspec.json.Encoder(order=None)


def encode_plan(plan: Plan) -> bytes:
    """Return the plan as indented JSON with a final newline, ready for ``plan.json``."""
    return msgspec.json.format(_ENCODER.encode(plan), indent=2) + b"\n"


def decode_plan(data: bytes) -> Plan:
    """Read a plan.

    Raises:
        PlanError: the bytes are no JSON, have unknown keys or one key twice, or a value of the wrong type.
    """
    try:
        plan = _DECODER.decode(data)
        doubled = doubled_key(data.decode())
    except msgspec.ValidationError as error:
        raise PlanError(f"it does not fit the plan schema: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise PlanError(f"it is not JSON that can be read: {error}") from error
    if doubled:
        raise PlanError(f"it states {doubled} twice, so that which value is meant can't be told; keep one of them")
    if plan.kind != KIND or plan.api_version != API_VERSION:
        raise PlanError(f"it is {plan.api_version} {plan.kind}, not {API_VERSION} {KIND}")
    if plan.schema_version != 1:
        raise PlanError(f"its schemaVersion is {plan.schema_version}, and this tool reads schemaVersion 1 only")
    return plan
