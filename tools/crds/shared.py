"""Structures that several AIM kinds have in common.

Facts: AIM API v1alpha1 reference (shared vocabulary) and v1alpha2 reference (shared enums, shared structs).
"""

from tools.crds.core import CONDITIONS, GATEWAY_REFERENCE, HOSTNAME, env
from tools.crds.schema import (
    Rule,
    Schema,
    Shared,
    any_json,
    array,
    boolean,
    date_time,
    filled,
    immutable,
    integer,
    mapping,
    obj,
    present,
    quantity,
    string,
)

MODEL_ID = r"^[a-zA-Z0-9_-]+/[a-zA-Z0-9._-]+$"
SOURCE_URI = r"^(hf|s3)://[^ \t\r\n]+$"

_FLOATS = ("fp4", "fp8", "fp16", "fp32")
_OTHERS = ("bf16", "int4", "int8")
ANY_PRECISION = ("auto", *_FLOATS, "fp64", *_OTHERS)
PRECISIONS = (*_FLOATS, "fp64", *_OTHERS)
# AIMModel.spec.source lacks fp64, unlike a model source.
GENERATED_PRECISIONS = (*_FLOATS, *_OTHERS)
PROFILE_TYPES = ("optimized", "general", "preview", "unoptimized")
VENDORS = ("amd", "nvidia")

METRIC = string("What the configuration is optimized for.", enum=["latency", "throughput"])
PRECISION = string("Numeric precision; auto leaves the choice to the engine.", enum=ANY_PRECISION)
PROFILE_TYPE = string("How well the configuration is tuned.", enum=PROFILE_TYPES)
VENDOR = string("Vendor of the accelerator; unset means AMD.", enum=VENDORS)
ACCELERATOR_TYPE = string("Type of accelerator.", enum=["gpu", "cpu"])
AUTO_SELECTION = string(
    "Which services may select the profile by themselves.", enum=["optimized", "any"], default="optimized"
)
ENGINE_ENV = mapping(string(), "Environment variables of the engine, by name.")

RUNTIME_CONFIG_NAME = string(
    "AIMRuntimeConfig or AIMClusterRuntimeConfig to use; empty or default selects the one named default."
)

REFERENCE = Shared(
    "reference",
    obj(
        {
            "name": string(),
            "namespace": string("Empty for cluster-scoped objects."),
            "scope": string(enum=["Namespace", "Cluster", "Merged", "Unknown"]),
            "kind": string(),
            "uid": string(),
        },
        "An object that was resolved.",
    ),
)


def named_reference(description: str) -> Schema:
    """Return the schema of a reference by name and namespace alone."""
    return obj({"name": string(), "namespace": string()}, description)


HARDWARE = Shared(
    "hardware",
    obj(
        {
            "gpu": obj(
                {
                    "requests": integer("Number of GPUs; 0 selects GPU nodes without claiming a device.", minimum=0),
                    "model": string("GPU model, for example MI300X.", max_length=64),
                    "minVram": quantity("Least memory per GPU."),
                    "resourceName": string("Resource that the GPUs are requested as.", default="amd.com/gpu"),
                },
                "GPU requirements.",
                rules=[
                    Rule(
                        f"!({filled('self.model')} && has(self.minVram))",
                        "gpu.model and gpu.minVram exclude each other: name the model or its least memory",
                    )
                ],
            ),
            "cpu": obj(
                {"requests": quantity("CPU request."), "limits": quantity("CPU limit.")},
                "CPU requirements.",
                required=["requests"],
            ),
        },
        "Hardware that one replica needs.",
        rules=[Rule("has(self.gpu) || has(self.cpu)", "hardware needs gpu or cpu")],
    ),
)

_FROZEN = "create another object instead"
RUNTIME_PARAMETERS: dict[str, Schema] = {
    "metric": immutable(METRIC, "metric", _FROZEN),
    "precision": immutable(PRECISION, "precision", _FROZEN),
    "hardware": immutable(HARDWARE, "hardware", _FROZEN),
}

MODEL_SOURCE = Shared(
    "modelSource",
    obj(
        {
            "modelId": string("Model in the form organization/name.", pattern=MODEL_ID),
            "sourceUri": string("Where the weights are: hf://... or s3://...", pattern=SOURCE_URI),
            "size": quantity("Expected size; found by a job when unset."),
            "precision": string("Precision of the weights.", enum=PRECISIONS),
            "env": env("Credentials and settings of the download."),
        },
        "A source of model weights.",
        required=["modelId", "sourceUri"],
    ),
)


def model_sources(description: str, *, min_items: int | None = None, max_items: int | None = None) -> Schema:
    """Return the schema of a list of sources of model weights."""
    return array(MODEL_SOURCE, description, min_items=min_items, max_items=max_items)


CUSTOM_PROFILE = Shared(
    "customProfile",
    obj(
        {"engineArgs": any_json("Arguments of the engine."), "envVars": ENGINE_ENV},
        "A profile that is given in place instead of being discovered.",
    ),
)

