"""AIMServiceTemplate, AIMClusterServiceTemplate and AIMTemplateCache, which exist at v1alpha1 only.

Facts: AIM API v1alpha1 reference (templates, profile data cached on templates, AIMTemplateCache).
"""

from tools.crds.core import LOCAL_REFERENCES, NODE_AFFINITY, RESOURCES, env
from tools.crds.schema import (
    Schema,
    any_json,
    boolean,
    date_time,
    described,
    immutable,
    integer,
    mapping,
    obj,
    string,
)
from tools.crds.shared import (
    ARTIFACT_REPORTS,
    COMPONENT_WORDS,
    CUSTOM_PROFILE,
    DISCOVERY_STATUS,
    HARDWARE,
    METRIC,
    PRECISION,
    PROFILE_TYPE,
    REFERENCE,
    RUNTIME_CONFIG_NAME,
    RUNTIME_PARAMETERS,
    custom_profile_needs_identity,
    model_sources,
    status,
)

_FIELDS: dict[str, Schema] = {
    "modelName": immutable(
        string("The model that the template belongs to.", min_length=1), "modelName", "create another template"
    ),
    **RUNTIME_PARAMETERS,
    "runtimeConfigName": RUNTIME_CONFIG_NAME,
    "aimId": string("Model family."),
    "modelId": string("Model variant."),
    "customProfile": CUSTOM_PROFILE,
    "imagePullSecrets": LOCAL_REFERENCES,
    "serviceAccountName": string("Service account of the discovery and of the inference pods."),
    "resources": RESOURCES,
    "modelSources": model_sources("The weights; given here, nothing is discovered."),
    "profileId": string("Identifier of the profile in the image."),
    "type": PROFILE_TYPE,
    "env": env("Environment variables of the inference container."),
}


def _spec(fields: dict[str, Schema]) -> Schema:
    return obj(
        fields,
        "One way to serve a model.",
        required=["modelName"],
        rules=[custom_profile_needs_identity("self")],
    )


CLUSTER_TEMPLATE_SPEC = _spec(_FIELDS)
TEMPLATE_SPEC = _spec(
    {
        **_FIELDS,
        "caching": obj(
            {
                "enabled": boolean("Whether the template makes a cache of its own.", default=False),
                "env": env("Environment variables of the download."),
            },
            "A cache that belongs to the template.",
        ),
    }
)

TEMPLATE_STATUS = status(
    COMPONENT_WORDS,
    {
        "resolvedRuntimeConfig": REFERENCE,
        "resolvedModel": REFERENCE,
        "resolvedCache": REFERENCE,
        "resolvedHardware": described(HARDWARE, "Hardware of the profile, else of the spec."),
        "resolvedNodeAffinity": NODE_AFFINITY,
        "hardwareSummary": string("The hardware for display, for example 1 x MI300X."),
        "modelSources": model_sources("The sources that caches use."),
        "version": string("Tag of the model's image."),
        "profile": obj(
            {
                "engine_args": any_json("Arguments of the engine."),
                "env_vars": mapping(string(), "Environment variables of the engine."),
                "metadata": obj(
                    {
                        "aimId": string(),
                        "modelId": string(),
                        "engine": string(),
                        "gpu": string(),
                        "gpuCount": integer(),
                        "metric": METRIC,
                        "precision": PRECISION,
                        "type": PROFILE_TYPE,
                    }
                ),
                "originalDiscoveryOutput": any_json(),
            },
            "The profile that was discovered.",
        ),
        "discoveryJob": REFERENCE,
        "discovery": obj(
            {**DISCOVERY_STATUS, "identityCheckHash": string(), "lastIdentityCheckTime": date_time()},
            "Attempts of the discovery.",
        ),
    },
)

CACHE_SPEC = obj(
    {
        "templateName": string("The template whose weights are cached.", min_length=1),
        "templateScope": string("Where the template is.", enum=["Namespace", "Cluster", "Unknown"]),
        "env": env("Environment variables of the download."),
        "imagePullSecrets": LOCAL_REFERENCES,
        "storageClassName": string("Storage class of the artifacts."),
        "downloadImage": string("Without effect."),
        "modelSources": model_sources("Without effect: sources come from the template."),
        "runtimeConfigName": RUNTIME_CONFIG_NAME,
        "mode": string("Whether the artifacts are shared.", enum=["Dedicated", "Shared"], default="Shared"),
    },
    "The weights to cache.",
    required=["templateName", "templateScope"],
)

CACHE_STATUS = status(
    COMPONENT_WORDS,
    {
        "resolvedRuntimeConfig": REFERENCE,
        "resolvedTemplateKind": string("AIMServiceTemplate or AIMClusterServiceTemplate."),
        "artifacts": ARTIFACT_REPORTS,
    },
)
