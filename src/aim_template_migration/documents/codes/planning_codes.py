"""Codes that planning gives: outcomes, reasons, warnings and imputation rules.

A reason is also the outcome of a unit where it is the first, in this order, that was found.
"""

from aim_template_migration.documents.codes.model import Code

_OUTCOMES = (
    Code(
        "SharedNoRollout",
        "outcome",
        "Every condition of automatic handling holds: the service can be cut over with its InferenceService untouched.",
        "Review the unit's pins, imputations and proposed objects, then run apply without --commit first.",
    ),
    Code(
        "Unreferenced",
        "outcome",
        "A hand-authored legacy object without an owner is used by no service of the selected namespaces.",
        "Decide whether it is still needed; if so, let convert write its v1alpha2 equivalent (show prints the command).",
    ),
)

_PIPELINE = (
    Code(
        "AlreadyMigrated",
        "reason",
        "The profile pipeline owns the service already, by its annotation reconciler-pipeline or by spec.profile.",
        "Nothing is left to migrate for this service.",
    ),
    Code(
        "PipelineAnnotation",
        "reason",
        "The annotation aim.eai.amd.com/reconciler-pipeline: template keeps the service on the template pipeline, also after a cutover.",
        "Find out why the annotation was set; if it may go, remove it and plan again.",
    ),
    Code(
        "DedicatedHandoffRequiresQuiescence",
        "reason",
        "The caching mode is Dedicated (or the older Never): artifacts would have to change owners while no writer is active.",
        "Follow the runbook's section Manual Dedicated handoff with this unit's evidence file; it is never automatic.",
    ),
    Code(
        "ReducedProjectionMode",
        "reason",
        "The plan was made for the runtime projection mode Reduced, which publishes no runtime per profile for the pre-cutover fence.",
        "Run the operator in mode Exhaustive or Both, and state that mode when planning again.",
    ),
    Code(
        "BridgeNotProven",
        "reason",
        "No condition BridgeCompatible=True at the service's present generation proves that the operator is the bridge build.",
        "Install the CRDs and the operator of one bridge build and wait until it has observed the service; on a bridge that sets only "
        "status.observedGeneration, plan with --accept-observed-generation.",
    ),
    Code(
        "BridgeCompatibilityWarning",
        "reason",
        "The bridge reports BridgeCompatible=False for the service.",
        "Read the condition's message with kubectl describe, remove the cause, and plan again.",
    ),
    Code(
        "CrdVersionsUnsuitable",
        "reason",
        "A CustomResourceDefinition is missing, does not serve or store the version that the migration needs, or converts "
        "objects by a webhook.",
        "Install the CRDs of the bridge build before its operator, and plan again.",
    ),
)

_SERVICE = (
    Code(
        "AdaptersUnsupported",
        "reason",
        "The service has adapters, or adapterMode dynamic even with none: target profiles and adapter storage are not migrated in place.",
        "Leave the service on the template pipeline until adapters are supported, or migrate it manually.",
    ),
    Code(
        "OverridesPresent",
        "reason",
        "The service has spec.overrides or spec.profileOverrides, which change what it resolves to.",
        "Author a template (or a profile) that states the overridden values, or migrate the service manually.",
    ),
    Code(
        "ServiceSettingNotCarried",
        "reason",
        "The service has a setting, such as spec.env, that the profile pipeline does not carry to the container.",
        "Move the setting into the template's env, or migrate the service manually.",
    ),
    Code(
        "CustomModel",
        "reason",
        "The service states a custom model inline, or its model is a custom one with weights of its own.",
        "Replace it by a base-image AIMModel and a derived AIMModel, and migrate the service manually.",
    ),
    Code(
        "ModelUnresolved",
        "reason",
        "The service does not resolve to exactly one live model that is also its template's.",
        "Make the reference unambiguous, wait for the service to report it, and plan again.",
    ),
    Code(
        "TemplateUnresolved",
        "reason",
        "The service does not report exactly one live template, by UID.",
        "Wait until the service reports the template that it uses, and plan again.",
    ),
    Code(
        "CacheUnresolved",
        "reason",
        "The service does not report exactly one live template cache, by UID, or several Shared caches fit its template.",
        "Find out which cache serves the workload, remove the ambiguity with the owners, and plan again.",
    ),
    Code(
        "AmbiguousInferenceService",
        "reason",
        "The service does not control exactly one InferenceService, or another one carries its label.",
        "Where it has none, have the operator restore it first. Where there are several (an operator upgrade can leave two), find out which one serves, and remove the others with the owners. Then plan again.",
    ),
)

