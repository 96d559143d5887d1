"""One service on its way to a classification: its closure, and the targets that the mapping gives for it (pure)."""

from collections.abc import Iterator, Mapping

import msgspec

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_PROFILE, AIM_PROFILE_CACHE, Kind
from aim_api.tree import JsonObject, get_map, get_str
from aim_template_migration.derived import derived
from aim_template_migration.documents.codes import CODES
from aim_template_migration.documents.plan import Finding, Reference
from aim_template_migration.mapping.profile import MappedProfile, ProfileSources, Source, map_profile
from aim_template_migration.mapping.profile_cache import map_profile_cache, merged_label_propagation
from aim_template_migration.planning.closure import Closure, close
from aim_template_migration.planning.settings import Settings
from aim_template_migration.planning.snapshot import Observed, Snapshot, reference_to

Findings = Iterator[Finding]


class Case(msgspec.Struct, frozen=True, eq=False, dict=True):
    """Everything that the checks of one service look at.

    Attributes:
        snapshot: what was read.
        settings: the plan's settings.
        closure: the service's closure.
        mapped: the target profile as mapped, None where no template is resolved.
        profile_body: the whole target profile, None where no template is resolved.
        cache_body: the whole target cache, None where no template is resolved.
    """

    snapshot: Snapshot
    settings: Settings
    closure: Closure
    mapped: MappedProfile | None
    profile_body: JsonObject | None
    cache_body: JsonObject | None

    @property
    def service(self) -> Observed:
        """The service."""
        return self.closure.service

    @property
    def profile_kind(self) -> Kind:
        """The kind of the target profile: cluster-scoped for a cluster template."""
        return AIM_CLUSTER_PROFILE if self.closure.cluster_template else AIM_PROFILE

    @derived
    def profile_reference(self) -> Reference:
        """The target profile."""
        return reference_to(self.profile_kind, self.service.namespace, self.closure.profile_name)

    @derived
    def cache_reference(self) -> Reference:
        """The target cache."""
        name = get_str(self.cache_body, "metadata", "name") or ""
        return reference_to(AIM_PROFILE_CACHE, self.service.namespace, name)


def open_case(
    snapshot: Snapshot, settings: Settings, service: Observed, planned: Mapping[str, JsonObject] | None = None
) -> Case:
    """Return the case of a service.

    Args:
        snapshot: what was read.
        settings: the plan's settings.
        service: the service.
        planned: bodies of target profiles by id that take the place of the mapped ones, because an administrator edited
            them and owns the result (R, "Plan and review").
    """
    closure = close(snapshot, service)
    template = closure.template.found
    if template is None:
        return Case(snapshot, settings, closure, None, None, None)
    kind = AIM_CLUSTER_PROFILE if closure.cluster_template else AIM_PROFILE
    reference = reference_to(kind, service.namespace, template.name)
    model, existing = closure.model.found, closure.target_profile
    sources = ProfileSources(
        target=reference.id,
        template=Source(template.id, template.obj),
        model=Source(model.id, model.obj) if model else None,
        runtime_configs=tuple(Source(item.id, item.obj) for item in closure.runtime_configs),
        runtime_config_name=closure.runtime_config_name,
        existing=existing.obj if existing else None,
    )
    mapped = map_profile(sources)
    metadata: JsonObject = {"name": template.name}
    if kind.namespaced:
        metadata["namespace"] = service.namespace
    body: JsonObject = (planned or {}).get(reference.id) or {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": metadata,
        "spec": mapped.spec,
    }
    in_effect = get_map(existing.obj, "spec") if existing else mapped.spec
    propagated = merged_label_propagation(tuple(item.obj for item in closure.runtime_configs))
    cache = map_profile_cache(service.obj, template.name, closure.profile_scope, in_effect, propagated)
    return Case(snapshot, settings, closure, mapped, body, cache)


def finding(code: str, obj: Observed | Reference, message: str, where: str = "") -> Finding:
    """Return a finding about an object, with the code's own advice."""
    return Finding(code=code, object=obj.id, message=message, field=where, advice=CODES[code].advice)
