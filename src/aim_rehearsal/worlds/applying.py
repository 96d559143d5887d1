"""Putting a world into a cluster through its API, the local one or a real one.

Objects are created in the order of their references, with the field managers that a real cluster would show, then their
status is written through the status subresource. UIDs and generations are those that the server gave.
"""

from graphlib import TopologicalSorter

from aim_api.kinds import AIM_KINDS, DEPLOYMENT, INFERENCE_SERVICE, KSERVE_KINDS, NAMESPACE, POD, PVC, REPLICA_SET, Kind
from aim_api.tree import Json, JsonObject, get_map, get_str, get_strings
from aim_rehearsal.client import ApiError, Client, typed
from aim_rehearsal.operator import workload
from aim_rehearsal.operator.store import NODE, generation
from aim_rehearsal.worlds.expansion import WorldError
from aim_rehearsal.worlds.references import references_in, resolved_object
from aim_rehearsal.worlds.world import World

_KINDS = {kind.name: kind for kind in (*AIM_KINDS, *KSERVE_KINDS, NAMESPACE, NODE, POD, PVC, DEPLOYMENT, REPLICA_SET)}
_USER = "kubectl-create"
_STATUS_MANAGERS = {
    "AIMService": "aim-service-controller",
    "AIMModel": "aim-model-controller",
    "AIMClusterModel": "aim-cluster-model-controller",
    "AIMServiceTemplate": "aim-service-template-controller",
    "AIMClusterServiceTemplate": "aim-cluster-service-template-controller",
    "AIMTemplateCache": "aim-template-cache-controller",
    "AIMArtifact": "aim-artifact-controller",
    "AIMProfile": "aim-profile-controller",
    "AIMClusterProfile": "aim-cluster-profile-controller",
    "AIMProfileCache": "aim-profile-cache-controller",
    "InferenceService": workload.KSERVE_MANAGER,
    "Pod": workload.KUBELET,
}


class RefusedError(WorldError):
    """The server refuses an object of a world; the message says which and why.

    Attributes:
        reference: the object, as ``Kind/namespace/name``.
    """

    def __init__(self, reference: str, reason: str) -> None:
        super().__init__(f"{reference} is refused as an API server would refuse it: {reason}")
        self.reference = reference


def create_desired(world: World, client: Client) -> None:
    """Create the manifests of a world that have no identity yet, strictly, as somebody with kubectl would.

    Raises:
        RefusedError: the server refuses one; those before it are there.
    """
    for manifest in world.desired:
        try:
            _create(manifest, client)
        except ApiError as error:
            raise RefusedError(object_reference(manifest), str(error)) from error


def apply_world(world: World, client: Client) -> dict[str, JsonObject]:
    """Create a world's objects with their status; return them as stored, by ``Kind/namespace/name``.

    Raises:
        ApiError: the server refused an object.
        WorldError: the objects refer to each other in a circle or to an object that the world does not have, or the
            world is one of stored objects, which have identities of their own.
    """
    if world.stored:
        raise WorldError(f"world {world.name} cannot be applied; only a local API can hold its objects as they are.")
    live: dict[str, JsonObject] = {}
    for manifest in _in_order(world):
        target = get_str(manifest, "workload")
        if target is not None:
            live |= _workload(live[target], client, up_to_date=manifest.get("stale") is not True)
            continue
        ready = resolved_object({key: value for key, value in manifest.items() if key != "status"}, live)
        live[object_reference(ready)] = _create(ready, client)
    for manifest in world.objects:
        if get_map(manifest, "status"):
            stated = resolved_object(manifest, live)
            live[object_reference(stated)] = _set_status(stated, client)
    for manifest in world.objects:
        if "deletionTimestamp" in get_map(manifest, "metadata"):
            _delete(resolved_object(manifest, live), client)
    return live


def object_reference(manifest: JsonObject) -> str:
    """Return how references name an object: ``Kind/namespace/name``, or ``Kind/name`` for cluster-scoped kinds."""
    parts = (
        get_str(manifest, "kind"),
        get_str(manifest, "metadata", "namespace"),
        get_str(manifest, "metadata", "name"),
    )
    return "/".join(part for part in parts if part)


def _in_order(world: World) -> list[JsonObject]:
    """Return the objects so that each comes after those that its metadata and spec refer to."""
    by_reference: dict[str, JsonObject] = {}
    needs: dict[str, set[str]] = {}
    for manifest in world.objects:
        target = get_str(manifest, "workload")
        own = f"workload of {target}" if target else object_reference(manifest)
        if own in by_reference:
            raise WorldError(f"world {world.name} has {own} twice.")
        by_reference[own] = manifest
        desired: Json = {key: value for key, value in manifest.items() if key != "status"}
        needs[own] = {target} if target else set(references_in(desired))
        namespace = get_str(manifest, "metadata", "namespace")
        if namespace:
            needs[own].add(f"Namespace/{namespace}")
    for own, wanted in needs.items():
        missing = sorted(wanted - by_reference.keys())
        if missing:
            raise WorldError(f"world {world.name}: {own} refers to {missing[0]}, which the world does not have.")
    return [by_reference[own] for own in TopologicalSorter(needs).static_order()]


