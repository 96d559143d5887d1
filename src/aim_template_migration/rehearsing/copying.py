"""The caller's own namespaces, read into memory (shell): nothing is written, nothing goes to disk, no Secret is read.

What the plan reads must be readable. What only the simulation needs is read where that is allowed; where it is not, the
rehearsal says what it cannot show.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_PROFILE,
    AIM_KINDS,
    AIM_PROFILE,
    AIM_SERVICE,
    CLUSTER_SERVING_RUNTIME,
    CONFIG_MAP,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    JOB,
    LEGACY_VERSION,
    POD,
    REPLICA_SET,
    SERVING_RUNTIME,
    Kind,
)
from aim_api.labels import KSERVE_INFERENCE_SERVICE
from aim_api.tree import JsonObject, get_objects, get_str, get_strings
from aim_rehearsal.worlds import copied_world
from aim_rehearsal.worlds.applying import object_reference
from aim_template_migration.kube import Cluster
from aim_template_migration.kube.errors import Forbidden, NotFound, NotServed
from aim_template_migration.kube.side_by_side import side_by_side
from aim_template_migration.planning.inventory import (
    CLUSTER_KINDS,
    NAMESPACED_KINDS,
    READERS,
    PlanningError,
    read_identity,
    read_namespace_object,
)
from aim_template_migration.rehearsing.subject import Subject, count, missing_proofs, named, unknown_content

_RUNTIME_FIELDS = ("projectedRuntimeName", "projectedModelSlugRuntimeName")
_CONSEQUENCES = {
    POD.plural: "the identities of pods before and after are not compared",
    REPLICA_SET.plural: "a rollout leaves the old pods beside the new ones",
    SERVING_RUNTIME.plural: "a target profile that exists already may look as if it had no runtime",
    CLUSTER_SERVING_RUNTIME.plural: "a cluster profile that exists already may look as if it had no runtime",
    JOB.plural: "a download that is under way is not seen",
}
Keep = Callable[[JsonObject], bool]


def copy_namespaces(
    cluster: Cluster, namespaces: Sequence[str], progress: Callable[[str], None] = lambda _doing: None
) -> Subject:
    """Read namespaces, and the cluster-scoped objects that their services can refer to.

    Args:
        cluster: the connection; it is only read from.
        namespaces: the namespaces, each once.
        progress: told what is read next.

    Raises:
        PlanningError: a namespace does not exist, or there is no AIMService in them.
        ClusterError: what a plan needs can't be read whole.
    """
    identity = read_identity(cluster)
    reader = _Reader(cluster)
    progress("reading cluster-scoped objects")
    objects = list(reader.cluster_scope())
    read: dict[str, list[JsonObject]] = {}
    for name, found in side_by_side(reader.namespace, namespaces, READERS):
        read[name] = found
        progress(f"read {count(len(found), 'object', 'objects')} of namespace {name}")
    objects += [item for name in namespaces for item in read[name]]
    services = [item for item in objects if get_str(item, "kind") == AIM_SERVICE.name]
    if not services:
        raise PlanningError(
            f"no AIMService was found in {', '.join(namespaces)}, so there is nothing to rehearse; check the "
            "namespaces and the kubeconfig's context: kubectl get aimservice -n <namespace>"
        )
    listed = named(namespaces)
    world = copied_world(
        f"copy of {listed}",
        f"A copy, in memory, of namespace{'s' if len(namespaces) > 1 else ''} {listed} of {cluster.server}.",
        namespaces=namespaces,
        live={object_reference(item): item for item in objects}.values(),
    )
    return Subject(world, missing_proofs(objects, identity), (*reader.refusals(), *unknown_content(world.objects)))


class _Reader:
    """Reads one cluster, and keeps what it was refused."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._refused: dict[Kind, set[str]] = {}

    def cluster_scope(self) -> Iterator[JsonObject]:
        """Yield the cluster-scoped objects that the plan reads, and the runtimes that cluster profiles name."""
        objects = [item for kind in CLUSTER_KINDS for item in self._list(kind, None)]
        yield from objects
        profiles = (item for item in objects if get_str(item, "kind") == AIM_CLUSTER_PROFILE.name)
        for name in sorted({name for item in profiles for name in _projected(item)}):
            yield from self._one(CLUSTER_SERVING_RUNTIME, name, None)

    def namespace(self, name: str) -> list[JsonObject]:
        """Return a namespace and the objects in it."""
        found = read_namespace_object(self._cluster, name)
        objects: list[JsonObject] = [{"apiVersion": "v1", "kind": "Namespace", **found}]
        for kind in NAMESPACED_KINDS:
            keep = _serves_inference if kind is DEPLOYMENT else _anything
            objects += self._list(kind, name, keep)
        objects += self._workloads(objects, name)
        objects += self._wished(JOB, name, lambda job: _owner_kinds(job) == {AIM_ARTIFACT.name})
        runtimes = sorted({runtime for item in objects for runtime in _runtimes_of(item)})
        for runtime in runtimes:
            objects += self._runtime(runtime, name)
        return objects

    def refusals(self) -> tuple[str, ...]:
        """Return, for each kind that may not be read, what the rehearsal cannot show for that."""
        return tuple(
            f"{kind.plural} may not be read in {', '.join(sorted(places))} (it takes {_verb(kind)} on "
            f"{kind.plural}{f'.{kind.group}' if kind.group else ''}), so {_CONSEQUENCES[kind.plural]}."
            for kind, places in sorted(self._refused.items())
            if kind.plural in _CONSEQUENCES
        )

    def _workloads(self, objects: Iterable[JsonObject], namespace: str) -> list[JsonObject]:
        """Return ReplicaSets and pods below the Deployments that were read."""
        deployments = {_uid(item) for item in objects if get_str(item, "kind") == DEPLOYMENT.name}
        sets = self._wished(REPLICA_SET, namespace, lambda item: bool(deployments & _owner_uids(item)))
        below = {_uid(item) for item in sets}
        pods = self._wished(POD, namespace, lambda item: _is_predictor(item) or bool(below & _owner_uids(item)))
        return [*sets, *pods]

    def _runtime(self, name: str, namespace: str) -> Iterator[JsonObject]:
        """Yield the runtime that a name in a namespace leads to, with the ConfigMap that it mounts."""
        found = list(self._one(SERVING_RUNTIME, name, namespace))
        yield from found or self._one(CLUSTER_SERVING_RUNTIME, name, None)
        if found:
            yield from self._one(CONFIG_MAP, name, namespace)

    def _list(self, kind: Kind, namespace: str | None, keep: Keep = lambda _: True) -> list[JsonObject]:
        """List a kind; an AIM kind that is not served at the newer version is read at the older one."""
        try:
            items = self._cluster.list_reduced(kind, namespace, lambda item: item if keep(item) else None)
        except NotServed:
            older = kind.at(LEGACY_VERSION)
            return self._list(older, namespace, keep) if kind in AIM_KINDS and kind != older else []
        return [item for item in items if item is not None]

    def _wished(self, kind: Kind, namespace: str, keep: Keep) -> list[JsonObject]:
        try:
            return self._list(kind, namespace, keep)
        except Forbidden:
            self._refuse(kind, namespace)
            return []

    def _one(self, kind: Kind, name: str, namespace: str | None) -> Iterator[JsonObject]:
        place = namespace or "the cluster"
        if place in self._refused.get(kind, ()):
            return
        try:
            found = self._cluster.get(kind, name, namespace)
        except (NotFound, NotServed):
            return
        except Forbidden:
            self._refuse(kind, place)
            return
        yield {"apiVersion": kind.api_version, "kind": kind.name, **found}

    def _refuse(self, kind: Kind, place: str) -> None:
        self._refused.setdefault(kind, set()).add(place)


