"""The CustomResourceDefinitions: names, versions and print columns around the schemas."""

from collections.abc import Sequence
from dataclasses import dataclass

from aim_api import kinds
from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject
from tools.crds import artifact, kserve, model, model_rules, profile, runtime_config, service, template
from tools.crds.schema import Rule, Schema, Shared, obj, string

Columns = Sequence[JsonObject]


def _column(name: str, path: str, type_name: str = "string", *, wide: bool = False) -> JsonObject:
    column: JsonObject = {"name": name, "type": type_name, "jsonPath": path}
    if wide:
        column["priority"] = 1
    return column


_AGE = _column("Age", ".metadata.creationTimestamp", "date")
_STATUS = _column("Status", ".status.status")


@dataclass(frozen=True, slots=True)
class _Version:
    name: str
    columns: Columns = ()
    rules: Sequence[Rule] = ()


@dataclass(frozen=True, slots=True)
class _Form:
    """What a definition says about a kind besides its name, group, plural and scope; the last version is stored."""

    summary: str
    short_names: Sequence[str]
    spec: Schema
    status: Schema
    versions: Sequence[_Version]
    categories: Sequence[str] = ("aim", "all")
    status_subresource: bool = True
    selectable: Sequence[str] = ()


def _service() -> _Form:
    model_name = _column("Model", ".status.resolvedModel.name")
    template_name = _column("Template", ".status.resolvedTemplate.name")
    profile_name = ("Profile", ".status.resolvedProfile.name")
    replicas = _column("Replicas", ".status.runtime.replicas")
    # The resolved profile shows with -o wide at v1alpha1 (G) and always at v1alpha2.
    old = (_STATUS, model_name, template_name, _column(*profile_name, wide=True), replicas, _AGE)
    new = (_STATUS, model_name, _column(*profile_name), replicas, _AGE)
    versions = (
        _Version("v1alpha1", old, service.V1ALPHA1_RULES),
        _Version("v1alpha2", new, service.V1ALPHA2_RULES),
    )
    return _Form("A model that is served for inference.", ("aimsvc",), service.SPEC, service.STATUS, versions)


def _model(short_name: str, prefix: str) -> _Form:
    version = _column("Version", ".status.version")
    old = (
        _STATUS,
        _column("Source", ".status.sourceType"),
        _column("Image", ".spec.image"),
        version,
        _column("Model", ".status.imageMetadata.model.canonicalName"),
        _AGE,
    )
    new = (
        _STATUS,
        _column("Kind", ".status.kind"),
        _column("AimID", ".status.aimId"),
        version,
        _column("Managed", ".status.managedProfiles.total", "integer"),
        _column("Ready", ".status.managedProfiles.ready", "integer"),
        _column("Base", ".status.managedProfiles.base", "integer"),
        _AGE,
    )
    versions = (
        _Version("v1alpha1", old, model_rules.V1ALPHA1_RULES),
        _Version("v1alpha2", new, model_rules.v1alpha2_rules(prefix)),
    )
    return _Form(
        "A model and the profiles or templates to serve it.", (short_name,), model.SPEC, model.STATUS, versions
    )


def _template(short_name: str, spec: Schema) -> _Form:
    columns = (
        _column("Model", ".spec.modelName"),
        _STATUS,
        _column("Hardware", ".status.hardwareSummary"),
        _column("Metric", ".status.profile.metadata.metric"),
        _column("Precision", ".status.profile.metadata.precision"),
    )
    return _Form(
        "One way to serve a model, in the template pipeline.",
        (short_name,),
        spec,
        template.TEMPLATE_STATUS,
        (_Version("v1alpha1", columns),),
    )


def _template_cache() -> _Form:
    columns = (
        _column("Template", ".spec.templateName"),
        _column("Mode", ".spec.mode"),
        _STATUS,
        _column("Kind", ".status.resolvedTemplateKind"),
        _AGE,
    )
    return _Form(
        "Cached weights for a template.",
        ("aimtc",),
        template.CACHE_SPEC,
        template.CACHE_STATUS,
        (_Version("v1alpha1", columns),),
    )


