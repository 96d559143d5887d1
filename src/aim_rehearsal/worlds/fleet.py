"""Generated fleets: many namespaces with many services in mixed situations, the same for the same seed."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field

from aim_api.tree import Json, JsonObject
from aim_rehearsal.sharing import Sharing
from aim_rehearsal.worlds.expansion import WorldError, expand
from aim_rehearsal.worlds.storing import stored_objects
from aim_rehearsal.worlds.world import World, load_block, with_conditions

_MAX_SERVICES = 100_000
_VERSION = "0.10.0"
_DEPARTMENTS = ("search", "support", "legal", "research", "risk", "sales", "speech", "vision", "fraud", "docs", "lab")
_PURPOSES = ("chat", "assist", "drafting", "batch", "summaries", "code", "eval", "triage", "drafts", "notes")


@dataclass(frozen=True, slots=True)
class _Model:
    """One entry of a model catalogue: what it is called, how large it is, what it runs on."""

    name: str
    aim_id: str
    model_id: str
    size: str
    count: int
    precision: str
    metric: str = "latency"
    accelerator: str = "MI300X"


_CATALOGUE = tuple(
    _Model(*row)
    for row in (
        ("qwen3-32b", "qwen/qwen3-32b", "Qwen/Qwen3-32B-FP8", "34Gi", 1, "fp8"),
        ("qwen3-8b", "qwen/qwen3-8b", "Qwen/Qwen3-8B", "17Gi", 1, "bf16"),
        ("qwen2-5-coder-32b", "qwen/qwen2.5-coder-32b", "Qwen/Qwen2.5-Coder-32B-Instruct", "66Gi", 1, "bf16"),
        ("llama-3-1-8b", "meta-llama/llama-3.1-8b", "meta-llama/Llama-3.1-8B-Instruct", "16Gi", 1, "bf16"),
        ("llama-3-3-70b", "meta-llama/llama-3.3-70b", "amd/Llama-3.3-70B-Instruct-FP8-KV", "70Gi", 2, "fp8"),
        ("mixtral-8x7b", "mistralai/mixtral-8x7b", "mistralai/Mixtral-8x7B-Instruct-v0.1", "94Gi", 2, "fp16"),
        ("mistral-small", "mistralai/mistral-small-3", "mistralai/Mistral-Small-24B-Instruct-2501", "48Gi", 1, "bf16"),
        ("gemma-3-27b", "google/gemma-3-27b-it", "google/gemma-3-27b-it", "55Gi", 1, "bf16", "throughput"),
        (
            "deepseek-r1-32b",
            "deepseek-ai/r1-distill-32b",
            "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
            "66Gi",
            1,
            "bf16",
        ),
        ("phi-4", "microsoft/phi-4", "microsoft/phi-4", "30Gi", 1, "bf16", "latency", "MI325X"),
    )
)


@dataclass(frozen=True, slots=True)
class _Situation:
    """How a service of a fleet differs from a healthy one, how often, and which codes a plan gives it."""

    weight: int
    codes: tuple[str, ...]
    change: JsonObject = field(default_factory=dict)
    drop: tuple[str, ...] = ()


def _annotated(**annotations: Json) -> JsonObject:
    return {"metadata": {"annotations": dict(annotations)}}


_NOT_READY: JsonObject = {
    "status": {
        "status": "Degraded",
        "conditions": {"Ready": {"status": "False", "reason": "Progressing"}},
    }
}
_SITUATIONS = (
    _Situation(70, ("SharedNoRollout",)),
    _Situation(6, ("OverridesPresent",), {"AIMService": {"spec": {"overrides": {"metric": "latency"}}}}),
    _Situation(
        6,
        ("ServiceSettingNotCarried",),
        {"AIMService": {"spec": {"env": [{"name": "VLLM_LOGGING_LEVEL", "value": "DEBUG"}]}}},
    ),
    _Situation(4, ("AdaptersUnsupported",), {"AIMService": {"spec": {"adapterMode": "dynamic"}}}),
    _Situation(3, ("Paused",), {"AIMTemplateCache": _annotated(**{"aim.eai.amd.com/reconciliation-paused": "true"})}),
    _Situation(
        4,
        ("ExternallyManaged",),
        {"AIMService": _annotated(**{"argocd.argoproj.io/tracking-id": "inference:aim.eai.amd.com/AIMService:x/x"})},
    ),
    _Situation(3, ("PredecessorNotReady",), {"AIMService": _NOT_READY}),
    _Situation(2, ("PvcUnresolved",), drop=("PersistentVolumeClaim",)),
    _Situation(
        2, ("PipelineAnnotation",), {"AIMService": _annotated(**{"aim.eai.amd.com/reconciler-pipeline": "template"})}
    ),
)


def fleet(namespaces: int, services: int, *, seed: int = 1) -> World:
    """Return a fleet of ``services`` services in each of ``namespaces`` namespaces.

    Raises:
        WorldError: a number below one, or more services in all than the local API can hold.
    """
    if namespaces < 1 or services < 1:
        raise WorldError(f"a fleet has at least 1x1 services, not {namespaces}x{services}.")
    if namespaces * services > _MAX_SERVICES:
        raise WorldError(f"a fleet has at most {_MAX_SERVICES} services, not {namespaces}x{services}.")
    chance = random.Random(f"{seed}/{namespaces}x{services}")  # noqa: S311 - repeatable, no secret
    spaces = tuple(f"{_DEPARTMENTS[number % len(_DEPARTMENTS)]}-{number + 1:03d}" for number in range(namespaces))
    codes: set[str] = set()
    sharing = Sharing()
    objects: list[JsonObject] = []
    for space in spaces:
        manifests: list[JsonObject] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}}]
        for use, situation in _uses(space, services, chance):
            codes.update(situation.codes)
            manifests += expand(use, load_block)
        objects += [sharing.of(item) for item in stored_objects(with_conditions(item) for item in manifests)]
    summary = f"A generated fleet of {services} services in each of {namespaces} namespaces."
    return World(f"fleet {namespaces}x{services}", summary, tuple(sorted(codes)), spaces, tuple(objects), stored=True)


def _uses(space: str, services: int, chance: random.Random) -> Iterator[tuple[JsonObject, _Situation]]:
    order = chance.sample(_CATALOGUE, len(_CATALOGUE))
    weights = [situation.weight for situation in _SITUATIONS]
    for number in range(services):
        model, turn = order[number % len(order)], number // len(order)
        (situation,) = chance.choices(_SITUATIONS, weights)
        yield _use(space, model, turn, chance.choice(_PURPOSES), situation), situation


def _use(space: str, model: _Model, turn: int, purpose: str, situation: _Situation) -> JsonObject:
    """Return the use of the block for one service; from the second turn on, models are fine-tuned copies."""
    tuned = f"-ft{turn}" if turn else ""
    name = f"{model.name}{tuned}"
    hardware = f"{model.accelerator.lower()}-{model.precision}-tp{model.count}-{model.metric}"
    repository = model.aim_id.replace("/", "-").replace(".", "-")
    parameters: JsonObject = {
        "namespace": space,
        "service": f"{name}-{purpose}",
        "model": name,
        "template": f"{name}-{hardware}",
        "image": f"registry.example.org/aim/{repository}:{_VERSION}",
        "aimId": f"{model.aim_id}{tuned}",
        "modelId": f"acme/{name}" if turn else model.model_id,
        "sourceUri": f"s3://weights/finetunes/{name}" if turn else f"hf://{model.model_id}",
        "size": model.size,
        "accelerator": model.accelerator,
        "count": model.count,
        "metric": model.metric,
        "precision": model.precision,
    }
    return {
        "block": "shared-service",
        "with": parameters,
        "change": situation.change,
        "drop": [*situation.drop],
    }
