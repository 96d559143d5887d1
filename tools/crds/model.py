"""AIMModel and AIMClusterModel, at v1alpha1 and v1alpha2: the schema and the rules of both versions.

Facts: AIM API v1alpha1 reference (AIMModel) and v1alpha2 reference (AIMModel root CEL, spec-level CEL).
"""

from tools.crds.core import LOCAL_REFERENCES, RESOURCES, env
from tools.crds.derivation import (
    DERIVATION_OVERRIDES,
    DERIVATION_SET,
    PROFILE_SELECTOR,
    SOURCE_REF,
    VERSION_POLICY,
    base_role_rules,
    version_rules,
)
from tools.crds.schema import (
    REQUIRED,
    Rule,
    array,
    boolean,
    described,
    filled,
    integer,
    obj,
    present,
    quantity,
    string,
)
from tools.crds.shared import (
    ACCELERATOR_TYPE,
    COMPONENT_WORDS,
    CUSTOM_PROFILE,
    DISCOVERY_STATUS,
    GENERATED_PRECISIONS,
    HARDWARE,
    IMAGE_METADATA,
    METRIC,
    MODEL_ID,
    PRECISION,
    PROFILE_TYPE,
    PROFILE_TYPES,
    REFERENCE,
    RUNTIME_CONFIG_NAME,
    SOURCE_URI,
    VENDOR,
    custom_profile_needs_identity,
    model_sources,
    named_reference,
    status,
)

_LEGACY = "Not part of v1alpha2: "

_CUSTOM_TEMPLATE = obj(
    {
        "name": string("Alias of the template.", max_length=63),
        "type": string("How well the template is tuned.", enum=PROFILE_TYPES, default="unoptimized"),
        "env": env("Environment variables of the template.", max_items=64),
        "hardware": described(HARDWARE, "Hardware, field by field over custom.hardware."),
        "profile": obj({"metric": METRIC, "precision": PRECISION}, "Metric and precision."),
        "aimId": string("Model family."),
        "modelId": string("Model variant."),
        "customProfile": CUSTOM_PROFILE,
    },
    rules=[custom_profile_needs_identity("self.profile")],
)

_PROFILES = obj(
    {
        "derivedFrom": obj(
            {"selector": PROFILE_SELECTOR, "sourceRef": SOURCE_REF},
            "Where the profiles come from; with spec.image they come from that image.",
        ),
        "versionPolicy": VERSION_POLICY,
        "version": string("Version to take while versionPolicy is pinned."),
        "overrides": DERIVATION_OVERRIDES,
    },
    "Profiles to derive from other profiles.",
    rules=[*version_rules(), *base_role_rules("self.derivedFrom.selector")],
)

_OLDER_THAN_PROFILE_COPY = (
    "has(self.discovery)",
    "has(self.defaultServiceTemplate)",
    "has(self.custom)",
    filled("self.customTemplates"),
    filled("self.modelSources"),
    filled("self.runtimeConfigName"),
    filled("self.env"),
    "has(self.imageMetadata)",
)

_SPEC_RULES = (
    Rule(
        f"!({filled('self.modelSources')}) || has(self.aimId) || {present('self.custom.hardware')} || "
        f"!({filled('self.customTemplates')}) || self.customTemplates.all(t, has(t.hardware))",
        "custom.hardware is required with modelSources and customTemplates, unless each of customTemplates has its own "
        "hardware",
        field=".customTemplates",
    ),
    Rule(
        f"({filled('self.image')}) || ({filled('self.modelId')}) || has(self.profileCopy) || has(self.derivedFrom) || "
        "has(self.profiles) || "
        f"(has(self.aimId) && {present('self.custom.versionPolicy')} && self.custom.versionPolicy != 'pinned')",
        "spec needs a source of profiles: image, modelId or profiles (at v1alpha1 image or profileCopy, or aimId with "
        "a custom.versionPolicy other than pinned)",
        reason=REQUIRED,
    ),
    Rule(
        f"!has(self.profileCopy) || !({' || '.join(f'({older})' for older in _OLDER_THAN_PROFILE_COPY)})",
        "profileCopy excludes discovery, defaultServiceTemplate, custom, customTemplates, modelSources, "
        "runtimeConfigName, env and imageMetadata: remove them, or remove profileCopy",
        field=".profileCopy",
    ),
)

