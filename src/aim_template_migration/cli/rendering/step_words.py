"""The steps of a unit in words (pure)."""

from aim_template_migration.documents.plan import (
    AnyStep,
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    PinnedArtifact,
    ProtectArtifact,
    ReverifyProfileCache,
)


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
