"""Codes that inspecting gives: where a unit stands, which facts of it hold, what remains, and the prerequisites."""

from aim_template_migration.documents.codes.model import Code, CodeKind

_RECOVER = "Stop further changes to the unit, compare live state with plan.json, backup.yaml and the separate credential backup, and choose a manual correction or a reconstruction of the predecessor with the owners of the resources."
_LATER = "Leave it until the target has been validated live and its removal is approved on its own."


def _codes(kind: CodeKind, *rows: tuple[str, str, str]) -> tuple[Code, ...]:
    return tuple(Code(code, kind, summary, advice) for code, summary, advice in rows)


_INSPECTION = _codes(
    "inspection",
    (
        "AsPlanned",
        "Everything pinned is as planned, and no write for the unit is on record.",
        "Apply may be run with this plan; where an old result is in the way, archive it first.",
    ),
    (
        "PartlyApplied",
        "Steps of the unit were begun, its service is not cut over, and everything pinned is as planned.",
        "The service still runs on its template. Settle why the unit stopped before anything else; a later apply starts from live state and is no resume.",
    ),
    (
        "CutOverConfirmed",
        "The service carries this plan's cutover, its confirmation is on record, and the proof still holds.",
        "Nothing to do; verify says what remains.",
    ),
    (
        "CutOverUnconfirmed",
        "The service carries this plan's cutover and nothing of its proof is broken, but no confirmation is on record.",
        "Run verify. Or archive the result and apply the same plan again: it finds its own cutover, writes nothing and confirms it.",
    ),
    (
        "CutOverChanged",
        "The service carries this plan's cutover, and something of the proof that nothing rolled does not hold.",
        "Keep everything as it is, capture status, events and logs, and involve the service's owners; an unobserved cutover is a failure of the infrastructure, never a reason to weaken a check.",
    ),
    (
        "UnitDiffers",
        "The service is not cut over, and something pinned or a target is not as planned.",
        _RECOVER,
    ),
    (
        "UnitUnreadable",
        "Something of the unit can't be read, so nothing is said about it.",
        "Mend what the message names, then inspect again.",
    ),
    (
        "NotTouched",
        "The unit is manual or has nothing left to do; apply makes no write for it.",
        "Read its reasons with show; a manual unit is migrated by hand.",
    ),
    (
        "AttemptStored",
        "The outcome of a write was on no record, and reading shows that it was stored.",
        "The write took effect and is never repeated: a later apply finds it in place.",
    ),
    (
        "AttemptNotStored",
        "The outcome of a write was on no record, and reading after the server's time limit shows that it was not stored.",
        "The write had no effect; a later apply starts from live state.",
    ),
    (
        "AttemptDiffers",
        "The outcome of a write was on no record, and reading shows something else in its place.",
        _RECOVER,
    ),
    (
        "AttemptOpen",
        "The outcome of a write is on no record and can't be told yet: the server may still be working on it, its run may still live, or the object can't be read.",
        "Change nothing, and inspect again when the message says so; never repeat the write.",
    ),
)

_VERIFICATION = _codes(
    "verification",
    (
        "ServiceCutOver",
        "The service has its pinned UID, the target profile, no template, and exactly the plan's pin.",
        "If not, find out whether the cutover was ever sent or has been undone, for example by an old manifest.",
    ),
    (
        "CutoverObserved",
        "The service's generation and observedGeneration equal the pin, it resolves the target profile and is Ready.",
        "If not, treat it as a failure of the infrastructure: check the operator and its log.",
    ),
    (
        "InferenceServiceUnchanged",
        "The InferenceService has its pinned UID, generation, content and owners, and is Ready.",
        "If not, the workload may have rolled: look at its pods, and involve the service's owners.",
    ),
    (
        "PodTemplateUnchanged",
        "The Deployment is the pinned one and has the pinned pod template.",
        "If not, the workload has rolled or is rolling: look at its ReplicaSets and pods.",
    ),
    (
        "PodsUnchanged",
        "The pods are those from before the cutover: same UIDs, same restart counts, same template hash.",
        "If not, look at the pods' events and their nodes.",
    ),
    (
        "ArtifactInPlace",
        "The artifact has its pinned UID, source and claim, is Ready, and has no owner.",
        "If not, weights may download again or may be lost: stop changes and involve the storage owners.",
    ),
    (
        "ArtifactProtected",
        "The artifact is protected from quota eviction.",
        "If not, a quota could evict the artifact once only profile caches use it; find out who removed the annotation.",
    ),
    (
        "ClaimInPlace",
        "The PersistentVolumeClaim has its pinned UID, is Bound and is not going away.",
        "If not, stop changes and involve the storage owners.",
    ),
    (
        "NoSecondInferenceService",
        "No other InferenceService is the service's own or carries its name.",
        "If not, find out which one serves, and whether the operator that made the other one is the bridge.",
    ),
    (
        "NoSecondArtifact",
        "No other ownerless artifact of the namespace holds a source of the unit.",
        "If not, find out which controller made it: the weights may be downloading again.",
    ),
    (
        "TargetCacheReady",
        "The target cache is Ready at its generation and reports exactly the predecessor's artifacts and claims.",
        "If not, read the cache's conditions and status.artifacts, and delete nothing.",
    ),
    (
        "TargetProfileReady",
        "The target profile is Ready at its generation and its projected runtime belongs to it.",
        "If not, read the profile's conditions and the operator's log.",
    ),
    (
        "LegacyTemplateCacheRemains",
        "The predecessor's Shared template cache is still there.",
        _LATER,
    ),
    ("LegacyTemplateRemains", "The predecessor's template is still there.", _LATER),
    (
        "ProtectionRemains",
        "An artifact is protected from quota eviction, so that it takes up quota until somebody lifts the protection.",
        _LATER,
    ),
    (
        "PinActive",
        "The pin keeps the service's InferenceService as it is, until the next change of the service's spec.",
        "Plan that change as a rollout. Keep the annotations and the bridge until then: without them normal rendering resumes with no change at all.",
    ),
)

