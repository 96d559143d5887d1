"""What a commit will ask of the API server (pure): an estimate, for choosing a time and telling others."""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.json import encode

from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_PROFILE_CACHE, AIM_SERVICE, INFERENCE_SERVICE
from aim_template_migration.documents.plan import (
    AnyStep,
    AwaitProfile,
    AwaitProfileCache,
    ConfirmNoRollout,
    CreateProfile,
    CreateProfileCache,
    CutOver,
    Forecast,
    ProtectArtifact,
    ReverifyProfileCache,
    Target,
    Unit,
)

_READS_OF_A_WAIT = 2  # one that finds it pending, one that finds it done
_REQUESTS: dict[type[AnyStep], dict[str, int]] = {
    CreateProfile: {f"create {AIM_PROFILE.name}": 1},
    CreateProfileCache: {f"create {AIM_PROFILE_CACHE.name}": 1},
    AwaitProfileCache: {f"get {AIM_PROFILE_CACHE.name}": _READS_OF_A_WAIT},
    ProtectArtifact: {f"patch {AIM_ARTIFACT.name}": 1},
    ReverifyProfileCache: {f"get {AIM_PROFILE_CACHE.name}": _READS_OF_A_WAIT},
    CutOver: {f"patch {AIM_SERVICE.name}": 1, f"patch {AIM_SERVICE.name} (dry run)": 1},
    ConfirmNoRollout: {
        f"get {AIM_SERVICE.name}": _READS_OF_A_WAIT,
        f"get {INFERENCE_SERVICE.name}": _READS_OF_A_WAIT,
    },
}


def forecast(units: Sequence[Unit], targets: Iterable[Target]) -> Forecast:
    """Return requests by verb and kind, the longest wait of all units one after another, and the bytes to send."""
    requests: Counter[str] = Counter()
    created: set[str] = set()
    steps = [step for unit in units if unit.disposition == "automatic" for step in unit.steps]
    for unit in units:
        if unit.disposition == "automatic":
            requests.update(f"get {pin.reference.kind}" for pin in unit.pins)
    for step in steps:
        if isinstance(step, CreateProfile | CreateProfileCache):
            if step.target in created:
                continue  # units that share a target create it once
            created.add(step.target)
        requests.update(_requests(step))
    bodies = sum(len(encode(target.body)) for target in targets)
    return Forecast(
        requests=dict(sorted(requests.items())),
        deadline_seconds=sum(_deadline(step) for step in steps),
        bytes=bodies + sum(2 * len(encode(step.operations)) for step in steps if isinstance(step, CutOver)),
    )


def merged(one: Forecast, other: Forecast) -> Forecast:
    """Return the forecast of two parts of a plan that share no target, such as two namespaces."""
    return Forecast(
        requests=dict(sorted((Counter(one.requests) + Counter(other.requests)).items())),
        deadline_seconds=one.deadline_seconds + other.deadline_seconds,
        bytes=one.bytes + other.bytes,
    )


def _requests(step: AnyStep) -> dict[str, int]:
    if isinstance(step, AwaitProfile):
        return {f"get {step.profile.kind}": _READS_OF_A_WAIT}
    return _REQUESTS[type(step)]


def _deadline(step: AnyStep) -> int:
    """Return the longest wait of a step in seconds; the second look at a cache finds what the first one waited for."""
    if isinstance(step, AwaitProfile | AwaitProfileCache | ConfirmNoRollout):
        return step.deadline_seconds
    return 0
