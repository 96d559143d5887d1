"""A world's objects as an API server would hold them, made without one: for fleets too large to go through requests.

Identities are derived from the objects' names, schema defaults are filled in, references and workloads are resolved.
What only requests leave behind, managedFields above all, is absent.
"""

import uuid
from collections.abc import Iterable

from aim_api.tree import JsonObject, get_map, get_str
from aim_rehearsal.operator import workload
from aim_rehearsal.worlds.applying import object_reference
from aim_rehearsal.worlds.defaults import with_defaults
from aim_rehearsal.worlds.references import resolved_object
from aim_rehearsal.worlds.world import SINCE

_IDENTITIES = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")


def stored_objects(objects: Iterable[JsonObject]) -> list[JsonObject]:
    """Return manifests as stored objects, with the workloads below their InferenceServices.

    Raises:
        KeyError: a reference to an object that is not among ``objects``.
    """
    manifests = [*objects]
    identities = {object_reference(item): _identity(item) for item in manifests if "workload" not in item}
    stored: list[JsonObject] = []
    by_reference: dict[str, JsonObject] = {}
    for manifest in manifests:
        if "workload" in manifest:
            continue
        complete = _stored(resolved_object(manifest, identities))
        by_reference[object_reference(complete)] = complete
        stored.append(complete)
    for manifest in manifests:
        target = get_str(manifest, "workload")
        if target is not None:
            inference = by_reference[target]
            stored += _workload(inference, up_to_date=manifest.get("stale") is not True)
            inference["status"] = workload.inference_service_status(
                inference, ready=True, observed_generation=1, now=SINCE
            )
    return stored


def _identity(manifest: JsonObject) -> JsonObject:
    """Return what references to an object can ask for."""
    own: JsonObject = {"name": get_str(manifest, "metadata", "name"), "uid": _uid(object_reference(manifest))}
    return {"metadata": own | {"generation": 1}}


def _uid(reference: str) -> str:
    return str(uuid.uuid5(_IDENTITIES, reference))


def _stored(manifest: JsonObject) -> JsonObject:
    metadata: JsonObject = {
        "uid": _uid(object_reference(manifest)),
        "creationTimestamp": SINCE,
        "generation": 1,
    }
    body: JsonObject = {key: value for key, value in manifest.items() if key != "manager"}
    return with_defaults(body | {"metadata": metadata | get_map(manifest, "metadata")})


def _workload(inference: JsonObject, *, up_to_date: bool) -> list[JsonObject]:
    deployment = _stored(workload.deployment_of(inference, None))
    replica_set = _stored(workload.replica_set_of(deployment))
    count = workload.wanted_replicas(inference)
    pods = [_stored(workload.pod_of(replica_set, number)) for number in range(count)]
    for pod in pods:
        pod["status"] = workload.pod_status(pod, SINCE)
    replica_set["status"] = workload.replica_set_status(count, count, 1)
    updated = count if up_to_date else 0
    deployment["status"] = workload.deployment_status(
        1, replicas=count, updated=updated, ready=count, now=SINCE, before=[]
    )
    return [deployment, replica_set, *pods]
