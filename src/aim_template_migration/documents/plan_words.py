"""Steps, pins and proofs of a unit in words, the same on the terminal and in the report (pure)."""

from collections.abc import Iterable, Iterator, Mapping

from aim_template_migration.documents.plan import (
    AnyStep,
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    OwnerReference,
    Pin,
    PinnedArtifact,
    ProtectArtifact,
    ReverifyProfileCache,
)

_PROVEN = (("bridge", "operator"), ("inferenceServiceCurrent", "currency"))
_PROOFS = {
    ("bridge", "BridgeCompatible"): "proven to be the bridge by the condition BridgeCompatible",
    ("bridge", "observedGeneration"): "taken for the bridge by status.observedGeneration alone",
    ("inferenceServiceCurrent", "own"): "InferenceService current by its own observedGeneration",
    ("inferenceServiceCurrent", "deployment"): "InferenceService current by its Deployment's observedGeneration",
}


def describe_proofs(proofs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what is proven of an automatic unit, and by what."""
    for key, what in _PROVEN:
        if key in proofs:
            yield what, _PROOFS.get((key, proofs[key]), proofs[key])


def describe_pin(pin: Pin) -> str:
    """Return the fact that a pin records, without the object's own name."""
    if pin.absent:
        return f"{pin.role}: must not exist"
    facts = (
        f"UID {pin.uid}" if pin.uid else "",
        f"generation {pin.generation}" if pin.generation is not None else "",
        f"resourceVersion {pin.resource_version}" if pin.resource_version else "",
        f"content {pin.content_digest[:12]}" if pin.content_digest else "",
        f"pod template {pin.pod_template_hash[:12]}" if pin.pod_template_hash else "",
        f"owned by {', '.join(_owner(item) for item in pin.owner_references)}" if pin.owner_references else "ownerless",
        "paused" if pin.paused else "",
    )
    return f"{pin.role}: {', '.join(fact for fact in facts if fact)}"


def describe_step(step: AnyStep) -> str:
    """Return what a step does, in one sentence."""
    match step:
        case CreateProfile(target=target) | CreateProfileCache(target=target):
            return f"Create {target} unless an equal one exists; one that differs stops the unit."
        case ProtectArtifact(artifact=artifact):
            return f"Protect {artifact.id} from quota eviction; already protected counts as done."
        case CutOver(service=service, generation=before, pinned_generation=after):
            return (
                f"Move {service.id} to the profile pipeline with one patch (generation {before} to {after}); its pin "
                "keeps the InferenceService as it is."
            )
        case _:
            return _describe_wait(step)


def describe_stale_forecast(targets: Iterable[str]) -> str:
    """Return why what a plan says of the pin's end is no longer whole; ``targets`` are ids of edited targets."""
    return (
        f"{', '.join(targets)} was edited since the plan was made, and this forecast was not: what the edit adds or "
        "takes away rolls too, and is not listed."
    )


def _describe_wait(step: AwaitProfile | AwaitProfileCache | ReverifyProfileCache | ConfirmNoRollout) -> str:
    match step:
        case AwaitProfile(profile=profile, deadline_seconds=seconds):
            return f"Wait up to {seconds} s for {profile.id} to be Ready with a serving runtime of its own."
        case AwaitProfileCache(profile_cache=cache, artifacts=artifacts, deadline_seconds=seconds):
            return f"Wait up to {seconds} s for {cache.id} to be Ready with exactly {_artifacts(artifacts)}."
        case ReverifyProfileCache(profile_cache=cache, artifacts=artifacts):
            return f"Require once more that {cache.id} holds exactly {_artifacts(artifacts)}."
        case ConfirmNoRollout(service=service, inference_service=isvc, deadline_seconds=seconds):
            return (
                f"Prove that the operator observed {service.id} within {seconds} s and that {isvc.id} and its pods are "
                "unchanged, now and after the soak."
            )


def _artifacts(artifacts: tuple[PinnedArtifact, ...]) -> str:
    return " and ".join(f"AIMArtifact {item.name} on PersistentVolumeClaim {item.pvc_name}" for item in artifacts)


def _owner(owner: OwnerReference) -> str:
    return f"{owner.kind} {owner.name}{' (controller)' if owner.controller else ''}"
