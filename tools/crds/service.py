"""AIMService, at v1alpha1 and v1alpha2.

Facts: AIM API v1alpha1 reference (AIMService) and v1alpha2 reference (AIMService root CEL); the migration guide's
validation traps win where they are stricter (G).
"""

from tools.crds.core import LOCAL_REFERENCES, RESOURCES, env
from tools.crds.derivation import PROFILE_SELECTOR, SERVICE_OVERRIDES, partitioning_needs_count
from tools.crds.schema import (
    FORBIDDEN,
    REQUIRED,
    Rule,
    array,
    boolean,
    date_time,
    filled,
    immutable,
    integer,
    obj,
    present,
    ratcheted,
    string,
)
from tools.crds.shared import (
    HARDWARE,
    REFERENCE,
    RUNTIME_CONFIG_NAME,
    RUNTIME_PARAMETERS,
    SERVICE_RUNTIME,
    SERVICE_WORDS,
    model_sources,
    status,
)

_MODEL = immutable(
    obj(
        {
            "name": string("Name of an AIMModel in the namespace, or of an AIMClusterModel."),
            "image": string("Image of the model; an AIMModel with this image is found or made."),
            "custom": obj(
                {
                    "baseImage": string("Image with the runtime."),
                    "modelSources": model_sources("The weights.", min_items=1, max_items=1),
                    "hardware": HARDWARE,
                },
                "Own weights on a base image.",
                required=["baseImage", "modelSources", "hardware"],
            ),
        },
        "The model to serve: exactly one of name, image and custom.",
        rules=[
            Rule(
                "(has(self.name) ? 1 : 0) + (has(self.image) ? 1 : 0) + (has(self.custom) ? 1 : 0) == 1",
                "model needs exactly one of name, image and custom",
            )
        ],
    ),
    "model",
    "create another AIMService for another model",
)

_TEMPLATE = immutable(
    obj(
        {
            "name": string("Name of an AIMServiceTemplate in the namespace, or of an AIMClusterServiceTemplate."),
            "allowUnoptimized": boolean("Whether automatic selection may take templates that are not optimized."),
        },
        "The template of the v1alpha1 pipeline. Not part of v1alpha2: use profile.",
    ),
    "template",
    "create another AIMService, or remove template in the update that adds profile",
)

_PROFILE = obj(
    {
        "name": string("Name of an AIMProfile in the namespace, or of an AIMClusterProfile."),
        "selector": PROFILE_SELECTOR,
    },
    "The profile of the v1alpha2 pipeline: by name or by selector.",
    rules=[
        Rule(
            f"!({filled('self.name')} && has(self.selector))",
            "profile.name and profile.selector exclude each other: keep one of them",
        ),
        Rule(f"({filled('self.name')}) || has(self.selector)", "profile needs name or selector", reason=REQUIRED),
    ],
)

_ADAPTER = obj(
    {
        "name": string("Name of the AIMArtifact.", min_length=1, max_length=253),
        "kind": string("Kind of the adapter.", enum=["AIMArtifact"]),
        "sourceUri": string("Reserved."),
        "modelId": string("Reserved."),
        "rank": integer("Reserved.", minimum=1),
    },
    required=["name", "kind"],
    rules=[
        Rule("!has(self.sourceUri) || has(self.modelId)", "modelId is required with sourceUri", ".modelId", REQUIRED),
        Rule(
            "has(self.sourceUri) || !(has(self.modelId) || has(self.rank))",
            "sourceUri is required with modelId and rank: set it, or remove them",
            field=".sourceUri",
            reason=REQUIRED,
        ),
    ],
)

_CACHING = obj(
    {
        "mode": string(
            "Shared or Dedicated; Auto and Always are older words for Shared, Never for Dedicated.",
            enum=["Dedicated", "Shared", "Auto", "Always", "Never"],
            default="Shared",
        ),
        "env": env("Environment variables of the download alone."),
    },
    "How weights are cached.",
    rules=[
        Rule(
            "(has(self.mode) ? self.mode : 'Shared') == (has(oldSelf.mode) ? oldSelf.mode : 'Shared')",
            "caching.mode is immutable once set, even for an older word of the same meaning",
            field=".mode",
        )
    ],
)


def _target_needs(type_name: str, field: str) -> Rule:
    return Rule(
        f"self.type != '{type_name}' || has(self.{field})",
        f"{field} is required with type {type_name}",
        f".{field}",
        REQUIRED,
    )