_CLOSURE = (
    Code(
        "Terminating",
        "reason",
        "An object of the closure, or the namespace, is being deleted.",
        "Wait for the deletion to end or find out what blocks it, and plan again.",
    ),
    Code(
        "Paused",
        "reason",
        "An object of the closure has the annotation aim.eai.amd.com/reconciliation-paused: true.",
        "Find out who paused it and why; this tool never sets or clears a pause.",
    ),
    Code(
        "ExternallyManaged",
        "reason",
        "An object of the closure is managed from outside: a marker, a field manager or an owner that is no part of the operator.",
        "Change the desired state where it is managed, so that it does not race the migration, or migrate the unit manually.",
    ),
    Code(
        "SecretLiteral",
        "reason",
        "A literal in the closure looks like a secret; it is replaced in every document of the plan.",
        "Move the value into a Secret and reference it, back the Secret up separately, and plan again.",
    ),
    Code(
        "PredecessorNotReady",
        "reason",
        "The service or its InferenceService is not Ready, or the service's status is of an older generation.",
        "Stop and restore healthy predecessor serving first.",
    ),
    Code(
        "InferenceServiceNotCurrent",
        "reason",
        "The InferenceService is Ready, but nothing proves that its status and its one Deployment are of the present generation.",
        "Wait for the roll-out to finish, and plan again.",
    ),
    Code(
        "LegacyLabelsInvalid",
        "reason",
        "The InferenceService lacks the label of its legacy template, names another template, or carries a profile label.",
        "Find out which pipeline wrote it last; the bridge would not preserve it.",
    ),
    Code(
        "CacheNotReady",
        "reason",
        "The template cache is not Ready, or not Shared.",
        "Wait for the cache, or find out why it is not Ready, and plan again.",
    ),
    Code(
        "ArtifactUnresolved",
        "reason",
        "A model source has not exactly one Ready artifact of a compatible storage class that the template cache reports.",
        "Compare the template's sources, the cache's report and the artifacts; a wrong match would download weights again.",
    ),
    Code(
        "ArtifactOwned",
        "reason",
        "The artifact of a model source has an owner, so a Shared profile cache would not adopt it.",
        "Migrate the unit manually: changing owners is part of the Dedicated handoff.",
    ),
    Code(
        "PvcUnresolved",
        "reason",
        "An artifact's PersistentVolumeClaim is absent, not Bound, not its own, or not what the InferenceService mounts.",
        "Compare the artifact, the claim and the InferenceService's volumes before anything is changed.",
    ),
)

_TARGET = (
    Code(
        "TargetProfileConflict",
        "reason",
        "A profile of the template's name exists with another content, or would win over the target.",
        "Compare both with show; adopt the difference deliberately, or migrate the unit manually.",
    ),
    Code(
        "TargetNotDiscovered",
        "reason",
        "The target profile is absent and the template is not hand-authored, so the model's own discovery should publish the profile.",
        "Let v1alpha2 discovery produce the profile (the simpler path), and plan again.",
    ),
    Code(
        "UnmappedField",
        "reason",
        "A field of the closure has no exact counterpart, or is not known to this tool.",
        "Decide what the field becomes; then author the profile by hand, or migrate the unit manually.",
    ),
    Code(
        "ImputationNotSafe",
        "reason",
        "A value that the target needs can't be known, or its sources disagree.",
        "State the value on the template, or author the profile by hand, and plan again.",
    ),
    Code(
        "ClusterTargetMissing",
        "reason",
        "The template is cluster-scoped and no AIMClusterProfile of its name exists; the tool never writes cluster-scoped objects.",
        "Publish the AIMClusterProfile first (through the cluster model's discovery, or by hand), and plan again.",
    ),
    Code(
        "TargetWouldCapture",
        "reason",
        "Creating the target profile would change what another service or InferenceService resolves to.",
        "Give the other one an explicit profile name, or migrate this unit manually.",
    ),
    Code(
        "TargetProfileOwnsCache",
        "reason",
        "The target profile has spec.caching.enabled, so it would make a cache of its own beside the service-driven one.",
        "Migrate the unit manually; the automatic path needs one unique service-driven cache.",
    ),
    Code(
        "AnotherMatchingCache",
        "reason",
        "Another Shared AIMProfileCache matches the target profile, so either could be used.",
        "Find out who made it; the automatic path needs one unique service-driven cache.",
    ),
    Code(
        "TargetCacheOwned",
        "reason",
        "The service-driven AIMProfileCache exists with an owner.",
        "Migrate the unit manually; the automatic path needs an ownerless cache.",
    ),
    Code(
        "TargetCacheConflict",
        "reason",
        "The service-driven AIMProfileCache exists with another content.",
        "Compare both with show; a cache is never updated once it exists.",
    ),
    Code(
        "TargetDisagreement",
        "reason",
        "Two otherwise automatic units want different content for one target.",
        "Make the services' storage class, runtime config and download environment agree, or migrate them manually.",
    ),
)