def _create(manifest: JsonObject, client: Client) -> JsonObject:
    kind = _kind(manifest)
    manager = get_str(manifest, "manager") or _manager(manifest)
    body: JsonObject = {key: value for key, value in manifest.items() if key != "manager"}
    metadata = {key: value for key, value in get_map(body, "metadata").items() if key != "deletionTimestamp"}
    body["metadata"] = metadata
    if kind is NAMESPACE:
        return _namespace(body, client)
    if manager.startswith("aim-"):
        return typed(kind, client.apply(kind, body, manager=manager))
    return typed(kind, client.create(kind, body, manager=manager))


def _namespace(body: JsonObject, client: Client) -> JsonObject:
    try:
        return client.create(NAMESPACE, body, manager=_USER)
    except ApiError as error:
        if error.status != 409:
            raise
        return client.get(NAMESPACE, None, get_str(body, "metadata", "name") or "")


def _manager(manifest: JsonObject) -> str:
    """Return who would have made an object: the controller that its labels name, else a person."""
    made_by = get_strings(manifest, "metadata", "labels").get("app.kubernetes.io/managed-by", "")
    if made_by == "aim-engine":
        return "aim-service-controller"
    return made_by if made_by.startswith("aim-") else _USER


def _set_status(manifest: JsonObject, client: Client) -> JsonObject:
    kind = _kind(manifest)
    manager = _STATUS_MANAGERS.get(kind.name, workload.CONTROLLER_MANAGER)
    namespace, name = get_str(manifest, "metadata", "namespace"), get_str(manifest, "metadata", "name") or ""
    patch: JsonObject = {"status": get_map(manifest, "status")}
    return typed(kind, client.merge_patch(kind, namespace, name, patch, manager=manager, subresource="status"))


def _delete(manifest: JsonObject, client: Client) -> None:
    kind = _kind(manifest)
    client.delete(kind, get_str(manifest, "metadata", "namespace"), get_str(manifest, "metadata", "name") or "")


def _workload(inference: JsonObject, client: Client, *, up_to_date: bool) -> dict[str, JsonObject]:
    """Create what KServe and the workload controllers make of an InferenceService, all of it up and ready.

    Where it is not up to date, its pods count as those of an older template.
    """
    now = get_str(inference, "metadata", "creationTimestamp") or ""
    deployment = _made(DEPLOYMENT, workload.deployment_of(inference, None), workload.KSERVE_MANAGER, client)
    replica_set = _made(REPLICA_SET, workload.replica_set_of(deployment), workload.CONTROLLER_MANAGER, client)
    count = workload.wanted_replicas(inference)
    pods = [
        _made(POD, workload.pod_of(replica_set, number), workload.CONTROLLER_MANAGER, client) for number in range(count)
    ]
    stated = [_state(pod, workload.pod_status(pod, now), workload.KUBELET, client) for pod in pods]
    set_status = workload.replica_set_status(count, count, generation(replica_set))
    stated.append(_state(replica_set, set_status, workload.CONTROLLER_MANAGER, client))
    status = workload.deployment_status(
        generation(deployment), replicas=count, updated=count if up_to_date else 0, ready=count, now=now, before=[]
    )
    stated.append(_state(deployment, status, workload.CONTROLLER_MANAGER, client))
    observed = generation(inference)
    own = workload.inference_service_status(inference, ready=True, observed_generation=observed, now=now)
    stated.append(_state(inference, own, workload.KSERVE_MANAGER, client))
    return {object_reference(item): item for item in stated}


def _made(kind: Kind, manifest: JsonObject, manager: str, client: Client) -> JsonObject:
    return typed(kind, client.create(kind, manifest, manager=manager))


def _state(obj: JsonObject, status: JsonObject, manager: str, client: Client) -> JsonObject:
    kind = _KINDS[get_str(obj, "kind") or INFERENCE_SERVICE.name]
    body = obj | {"status": status}
    return typed(kind, client.replace(kind, body, manager=manager, subresource="status"))


def _kind(manifest: JsonObject) -> Kind:
    """Return the kind of a manifest at the version that the manifest is written in."""
    kind = _KINDS.get(get_str(manifest, "kind") or "")
    if kind is None:
        raise WorldError(f"a world cannot have objects of kind {get_str(manifest, 'kind')}.")
    version = (get_str(manifest, "apiVersion") or "").rpartition("/")[2]
    return kind if version == kind.version else kind.at(version)
