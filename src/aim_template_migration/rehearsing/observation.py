"""What services, InferenceServices and pods are like at one moment, read by the rehearsal and not by the tool."""

from collections.abc import Iterable
from dataclasses import dataclass

from aim_api.kinds import AIM_SERVICE, INFERENCE_SERVICE, POD
from aim_api.labels import KSERVE_INFERENCE_SERVICE
from aim_api.tree import JsonObject, get_int, get_map, get_objects, get_str
from aim_rehearsal.client import Client
from aim_template_migration.documents.canonical import digest
from aim_template_migration.documents.rehearsal import InferenceServiceFacts

_DESIRED_METADATA = ("labels", "annotations", "ownerReferences", "finalizers")


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """One AIMService with what serves it.

    Attributes:
        id: ``AIMService/namespace/name``.
        status: what it reports as its status, for example ``Running``.
        template: name of the template that it resolves to, or empty.
        profile: name of the profile that it resolves to, or empty.
        inference_service_name: name of its InferenceService, or empty.
        inference_service: the facts of that InferenceService, None where there is none.
        pods: UIDs of its pods, sorted.
    """

    id: str
    status: str
    template: str
    profile: str
    inference_service_name: str
    inference_service: InferenceServiceFacts | None
    pods: tuple[str, ...]


def observe(client: Client, namespaces: Iterable[str]) -> dict[str, ServiceFacts]:
    """Return the facts of every AIMService in some namespaces, by id.

    Raises:
        ApiError: the server refused to list.
    """
    found: dict[str, ServiceFacts] = {}
    for namespace in namespaces:
        inference_services = client.list_all(INFERENCE_SERVICE, namespace).items
        pods = client.list_all(POD, namespace).items
        for service in client.list_all(AIM_SERVICE, namespace).items:
            facts = _service_facts(namespace, service, inference_services, pods)
            found[facts.id] = facts
    return found


def _service_facts(
    namespace: str, service: JsonObject, inference_services: list[JsonObject], pods: list[JsonObject]
) -> ServiceFacts:
    owned = [item for item in inference_services if _is_owned_by(item, service)]
    serving = min(owned, key=_name) if owned else None
    own_pods = [
        pod
        for pod in pods
        if serving and get_str(pod, "metadata", "labels", KSERVE_INFERENCE_SERVICE) == _name(serving)
    ]
    return ServiceFacts(
        id=f"{AIM_SERVICE.name}/{namespace}/{_name(service)}",
        status=get_str(service, "status", "status") or "",
        template=get_str(service, "status", "resolvedTemplate", "name") or "",
        profile=get_str(service, "status", "resolvedProfile", "name") or "",
        inference_service_name=_name(serving) if serving else "",
        inference_service=inference_service_facts(serving) if serving else None,
        pods=tuple(sorted(get_str(pod, "metadata", "uid") or "" for pod in own_pods)),
    )


def inference_service_facts(obj: JsonObject) -> InferenceServiceFacts:
    """Return what must not change of an InferenceService (pure)."""
    metadata = get_map(obj, "metadata")
    return InferenceServiceFacts(
        uid=get_str(obj, "metadata", "uid") or "",
        generation=get_int(obj, "metadata", "generation") or 0,
        spec_digest=digest(obj.get("spec")),
        metadata_digest=digest({key: metadata.get(key) for key in _DESIRED_METADATA}),
    )


def _is_owned_by(obj: JsonObject, owner: JsonObject) -> bool:
    uid = get_str(owner, "metadata", "uid")
    return any(reference.get("uid") == uid for reference in get_objects(obj, "metadata", "ownerReferences"))


def _name(obj: JsonObject) -> str:
    return get_str(obj, "metadata", "name") or ""
