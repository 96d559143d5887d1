"""Label, annotation and finalizer names of AIM, KServe and Kubernetes that the project reads or writes.

Facts: legacy pipeline (metadata of children), profile pipeline (provenance, InferenceService metadata).
"""

PREFIX = "aim.eai.amd.com/"

# Labels on the InferenceService: which pipeline wrote it last.
TEMPLATE = "aim.eai.amd.com/template"
PROFILE = "aim.eai.amd.com/profile"
SERVICE = "aim.eai.amd.com/service"
SERVICE_NAME = "aim.eai.amd.com/service.name"
MODEL = "aim.eai.amd.com/model"
METRIC = "aim.eai.amd.com/metric"
PRECISION = "aim.eai.amd.com/precision"

# Provenance of templates, profiles, caches and artifacts.
ORIGIN = "aim.eai.amd.com/origin"
ORIGIN_MANUAL = "manual"
CUSTOM_MODEL = "aim.eai.amd.com/custom-model"
PROFILE_ROLE = "aim.eai.amd.com/profile-role"
PROFILE_ORIGIN = "aim.eai.amd.com/profile-origin"
SOURCE_MODEL = "aim.eai.amd.com/source-model"
SOURCE_MODEL_SCOPE = "aim.eai.amd.com/source-model-scope"
TEMPLATE_CREATED = "template-created"
TEMPLATE_CACHE_NAME = "aim.eai.amd.com/template-cache.name"
PROFILE_CACHE_NAME = "aim.eai.amd.com/profile-cache.name"
CACHE_NAME = "aim.eai.amd.com/cache.name"
CACHE_TYPE = "aim.eai.amd.com/cache.type"
RUNTIME_PROJECTION = "aim.eai.amd.com/runtime-projection"
RUNTIME_PROJECTION_STATE = "aim.eai.amd.com/runtime-projection-state"
MANAGED_BY = "app.kubernetes.io/managed-by"
COMPONENT = "app.kubernetes.io/component"
MANAGED_BY_AIM_ENGINE = "aim-engine"
MANAGED_BY_SERVICE_CONTROLLER = "aim-service-controller"

# Annotations.
RECONCILER_PIPELINE = "aim.eai.amd.com/reconciler-pipeline"
PIPELINE_TEMPLATE = "template"
PIPELINE_PROFILE = "profile"
FORCE_REBIND = "aim.eai.amd.com/force-rebind"
EVICTION_PROTECTED = "aim.eai.amd.com/eviction-protected"
DEPLOYMENT_IMAGE_REF = "aim.eai.amd.com/deployment-image-ref"
OVERLAY_SERVICE = "aim.eai.amd.com/overlay-service"
PROFILE_YAML_CONTRACT = "aim.eai.amd.com/profile-yaml-contract"
RUNTIME_PROFILE = "aim.eai.amd.com/runtime-profile"
MODEL_ID = "aim.eai.amd.com/model-id"
AUTOSCALER_CLASS = "serving.kserve.io/autoscalerClass"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

# KServe's label on the pods of an InferenceService, and the label that names a Deployment's pod template.
KSERVE_INFERENCE_SERVICE = "serving.kserve.io/inferenceservice"
POD_TEMPLATE_HASH = "pod-template-hash"

# Finalizers.
SERVICE_FINALIZER = "aim.eai.amd.com/cache-cleanup"
SERVICE_FINALIZER_OLD = "aim.eai.amd.com/template-cache-cleanup"
TEMPLATE_CACHE_FINALIZER = "aim.eai.amd.com/artifactcleanup"
PROFILE_CACHE_FINALIZER = "aim.eai.amd.com/profile-cache-artifact-cleanup"

# The field manager of every write of this tool.
FIELD_MANAGER = "aim-template-migration"
