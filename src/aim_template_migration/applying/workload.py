"""The workload that must not change: facts, and what counts as a rollout (pure)."""

from dataclasses import dataclass
from typing import Literal

from aim_api.labels import AUTOSCALER_CLASS, POD_TEMPLATE_HASH
from aim_api.tree import JsonObject, get_int, get_objects, get_str
from aim_template_migration.applying.readiness import condition_status
from aim_template_migration.documents.canonical import digest
from aim_template_migration.documents.result import PodFacts, WorkloadFacts

RolloutCode = Literal["RolloutDetected", "PodsChanged", "InferenceServiceNotReady"]


@dataclass(frozen=True, slots=True)
class Change:
    """A difference in the workload: its code and one sentence."""

    code: RolloutCode
    message: str


def workload_facts(isvc: JsonObject, deployment: JsonObject | None, pods: list[JsonObject]) -> WorkloadFacts:
    """Return the facts of an InferenceService, the Deployment that it owns, and its pods.

    A pod that is terminating or has ended serves nothing, so that it counts as gone, before the cutover and after it.
    """
    return WorkloadFacts(
        inference_service=get_str(isvc, "metadata", "name") or "",
        uid=get_str(isvc, "metadata", "uid") or "",
        generation=get_int(isvc, "metadata", "generation") or 0,
        spec_digest=digest(isvc.get("spec")),
        metadata_digest=digest(_desired_metadata(isvc)),
        ready=condition_status(isvc, "Ready") == "True",
        template_hash=template_hash(deployment),
        pods=tuple(sorted((_pod_facts(pod) for pod in pods if _stays(pod)), key=lambda pod: pod.name)),
        autoscaled=_autoscaled(isvc),
    )


def template_hash(deployment: JsonObject | None) -> str:
    """Return the SHA-256 of a Deployment's pod template, or an empty string where there is no Deployment."""
    if deployment is None:
        return ""
    spec = deployment.get("spec")
    return digest(spec.get("template") if isinstance(spec, dict) else None)


def nothing_to_compare(facts: WorkloadFacts, deployment: JsonObject | None) -> str:
    """Return why the pods can prove nothing after a cutover, or an empty string where they can.

    Args:
        facts: the workload.
        deployment: the Deployment that the InferenceService owns, None where there is none.
    """
    wanted = get_int(deployment, "spec", "replicas") if deployment is not None else None
    if facts.pods or wanted == 0:
        return ""
    how_many = f"wants {1 if wanted is None else wanted}" if deployment is not None else "is not there"
    return (
        f"InferenceService {facts.inference_service} has no pod that stays and its Deployment {how_many}, "
        "so that nothing could be compared after the cutover"
    )


def facts_object(facts: WorkloadFacts) -> JsonObject:
    """Return the facts as a JSON object, for the journal."""
    return {
        "uid": facts.uid,
        "generation": facts.generation,
        "specDigest": facts.spec_digest,
        "metadataDigest": facts.metadata_digest,
        "templateHash": facts.template_hash,
        "pods": [
            {"name": pod.name, "uid": pod.uid, "restarts": pod.restarts, "templateHash": pod.template_hash}
            for pod in facts.pods
        ],
    }


def find_change(before: WorkloadFacts, after: WorkloadFacts) -> Change | None:
    """Return the first difference that means a rollout or a restart, or None."""
    return _desired_change(before, after) or _pod_change(before, after)


def _desired_change(before: WorkloadFacts, after: WorkloadFacts) -> Change | None:
    for label, old, new in (
        ("UID", before.uid, after.uid),
        ("generation", before.generation, after.generation),
        ("desired spec", before.spec_digest, after.spec_digest),
        ("desired metadata", before.metadata_digest, after.metadata_digest),
        ("Deployment's pod template", before.template_hash, after.template_hash),
    ):
        if old != new:
            detail = f" ({old} → {new})" if label in ("UID", "generation") else ""
            return Change(
                "RolloutDetected", f"the {label} of InferenceService {before.inference_service} changed{detail}"
            )
    if not after.ready:
        return Change("InferenceServiceNotReady", f"InferenceService {after.inference_service} is no longer Ready")
    return None


def _pod_change(before: WorkloadFacts, after: WorkloadFacts) -> Change | None:
    hashes = {pod.template_hash for pod in before.pods}
    rolled = next((pod for pod in after.pods if hashes and pod.template_hash not in hashes), None)
    if rolled:
        return Change("RolloutDetected", f"pod {rolled.name} runs another pod template ({rolled.template_hash})")
    now = {pod.uid: pod for pod in after.pods}
    for pod in before.pods:
        live = now.get(pod.uid)
        if live is None and not before.autoscaled:
            return Change("PodsChanged", f"pod {pod.name} (UID {pod.uid}) is gone")
        if live is not None and live.restarts != pod.restarts:
            return Change("PodsChanged", f"pod {pod.name} restarted ({pod.restarts} → {live.restarts} restarts)")
    return None


def _stays(pod: JsonObject) -> bool:
    ended = get_str(pod, "status", "phase") in ("Failed", "Succeeded")
    return get_str(pod, "metadata", "deletionTimestamp") is None and not ended


def _pod_facts(pod: JsonObject) -> PodFacts:
    statuses = [*get_objects(pod, "status", "containerStatuses"), *get_objects(pod, "status", "initContainerStatuses")]
    return PodFacts(
        name=get_str(pod, "metadata", "name") or "",
        uid=get_str(pod, "metadata", "uid") or "",
        restarts=sum(get_int(status, "restartCount") or 0 for status in statuses),
        template_hash=get_str(pod, "metadata", "labels", POD_TEMPLATE_HASH) or "",
    )


def _desired_metadata(isvc: JsonObject) -> JsonObject:
    metadata = isvc.get("metadata")
    keys = ("labels", "annotations", "ownerReferences", "finalizers")
    return {key: metadata.get(key) for key in keys} if isinstance(metadata, dict) else {}


def _autoscaled(isvc: JsonObject) -> bool:
    scaler = get_str(isvc, "metadata", "annotations", AUTOSCALER_CLASS)
    low, high = (get_int(isvc, "spec", "predictor", field) for field in ("minReplicas", "maxReplicas"))
    return scaler not in (None, "none") and low != high
