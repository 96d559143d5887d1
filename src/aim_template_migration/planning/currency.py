"""Whether an InferenceService is current (pure): readiness alone may be that of an older generation."""

from typing import Literal

from aim_api.tree import get_int
from aim_template_migration.planning.closure import Closure
from aim_template_migration.planning.snapshot import Observed

CurrencyProof = Literal["own", "deployment"]


def currency(closure: Closure) -> tuple[CurrencyProof | None, str]:
    """Return how it is known that the InferenceService is current, or None and why it is not.

    ``own``: its observedGeneration equals its generation. ``deployment``: it differs, but equals that of the one
    Deployment that it owns, whose counter KServe may copy. Either way that Deployment must be rolled out completely.
    """
    service = closure.inference_service
    if service is None:
        return None, "the service has not exactly one InferenceService"
    fault = _fault(closure, service)
    if fault:
        return None, fault
    observed, deployment = service.observed_generation, closure.deployment
    if observed is not None and observed == service.generation:
        return "own", ""
    if observed is not None and deployment and observed == deployment.observed_generation:
        return "deployment", ""
    return None, f"its status observes generation {observed or 'none'}, its generation is {service.generation}"


def _fault(closure: Closure, service: Observed) -> str:
    if service.condition_status("Ready") != "True":
        return "its condition Ready is not True"
    if closure.deployment is None:
        return f"it owns {len(closure.deployments)} Deployments, not exactly one"
    fault = _rollout_fault(closure.deployment)
    return f"its Deployment {closure.deployment.name} {fault}" if fault else ""


def _rollout_fault(deployment: Observed) -> str:
    if deployment.generation is None or deployment.observed_generation != deployment.generation:
        return "has a status of an older generation"
    wanted = get_int(deployment.obj, "spec", "replicas")
    wanted = 1 if wanted is None else wanted
    for field in ("updatedReplicas", "availableReplicas"):
        count = get_int(deployment.obj, "status", field) or 0
        if count != wanted:
            return f"has {count} {field}, and wants {wanted}"
    return ""
