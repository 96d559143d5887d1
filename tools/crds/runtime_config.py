"""AIMRuntimeConfig and AIMClusterRuntimeConfig, which exist at v1alpha1 only.

Facts: AIM API v1alpha1 reference (runtime configs, newest form).
"""

from tools.crds.core import CONDITIONS, LOCAL_REFERENCES, RESOURCES, env
from tools.crds.schema import (
    REQUIRED,
    Rule,
    Schema,
    any_json,
    array,
    boolean,
    integer,
    obj,
    quantity,
    string,
)
from tools.crds.shared import (
    ACCELERATOR_TYPE,
    AUTO_SELECTION,
    ENGINE_ENV,
    PROFILE_TYPES,
    SERVICE_RUNTIME,
    VENDOR,
)

_FALLBACK = obj(
    {
        "name": string(min_length=1, max_length=63),
        "priority": integer(),
        "type": string("How well the generated profiles are tuned.", enum=PROFILE_TYPES, default="unoptimized"),
        "autoSelectionPolicy": AUTO_SELECTION,
        "match": obj(
            {
                "acceleratorVendor": VENDOR,
                "acceleratorType": ACCELERATOR_TYPE,
                "acceleratorModel": string(),
                "acceleratorPartitioningMode": string(),
            },
            "Hardware that the fallback is for.",
            required=["acceleratorVendor", "acceleratorType"],
        ),
        "runtime": obj(
            {
                "image": string(),
                "engine": string(),
                "engineArgs": any_json(),
                "engineEnv": ENGINE_ENV,
                "containerEnv": env("Environment variables of the container."),
                "resources": RESOURCES,
                "imagePullSecrets": LOCAL_REFERENCES,
                "serviceAccountName": string(),
            },
            "What generated profiles run.",
            required=["image", "engine"],
        ),
    },
    required=["name", "match", "runtime"],
)

_S3 = obj(
    {
        "endpoint": string(pattern=r"^https?://[^ \t\r\n]+$"),
        "region": string(),
        "addressingStyle": string(enum=["auto", "path", "virtual"]),
        "signatureVersion": string(enum=["auto", "s3v4"]),
        "auth": obj(
            {
                "mode": string(enum=["chain", "static", "anonymous"], default="chain"),
                "credentialsSecretRef": obj(
                    {
                        "name": string(),
                        "accessKeyIdKey": string(default="accessKeyId"),
                        "secretAccessKeyKey": string(default="secretAccessKey"),
                        "sessionTokenKey": string(),
                    },
                    required=["name"],
                ),
            },
            rules=[
                Rule(
                    "!(has(self.mode) && self.mode == 'static') || has(self.credentialsSecretRef)",
                    "credentialsSecretRef is required with mode static",
                    field=".credentialsSecretRef",
                    reason=REQUIRED,
                ),
                Rule(
                    "!has(self.credentialsSecretRef) || (has(self.mode) && self.mode == 'static')",
                    "credentialsSecretRef can be set with mode static only",
                    field=".credentialsSecretRef",
                ),
            ],
        ),
        "tls": obj(
            {
                "caBundleRef": obj(
                    {"kind": string(enum=["ConfigMap", "Secret"]), "name": string(), "key": string()},
                    required=["kind", "name", "key"],
                ),
                "insecureSkipVerify": boolean(),
            },
            rules=[
                Rule(
                    "!(has(self.insecureSkipVerify) && self.insecureSkipVerify && has(self.caBundleRef))",
                    "caBundleRef cannot be set with insecureSkipVerify: keep one of them",
                    field=".caBundleRef",
                )
            ],
        ),
    },
    "Access to S3 storage.",
    atomic=True,
)

_FIELDS: dict[str, Schema] = {
    **SERVICE_RUNTIME,
    "model": obj(
        {
            "autoDiscovery": boolean("Without effect."),
            "profileGeneration": obj(
                {"fallbacks": array(_FALLBACK, "Runtimes for models without an image.", keys=["name"])},
                "Profiles for models that are named by modelId.",
            ),
        },
        "Defaults for models.",
    ),
    "artifact": obj(
        {
            "defaultRetentionPriority": integer(minimum=0),
            "modelDownloadImage": string("Image of downloads."),
            "s3": _S3,
        },
        "Defaults for artifacts.",
    ),
    "artifactCache": obj(
        {"enabled": boolean(), "s3Uri": string(), "env": env("Without effect.")}, "Deprecated, without effect."
    ),
    "labelPropagation": obj(
        {
            "enabled": boolean("Whether labels go from an object to what is made for it.", default=False),
            "match": array(string(), "Label keys; * stands for anything."),
        },
        "Labels to hand on.",
    ),
    "defaultStorageClassName": string("Deprecated: use storage.defaultStorageClassName."),
    "pvcHeadroomPercent": integer("Deprecated: use storage.pvcHeadroomPercent."),
}

SPEC = obj(_FIELDS, "Defaults for the namespace; they win over those of the cluster.")
CLUSTER_SPEC = obj(
    {
        **_FIELDS,
        "artifactStorageQuota": obj(
            {"clusterLimit": quantity(), "defaultNamespaceLimit": quantity()}, "Limits of the space for artifacts."
        ),
    },
    "Defaults for the cluster.",
)
STATUS = obj({"observedGeneration": integer(bits=64), "conditions": CONDITIONS}, "What the operator observed.")