def _artifact() -> _Form:
    columns = (
        _column("Type", ".spec.type", wide=True),
        _STATUS,
        _column("Mode", ".status.mode"),
        _column("Model Size", ".status.displaySize"),
        _column("Progress", ".status.progress.displayPercentage"),
        _column("Protocol", ".status.download.protocol", wide=True),
        _column("Attempt", ".status.download.attempt", wide=True),
        _AGE,
    )
    return _Form(
        "Weights that are downloaded to a volume.",
        ("aimart",),
        artifact.SPEC,
        artifact.STATUS,
        (_Version("v1alpha1", columns, artifact.RULES),),
    )


def _runtime_config(short_name: str, spec: Schema) -> _Form:
    return _Form(
        "Defaults for models, services and caches.", (short_name,), spec, runtime_config.STATUS, (_Version("v1alpha1"),)
    )


def _profile(short_name: str, spec: Schema, rules: Sequence[Rule]) -> _Form:
    columns = (
        _column("AimId", ".spec.aimId"),
        _column("Engine", ".spec.engine"),
        _STATUS,
        _column("Origin", ".status.origin"),
        _column("Hardware", ".status.hardwareSummary"),
        _column("Vendor", ".spec.acceleratorVendor", wide=True),
        _column("Metric", ".spec.metric"),
        _column("Precision", ".spec.precision"),
        _column("Type", ".spec.type"),
        _column("Partitioning", ".spec.acceleratorPartitioningMode", wide=True),
        _column("Primary", ".spec.primary", "boolean"),
        _column("Version", ".status.version"),
        _column("Manual", ".spec.manualSelectionOnly", "boolean", wide=True),
        _column("Runtime", ".status.projectedRuntimeName", wide=True),
        _AGE,
    )
    versions = (_Version("v1alpha2", columns, rules),)
    return _Form(
        "One way to serve a model, in the profile pipeline.",
        (short_name,),
        spec,
        profile.STATUS,
        versions,
        selectable=(".spec.aimId",),
    )


def _profile_set(short_name: str) -> _Form:
    columns = (
        _STATUS,
        _column("Managed", ".status.managedProfiles.total", "integer"),
        _column("Ready", ".status.managedProfiles.ready", "integer"),
        _AGE,
    )
    return _Form(
        "Profiles that are derived from other profiles.",
        (short_name,),
        profile.SET_SPEC,
        profile.SET_STATUS,
        (_Version("v1alpha2", columns),),
    )


def _profile_cache() -> _Form:
    columns = (
        _column("Profile", ".spec.profileName"),
        _column("Scope", ".spec.profileScope"),
        _column("Mode", ".spec.mode"),
        _STATUS,
        _AGE,
    )
    return _Form(
        "Cached weights for a profile.",
        ("aimpc",),
        profile.CACHE_SPEC,
        profile.CACHE_STATUS,
        (_Version("v1alpha2", columns),),
    )


def _inference_service() -> _Form:
    traffic = ".status.components.predictor.traffic"
    previous, latest = "[?(@.tag=='prev')]", "[?(@.latestRevision==true)]"
    columns = (
        _column("URL", ".status.url"),
        _column("Ready", ".status.conditions[?(@.type=='Ready')].status"),
        _column("Prev", f"{traffic}{previous}.percent", "integer"),
        _column("Latest", f"{traffic}{latest}.percent", "integer"),
        _column("PrevRolledoutRevision", f"{traffic}{previous}.revisionName"),
        _column("LatestReadyRevision", f"{traffic}{latest}.revisionName"),
        _AGE,
    )
    return _Form(
        "KServe's InferenceService, as far as it is read.",
        ("isvc",),
        kserve.INFERENCE_SERVICE_SPEC,
        kserve.INFERENCE_SERVICE_STATUS,
        (_Version("v1beta1", columns),),
        categories=(),
    )


def _serving_runtime() -> _Form:
    columns = (
        _column("Disabled", ".spec.disabled", "boolean"),
        _column("ModelType", ".spec.supportedModelFormats[*].name"),
        _column("Containers", ".spec.containers[*].name"),
        _AGE,
    )
    return _Form(
        "KServe's ServingRuntime, as far as it is read.",
        (),
        kserve.SERVING_RUNTIME_SPEC,
        kserve.SERVING_RUNTIME_STATUS,
        (_Version("v1alpha1", columns),),
        categories=(),
        status_subresource=False,
    )


