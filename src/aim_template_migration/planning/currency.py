"""Whether an InferenceService is current (pure): readiness alone may be that of an older generation."""

from collections.abc import Sequence
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
    return currency_of(service, closure.deployments)


def currency_of(service: Observed, deployments: Sequence[Observed]) -> tuple[CurrencyProof | None, str]:
    """Return the same for an InferenceService and the Deployments that it owns."""
    fault = _fault(service, deployments)
    if fault:
        return None, fault
    observed = service.observed_generation
    if observed is not None and observed == service.generation:
        return "own", ""
    if observed is not None and observed == deployments[0].observed_generation:
        return "deployment", ""
    return None, f"its status observes generation {observed or 'none'}, its generation is {service.generation}"


def _fault(service: Observed, deployments: Sequence[Observed]) -> str:
    if service.condition_status("Ready") != "True":
        return "its condition Ready is not True"
    if len(deployments) != 1:
        return f"it owns {len(deployments)} Deployments, not exactly one"
    fault = _rollout_fault(deployments[0])
    return f"its Deployment {deployments[0].name} {fault}" if fault else ""


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
