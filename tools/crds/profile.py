"""AIMProfile, AIMProfileSet, their cluster-scoped forms and AIMProfileCache, which exist at v1alpha2 only.

Facts: AIM API v1alpha2 reference (profiles, profile sets, AIMProfileCache).
"""

from tools.crds.core import LOCAL_REFERENCES, NODE_AFFINITY, RESOURCES, env
from tools.crds.derivation import DERIVATION_SET
from tools.crds.schema import (
    FORBIDDEN,
    REQUIRED,
    Rule,
    Schema,
    any_json,
    array,
    boolean,
    filled,
    integer,
    obj,
    present,
    string,
    with_rules,
)
from tools.crds.shared import (
    ACCELERATOR_TYPE,
    ARTIFACT_REPORTS,
    AUTO_SELECTION,
    COMPONENT_WORDS,
    ENGINE_ENV,
    METRIC,
    PRECISIONS,
    PROFILE_TYPE,
    RUNTIME_CONFIG_NAME,
    VENDOR,
    model_sources,
    status,
)

_ACCELERATOR = r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$"


def _spec(caching: str) -> Schema:
    return obj(
        {
            "image": string("Container image that serves the model.", min_length=1),
            "primary": boolean("Whether this is the preferred profile of its model.", default=False),
            "aimId": with_rules(
                string("Model family, for example qwen/qwen3-32b; a profile without one is a base definition."),
                Rule(
                    "oldSelf == '' || self == oldSelf",
                    "aimId is immutable once set: create another profile for another model family",
                ),
            ),
            "modelId": string("Model variant."),
            "profileId": string("Identifier of the profile in its image."),
            "engine": string("Inference engine, for example vllm."),
            "variant": string("Distinguishes otherwise equal profiles.", pattern=r"^[a-z][a-z0-9-]*$"),
            "metric": METRIC,
            "precision": string("Numeric precision.", enum=PRECISIONS),
            "type": PROFILE_TYPE,
            "autoSelectionPolicy": AUTO_SELECTION,
            "manualSelectionOnly": boolean("Deprecated, without effect.", default=False),
            "engineArgs": any_json("Arguments of the engine; values keep their types."),
            "engineEnv": ENGINE_ENV,
            "acceleratorVendor": VENDOR,
            "acceleratorModel": string("Accelerator model, for example MI300X.", pattern=_ACCELERATOR, max_length=63),
            "acceleratorType": ACCELERATOR_TYPE,
            "acceleratorCount": integer("Number of GPUs or of CPU cores; 0 requests no device.", minimum=0),
            "acceleratorPartitioningMode": string(
                "unpartitioned, partitioned, or a partitioning scheme.",
                default="unpartitioned",
                pattern=_ACCELERATOR,
                max_length=63,
            ),
            "resources": RESOURCES,
            "modelSources": model_sources("The weights; set together with aimId."),
            "containerEnv": env("Environment variables of the container."),
            "imagePullSecrets": LOCAL_REFERENCES,
            "serviceAccountName": string("Service account of the inference pods."),
            "features": array(string(), "What the profile supports, for example adapters.", list_type="set"),
            "caching": obj(
                {
                    "enabled": boolean("Whether the profile makes an AIMProfileCache of its own.", default=False),
                    "env": env("Environment variables of the download."),
                },
                caching,
            ),
        },
        "One way to serve a model.",
        required=["image", "primary"],
    )


SPEC = _spec("A cache that belongs to the profile.")
# Known to the schema so that it is refused with a reason, and neither dropped nor called unknown.
CLUSTER_SPEC = _spec("Refused here: caches exist in namespaces only.")

STATUS = status(
    COMPONENT_WORDS,
    {
        "deployable": boolean("Whether services can resolve to the profile.", default=False),
        "sourceModel": obj(
            {"name": string(), "kind": string(enum=["AIMModel", "AIMClusterModel"]), "namespace": string()},
            "The model that published the profile.",
            required=["name", "kind"],
        ),
        "origin": string(enum=["discovered", "derived", "generated", "user-authored"]),
        "version": string("Tag of the image."),
        "baseImage": string(),
        "matchingNodes": integer(),
        "hardwareSummary": string("The hardware for display, for example 1 x MI300X."),
        "resources": RESOURCES,
        "resolvedNodeAffinity": NODE_AFFINITY,
        "projectedRuntimeName": string("The ServingRuntime that was made for the profile."),
        "projectedModelSlugRuntimeName": string("The ServingRuntime that was made for the model family."),
    },
    required=("deployable",),
)

_AIM_ID = filled("self.spec.aimId")
_SOURCES = filled("self.spec.modelSources")
_PARTITIONING = "self.spec.acceleratorPartitioningMode"

RULES = (
    Rule(
        f"!({_AIM_ID}) || ({_SOURCES})",
        "spec.modelSources is required with spec.aimId: a deployable profile has both, a base definition neither",
        field=".spec.modelSources",
        reason=REQUIRED,
    ),
    Rule(
        f"!({_SOURCES}) || ({_AIM_ID})",
        "spec.aimId is required with spec.modelSources: a deployable profile has both, a base definition neither",
        field=".spec.aimId",
        reason=REQUIRED,
    ),
    Rule(
        "!(has(self.spec.acceleratorType) && self.spec.acceleratorType == 'cpu') || "
        f"!({present(_PARTITIONING)}) || {_PARTITIONING} in ['', 'unpartitioned']",
        "spec.acceleratorPartitioningMode must be unpartitioned with spec.acceleratorType cpu",
        field=".spec.acceleratorPartitioningMode",
    ),
)
CLUSTER_RULES = (
    *RULES,
    Rule(
        "!has(self.spec.caching)",
        "spec.caching is not part of AIMClusterProfile, since caches exist in namespaces only: set "
        "spec.caching.enabled on an AIMProfile, or let the AIMService make its AIMProfileCache",
        field=".spec.caching",
        reason=FORBIDDEN,
    ),
)

SET_SPEC = DERIVATION_SET
SET_STATUS = status(
    COMPONENT_WORDS,
    {
        "managedProfiles": obj(
            {name: integer() for name in ("total", "ready", "notAvailable", "deployable", "base")},
            "Profiles that belong to the set.",
            required=["total", "ready", "notAvailable", "deployable", "base"],
        )
    },
)

CACHE_SPEC = obj(
    {
        "profileName": string("The profile whose weights are cached.", min_length=1),
        "profileScope": string("Where the profile is.", enum=["Namespace", "Cluster"]),
        "storageClassName": string("Storage class of the artifacts."),
        "env": env("Environment variables of the download."),
        "runtimeConfigName": RUNTIME_CONFIG_NAME,
        "mode": string("Whether the artifacts are shared.", enum=["Shared", "Dedicated"], default="Shared"),
        "requiresAdapterDisk": boolean("Whether the artifacts need a disk for adapters."),
    },
    "The weights to cache.",
    required=["profileName", "profileScope"],
)
CACHE_STATUS = status(COMPONENT_WORDS, {"artifacts": ARTIFACT_REPORTS})
