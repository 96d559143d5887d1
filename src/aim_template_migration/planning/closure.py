"""The closure of a service: every object that its workload, its weights and its migration depend on (pure).

Children are found by owner UID, by label and by status reference, never by a recomputed name (legacy pipeline facts,
join keys for a reader). Where a join does not give exactly one object, the join says why; what that means is for the
checks.
"""

from collections.abc import Iterator, Mapping

import msgspec

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    PVC,
)
from aim_api.labels import SERVICE, SERVICE_NAME
from aim_api.names import label_value, shared_profile_cache_name
from aim_api.tree import JsonObject, get_map, get_objects, get_str
from aim_template_migration.derived import derived
from aim_template_migration.planning.snapshot import NamespaceScope, Observed, Snapshot

DEFAULT_CONFIG = "default"


class Join(msgspec.Struct, frozen=True):
    """The one object that a reference leads to, or why there is not exactly one.

    Attributes:
        found: the object.
        fault: one sentence, where there is not exactly one.
        field: the field of the service that the sentence is about.
    """

    found: Observed | None
    fault: str = ""
    field: str = ""


class Claim(msgspec.Struct, frozen=True, dict=True):
    """One model source of the template, with the artifacts that hold it.

    Attributes:
        index: its place in the template's sources.
        model_id: the source's modelId.
        source_uri: the source's URI.
        matching: all artifacts of the namespace with this URI.
        entry: what the template cache reports for it, by artifact UID (empty where nothing).
        pvcs: the PersistentVolumeClaims that its candidates name, by artifact UID.
    """

    index: int
    model_id: str
    source_uri: str
    matching: tuple[Observed, ...]
    entry: JsonObject
    pvcs: Mapping[str, Observed]

    @derived
    def ownerless(self) -> tuple[Observed, ...]:
        """The artifacts that a Shared cache may adopt: any owner of any kind makes an artifact Dedicated."""
        return tuple(item for item in self.matching if not item.owner_references)

    @derived
    def candidates(self) -> tuple[Observed, ...]:
        """The artifacts that concern this service: adoptable or reported; all of that URI where there are none."""
        return _candidates(self.matching, self.entry)

    @derived
    def artifact(self) -> Observed | None:
        """The one artifact that will be adopted, if there is exactly one."""
        return self.ownerless[0] if len(self.ownerless) == 1 else None

    @property
    def pvc(self) -> Observed | None:
        """The PersistentVolumeClaim of the one artifact that will be adopted."""
        return self.pvcs.get(self.artifact.uid) if self.artifact else None


class Closure(msgspec.Struct, frozen=True, eq=False, dict=True):
    """One service with everything that belongs to it.

    Attributes:
        service: the AIMService.
        scope: its namespace.
        model: the (cluster) model that it resolves.
        template: the (cluster) service template that it resolves.
        template_cache: the template cache that it uses.
        inference_services: those it owns or that carry its label, by name.
        deployments: those that its one InferenceService owns.
        runtime_config: the namespace's runtime config of the service's name.
        cluster_runtime_config: the cluster's runtime config of that name.
        claims: the template's sources with their artifacts.
        profile: the AIMProfile of the template's name in the namespace.
        cluster_profile: the AIMClusterProfile of the template's name, for a cluster template.
        profile_cache: the AIMProfileCache of the service-driven name.
    """

    service: Observed
    scope: NamespaceScope
    model: Join
    template: Join
    template_cache: Join
    inference_services: tuple[Observed, ...]
    deployments: tuple[Observed, ...]
    runtime_config: Observed | None
    cluster_runtime_config: Observed | None
    claims: tuple[Claim, ...]
    profile: Observed | None
    cluster_profile: Observed | None
    profile_cache: Observed | None

    @derived
    def inference_service(self) -> Observed | None:
        """The one InferenceService that the service controls, if it is the only one of its name or label."""
        only = self.inference_services[0] if len(self.inference_services) == 1 else None
        return only if only is not None and only.owned_by(self.service.uid) else None

    @property
    def deployment(self) -> Observed | None:
        """The one Deployment of the InferenceService, if there is exactly one."""
        return self.deployments[0] if len(self.deployments) == 1 else None

    @derived
    def cluster_template(self) -> bool:
        """Whether the template is cluster-scoped, so that its profile must be too."""
        return self.template.found is not None and not self.template.found.kind.namespaced

    @property
    def profile_scope(self) -> str:
        """``Namespace`` or ``Cluster``: the scope of the target profile."""
        return "Cluster" if self.cluster_template else "Namespace"

    @property
    def profile_name(self) -> str:
        """The target profile's name, which is the template's; empty where no template is resolved."""
        return self.template.found.name if self.template.found else ""

    @property
    def target_profile(self) -> Observed | None:
        """The existing object that would be the target profile, in its scope."""
        return self.cluster_profile if self.cluster_template else self.profile

    @property
    def runtime_config_name(self) -> str:
        """The name under which the service looks up its runtime configs."""
        return get_str(self.service.obj, "spec", "runtimeConfigName") or DEFAULT_CONFIG

    @derived
    def runtime_configs(self) -> tuple[Observed, ...]:
        """The runtime configs, lowest precedence first."""
        return tuple(item for item in (self.cluster_runtime_config, self.runtime_config) if item)

    @derived
    def artifacts(self) -> tuple[Observed, ...]:
        """The artifacts that hold the sources or could be adopted for them, each once, by name."""
        by_name = {item.name: item for claim in self.claims for item in claim.candidates}
        return tuple(item for _, item in sorted(by_name.items()))

    @derived
    def pvcs(self) -> tuple[Observed, ...]:
        """The PersistentVolumeClaims of those artifacts, each once, by name."""
        by_name = {item.name: item for claim in self.claims for item in claim.pvcs.values()}
        return tuple(item for _, item in sorted(by_name.items()))

    @derived
    def objects(self) -> tuple[Observed, ...]:
        """Every object of the closure once, the service first."""
        return tuple(self._objects())

    @derived
    def by_uid(self) -> dict[str, Observed]:
        """Every object of the closure by its UID."""
        return {item.uid: item for item in self.objects}

    def _objects(self) -> Iterator[Observed]:
        yield self.service
        joins = (self.model, self.template, self.template_cache)
        yield from (join.found for join in joins if join.found)
        yield from self.artifacts
        yield from self.pvcs
        yield from self.inference_services
        yield from self.deployments
        yield from self.runtime_configs
        yield from (item for item in (self.profile, self.cluster_profile, self.profile_cache) if item)


