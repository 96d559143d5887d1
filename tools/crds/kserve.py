"""The parts of KServe's kinds that are read; everything else is stored as it comes.

Facts: legacy pipeline (InferenceService metadata, inline custom container) and profile pipeline (runtime projection,
InferenceService predictor); KServe's own names and print columns.
"""

from tools.crds.core import LOCAL_REFERENCES, RESOURCES, env
from tools.crds.schema import Schema, array, boolean, date_time, integer, mapping, obj, string

_CONTAINER = obj(
    {
        "name": string(),
        "image": string(),
        "env": env("Environment variables."),
        "resources": RESOURCES,
        "volumeMounts": array(
            obj(
                {"name": string(), "mountPath": string(), "readOnly": boolean()},
                required=["name", "mountPath"],
                keeps_unknown=True,
            ),
            keys=["mountPath"],
        ),
    },
    required=["name"],
    keeps_unknown=True,
)
_CONTAINERS = array(_CONTAINER, "Containers of the pod.", keys=["name"])
_VOLUMES = array(
    obj(
        {
            "name": string(),
            "persistentVolumeClaim": obj(
                {"claimName": string(), "readOnly": boolean()}, required=["claimName"], keeps_unknown=True
            ),
        },
        required=["name"],
        keeps_unknown=True,
    ),
    "Volumes of the pod.",
    keys=["name"],
)

INFERENCE_SERVICE_SPEC = obj(
    {
        "predictor": obj(
            {
                "minReplicas": integer("Least number of replicas."),
                "maxReplicas": integer("Greatest number of replicas."),
                "serviceAccountName": string(),
                "priorityClassName": string(),
                "imagePullSecrets": LOCAL_REFERENCES,
                "containers": _CONTAINERS,
                "volumes": _VOLUMES,
                "model": obj(
                    {
                        "modelFormat": obj(
                            {"name": string(), "version": string()}, "Format of the model.", required=["name"]
                        ),
                        "runtime": string("The ServingRuntime or ClusterServingRuntime to run."),
                        "resources": RESOURCES,
                        "env": env("Environment variables."),
                    },
                    "A model that a runtime serves.",
                    keeps_unknown=True,
                ),
            },
            "What answers predictions.",
            keeps_unknown=True,
        )
    },
    "What is deployed.",
    required=["predictor"],
    keeps_unknown=True,
)

_CONDITIONS = array(
    obj(
        {
            "type": string(),
            "status": string(),
            "severity": string(),
            "lastTransitionTime": date_time(),
            "reason": string(),
            "message": string(),
        },
        required=["type", "status"],
    ),
    "What is known about the object, one entry per aspect.",
)
INFERENCE_SERVICE_STATUS = obj(
    {
        "observedGeneration": integer(bits=64),
        "url": string("Where the service answers."),
        "conditions": _CONDITIONS,
        "components": mapping(obj({}, keeps_unknown=True), "The parts of the service, by name."),
    },
    "What KServe observed.",
    keeps_unknown=True,
)

SERVING_RUNTIME_SPEC: Schema = obj(
    {
        "disabled": boolean("Whether the runtime may be used."),
        "multiModel": boolean(),
        "supportedModelFormats": array(
            obj(
                {"name": string(), "version": string(), "autoSelect": boolean(), "priority": integer()},
                required=["name"],
                keeps_unknown=True,
            ),
            "Formats that the runtime serves.",
        ),
        "protocolVersions": array(string(), "Protocols that the runtime speaks."),
        "containers": _CONTAINERS,
        "volumes": _VOLUMES,
        "imagePullSecrets": LOCAL_REFERENCES,
    },
    "How models are served.",
    required=["containers"],
    keeps_unknown=True,
)
SERVING_RUNTIME_STATUS = obj({}, "Without content.", keeps_unknown=True)