_PREREQUISITES = _codes(
    "prerequisite",
    (
        "CrdsSuitable",
        "The CRDs serve and store the versions that the migration needs.",
        "Install the CRDs of the bridge build before its operator.",
    ),
    (
        "SameBuild",
        "The AIM CRDs and the operator carry the label of one and the same build.",
        "Install CRDs and operator from the same bridge build, in that order; where labels are absent, compare with your own records.",
    ),
    (
        "OperatorAtWork",
        "The operator's Deployment is rolled out and available.",
        "Name the Deployment with --operator if it is elsewhere, restore it or wait for its rollout, and look again: what an operator reported before it stopped proves nothing.",
    ),
    (
        "NamespacesReadable",
        "The selected namespaces exist, are not terminating and hold at least one AIMService.",
        "Check the names and the kubeconfig's context.",
    ),
    (
        "TemplatePipeline",
        "The services are on the template pipeline, and no annotation would keep them there.",
        "Services of the profile pipeline have nothing left to migrate; find out why an annotation pins a service to the template pipeline.",
    ),
    (
        "BridgeProven",
        "The operator reports for each service, at its generation, that it is the bridge and sees no incompatibility.",
        "Install the bridge build and wait until it has observed the services; read the condition's message where it reports an incompatibility.",
    ),
    (
        "PredecessorsServing",
        "The services and their InferenceServices are Ready and current.",
        "Stop, and restore serving health with the service's owners first.",
    ),
    (
        "OneInferenceService",
        "Each service controls exactly one InferenceService, and no other carries its label.",
        "Find out which one serves before anything is planned for the service.",
    ),
    (
        "ClosureResolved",
        "Each service has exactly one live model and template, a Ready template cache, and Ready artifacts on Bound claims.",
        "Settle with the owners what is missing or ambiguous; the unit stays manual until then, and its UIDs can't be recorded.",
    ),
    (
        "NothingGoingAway",
        "Nothing that the services depend on is terminating or paused.",
        "Find out who deletes or paused it; the unit stays manual until that is settled.",
    ),
    (
        "NotManagedElsewhere",
        "Nothing that the services depend on is managed by GitOps or another tool, or owned by a stranger.",
        "Name the owner of the desired state; such units stay manual, unless what is managed is cluster-scoped, which is only read.",
    ),
    (
        "ReadsPermitted",
        "The identity may read everything that plan, inspect and verify read.",
        "Grant exactly the permissions named; rbac read prints the whole role.",
    ),
    (
        "WritesPermitted",
        "The identity may do everything that apply does, dry run included.",
        "Grant exactly the permissions named to the identity that applies; rbac apply prints the whole role.",
    ),
    (
        "DryRunsPossible",
        "No admission webhook that sees the migration's writes has side effects that keep it from dry runs.",
        "Ask the webhook's owner to declare its side effects (sideEffects: None or NoneOnDryRun).",
    ),
)

INSPECTING_CODES: tuple[Code, ...] = (*_INSPECTION, *_VERIFICATION, *_PREREQUISITES)
