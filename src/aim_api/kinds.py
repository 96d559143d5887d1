"""The kinds that the migration reads or writes: group, version, plural and scope.

Facts: AIM API v1alpha1 and v1alpha2 references (kinds overview); KServe and Kubernetes API conventions.
"""

from dataclasses import dataclass, field

AIM_GROUP = "aim.eai.amd.com"
KSERVE_GROUP = "serving.kserve.io"


@dataclass(frozen=True, slots=True, order=True)
class Kind:
    """One kind of the Kubernetes API, at the version this project reads and writes it.

    Attributes:
        name: the kind in CamelCase, for example ``AIMService``.
        group: the API group, empty for the core group.
        version: the version used for reading and writing, for example ``v1alpha2``.
        plural: the resource name in URLs, lower case.
        namespaced: whether objects live in a namespace.
        api_version: the ``apiVersion`` field of objects of this kind.
    """

    name: str
    group: str
    version: str
    plural: str
    namespaced: bool = True
    api_version: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Put the API version together, once: every object and every reference states it."""
        object.__setattr__(self, "api_version", f"{self.group}/{self.version}" if self.group else self.version)

    @property
    def crd_name(self) -> str:
        """The name of the CustomResourceDefinition, ``<plural>.<group>``."""
        return f"{self.plural}.{self.group}"

    def at(self, version: str) -> "Kind":
        """Return the same kind at another served version."""
        return Kind(self.name, self.group, version, self.plural, self.namespaced)

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """Return the URL path of the collection, the object or its subresource.

        Raises:
            ValueError: a namespaced kind without a namespace, where an object is named.
        """
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        if self.namespaced and namespace:
            base += f"/namespaces/{namespace}"
        elif self.namespaced and name:
            raise ValueError(f"{self.name} {name} needs a namespace")
        base += f"/{self.plural}"
        if name:
            base += f"/{name}"
        if subresource:
            base += f"/{subresource}"
        return base


AIM_SERVICE = Kind("AIMService", AIM_GROUP, "v1alpha2", "aimservices")
AIM_MODEL = Kind("AIMModel", AIM_GROUP, "v1alpha2", "aimmodels")
AIM_CLUSTER_MODEL = Kind("AIMClusterModel", AIM_GROUP, "v1alpha2", "aimclustermodels", namespaced=False)
AIM_SERVICE_TEMPLATE = Kind("AIMServiceTemplate", AIM_GROUP, "v1alpha1", "aimservicetemplates")
AIM_CLUSTER_SERVICE_TEMPLATE = Kind(
    "AIMClusterServiceTemplate", AIM_GROUP, "v1alpha1", "aimclusterservicetemplates", namespaced=False
)
AIM_TEMPLATE_CACHE = Kind("AIMTemplateCache", AIM_GROUP, "v1alpha1", "aimtemplatecaches")
AIM_ARTIFACT = Kind("AIMArtifact", AIM_GROUP, "v1alpha1", "aimartifacts")
AIM_RUNTIME_CONFIG = Kind("AIMRuntimeConfig", AIM_GROUP, "v1alpha1", "aimruntimeconfigs")
AIM_CLUSTER_RUNTIME_CONFIG = Kind(
    "AIMClusterRuntimeConfig", AIM_GROUP, "v1alpha1", "aimclusterruntimeconfigs", namespaced=False
)
AIM_PROFILE = Kind("AIMProfile", AIM_GROUP, "v1alpha2", "aimprofiles")
AIM_CLUSTER_PROFILE = Kind("AIMClusterProfile", AIM_GROUP, "v1alpha2", "aimclusterprofiles", namespaced=False)
AIM_PROFILE_SET = Kind("AIMProfileSet", AIM_GROUP, "v1alpha2", "aimprofilesets")
AIM_CLUSTER_PROFILE_SET = Kind("AIMClusterProfileSet", AIM_GROUP, "v1alpha2", "aimclusterprofilesets", namespaced=False)
AIM_PROFILE_CACHE = Kind("AIMProfileCache", AIM_GROUP, "v1alpha2", "aimprofilecaches")

INFERENCE_SERVICE = Kind("InferenceService", KSERVE_GROUP, "v1beta1", "inferenceservices")
SERVING_RUNTIME = Kind("ServingRuntime", KSERVE_GROUP, "v1alpha1", "servingruntimes")
CLUSTER_SERVING_RUNTIME = Kind(
    "ClusterServingRuntime", KSERVE_GROUP, "v1alpha1", "clusterservingruntimes", namespaced=False
)

NAMESPACE = Kind("Namespace", "", "v1", "namespaces", namespaced=False)
CONFIG_MAP = Kind("ConfigMap", "", "v1", "configmaps")
EVENT = Kind("Event", "", "v1", "events")
POD = Kind("Pod", "", "v1", "pods")
PVC = Kind("PersistentVolumeClaim", "", "v1", "persistentvolumeclaims")
DEPLOYMENT = Kind("Deployment", "apps", "v1", "deployments")
REPLICA_SET = Kind("ReplicaSet", "apps", "v1", "replicasets")
JOB = Kind("Job", "batch", "v1", "jobs")
CRD = Kind("CustomResourceDefinition", "apiextensions.k8s.io", "v1", "customresourcedefinitions", namespaced=False)
MUTATING_WEBHOOKS = Kind(
    "MutatingWebhookConfiguration",
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    namespaced=False,
)
VALIDATING_WEBHOOKS = Kind(
    "ValidatingWebhookConfiguration",
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    namespaced=False,
)
SELF_SUBJECT_ACCESS_REVIEW = Kind(
    "SelfSubjectAccessReview", "authorization.k8s.io", "v1", "selfsubjectaccessreviews", namespaced=False
)

AIM_KINDS: tuple[Kind, ...] = (
    AIM_SERVICE,
    AIM_MODEL,
    AIM_CLUSTER_MODEL,
    AIM_SERVICE_TEMPLATE,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    AIM_ARTIFACT,
    AIM_RUNTIME_CONFIG,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_PROFILE,
    AIM_CLUSTER_PROFILE,
    AIM_PROFILE_SET,
    AIM_CLUSTER_PROFILE_SET,
    AIM_PROFILE_CACHE,
)
KSERVE_KINDS: tuple[Kind, ...] = (INFERENCE_SERVICE, SERVING_RUNTIME, CLUSTER_SERVING_RUNTIME)
DUAL_VERSION_KINDS: tuple[Kind, ...] = (AIM_SERVICE, AIM_MODEL, AIM_CLUSTER_MODEL)
LEGACY_VERSION = "v1alpha1"