IMAGE_METADATA = Shared(
    "imageMetadata",
    obj(
        {
            "model": obj(
                {
                    "canonicalName": string(),
                    "source": string(),
                    "tags": array(string()),
                    "versions": array(string()),
                    "variants": array(string()),
                    "hfTokenRequired": boolean(),
                    "title": string(),
                    "descriptionFull": string(),
                    "releaseNotes": string(),
                    "recommendedDeployments": array(
                        obj(
                            {
                                "gpuModel": string(),
                                "gpuCount": integer(),
                                "precision": string(),
                                "metric": string(),
                                "profileId": string(),
                                "description": string(),
                            }
                        )
                    ),
                },
                "The model in the image.",
            ),
            "oci": obj(
                {
                    name: string()
                    for name in (
                        "title",
                        "description",
                        "licenses",
                        "vendor",
                        "authors",
                        "source",
                        "documentation",
                        "created",
                        "revision",
                        "version",
                    )
                },
                "Standard labels of the image.",
            ),
            "originalLabels": mapping(string(), "All labels of the image."),
            "baseImageRef": string("Base image that the image was built from."),
        },
        "What the labels of the image say.",
    ),
)

DOWNLOAD_FILTER = obj(
    {"include": array(string()), "exclude": array(string())},
    "File name patterns of the download; absent leaves out files in subdirectories, empty takes everything.",
)

SERVICE_RUNTIME: dict[str, Schema] = {
    "storage": obj(
        {
            "defaultStorageClassName": string("Storage class of the volumes for weights."),
            "pvcHeadroomPercent": integer("Space to add to the size of the weights.", default=10, minimum=0),
            "downloadFilter": DOWNLOAD_FILTER,
            "adapterDiskStorageClassName": string("Storage class of adapter disks."),
            "adapterDiskSize": quantity("Size of adapter disks."),
        },
        "Storage for weights.",
    ),
    "routing": obj(
        {
            "enabled": boolean("Whether an HTTPRoute is made; unset inherits."),
            "gatewayRef": GATEWAY_REFERENCE,
            "hostnames": array(HOSTNAME, "Host names of the HTTPRoute."),
            "pathTemplate": string("Path of the route, with {JSONPath} groups that are read from the service."),
            "requestTimeout": string("Duration such as 30m; unset means no timeout."),
            "annotations": mapping(string(), "Annotations of the HTTPRoute."),
        },
        "Exposure through the Gateway API.",
    ),
    "env": env("Environment variables of the inference container."),
    "adapterRuntime": obj(
        {
            "maxRank": integer(
                "Highest rank of dynamic adapters.", minimum=1, enum=[1, 8, 16, 32, 64, 128, 256, 320, 512]
            )
        },
        "Settings for dynamic adapters.",
    ),
    "scaleFromZero": obj(
        {
            "activationMetricQueryTemplate": string(
                "Query that wakes a service that was scaled to zero.", min_length=1, max_length=4096
            )
        },
        "Scaling from zero replicas.",
    ),
}

DISCOVERY_STATUS: dict[str, Schema] = {
    "attempts": integer(),
    "lastAttemptTime": date_time(),
    "lastFailureReason": string(),
    "specHash": string(),
}


def custom_profile_needs_identity(metric_and_precision: str) -> Rule:
    """Return the rule that an inline profile is complete; ``metric_and_precision`` is the object with these two."""
    needed = [
        "has(self.aimId)",
        "has(self.modelId)",
        "has(self.hardware)",
        present(f"{metric_and_precision}.metric"),
        present(f"{metric_and_precision}.precision"),
    ]
    return Rule(
        f"!has(self.customProfile) || ({' && '.join(needed)})",
        "customProfile needs aimId, modelId, hardware, metric and precision beside it: a profile that is given in "
        "place must be complete",
        field=".customProfile",
    )


def status(
    words: str, properties: dict[str, Schema], *, required: tuple[str, ...] = (), default: str = "Pending"
) -> Schema:
    """Return the schema of ``status``; ``words`` are the values of ``status.status``, separated by blanks."""
    return obj(
        {
            "observedGeneration": integer("Generation of the spec that the status is about.", bits=64),
            "status": string("State in one word.", enum=words.split(), default=default),
            "conditions": CONDITIONS,
            **properties,
        },
        "What the operator observed.",
        required=required,
    )


COMPONENT_WORDS = "Pending Progressing Ready Degraded Failed NotAvailable"
SERVICE_WORDS = "Pending Starting Running Degraded Failed"

ARTIFACT_REPORTS = mapping(
    obj(
        {
            "uid": string(),
            "name": string(),
            "model": string("modelId of the source."),
            "status": string(),
            "persistentVolumeClaim": string(),
            "mountPoint": string(),
        },
        required=["uid", "name", "model", "status"],
    ),
    "The artifacts with the weights, by artifact name.",
)
