"""Which fields of an object count as its content, and the pin that records them (pure).

One table per kind. Status, managedFields and resourceVersion are no content, because controllers rewrite them all the
time (R, "Dry-run and commit": resource-version-only status churn is tolerated). The exceptions are facts that the plan
itself is computed from and that no spec states: what discovery found for a template, and a PersistentVolumeClaim's
phase, which has no generation. Our own effects are no content either: an artifact's eviction protection.
"""

from dataclasses import dataclass
from functools import lru_cache

from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_CLUSTER_MODEL,
    AIM_CLUSTER_PROFILE,
    AIM_CLUSTER_RUNTIME_CONFIG,
    AIM_CLUSTER_SERVICE_TEMPLATE,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_RUNTIME_CONFIG,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    DEPLOYMENT,
    INFERENCE_SERVICE,
    PVC,
    Kind,
)
from aim_api.labels import EVICTION_PROTECTED, MANAGED_BY, PREFIX
from aim_api.tree import Json, JsonObject, get
from aim_template_migration.derived import kept
from aim_template_migration.documents.canonical import digest
from aim_template_migration.documents.plan import Pin
from aim_template_migration.planning.snapshot import Observed, reference_to

ALL = ("",)
_RELIED = (PREFIX, "migration." + PREFIX, MANAGED_BY, "cluster-auth/", "template-created")


@dataclass(frozen=True, slots=True)
class ContentRule:
    """Which fields of a kind count as content.

    Attributes:
        fields: paths of fields, beside labels and annotations.
        metadata: prefixes of the label and annotation keys that count.
        ignored: annotations that never count.
    """

    fields: tuple[tuple[str, ...], ...]
    metadata: tuple[str, ...] = _RELIED
    ignored: tuple[str, ...] = ()


_SPEC = ("spec",)
_FINALIZERS = ("metadata", "finalizers")
_DISCOVERED: tuple[tuple[str, ...], ...] = (
    ("status", "modelSources"),
    ("status", "profile"),
    ("status", "resolvedHardware"),
)

CONTENT: dict[str, ContentRule] = {
    AIM_SERVICE.name: ContentRule((_SPEC, _FINALIZERS)),
    AIM_MODEL.name: ContentRule((_SPEC, ("status", "aimId"), ("status", "imageMetadata"))),
    AIM_CLUSTER_MODEL.name: ContentRule((_SPEC, ("status", "aimId"), ("status", "imageMetadata"))),
    AIM_SERVICE_TEMPLATE.name: ContentRule((_SPEC, *_DISCOVERED)),
    AIM_CLUSTER_SERVICE_TEMPLATE.name: ContentRule((_SPEC, *_DISCOVERED)),
    AIM_TEMPLATE_CACHE.name: ContentRule((_SPEC, _FINALIZERS)),
    AIM_ARTIFACT.name: ContentRule((_SPEC,), ignored=(EVICTION_PROTECTED,)),
    PVC.name: ContentRule((_SPEC, ("status", "phase")), metadata=()),
    INFERENCE_SERVICE.name: ContentRule((_SPEC, _FINALIZERS), metadata=ALL),
    DEPLOYMENT.name: ContentRule((("spec", "template"),), metadata=()),
    AIM_RUNTIME_CONFIG.name: ContentRule((_SPEC,)),
    AIM_CLUSTER_RUNTIME_CONFIG.name: ContentRule((_SPEC,)),
    AIM_PROFILE.name: ContentRule((_SPEC,)),
    AIM_CLUSTER_PROFILE.name: ContentRule((_SPEC,)),
    AIM_PROFILE_CACHE.name: ContentRule((_SPEC,)),
}
_OTHER = ContentRule((_SPEC,))
_RUNTIME_CONFIGS = frozenset({AIM_RUNTIME_CONFIG.name, AIM_CLUSTER_RUNTIME_CONFIG.name})
# The HorizontalPodAutoscaler moves spec.replicas of a Deployment, and with it the generation; only its template is
# pinned.
_WITHOUT_GENERATION = frozenset({DEPLOYMENT.name})


def content(observed: Observed) -> JsonObject:
    """Return the fields that count as content, sanitised, by their paths; absent fields are left out."""
    rule = CONTENT.get(observed.kind.name, _OTHER)
    found: JsonObject = {}
    for path in rule.fields:
        value = get(observed.obj, *path)
        if value not in (None, [], {}):
            found[".".join(path)] = value
    for name, values in (("labels", observed.labels), ("annotations", observed.annotations)):
        counting: dict[str, Json] = {key: values[key] for key in _counting(observed.kind.name, tuple(values))}
        if counting:
            found[f"metadata.{name}"] = counting
    return found


def pin_of(role: str, observed: Observed) -> Pin:
    """Return the pin of an object that plays ``role`` in a unit."""
    is_deployment = observed.kind.name == DEPLOYMENT.name
    return Pin(
        role=role,
        reference=observed.reference,
        uid=observed.uid,
        generation=None if observed.kind.name in _WITHOUT_GENERATION else observed.generation,
        content_digest=_content_digest(observed),
        owner_references=observed.owner_references,
        paused=observed.paused,
        resource_version=observed.resource_version if observed.kind.name in _RUNTIME_CONFIGS else "",
        pod_template_hash=digest(get(observed.obj, "spec", "template")) if is_deployment else "",
    )


@kept
def _content_digest(observed: Observed) -> str:
    """Return the digest of an object's content: apply asks for it several times."""
    return digest(content(observed))


def absent_pin(role: str, kind: Kind, namespace: str, name: str) -> Pin:
    """Return the pin of an object that must not exist."""
    return Pin(role=role, reference=reference_to(kind, namespace, name), absent=True)


@lru_cache(maxsize=4096)
def _counting(kind: str, keys: tuple[str, ...]) -> tuple[str, ...]:
    """Return those keys of labels or annotations that count; objects of one kind have mostly the same ones."""
    rule = CONTENT.get(kind, _OTHER)
    return tuple(key for key in keys if key not in rule.ignored and key.startswith(rule.metadata))