def close(snapshot: Snapshot, service: Observed) -> Closure:
    """Return the closure of a service in a snapshot."""
    scope = snapshot.namespace(service.namespace)
    template = _template(snapshot, service)
    cache = _template_cache(scope, service, template.found)
    services = _inference_services(scope, service)
    owned = [item for item in services if item.owned_by(service.uid)]
    config = get_str(service.obj, "spec", "runtimeConfigName") or DEFAULT_CONFIG
    name = template.found.name if template.found else ""
    is_cluster = template.found is not None and not template.found.kind.namespaced
    cache_name = shared_profile_cache_name(name, scope.name, "Cluster" if is_cluster else "Namespace") if name else ""
    return Closure(
        service=service,
        scope=scope,
        model=_model(snapshot, service),
        template=template,
        template_cache=cache,
        inference_services=services,
        deployments=scope.owned_by(DEPLOYMENT, owned[0].uid) if len(owned) == 1 else (),
        runtime_config=scope.get(AIM_RUNTIME_CONFIG, config),
        cluster_runtime_config=snapshot.get(AIM_CLUSTER_RUNTIME_CONFIG, "", config),
        claims=tuple(_claims(scope, template.found, cache.found)),
        profile=scope.get(AIM_PROFILE, name),
        cluster_profile=snapshot.get(AIM_CLUSTER_PROFILE, "", name) if is_cluster else None,
        profile_cache=scope.get(AIM_PROFILE_CACHE, cache_name),
    )


def _model(snapshot: Snapshot, service: Observed) -> Join:
    where = "status.resolvedModel"
    resolved = get_map(service.obj, "status", "resolvedModel")
    name, uid = get_str(resolved, "name"), get_str(resolved, "uid")
    if not name or not uid:
        return Join(None, "the service does not report the model that it resolves", where)
    kind = AIM_CLUSTER_MODEL if get_str(resolved, "scope") == "Cluster" else AIM_MODEL
    found = snapshot.get(kind, service.namespace, name)
    if found is None or found.uid != uid:
        return Join(None, f"the resolved {kind.name} {name} {_gone_or_replaced(found)}", where)
    wanted = get_str(service.obj, "spec", "model", "name")
    if wanted and wanted != name:
        return Join(found, f"the service asks for model {wanted} and resolves {name}", "spec.model.name")
    shadow = snapshot.get(AIM_MODEL, service.namespace, name) if kind is AIM_CLUSTER_MODEL and wanted else None
    if shadow:
        return Join(
            found,
            f"the service resolves AIMClusterModel {name}, and an AIMModel of that name would win",
            "spec.model.name",
        )
    return _of_image(snapshot, service, found)


def _of_image(snapshot: Snapshot, service: Observed, found: Observed) -> Join:
    image = get_str(service.obj, "spec", "model", "image")
    if not image:
        return Join(found)
    if get_str(found.obj, "spec", "image") != image:
        return Join(
            found, f"the resolved model {found.name} has another image than the service asks for", "spec.model.image"
        )
    clusters = (item for item in snapshot.cluster.objects.get(AIM_CLUSTER_MODEL.name, {}).values())
    same = [item for item in clusters if get_str(item.obj, "spec", "image") == image]
    same += snapshot.namespace(service.namespace).with_field(AIM_MODEL, ("spec", "image"), image)
    if len(same) != 1:
        return Join(found, f"{len(same)} models have the image that the service asks for", "spec.model.image")
    return Join(found)


