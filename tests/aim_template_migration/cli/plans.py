"""Plans as values, for what only reads them: an automatic unit of the real shape, and fleets of any size."""

from pathlib import Path

import msgspec

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_template_migration.applying.plan_files import GENERATED_NAME, PLAN_NAME, PlanFiles
from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.plan import (
    API_VERSION,
    KIND,
    SCHEMA_URI,
    AfterExpiry,
    AwaitProfile,
    AwaitProfileCache,
    ClusterIdentity,
    ConfirmNoRollout,
    CrdIdentity,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    EvidenceReference,
    Finding,
    Forecast,
    Imputation,
    Pin,
    PinnedArtifact,
    Plan,
    ProtectArtifact,
    Reference,
    ReverifyProfileCache,
    SecretReference,
    Target,
    Unit,
    encode_plan,
)

V1 = "aim.eai.amd.com/v1alpha1"
ISVC = "serving.kserve.io/v1beta1"
V2 = "aim.eai.amd.com/v1alpha2"
ISVC_UID = "11111111-1111-4111-8111-111111111111"
PROFILE = "AIMProfile/team-a/qwen-tp1"
CACHE = "AIMProfileCache/team-a/qwen-tp1-cache"
ARTIFACT = PinnedArtifact("weights", "a-uid", "Qwen/Qwen3", "hf://Qwen/Qwen3", "weights-pvc", "p-uid")


def ref(kind, name, version=V2, namespace="team-a"):
    return Reference(version, kind, name, namespace)


def automatic_unit(name="chat", **changes):
    service = ref("AIMService", name)
    operations = (
        {"op": "remove", "path": "/spec/template"},
        {"op": "add", "path": "/spec/profile", "value": {"name": "qwen-tp1"}},
        {"op": "add", "path": f"/metadata/annotations/{PRESERVE_UID.replace('/', '~1')}", "value": ISVC_UID},
        {"op": "add", "path": f"/metadata/annotations/{PRESERVE_GENERATION.replace('/', '~1')}", "value": "4"},
    )
    unit = Unit(
        id=service.id,
        disposition="automatic",
        outcome="SharedNoRollout",
        inference_service=name,
        resolved_profile="qwen-tp1",
        warnings=(Finding("PinExpires", service.id, "the pin expires with the next change of spec"),),
        imputations=(
            Imputation(PROFILE, "spec.image", "r.example/aim:1", "AIMModel/team-a/qwen spec.image", "FromModelImage"),
        ),
        pins=(
            Pin("service", service, uid="s-uid", generation=3, content_digest="d" * 64),
            Pin("template", ref("AIMServiceTemplate", "qwen-tp1", V1), uid="t-uid", generation=1),
            Pin("artifact", ref("AIMArtifact", "weights", V1), uid="a-uid", generation=1),
            Pin("inferenceService", ref("InferenceService", name, ISVC), uid=ISVC_UID, generation=2),
            Pin("targetProfile", ref("AIMProfile", "qwen-tp1"), absent=True),
        ),
        steps=(
            CreateProfile(target=PROFILE),
            AwaitProfile(profile=ref("AIMProfile", "qwen-tp1"), deadline_seconds=120),
            CreateProfileCache(target=CACHE),
            AwaitProfileCache(
                profile_cache=ref("AIMProfileCache", "qwen-tp1-cache"), artifacts=(ARTIFACT,), deadline_seconds=300
            ),
            ProtectArtifact(artifact=ref("AIMArtifact", "weights", V1), uid="a-uid"),
            ReverifyProfileCache(
                profile_cache=ref("AIMProfileCache", "qwen-tp1-cache"), artifacts=(ARTIFACT,), deadline_seconds=300
            ),
            CutOver(
                service=service,
                uid="s-uid",
                generation=3,
                operations=operations,
                pinned_generation=4,
                pinned_inference_service_uid=ISVC_UID,
            ),
            ConfirmNoRollout(
                service=service,
                inference_service=ref("InferenceService", name, ISVC),
                inference_service_uid=ISVC_UID,
                inference_service_generation=2,
                profile_name="qwen-tp1",
                deadline_seconds=60,
            ),
        ),
        secret_refs=(SecretReference("team-a", "hf-token", ("token",)),),
        after_expiry=AfterExpiry(("every pod is replaced",)),
        proofs={"bridge": "BridgeCompatible", "inferenceServiceCurrent": "own"},
    )
    return msgspec.structs.replace(unit, **changes)


def manual_unit(name, *codes, namespace="team-a", evidence=None):
    unit_id = f"AIMService/{namespace}/{name}"
    reasons = tuple(
        Finding(code, unit_id, f"found {code} here", field="spec.x", advice=f"mend {code}") for code in codes
    )
    return Unit(id=unit_id, disposition="manual", outcome=codes[0], reasons=reasons, evidence=evidence)


def dedicated_unit(name):
    reference = EvidenceReference(f"dedicated-handoff-team-a.{name}.json", "e" * 64)
    return manual_unit(name, "DedicatedHandoffRequiresQuiescence", evidence=reference)


def plan_of(*units, **changes):
    plan = Plan(
        schema=SCHEMA_URI,
        api_version=API_VERSION,
        kind=KIND,
        schema_version=1,
        tool_version="0.1.0",
        plan_id="plan-1",
        generated_at="2026-06-02T09:00:00Z",
        content_digest="c" * 64,
        cluster=ClusterIdentity(
            "22222222-2222-4222-8222-222222222222",
            (CrdIdentity("aimservices.aim.eai.amd.com", "crd-uid", "v1alpha2", ("v1alpha1", "v1alpha2")),),
            "v1.36.0",
        ),
        namespaces=("team-a", "team-b"),
        runtime_projection_mode="Both",
        accept_observed_generation=False,
        units=tuple(units),
        targets=(
            Target(
                PROFILE,
                {
                    "apiVersion": V2,
                    "kind": "AIMProfile",
                    "metadata": {"name": "qwen-tp1", "namespace": "team-a"},
                    "spec": {"image": "r.example/aim:1"},
                },
            ),
            Target(
                CACHE,
                {
                    "apiVersion": V2,
                    "kind": "AIMProfileCache",
                    "metadata": {"name": "qwen-tp1-cache", "namespace": "team-a"},
                    "spec": {"profileName": "qwen-tp1", "mode": "Shared"},
                },
            ),
        ),
        forecast=Forecast({"create AIMProfile": 1, "patch AIMService": 1, "patch AIMService (dry run)": 1}, 480, 1234),
    )
    return msgspec.structs.replace(plan, **changes)


def files_of(plan, directory="plan-dir"):
    return PlanFiles(Path(directory) / PLAN_NAME, plan, digest_bytes(encode_plan(plan)))


def write_plan(directory, plan, generated=None):
    """Write a plan directory as ``plan`` leaves it, or as an administrator edited it."""
    directory.mkdir(mode=0o700)
    for name, content in ((PLAN_NAME, plan), (GENERATED_NAME, generated or plan)):
        path = directory / name
        path.touch(0o600)
        path.write_bytes(encode_plan(content))
    return directory
