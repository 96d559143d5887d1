"""Template → profile: the recipe of G, complete, or with what keeps it from being so (pure)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

import msgspec

from aim_api.labels import DEPLOYMENT_IMAGE_REF
from aim_api.tree import Json, JsonObject, get, get_bool, get_int, get_list, get_map, get_objects, get_str
from aim_api.tree import field_path as path_text
from aim_template_migration.documents.plan import Imputation
from aim_template_migration.mapping.defaulting import is_empty
from aim_template_migration.mapping.engine_settings import FRAMEWORK_VARIABLES, deep_merge, merge_env, split_engine_args
from aim_template_migration.mapping.template_fates import TEMPLATE_FATES

GPU_RESOURCE = "amd.com/gpu"


class Source(msgspec.Struct, frozen=True):
    """An object that values are taken from: its id and the object."""

    id: str
    obj: JsonObject


class ProfileSources(msgspec.Struct, frozen=True):
    """What a profile is made from.

    Attributes:
        target: id of the profile.
        template: the (cluster) service template.
        model: the (cluster) model that the service resolves, None where it is unknown.
        runtime_configs: the runtime configs of the service, lowest precedence first.
        runtime_config_name: the name under which the service looks up its runtime configs.
        existing: the profile of that name that exists already, if any.
    """

    target: str
    template: Source
    model: Source | None
    runtime_configs: tuple[Source, ...] = ()
    runtime_config_name: str = "default"
    existing: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """What keeps the mapping from being complete: its code, the object and field concerned, and one sentence."""

    code: Literal["UnmappedField", "ImputationNotSafe"]
    object: str
    field: str
    message: str


@dataclass(slots=True)
class MappedProfile:
    """The spec of the profile, where its values come from, and what is wrong with it."""

    spec: JsonObject = field(default_factory=dict)
    imputations: list[Imputation] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def map_profile(sources: ProfileSources) -> MappedProfile:
    """Return the profile that has the effect of the template, with every imputation and every problem."""
    mapper = _Mapper(sources)
    mapper.check_fields()
    mapper.identity()
    mapper.image()
    mapper.descriptive_fields()
    mapper.hardware()
    mapper.environment()
    mapper.model_sources()
    mapper.plain_fields()
    return mapper.result


class _Mapper:
    """One run of the recipe; each method maps one group of fields."""

    def __init__(self, sources: ProfileSources) -> None:
        self.sources = sources
        self.template = sources.template
        self.spec = get_map(sources.template.obj, "spec")
        self.discovered = get_map(sources.template.obj, "status", "profile")
        self.metadata = get_map(self.discovered, "metadata")
        self.result = MappedProfile()

    def check_fields(self) -> None:
        for path, value, fate in TEMPLATE_FATES.exceptions({"spec": self.spec}):
            if fate is None:
                self._unmapped(path_text(path), "is not known to this tool, so its meaning might be lost")
            elif not is_empty(value):
                self._unmapped(path_text(path), f"has no exact counterpart: {fate.reason}")
        resource = (
            get_str(self.spec, "hardware", "gpu", "resourceName")
            or get_str(self._resolved_gpu(), "resourceName")
            or GPU_RESOURCE
        )
        if resource != GPU_RESOURCE:
            self._unmapped("spec.hardware.gpu.resourceName", f"asks for another device than {GPU_RESOURCE}")
        name = get_str(self.spec, "runtimeConfigName") or "default"
        if name != self.sources.runtime_config_name:
            self._unmapped(
                "spec.runtimeConfigName", "names another runtime config than the service, and a profile names none"
            )

    def identity(self) -> None:
        stated = get_str(self.spec, "aimId")
        found = list(self._aim_ids())
        if stated:
            self.result.spec["aimId"] = stated
        elif found:
            self._impute("aimId", found[0][0], found[0][1], found[0][2])
        if len({value for value in (stated, *(item[0] for item in found)) if value}) > 1:
            self._unsafe("spec.aimId", "the template, its discovered profile and its model state different AIM ids")
        if not stated and not found:
            self._weak_identity()
        self._model_id()

    def image(self) -> None:
        annotation = get_str(self.template.obj, "metadata", "annotations", DEPLOYMENT_IMAGE_REF)
        model = self.sources.model
        image = get_str(model.obj, "spec", "image") if model else None
        if annotation:
            self._impute(
                "image",
                annotation,
                f"{self.template.id} metadata.annotations[{DEPLOYMENT_IMAGE_REF}]",
                "FromDeploymentImageAnnotation",
            )
        elif model and image:
            self._impute("image", image, f"{model.id} spec.image", "FromModelImage")
        else:
            self._unsafe(
                "spec.image", "a profile needs an image, and neither the template's annotation nor the model states one"
            )

    def descriptive_fields(self) -> None:
        for name in ("metric", "precision", "type"):
            stated, found = get_str(self.spec, name), get_str(self.metadata, name)
            if stated and not (name == "precision" and stated == "auto"):
                self.result.spec[name] = stated
            elif found and found != "auto":
                self._impute(name, found, self._discovered_source(name), "FromDiscoveredProfile")
            elif stated:
                self._unsafe(
                    "spec.precision",
                    "the template says auto, which no profile can state, and discovery found no precision",
                )
        engine = get_str(self.metadata, "engine")
        if engine:
            self._impute("engine", engine, self._discovered_source("engine"), "FromDiscoveredProfile")

    def hardware(self) -> None:
        stated, resolved = get_map(self.spec, "hardware", "gpu"), self._resolved_gpu()
        if get_map(self.template.obj, "status", "resolvedHardware", "cpu") and not get_map(
            self.spec, "hardware", "cpu"
        ):
            self._unmapped("status.resolvedHardware.cpu", "CPU quantities have no accelerator field")
        model = self._agreed("acceleratorModel", get_str(stated, "model"), get_str(resolved, "model"), "model")
        count = self._agreed("acceleratorCount", get_int(stated, "requests"), get_int(resolved, "requests"), "requests")
        if model is not None or count is not None:
            self._impute("acceleratorType", "gpu", f"{self.template.id} spec.hardware.gpu", "FromHardwareKind")

    def environment(self) -> None:
        """Merge the environments by name, lowest precedence first; engine arguments are merged deeply instead."""
        levels = [*self.sources.runtime_configs, self.template]
        split = [self._without_engine_args(level) for level in levels]
        merged: list[JsonObject] = []
        for env, _ in split:
            merged = merge_env(merged, env)
        if merged:
            self.result.spec["containerEnv"] = list(merged)
        kept = {id(item) for item in merged}
        for level, (env, _) in zip(levels, split, strict=True):
            self._framework_variables(env, level.id)
            taken = [item for item in env if id(item) in kept]
            if taken and level is not self.template:
                self._record("containerEnv", list(taken), f"{level.id} spec.env", "FromRuntimeConfig")
        self._engine_settings([(level.id, args) for level, (_, args) in zip(levels, split, strict=True)])

    def model_sources(self) -> None:
        stated, effective = get_list(self.spec, "modelSources"), get_list(self.template.obj, "status", "modelSources")
        if stated:
            self.result.spec["modelSources"] = stated
            if effective and effective != stated:
                self._unsafe(
                    "spec.modelSources", "the template's status reports other model sources than its spec states"
                )
        elif effective:
            self._impute(
                "modelSources", effective, f"{self.template.id} status.modelSources", "FromDiscoveredModelSources"
            )
        else:
            self._unsafe(
                "spec.modelSources",
                "the template reports no model sources (status.modelSources), so a profile can't be deployable",
            )

    def plain_fields(self) -> None:
        for name in ("profileId", "resources", "imagePullSecrets", "serviceAccountName"):
            value = self.spec.get(name)
            if not is_empty(value):
                self.result.spec[name] = value
        caching = get_map(self.spec, "caching")
        carried: JsonObject = {}
        if get_bool(caching, "enabled"):
            carried["enabled"] = True
        if get_list(caching, "env"):
            carried["env"] = caching["env"]
        if carried:
            self.result.spec["caching"] = carried

    def _aim_ids(self) -> Iterator[tuple[str, str, str]]:
        """Yield value, source and rule of every place that states the AIM id, best first."""
        discovered = get_str(self.metadata, "aimId")
        if discovered:
            yield discovered, self._discovered_source("aimId"), "FromDiscoveredProfile"
        model = self.sources.model
        for path in (("spec", "aimId"), ("status", "aimId")):
            value = get_str(model.obj, *path) if model else None
            if model and value:
                yield value, f"{model.id} {path_text(path)}", "FromModelIdentity"

    def _weak_identity(self) -> None:
        """Use the image's canonical name, unless a profile exists that states the AIM id itself."""
        existing = get_str(self.sources.existing, "spec", "aimId")
        model = self.sources.model
        name = get_str(model.obj, "status", "imageMetadata", "model", "canonicalName") if model else None
        name = name or (get_str(model.obj, "spec", "imageMetadata", "model", "canonicalName") if model else None)
        if existing:
            return
        if model and name:
            self._impute("aimId", name, f"{model.id} status.imageMetadata.model.canonicalName", "FromImageMetadata")
        else:
            self._unsafe("spec.aimId", "neither the template, nor what discovery found, nor the model states an AIM id")

    def _model_id(self) -> None:
        stated, discovered = get_str(self.spec, "modelId"), get_str(self.metadata, "modelId")
        sources = get_objects(self.spec, "modelSources") or get_objects(self.template.obj, "status", "modelSources")
        first = get_str(sources[0], "modelId") if sources else None
        if stated:
            self.result.spec["modelId"] = stated
        elif discovered:
            self._impute("modelId", discovered, self._discovered_source("modelId"), "FromDiscoveredProfile")
        elif first and len(sources) == 1:
            self._impute("modelId", first, f"{self.template.id} status.modelSources[0].modelId", "FromModelSource")
        else:
            self._unsafe(
                "spec.modelId", "nothing states the model id, and there is not exactly one model source to take it from"
            )

    def _resolved_gpu(self) -> JsonObject:
        return get_map(self.template.obj, "status", "resolvedHardware", "gpu")

    def _agreed(self, name: str, stated: Json, resolved: Json, source_field: str) -> Json:
        """Map an accelerator field; what discovery resolved is what runs, so it must not differ from what is stated."""
        if not is_empty(stated) and not is_empty(resolved) and stated != resolved:
            self._unsafe(f"spec.{name}", f"the template states {stated}, and its status resolved {resolved}")
        value = stated if not is_empty(stated) else resolved
        if is_empty(value):
            return None
        if not is_empty(stated):
            self.result.spec[name] = value
        else:
            self._impute(
                name, value, f"{self.template.id} status.resolvedHardware.gpu.{source_field}", "FromResolvedHardware"
            )
        return value

    def _engine_settings(self, variables: list[tuple[str, JsonObject]]) -> None:
        found, custom = get(self.discovered, "engine_args"), get(self.spec, "customProfile", "engineArgs")
        args: JsonObject = {}
        for value, where in ((found, "status.profile.engine_args"), (custom, "spec.customProfile.engineArgs")):
            if isinstance(value, dict):
                args = deep_merge(args, value)
            elif not is_empty(value):
                self._unsafe("spec.engineArgs", f"{where} is no JSON object")
        if isinstance(found, dict) and isinstance(custom, dict) and set(found) - set(custom):
            self._unsafe(
                "spec.engineArgs",
                "discovery found engine arguments that the custom profile does not state, so it is unknown which apply",
            )
        if isinstance(found, dict) and found:
            self._record("engineArgs", found, f"{self.template.id} status.profile.engine_args", "FromDiscoveredProfile")
        for source, value in variables:
            if value:
                args = deep_merge(args, value)
                self._record("engineArgs", value, f"{source} spec.env[AIM_ENGINE_ARGS]", "FromEngineArgsVariable")
        if args:
            self.result.spec["engineArgs"] = args
        self._engine_env()

    def _engine_env(self) -> None:
        found, custom = get_map(self.discovered, "env_vars"), get_map(self.spec, "customProfile", "envVars")
        if found and custom and set(found) - set(custom):
            self._unsafe(
                "spec.engineEnv",
                "discovery found engine variables that the custom profile does not state, so it is unknown which apply",
            )
        if found:
            self._record("engineEnv", found, f"{self.template.id} status.profile.env_vars", "FromDiscoveredProfile")
        if found or custom:
            self.result.spec["engineEnv"] = {**found, **custom}

    def _without_engine_args(self, level: Source) -> tuple[list[JsonObject], JsonObject]:
        others, args, fault = split_engine_args(get_objects(level.obj, "spec", "env"))
        if fault:
            message = f"spec.engineArgs can't be known: {fault}"
            self.result.problems.append(Problem("ImputationNotSafe", level.id, "spec.env", message))
        return others, args

    def _framework_variables(self, env: list[JsonObject], source: str) -> None:
        for item in env:
            if get_str(item, "name") in FRAMEWORK_VARIABLES:
                message = (
                    f"the variable {item['name']} is set by the profile pipeline itself, so its value would be lost"
                )
                self.result.problems.append(Problem("UnmappedField", source, f"spec.env[{item['name']}]", message))

    def _discovered_source(self, name: str) -> str:
        return f"{self.template.id} status.profile.metadata.{name}"

    def _impute(self, name: str, value: Json, source: str, rule: str) -> None:
        self.result.spec[name] = value
        self._record(name, value, source, rule)

    def _record(self, name: str, value: Json, source: str, rule: str) -> None:
        self.result.imputations.append(
            Imputation(object=self.sources.target, field=f"spec.{name}", value=value, source=source, rule=rule)
        )

    def _unmapped(self, where: str, message: str) -> None:
        self.result.problems.append(Problem("UnmappedField", self.template.id, where, f"{where} {message}"))

    def _unsafe(self, where: str, message: str) -> None:
        self.result.problems.append(
            Problem("ImputationNotSafe", self.template.id, where, f"{where} of the profile can't be known: {message}")
        )
