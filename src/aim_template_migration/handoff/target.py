"""Whether the target side is what a phase asks for (pure; R, phases 4 and 6)."""

from collections.abc import Iterator

from aim_api.kinds import AIM_CLUSTER_PROFILE, AIM_GROUP, AIM_SERVICE
from aim_api.labels import PREFIX
from aim_api.tree import get, get_map, get_objects, get_str
from aim_template_migration.handoff.difference import Difference
from aim_template_migration.handoff.phases import Phase
from aim_template_migration.handoff.premises import is_observed
from aim_template_migration.handoff.sighting import Sighting
from aim_template_migration.planning.evidence import finalizers_of, reports_of
from aim_template_migration.planning.snapshot import Observed


def target_differences(seen: Sighting, at: Phase) -> Iterator[Difference]:
    """Yield everything in which the target side is not what the phase asks for."""
    if not at.target:
        for cache in seen.service_caches:
            if not cache.paused:
                yield Difference(cache.id, "it exists already and is not paused, so it may act before its phase")
        return
    profile_id = f"profile {seen.profile_name}"
    if seen.profile is None:
        yield Difference(profile_id, "the approved target profile does not exist")
    else:
        yield from _profile(seen, seen.profile)
    if len(seen.target_caches) != 1:
        message = f"{len(seen.target_caches)} Dedicated profile caches of the service exist for it, not exactly one"
        yield Difference(profile_id, message)
        return
    for other in seen.service_caches:
        if other.uid != seen.target_caches[0].uid:
            yield Difference(other.id, "the service owns this profile cache, too, so that the target is ambiguous")
    yield from _cache(seen, seen.target_caches[0], at)


def _profile(seen: Sighting, profile: Observed) -> Iterator[Difference]:
    name = profile.id
    if profile.terminating:
        yield Difference(name, "it is terminating")
    if profile.paused:
        yield Difference(name, "it is paused, so that its status says nothing")
    if profile.status_word != "Ready" or profile.condition_status("Ready") == "False":
        yield Difference(name, f"its status is {profile.status_word or 'unset'}, not Ready")
    if not is_observed(profile):
        observed = profile.observed_generation or "none"
        yield Difference(name, f"its status observes generation {observed}, its generation is {profile.generation}")
    if get(profile.obj, "spec", "caching", "enabled") is True:
        yield Difference(name, "spec.caching.enabled is true, so it would make a cache of its own")
    wanted = sorted(uri for uri in (_source_of(seen, uid) for uid in _artifact_uids(seen)) if uri)
    found = sorted(get_str(item, "sourceUri") or "" for item in get_objects(profile.obj, "spec", "modelSources"))
    if found != wanted:
        yield Difference(
            name, f"its model sources are {', '.join(found) or 'none'}, the artifacts hold {', '.join(wanted)}"
        )


def _cache(seen: Sighting, cache: Observed, at: Phase) -> Iterator[Difference]:
    name = cache.id
    if cache.terminating:
        yield Difference(name, "it is terminating")
    if cache.paused != (at.target == "paused"):
        yield Difference(name, f"it is {'paused' if cache.paused else 'not paused'} at this phase")
    yield from _belongings(seen, cache)
    yield from _compatible(seen, cache)
    if at.target == "active":
        yield from _adoption(seen, cache)
    elif get_map(cache.obj, "status", "artifacts"):
        yield Difference(name, "it reports artifacts although it must not have acted yet")


def _belongings(seen: Sighting, cache: Observed) -> Iterator[Difference]:
    """Service ownership is exact, and no finalizer of a stranger keeps the cache (R, phase 4)."""
    service = seen.of("service")[0].uid if seen.of("service") else ""
    owners = cache.owner_references
    own = len(owners) == 1 and (owners[0].kind, owners[0].uid) == (AIM_SERVICE.name, service)
    if not own or owners[0].api_version.partition("/")[0] != AIM_GROUP or owners[0].controller is not True:
        yield Difference(cache.id, f"it is not owned by {seen.evidence.unit} as its controller and by nothing else")
    foreign = [item for item in finalizers_of(cache) if not item.startswith(PREFIX)]
    if foreign:
        yield Difference(cache.id, f"it has finalizers of strangers: {', '.join(foreign)}")


def _compatible(seen: Sighting, cache: Observed) -> Iterator[Difference]:
    """The controller adopts an artifact only for a fitting scope and storage class (cache adoption facts)."""
    if seen.profile is not None:
        scope = "Cluster" if seen.profile.kind.name == AIM_CLUSTER_PROFILE.name else "Namespace"
        stated = get_str(cache.obj, "spec", "profileScope") or "Namespace"
        if stated != scope:
            yield Difference(cache.id, f"spec.profileScope is {stated}, and the approved profile's scope is {scope}")
    wanted = get_str(cache.obj, "spec", "storageClassName")
    for artifact in seen.of("artifact"):
        live = seen.live(artifact)
        held = get_str(live.obj, "spec", "storageClassName") if live else None
        if wanted and wanted != held:
            message = f"spec.storageClassName is {wanted}, and {artifact.reference.id} has {held or 'none'}"
            yield Difference(cache.id, f"{message}, so that it would not adopt it")


def _adoption(seen: Sighting, cache: Observed) -> Iterator[Difference]:
    """Ready at its generation with the exact source artifacts, each on the claim of the evidence (R, phase 6)."""
    if not is_observed(cache) or cache.status_word != "Ready" or cache.condition_status("Ready") == "False":
        yield Difference(cache.id, f"it is not Ready at its generation {cache.generation}")
    reported = {item.uid: item for item in reports_of(cache)}
    claims = seen.claims
    for artifact in seen.of("artifact"):
        report, claim = reported.get(artifact.uid), claims.get(artifact.uid)
        if report is None or not claim or report.persistent_volume_claim != claim:
            message = f"it does not report artifact {artifact.reference.name} (UID {artifact.uid}) with claim {claim}"
            yield Difference(cache.id, message)
        elif report.status != "Ready":
            yield Difference(cache.id, f"it reports artifact {artifact.reference.name} as {report.status}, not Ready")
    foreign = sorted(uid or "without UID" for uid in set(reported) - set(_artifact_uids(seen)))
    if foreign or len(get_map(cache.obj, "status", "artifacts")) != len(reported):
        yield Difference(cache.id, f"it reports other artifacts: {', '.join(foreign) or 'one of them twice'}")


def _artifact_uids(seen: Sighting) -> tuple[str, ...]:
    return tuple(item.uid for item in seen.of("artifact"))


def _source_of(seen: Sighting, uid: str) -> str:
    lives = (seen.live(item) for item in seen.of("artifact") if item.uid == uid)
    return next((get_str(live.obj, "spec", "sourceUri") or "" for live in lives if live is not None), "")