_WARNINGS = (
    Code(
        "LastAppliedPresent",
        "warning",
        "The service carries kubectl's last-applied-configuration of the old manifest.",
        "Commit a v1alpha2 manifest before anybody applies the old one: kubectl apply is then refused and leaves the pipeline in error, "
        "kubectl replace silently restores the template and drops the pin.",
    ),
    Code(
        "PinExpires",
        "warning",
        "A later change of the service's spec, or the removal of the pin's annotations, ends preservation, and rendering may roll the workload.",
        "Plan the first change after the cutover like a roll-out; afterExpiry says what would change.",
    ),
    Code(
        "CacheShared",
        "warning",
        "Other services use the same template cache.",
        "Keep the legacy cache until all of them have moved and it was decided separately to remove it.",
    ),
    Code(
        "OlderFieldManagers",
        "warning",
        "A field manager name of an older operator owns fields of the InferenceService, which could survive a later rendering.",
        "Before the pin expires, check with kubectl get --show-managed-fields which fields it owns.",
    ),
    Code(
        "ClusterObjectManagedElsewhere",
        "warning",
        "A cluster-scoped object that the unit uses is managed from outside; the migration pins and reads it, and never writes it.",
        "Ask its owners to change nothing of it until the run has ended: a change stops the units that use it.",
    ),
    Code(
        "SecretsReferenced",
        "warning",
        "The closure references Secrets, which are never read and in no backup.",
        "Back the named Secrets up with the approved Secret process.",
    ),
    Code(
        "ObservedGenerationAccepted",
        "warning",
        "The proof of the bridge is status.observedGeneration alone, accepted by --accept-observed-generation.",
        "Make sure that the running operator is the bridge build: an operator that is not renders the InferenceService anew.",
    ),
    Code(
        "ClusterIdentityPartial",
        "warning",
        "The UID of the kube-system namespace may not be read, so the plan identifies the cluster by its CRDs alone.",
        "Grant get on the namespace kube-system, or make sure by other means that plan and cluster belong together.",
    ),
    Code(
        "NamespaceWithoutServices",
        "warning",
        "A selected namespace has no AIMService.",
        "Check the spelling of the namespace and the kubeconfig's context.",
    ),
)

_IMPUTATIONS = (
    Code(
        "FromDiscoveredProfile",
        "imputation",
        "Taken from the profile that discovery found for the template (status.profile).",
        "Check that it still describes the image in use.",
    ),
    Code(
        "FromDiscoveredModelSources",
        "imputation",
        "Taken from the model sources that the template reports (status.modelSources).",
        "Check that they are the weights in use.",
    ),
    Code(
        "FromResolvedHardware",
        "imputation",
        "Taken from the hardware that the template resolved (status.resolvedHardware).",
        "Check it against the Deployment's resources.",
    ),
    Code(
        "FromHardwareKind",
        "imputation",
        "The template's hardware is stated under gpu, so the accelerator type is gpu.",
        "Nothing to do.",
    ),
    Code(
        "FromModelImage",
        "imputation",
        "Taken from the image of the model that the service resolves.",
        "It equals what the InferenceService runs; check that the tag is the one you want to keep.",
    ),
    Code(
        "FromDeploymentImageAnnotation",
        "imputation",
        "Taken from the template's annotation deployment-image-ref, which wins over the model's image.",
        "It equals what the InferenceService runs; check that the tag is the one you want to keep.",
    ),
    Code(
        "FromModelIdentity",
        "imputation",
        "The AIM id is taken from the model's spec.aimId or status.aimId.",
        "Check that selectors by aimId should find the new profile.",
    ),
    Code(
        "FromImageMetadata",
        "imputation",
        "The AIM id is the canonical name in the image's metadata, because nothing states the AIM id itself.",
        "Check that it is the id by which profiles of this model are selected.",
    ),
    Code(
        "FromModelSource",
        "imputation",
        "The model id is that of the only model source, as the operator does it for profiles with replaced sources.",
        "Nothing to do.",
    ),
    Code(
        "FromRuntimeConfig",
        "imputation",
        "Environment of the runtime configs, which the template pipeline merges into the container and the profile pipeline does not.",
        "Keep the profile in step when the runtime config changes; the profile pipeline will not do so.",
    ),
    Code(
        "FromEngineArgsVariable",
        "imputation",
        "Engine arguments from the variable AIM_ENGINE_ARGS, deep-merged as the template pipeline merges them.",
        "Check the merged spec.engineArgs of the target profile.",
    ),
    Code(
        "TakenFromTarget",
        "imputation",
        "A field of the existing target profile that a template can't express; it is left as found.",
        "Check that the value suits the service, because it applies once the pin expires.",
    ),
)

PLANNING_CODES: tuple[Code, ...] = (*_OUTCOMES, *_PIPELINE, *_SERVICE, *_CLOSURE, *_TARGET, *_WARNINGS, *_IMPUTATIONS)