_FORMS: dict[Kind, _Form] = {
    kinds.AIM_SERVICE: _service(),
    kinds.AIM_MODEL: _model("aimmdl", "AIM"),
    kinds.AIM_CLUSTER_MODEL: _model("aimclmdl", "AIMCluster"),
    kinds.AIM_SERVICE_TEMPLATE: _template("aimtpl", template.TEMPLATE_SPEC),
    kinds.AIM_CLUSTER_SERVICE_TEMPLATE: _template("aimcltpl", template.CLUSTER_TEMPLATE_SPEC),
    kinds.AIM_TEMPLATE_CACHE: _template_cache(),
    kinds.AIM_ARTIFACT: _artifact(),
    kinds.AIM_RUNTIME_CONFIG: _runtime_config("aimrc", runtime_config.SPEC),
    kinds.AIM_CLUSTER_RUNTIME_CONFIG: _runtime_config("aimclrc", runtime_config.CLUSTER_SPEC),
    kinds.AIM_PROFILE: _profile("aimprf", profile.SPEC, profile.RULES),
    kinds.AIM_CLUSTER_PROFILE: _profile("aimclprf", profile.CLUSTER_SPEC, profile.CLUSTER_RULES),
    kinds.AIM_PROFILE_SET: _profile_set("aimprfset"),
    kinds.AIM_CLUSTER_PROFILE_SET: _profile_set("aimclprfset"),
    kinds.AIM_PROFILE_CACHE: _profile_cache(),
    kinds.INFERENCE_SERVICE: _inference_service(),
    kinds.SERVING_RUNTIME: _serving_runtime(),
    kinds.CLUSTER_SERVING_RUNTIME: _serving_runtime(),
}


def definitions() -> dict[Kind, JsonObject]:
    """Return the CustomResourceDefinition of every kind."""
    return {kind: _definition(kind, form) for kind, form in _FORMS.items()}


def _definition(kind: Kind, form: _Form) -> JsonObject:
    names: JsonObject = {
        "kind": kind.name,
        "listKind": f"{kind.name}List",
        "plural": kind.plural,
        "singular": kind.name.lower(),
    }
    if form.short_names:
        names["shortNames"] = [*form.short_names]
    if form.categories:
        names["categories"] = [*form.categories]
    properties: Schema = {
        "apiVersion": string(),
        "kind": string(),
        "metadata": obj({}),
        "spec": form.spec,
        "status": form.status,
    }
    if len(form.versions) > 1:
        # One tree for all versions, so that no write through one of them drops a field of another.
        properties = Shared("properties", properties)
    return {
        "apiVersion": kinds.CRD.api_version,
        "kind": kinds.CRD.name,
        "metadata": {"name": kind.crd_name},
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "conversion": {"strategy": "None"},
            "versions": [_version(kind, form, version, properties) for version in form.versions],
        },
    }


def _version(kind: Kind, form: _Form, version: _Version, properties: Schema) -> JsonObject:
    stored = form.versions[-1]
    written: JsonObject = {"name": version.name, "served": True, "storage": version is stored}
    if version is not stored:
        written["deprecated"] = True
        written["deprecationWarning"] = (
            f"{kind.group}/{version.name} {kind.name} is deprecated; use {kind.group}/{stored.name} {kind.name}"
        )
    schema: Schema = {"description": form.summary, "type": "object", "properties": properties}
    if version.rules:
        # The rules read spec, and an absent one would make them fail with an error instead of a message.
        schema["required"] = ["spec"]
        rules: list[Json] = [rule.schema() for rule in version.rules]
        schema["x-kubernetes-validations"] = rules
    written["schema"] = {"openAPIV3Schema": schema}
    if form.status_subresource:
        written["subresources"] = {"status": {}}
    if form.selectable:
        written["selectableFields"] = [{"jsonPath": path} for path in form.selectable]
    if version.columns:
        written["additionalPrinterColumns"] = [*version.columns]
    return written