def _template(snapshot: Snapshot, service: Observed) -> Join:
    where = "status.resolvedTemplate"
    resolved = get_map(service.obj, "status", "resolvedTemplate")
    name, uid = get_str(resolved, "name"), get_str(resolved, "uid")
    if not name or not uid:
        return Join(None, "the service does not report the template that it resolves", where)
    kind = AIM_CLUSTER_SERVICE_TEMPLATE if get_str(resolved, "scope") == "Cluster" else AIM_SERVICE_TEMPLATE
    elsewhere = get_str(resolved, "namespace")
    if kind.namespaced and elsewhere and elsewhere != service.namespace:
        return Join(None, f"the resolved template is in namespace {elsewhere}", where)
    found = snapshot.get(kind, service.namespace, name)
    if found is None or found.uid != uid:
        return Join(None, f"the resolved {kind.name} {name} {_gone_or_replaced(found)}", where)
    return _as_asked_for(snapshot, service, found)


def _as_asked_for(snapshot: Snapshot, service: Observed, found: Observed) -> Join:
    """Return the resolved template, and why the service might resolve another one the next time."""
    name, field = found.name, "spec.template.name"
    if found.status_word != "Ready":
        message = f"template {name} is not Ready, so the service may resolve another one soon"
        return Join(found, message, "status.resolvedTemplate")
    wanted = (get_str(service.obj, "spec", "template", "name") or "").strip()
    if wanted and wanted != name:
        return Join(found, f"the service asks for template {wanted} and resolves {name}", field)
    if wanted and not found.kind.namespaced and snapshot.get(AIM_SERVICE_TEMPLATE, service.namespace, name):
        message = f"the service resolves AIMClusterServiceTemplate {name}, and an AIMServiceTemplate would win"
        return Join(found, message, field)
    return Join(found)


def _template_cache(scope: NamespaceScope, service: Observed, template: Observed | None) -> Join:
    where = "status.cache.templateCacheRef"
    reference = get_map(service.obj, "status", "cache", "templateCacheRef")
    name, uid = get_str(reference, "name"), get_str(reference, "uid")
    if not name or not uid:
        return Join(None, "the service does not report the template cache that it uses", where)
    found = scope.get(AIM_TEMPLATE_CACHE, name)
    if found is None or found.uid != uid:
        return Join(None, f"the template cache {name} that the service uses {_gone_or_replaced(found)}", where)
    if template is None:
        return Join(found)
    if get_str(found.obj, "spec", "templateName") != template.name:
        return Join(found, f"the template cache {name} belongs to another template than the service resolves", where)
    same = scope.with_field(AIM_TEMPLATE_CACHE, ("spec", "templateName"), template.name)
    shared = [
        item.name for item in same if (get_str(item.obj, "spec", "mode") or "Shared") == "Shared" and item is not found
    ]
    if shared:
        return Join(
            found,
            f"{len(shared) + 1} Shared template caches fit the template: {', '.join(sorted([name, *shared]))}",
            where,
        )
    return Join(found)


def _gone_or_replaced(found: Observed | None) -> str:
    return "does not exist" if found is None else "was replaced: its UID is not the one that the service reports"


def _inference_services(scope: NamespaceScope, service: Observed) -> tuple[Observed, ...]:
    """Return what the service controls, and what carries its label without being its own."""
    owned = scope.owned_by(INFERENCE_SERVICE, service.uid)
    named = scope.with_label(INFERENCE_SERVICE, SERVICE_NAME, service.name)
    labelled = scope.with_label(INFERENCE_SERVICE, SERVICE, label_value(service.name))
    return tuple(item for _, item in sorted({item.name: item for item in (*owned, *named, *labelled)}.items()))


def _claims(scope: NamespaceScope, template: Observed | None, cache: Observed | None) -> Iterator[Claim]:
    reported = (
        [item for item in get_map(cache.obj, "status", "artifacts").values() if isinstance(item, dict)] if cache else []
    )
    sources = get_objects(template.obj, "status", "modelSources") if template else []
    for position, source in enumerate(sources):
        uri = get_str(source, "sourceUri") or ""
        matching = scope.with_field(AIM_ARTIFACT, ("spec", "sourceUri"), uri)
        uids = {item.uid for item in matching}
        entry = next((item for item in reported if get_str(item, "uid") in uids), {})
        yield Claim(
            index=position,
            model_id=get_str(source, "modelId") or "",
            source_uri=uri,
            matching=matching,
            entry=entry,
            pvcs=dict(_pvcs(scope, _candidates(matching, entry))),
        )


def _candidates(matching: tuple[Observed, ...], entry: JsonObject) -> tuple[Observed, ...]:
    reported = get_str(entry, "uid")
    return tuple(item for item in matching if not item.owner_references or item.uid == reported) or matching


def _pvcs(scope: NamespaceScope, artifacts: tuple[Observed, ...]) -> Iterator[tuple[str, Observed]]:
    for artifact in artifacts:
        found = scope.get(PVC, get_str(artifact.obj, "status", "persistentVolumeClaim") or "")
        if found:
            yield artifact.uid, found
