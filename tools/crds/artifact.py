"""AIMArtifact, which exists at v1alpha1 only.

Facts: AIM API v1alpha1 reference (AIMArtifact, newest form).
"""

from tools.crds.core import LOCAL_REFERENCES, env
from tools.crds.schema import (
    FORBIDDEN,
    REQUIRED,
    Rule,
    array,
    date_time,
    filled,
    immutable,
    integer,
    obj,
    present,
    quantity,
    string,
)
from tools.crds.shared import (
    COMPONENT_WORDS,
    DOWNLOAD_FILTER,
    MODEL_ID,
    REFERENCE,
    RUNTIME_CONFIG_NAME,
    SOURCE_URI,
    status,
)

_LINEAGE = "create another AIMArtifact"

SPEC = obj(
    {
        "type": string("Weights of a model, or of an adapter for one.", enum=["model", "adapter"], default="model"),
        "sourceUri": immutable(
            string("Where the weights are: hf://... or s3://...", min_length=1, pattern=SOURCE_URI),
            "sourceUri",
            "create another AIMArtifact for another source",
        ),
        "parentArtifact": immutable(
            string("The artifact of the model that the adapter is for.", min_length=1), "parentArtifact", _LINEAGE
        ),
        "compatibleWith": immutable(
            array(string(pattern=MODEL_ID), "Models that the adapter fits.", list_type="set", min_items=1),
            "compatibleWith",
            _LINEAGE,
        ),
        "rank": integer("Rank of the adapter.", minimum=1),
        "adapterDisk": obj(
            {"size": quantity("Size; 50Gi when unset."), "storageClassName": string()},
            "A disk for adapters of this model.",
        ),
        "modelId": string("Model in the form organization/name.", pattern=MODEL_ID),
        "storageClassName": string("Storage class of the volume."),
        "size": quantity("Expected size; 0 means unknown."),
        "env": env("Credentials and settings of the download."),
        "modelDownloadImage": string("Image of the download."),
        "downloadFilter": immutable(DOWNLOAD_FILTER, "downloadFilter", _LINEAGE),
        "imagePullSecrets": LOCAL_REFERENCES,
        "retentionPriority": integer("Artifacts of lower priority are evicted first.", minimum=0),
        "runtimeConfigName": RUNTIME_CONFIG_NAME,
    },
    "Weights to download once and keep.",
    required=["sourceUri"],
)

STATUS = status(
    COMPONENT_WORDS,
    {
        "progress": obj(
            {
                "totalBytes": integer(bits=64),
                "downloadedBytes": integer(bits=64),
                "percentage": integer(minimum=0, maximum=100),
                "displayPercentage": string(),
                "message": string(),
            },
            "Progress of the download.",
        ),
        "download": obj(
            {
                "protocol": string(),
                "attempt": integer(),
                "totalAttempts": integer(),
                "protocolSequence": string(),
                "message": string(),
            },
            "The download in detail.",
        ),
        "displaySize": string(),
        "lastUsed": date_time(),
        "persistentVolumeClaim": string("Name of the PersistentVolumeClaim with the weights."),
        "mode": string("Dedicated if the artifact has an owner.", enum=["Dedicated", "Shared"]),
        "discoveredSizeBytes": integer(bits=64),
        "allocatedSize": quantity(),
        "headroomPercent": integer(),
        "resolvedSourceUri": string(),
        "adapterPersistentVolumeClaim": string(),
        "adapterPath": string(),
        "resolvedParent": REFERENCE,
        "parentModelId": string(),
    },
)

_ADAPTER = "has(self.spec.type) && self.spec.type == 'adapter'"


def _adapters_only(field: str) -> Rule:
    return Rule(
        f"!has(self.spec.{field}) || ({_ADAPTER})",
        f"spec.{field} can be set with spec.type adapter only",
        field=f".spec.{field}",
        reason=FORBIDDEN,
    )


RULES = (
    Rule(
        "!has(self.spec.type) || !oldSelf.hasValue() || !has(oldSelf.value().spec.type) || "
        "self.spec.type == oldSelf.value().spec.type",
        "spec.type is immutable once set: create another AIMArtifact",
        field=".spec.type",
    ),
    Rule(
        f"!({_ADAPTER}) || has(self.spec.parentArtifact) != has(self.spec.compatibleWith)",
        "spec.type adapter needs exactly one of spec.parentArtifact and spec.compatibleWith",
        field=".spec.type",
    ),
    Rule(
        f"!({_ADAPTER}) || ({filled('self.spec.modelId')})",
        "spec.modelId is required with spec.type adapter",
        field=".spec.modelId",
        reason=REQUIRED,
    ),
    _adapters_only("parentArtifact"),
    _adapters_only("compatibleWith"),
    Rule(
        f"!({present('self.spec.adapterDisk')}) || !({_ADAPTER})",
        "spec.adapterDisk can be set with spec.type model only",
        field=".spec.adapterDisk",
        reason=FORBIDDEN,
    ),
    _adapters_only("rank"),
)