def _anything(item: JsonObject) -> bool:
    del item
    return True


def _verb(kind: Kind) -> str:
    return "get" if kind in (SERVING_RUNTIME, CLUSTER_SERVING_RUNTIME) else "list"


def _serves_inference(deployment: JsonObject) -> bool:
    return INFERENCE_SERVICE.name in _owner_kinds(deployment)


def _is_predictor(pod: JsonObject) -> bool:
    return KSERVE_INFERENCE_SERVICE in get_strings(pod, "metadata", "labels")


def _runtimes_of(item: JsonObject) -> set[str]:
    """Return the names of the runtimes that an object of a namespace refers to."""
    kind = get_str(item, "kind")
    if kind == AIM_PROFILE.name:
        return _projected(item)
    if kind == INFERENCE_SERVICE.name:
        name = get_str(item, "spec", "predictor", "model", "runtime")
        return {name} if name else set()
    return set()


def _projected(profile: JsonObject) -> set[str]:
    return {name for field in _RUNTIME_FIELDS if (name := get_str(profile, "status", field))}


def _owner_kinds(item: JsonObject) -> set[str]:
    return {get_str(owner, "kind") or "" for owner in get_objects(item, "metadata", "ownerReferences")}


def _owner_uids(item: JsonObject) -> set[str]:
    return {get_str(owner, "uid") or "" for owner in get_objects(item, "metadata", "ownerReferences")}


def _uid(item: JsonObject) -> str:
    return get_str(item, "metadata", "uid") or ""
