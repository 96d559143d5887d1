"""A world from objects that stood in files: kubectl's dumps with status and UIDs, or desired state without (pure).

Desired state, as in a plan's ``backup.yaml``, has no status, UIDs, owners or field managers (R, "Plan and review").
What people write of it is created anew in the rehearsal; what controllers make of it, the simulation makes.
"""

import functools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aim_api.crds import load_crds
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_KINDS,
    AIM_PROFILE_CACHE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    CONFIG_MAP,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    KSERVE_KINDS,
    NAMESPACE,
    POD,
    PVC,
    REPLICA_SET,
    Kind,
)
from aim_api.labels import MANAGED_BY, MANAGED_BY_AIM_ENGINE
from aim_api.tree import JsonObject, get_list, get_map, get_objects, get_str, get_strings
from aim_rehearsal.operator.store import NODE
from aim_rehearsal.worlds import copied_world
from aim_rehearsal.worlds.applying import object_reference
from aim_template_migration.rehearsing.subject import Subject, count, missing_proofs, named, unknown_content

_LOADED = {
    (kind.group, kind.name): kind
    for kind in (
        *AIM_KINDS,
        *KSERVE_KINDS,
        NAMESPACE,
        NODE,
        CONFIG_MAP,
        POD,
        PVC,
        DEPLOYMENT,
        REPLICA_SET,
        JOB,
    )
}
_MADE_BY_CONTROLLERS = frozenset(
    kind.name for kind in (*KSERVE_KINDS, AIM_ARTIFACT, CONFIG_MAP, POD, PVC, DEPLOYMENT, REPLICA_SET, JOB, NODE)
)
_MADE_FOR_SERVICES = frozenset({AIM_TEMPLATE_CACHE.name, AIM_PROFILE_CACHE.name})
_REPORTING = frozenset(kind.name for kind in AIM_KINDS) - {AIM_RUNTIME_CONFIG.name, AIM_CLUSTER_RUNTIME_CONFIG.name}
_BELOW_SERVICES = (INFERENCE_SERVICE, DEPLOYMENT, REPLICA_SET, POD)
_CLOSURE = (AIM_SERVICE_TEMPLATE, AIM_TEMPLATE_CACHE, AIM_ARTIFACT, PVC, *_BELOW_SERVICES)
_DUMP = "kubectl get KINDS -n NAMESPACE -o yaml --show-managed-fields"


class DumpError(Exception):
    """What stands in the files can't be rehearsed; the message is one sentence that names object and place."""


@dataclass(frozen=True, slots=True)
class Dumped:
    """One object that stood in a file, and where."""

    value: JsonObject
    place: str

    @property
    def reference(self) -> str:
        """``Kind/namespace/name``."""
        return object_reference(self.value)

    @property
    def kind(self) -> str:
        """The object's kind."""
        return get_str(self.value, "kind") or ""

    @property
    def is_live(self) -> bool:
        """Whether a server gave it an identity; a Namespace needs none."""
        return bool(get_str(self.value, "metadata", "uid")) or self.kind == NAMESPACE.name


def dumped_subject(objects: Sequence[Dumped], files: Sequence[str]) -> Subject:
    """Return what can be rehearsed of objects from files.

    Raises:
        DumpError: an object can't be loaded, stands twice in two states, or there is no AIMService.
    """
    loaded = _distinct(item for item in objects if _is_loaded(item))
    live = [item for item in loaded if item.is_live]
    desired = [item for item in loaded if not item.is_live and _is_hand_made(item)]
    derived = [item for item in loaded if not item.is_live and not _is_hand_made(item)]
    services = [item for item in (*live, *desired) if item.kind == AIM_SERVICE.name]
    if not services:
        raise DumpError(f"no AIMService stands in {named(files)}, so there is nothing to rehearse")
    namespaces = sorted({get_str(item.value, "metadata", "namespace") or "" for item in services})
    world = copied_world(
        f"objects of {named(files)}",
        f"{count(len(live) + len(desired), 'object', 'objects')} from {named(files)}, in memory.",
        namespaces=namespaces,
        live=[item.value for item in live],
        desired=[item.value for item in desired],
    )
    lacking = (
        *_without_identity(desired, derived),
        *(_without_parts(live) if any(item.kind == AIM_SERVICE.name for item in live) else ()),
        *_left_out(objects),
        *unknown_content(world.objects),
    )
    places = {item.reference: item.place for item in desired}
    return Subject(world, missing_proofs(item.value for item in live), lacking, places)