_POD_METRIC = obj(
    {
        "metric": obj(
            {
                "backend": string(enum=["opentelemetry"], default="opentelemetry"),
                "serverAddress": string("Address of the metrics server."),
                "metricNames": array(string(), "Metrics to read, for example vllm:num_requests_running."),
                "query": string("Query to ask."),
                "operationOverTime": string("last_one, avg, max, min, rate or count."),
            },
            "What is measured.",
            rules=[Rule(f"has(self.query) || ({filled('self.metricNames')})", "metric needs query or metricNames")],
        ),
        "target": obj(
            {
                "type": string(enum=["Value", "AverageValue", "Utilization"]),
                "value": string(),
                "averageValue": string(),
                "averageUtilization": integer(),
            },
            "The value to keep.",
            required=["type"],
            rules=[
                _target_needs("Value", "value"),
                _target_needs("AverageValue", "averageValue"),
                _target_needs("Utilization", "averageUtilization"),
            ],
        ),
    },
    "A metric of the pods.",
    required=["metric", "target"],
)

_AUTO_SCALING = obj(
    {
        "metrics": array(
            obj(
                {"type": string(enum=["PodMetric"]), "podmetric": _POD_METRIC},
                required=["type"],
                rules=[
                    Rule(
                        "self.type != 'PodMetric' || has(self.podmetric)",
                        "podmetric is required with type PodMetric",
                        ".podmetric",
                        REQUIRED,
                    )
                ],
            ),
            "Metrics that decide the number of replicas.",
        ),
        "pollingInterval": integer("Seconds between two looks at the metrics.", minimum=1),
        "cooldownPeriod": integer("Seconds to wait before scaling to zero.", minimum=0),
    },
    "Scaling by metrics.",
    rules=[
        Rule(
            f"({filled('self.metrics')}) || has(self.pollingInterval) || has(self.cooldownPeriod)",
            "autoScaling needs metrics, pollingInterval or cooldownPeriod",
        )
    ],
)

SPEC = obj(
    {
        "model": _MODEL,
        "template": _TEMPLATE,
        "profile": _PROFILE,
        "profileOverrides": SERVICE_OVERRIDES,
        "overrides": obj(
            RUNTIME_PARAMETERS, "What to select in the v1alpha1 pipeline. Not part of v1alpha2: use profileOverrides."
        ),
        "adapterMode": immutable(
            string("Whether adapters are fixed or can be exchanged.", enum=["static", "dynamic"], default="static"),
            "adapterMode",
            "create another AIMService",
        ),
        "adapters": array(_ADAPTER, "LoRA adapters to serve with the model.", list_type="atomic", max_items=64),
        "caching": _CACHING,
        "cacheModel": boolean("Deprecated, without effect."),
        "replicas": integer("Number of replicas, unless the service is autoscaled.", default=1),
        "minReplicas": integer("Least number of replicas; 0 scales to zero.", minimum=0),
        "maxReplicas": integer("Greatest number of replicas.", minimum=1),
        "autoScaling": _AUTO_SCALING,
        "runtimeConfigName": RUNTIME_CONFIG_NAME,
        **SERVICE_RUNTIME,
        "resources": RESOURCES,
        "imagePullSecrets": LOCAL_REFERENCES,
        "serviceAccountName": string("Service account of the inference pods."),
        "priorityClassName": string("Priority class of the inference pods."),
    },
    "What to serve and how.",
    rules=[
        Rule(
            "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
            "minReplicas must not be greater than maxReplicas",
            field=".minReplicas",
        ),
        Rule(
            f"!({present('self.adapterRuntime.maxRank')}) || (has(self.adapterMode) && self.adapterMode == 'dynamic')",
            "adapterRuntime.maxRank needs adapterMode dynamic",
            field=".adapterRuntime.maxRank",
        ),
    ],
)

STATUS = status(
    SERVICE_WORDS,
    {
        "resolvedRuntimeConfig": REFERENCE,
        "resolvedModel": REFERENCE,
        "resolvedTemplate": REFERENCE,
        "resolvedProfile": REFERENCE,
        "routing": obj({"path": string("Path of the HTTPRoute.")}, "How the service is reached."),
        "cache": obj(
            {
                "templateCacheRef": REFERENCE,
                "profileCacheRef": REFERENCE,
                "retryAttempts": integer(bits=None),
            },
            "The cache in use, of the template or of the profile pipeline.",
        ),
        "runtime": obj(
            {
                "currentReplicas": integer(),
                "desiredReplicas": integer(),
                "minReplicas": integer(),
                "maxReplicas": integer(),
                "replicas": string("The numbers for display."),
            },
            "Replicas of the workload.",
            required=["currentReplicas", "desiredReplicas", "minReplicas", "maxReplicas"],
        ),
        "adapters": array(
            obj(
                {
                    "name": string(),
                    "adapterPath": string(),
                    "modelId": string(),
                    "state": string(
                        enum=["Pending", "Downloading", "Downloaded", "Failed", "Deleting", "Loaded", "LoadRejected"]
                    ),
                    "loadedReplicas": integer(),
                    "lastObserved": date_time(),
                    "lastError": string(),
                },
                required=["name"],
            ),
            "Adapters by name.",
            keys=["name"],
        ),
        "adapterMaxRank": integer(),
        "adapterSubtreeSyncKey": string(),
        "adapterDiskPersistentVolumeClaim": string(),
        "adapterDiskPersistentVolumeClaimUid": string(),
    },
)