SPEC = obj(
    {
        "image": string("Image whose profiles are discovered."),
        "modelId": string("Model to generate profiles for, in the form organization/name.", pattern=MODEL_ID),
        "aimId": string("Model family."),
        "source": obj(
            {
                "uri": string("Where the weights are; hf://<modelId> when unset.", pattern=SOURCE_URI),
                "size": quantity("Expected size."),
                "precision": string("Precision of the weights.", enum=GENERATED_PRECISIONS),
                "env": env("Credentials and settings of the download."),
            },
            "Weights of a model that is named by modelId.",
        ),
        "accelerator": obj(
            {
                "vendor": VENDOR,
                "model": string("Accelerator model.", max_length=64),
                "count": integer("Number of accelerators; 1 when unset.", minimum=0),
                "partitioningMode": string("Partitioning of the accelerators."),
            },
            "Accelerator of a model that is named by modelId.",
        ),
        "profiles": _PROFILES,
        "runtimeConfigName": RUNTIME_CONFIG_NAME,
        "imagePullSecrets": LOCAL_REFERENCES,
        "serviceAccountName": string("Service account of the discovery and of the inference pods."),
        "env": env("Environment variables of the discovery."),
        "resources": RESOURCES,
        "discovery": obj(
            {
                "extractMetadata": boolean("Whether the image's labels are read.", default=True),
                "createServiceTemplates": boolean("Whether templates are made.", default=True),
            },
            "Discovery of what is in the image.",
        ),
        "defaultServiceTemplate": string("Without effect."),
        "imageMetadata": described(IMAGE_METADATA, "Given metadata, instead of those of the image."),
        "profileCopy": described(DERIVATION_SET, f"Profiles to copy. {_LEGACY}use profiles."),
        "derivedFrom": described(DERIVATION_SET, f"Profiles to derive. {_LEGACY}use profiles.derivedFrom."),
        "custom": obj(
            {
                "hardware": HARDWARE,
                "type": PROFILE_TYPE,
                "versionPolicy": string(
                    "Which versions of the base to take; any is an older word for all.",
                    enum=["pinned", "latest", "all", "any"],
                    default="pinned",
                ),
            },
            f"Own weights on a base image. {_LEGACY}use image for the base and profiles.derivedFrom.",
        ),
        "customTemplates": array(
            _CUSTOM_TEMPLATE,
            f"Templates for own weights. {_LEGACY}use AIMProfileSet or profiles.derivedFrom.",
            max_items=16,
        ),
        "modelSources": model_sources(f"Own weights. {_LEGACY}sources are on each AIMProfile.", max_items=1),
    },
    "The model and where its profiles come from.",
    rules=_SPEC_RULES,
)

_COUNT = integer()

STATUS = status(
    COMPONENT_WORDS,
    {
        "resolvedRuntimeConfig": REFERENCE,
        "imageMetadata": IMAGE_METADATA,
        "sourceType": string(enum=["Image", "Custom"]),
        "kind": string("How the model was onboarded.", enum=["Image", "Derived", "Custom", "Generated"]),
        "profileGeneration": obj(
            {"strategy": string(enum=["RuntimeFallback"]), "matchedFallbacks": array(string())},
            "How profiles were generated.",
        ),
        "aimId": string(),
        "baseImage": string(),
        "version": string("Tag of the image."),
        "discoveryCacheRef": named_reference("The discovery catalog."),
        "discovery": obj(DISCOVERY_STATUS, "Attempts of the discovery."),
        "discoveredProfiles": obj(
            {
                "total": _COUNT,
                "supported": _COUNT,
                "unsupported": _COUNT,
                "byHardware": array(
                    obj(
                        {
                            "acceleratorType": ACCELERATOR_TYPE,
                            "acceleratorModel": string(),
                            "acceleratorCount": _COUNT,
                            "supported": boolean(),
                            "profiles": array(obj({"metric": METRIC, "precision": PRECISION})),
                        },
                        required=["supported"],
                    ),
                    list_type="atomic",
                ),
            },
            "What the image offers.",
        ),
        "profileSetRef": named_reference("The profile set that was made."),
        "managedProfiles": obj(
            {"total": _COUNT, "ready": _COUNT, "notAvailable": _COUNT, "deployable": _COUNT, "base": _COUNT},
            "Profiles that belong to the model.",
            required=["total", "ready", "notAvailable", "deployable", "base"],
        ),
    },
)