def _is_loaded(item: Dumped) -> bool:
    """Return whether a rehearsal needs an object; of ConfigMaps only those of projected runtimes.

    Raises:
        DumpError: it needs it, but cannot load it.
    """
    kind = _kind_of(item)
    if kind is None:
        return False
    if kind is CONFIG_MAP:
        return get_strings(item.value, "metadata", "labels").get(MANAGED_BY) == MANAGED_BY_AIM_ENGINE
    if kind.namespaced and not get_str(item.value, "metadata", "namespace"):
        raise DumpError(f"{item.place} holds {item.reference} without metadata.namespace; add the namespace")
    version = (get_str(item.value, "apiVersion") or "").rpartition("/")[2]
    if version not in _versions(kind):
        known = " and ".join(sorted(_versions(kind)))
        raise DumpError(f"{item.place} holds {item.reference} at version {version}; the rehearsal knows {known}")
    return True


def _kind_of(item: Dumped) -> Kind | None:
    group = (get_str(item.value, "apiVersion") or "").rpartition("/")[0]
    return _LOADED.get((group, item.kind))


def _versions(kind: Kind) -> frozenset[str]:
    return _served().get(kind.crd_name, frozenset({kind.version}))


@functools.cache
def _served() -> dict[str, frozenset[str]]:
    return {
        get_str(definition, "metadata", "name") or "": frozenset(
            get_str(version, "name") or "" for version in get_objects(definition, "spec", "versions")
        )
        for definition in load_crds()
    }


def _distinct(objects: Iterable[Dumped]) -> list[Dumped]:
    """Return every object once; the same state may stand in several files, or at both versions.

    Raises:
        DumpError: two states of one object.
    """
    found: dict[str, Dumped] = {}
    for item in objects:
        known = found.setdefault(item.reference, item)
        if known is not item and _state(known.value) != _state(item.value):
            raise DumpError(
                f"{item.reference} stands in two states, at {known.place} and at {item.place}; leave one of them out"
            )
        if known is not item and _at_own_version(item):
            found[item.reference] = item
    return list(found.values())


def _state(value: JsonObject) -> tuple[object, ...]:
    metadata = get_map(value, "metadata")
    if metadata.get("uid") and metadata.get("resourceVersion"):
        return metadata["uid"], metadata["resourceVersion"]
    return (get_map(value, "spec"), metadata.get("uid"), metadata.get("generation"))


def _at_own_version(item: Dumped) -> bool:
    kind = _kind_of(item)
    return kind is not None and get_str(item.value, "apiVersion") == kind.api_version


def _is_hand_made(item: Dumped) -> bool:
    """Return whether a manifest without identity is a person's, so that it can be created again."""
    if item.kind in _MADE_BY_CONTROLLERS:
        return False
    by = get_strings(item.value, "metadata", "labels").get(MANAGED_BY, "")
    return item.kind not in _MADE_FOR_SERVICES or not by.startswith("aim-")


def _without_identity(desired: Sequence[Dumped], derived: Sequence[Dumped]) -> tuple[str, ...]:
    if not desired:
        return ()
    sentences = [
        (
            f"{count(len(desired), 'object stands', 'objects stand')} in the files without UID and status "
            f"({named(item.reference for item in desired)}): created anew, and the simulated operator makes status, "
            "InferenceServices, caches, artifacts, claims and pods. So it is not rehearsed whether your services are "
            "Ready, which artifacts and claims hold the weights, who owns what, which manager set which field, and "
            "whether your own pods stay."
        )
    ]
    if derived:
        kinds = Counter(item.kind for item in derived)
        listed = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
        sentences.append(f"Left out, since controllers make them: {listed}.")
    return tuple(sentences)


def _without_parts(live: Sequence[Dumped]) -> tuple[str, ...]:
    """Return what dumps with status lack all the same."""
    sentences: list[str] = []
    bare = [item for item in live if item.kind in _REPORTING and not get_map(item.value, "status")]
    if bare:
        sentences.append(
            f"{count(len(bare), 'object has', 'objects have')} a UID but no status "
            f"({named(item.reference for item in bare)}); they are taken as they are, so not for Ready."
        )
    if not any(get_list(item.value, "metadata", "managedFields") for item in live):
        sentences.append(
            "The files hold no managedFields, so external field managers are not recognised; dump with "
            "--show-managed-fields."
        )
    present = {item.kind for item in live}
    missing = [kind for kind in _CLOSURE if kind.name not in present]
    if missing:
        plurals = ",".join(kind.plural for kind in missing)
        sentences.append(
            f"The files hold no {', '.join(kind.name for kind in missing)}, which a plan looks at; add what there is: "
            f"{_DUMP.replace('KINDS', plurals)}"
        )
    return tuple(sentences)


def _left_out(objects: Iterable[Dumped]) -> tuple[str, ...]:
    kinds = Counter(item.kind for item in objects if _kind_of(item) is None)
    if not kinds:
        return ()
    listed = ", ".join(f"{number:,} {kind}" for kind, number in sorted(kinds.items()))
    return (f"Left out, since a rehearsal needs none of them: {listed}.",)