_HAS_OVERLAY = "has(self.spec.profileOverrides)"

_ALWAYS = (
    Rule(
        "has(self.spec.model) || has(self.spec.profile)",
        "spec needs model or profile: without them nothing says what to serve",
        field=".spec",
        reason=REQUIRED,
    ),
    Rule(
        f"!{_HAS_OVERLAY} || has(self.spec.profile)",
        "spec.profileOverrides needs spec.profile: name the profile to change in spec.profile.name, or remove "
        "spec.profileOverrides",
        field=".spec.profileOverrides",
        reason=FORBIDDEN,
    ),
    partitioning_needs_count("self.spec.profileOverrides", ".spec.profileOverrides.acceleratorCount"),
    Rule(
        "!has(self.spec.adapters) || self.spec.adapters.all(a, "
        "self.spec.adapters.exists_one(b, b.kind == a.kind && b.name == a.name))",
        "spec.adapters must not name the same kind and name twice",
        field=".spec.adapters",
    ),
    Rule(
        "(has(self.spec.adapterMode) && self.spec.adapterMode == 'dynamic') || "
        "(has(self.spec.adapters) == has(oldSelf.spec.adapters) && "
        "(!has(self.spec.adapters) || self.spec.adapters == oldSelf.spec.adapters))",
        "spec.adapters is immutable while spec.adapterMode is static: create another AIMService, with adapterMode "
        "dynamic if its adapters are to change",
        field=".spec.adapters",
    ),
)

V1ALPHA1_RULES = (
    *_ALWAYS,
    Rule(
        "!(has(self.spec.profile) && has(self.spec.template))",
        "spec.template and spec.profile exclude each other: remove spec.template in the update that adds spec.profile",
        field=".spec.template",
        reason=FORBIDDEN,
    ),
)


def _removed(field: str, advice: str) -> Rule:
    return Rule(
        ratcheted(f"has(self.{field})"),
        f"{field} is not part of v1alpha2: {advice}",
        field=f".{field}",
        reason=FORBIDDEN,
    )


V1ALPHA2_RULES = (
    *_ALWAYS,
    _removed("spec.template", "use spec.profile, with name or selector"),
    _removed("spec.overrides", "use spec.profile.selector to select and spec.profileOverrides to change a profile"),
    # Ratcheted, unlike the other rules about profiles: v1alpha1 takes overrides of a selected profile, and such an
    # object must stay updatable.
    Rule(
        ratcheted(f"{_HAS_OVERLAY} && has(self.spec.profile) && !({filled('self.spec.profile.name')})"),
        "spec.profileOverrides needs spec.profile.name: an overlay is made from one named profile, not by selector; "
        "set spec.profile.name, or remove spec.profileOverrides",
        field=".spec.profileOverrides",
        reason=FORBIDDEN,
    ),
    Rule(
        f"!({present('self.spec.profile.selector.role')}) || self.spec.profile.selector.role == 'deployable'",
        "spec.profile.selector.role must be deployable or unset: a service always resolves to a deployable profile; "
        "role base belongs to spec.profiles.derivedFrom.selector of an AIMModel and to AIMProfileSet",
        field=".spec.profile.selector.role",
    ),
    Rule(
        f"!({present('self.spec.profile.selector')}) || has(self.spec.profile.selector.aimId) || "
        "has(self.spec.profile.selector.modelRef) || has(self.spec.model)",
        "spec.profile.selector needs an anchor: set spec.profile.selector.aimId, spec.profile.selector.modelRef or "
        "spec.model",
        field=".spec.profile.selector",
    ),
    Rule(
        f"!({filled('self.spec.adapters')}) || has(self.spec.profile)",
        "spec.adapters needs spec.profile: adapters are served by the profile pipeline",
        field=".spec.adapters",
        reason=FORBIDDEN,
    ),
)
