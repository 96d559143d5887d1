"""From an object as the API server sends it to what decisions need (pure).

managedFields become a list of managers, the status keeps only what is used, and secret-looking literals are replaced
before anything else sees the object.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypedDict, cast

import msgspec

from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get_map, get_objects, get_str
from aim_template_migration.planning.secret_scan import SECRET_WORD, all_harmless, fresh_texts, redact, sanitise
from aim_template_migration.planning.snapshot import Observed

if TYPE_CHECKING:
    Value = Json
else:
    Value = Any  # msgspec resolves annotations at run time and knows no recursive types

_DROPPED_METADATA = frozenset({"managedFields", "selfLink", "creationTimestamp"})
_CONDITION_FIELDS = frozenset({"type", "status", "reason", "observedGeneration"})

# Fields of the status that are used, by kind; every kind keeps status, observedGeneration and the conditions.
_STATUS_FIELDS: dict[str, tuple[str, ...]] = {
    "AIMService": ("resolvedModel", "resolvedTemplate", "resolvedProfile", "cache"),
    "AIMModel": ("imageMetadata", "aimId", "sourceType"),
    "AIMClusterModel": ("imageMetadata", "aimId", "sourceType"),
    "AIMServiceTemplate": ("modelSources", "profile", "resolvedHardware", "resolvedModel"),
    "AIMClusterServiceTemplate": ("modelSources", "profile", "resolvedHardware", "resolvedModel"),
    "AIMTemplateCache": ("artifacts",),
    "AIMArtifact": ("mode", "persistentVolumeClaim"),
    "AIMProfile": ("version", "projectedRuntimeName"),
    "AIMClusterProfile": ("version", "projectedRuntimeName"),
    "AIMProfileCache": ("artifacts",),
    "PersistentVolumeClaim": ("phase",),
    "Deployment": ("replicas", "updatedReplicas", "availableReplicas"),
}
_SPEC_UNUSED = frozenset({"ServingRuntime", "ClusterServingRuntime"})


class _Manager(TypedDict, total=False):
    manager: Value
    subresource: Value


class _Metadata(TypedDict, total=False):
    name: Value
    generateName: Value
    namespace: Value
    uid: Value
    resourceVersion: Value
    generation: Value
    deletionTimestamp: Value
    deletionGracePeriodSeconds: Value
    labels: Value
    annotations: Value
    ownerReferences: Value
    finalizers: Value
    managedFields: list[_Manager]


class _Condition(TypedDict, total=False):
    type: Value
    status: Value
    reason: Value
    observedGeneration: Value


class _Status(TypedDict, total=False):
    status: Value
    observedGeneration: Value
    conditions: list[_Condition]
    resolvedModel: Value
    resolvedTemplate: Value
    resolvedProfile: Value
    cache: Value
    imageMetadata: Value
    aimId: Value
    sourceType: Value
    modelSources: Value
    profile: Value
    resolvedHardware: Value
    artifacts: Value
    mode: Value
    persistentVolumeClaim: Value
    version: Value
    projectedRuntimeName: Value
    phase: Value
    replicas: Value
    updatedReplicas: Value
    availableReplicas: Value


class _Object(TypedDict, total=False):
    """What is read of any object: what ``reduce`` keeps of one kind or another. The rest is never built."""

    apiVersion: Value
    kind: Value
    metadata: _Metadata
    spec: Value
    status: _Status


def reader_of(shape: type) -> Callable[[msgspec.Raw | memoryview], Json]:
    """Return a reader that builds of an object only what ``shape`` has; what has another shape is read whole.

    The reader raises ``MsgspecError`` for what is not JSON, and ``RecursionError`` for what is nested too deeply.
    """
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder(shape)

    def read_part(text: msgspec.Raw | memoryview) -> Json:
        try:
            return cast("Json", decoder.decode(text))
        except msgspec.ValidationError:
            return cast("Json", msgspec.json.decode(text))

    return read_part


read_object = reader_of(_Object)
"""Reads an object of a list without most of what ``reduce`` drops."""


def reduce(kind: Kind, obj: JsonObject) -> Observed:
    """Return an object reduced and sanitised; ``kind`` is the kind at the version it was read."""
    metadata = get_map(obj, "metadata")
    reduced: JsonObject = {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {key: value for key, value in metadata.items() if key not in _DROPPED_METADATA},
    }
    if kind.name not in _SPEC_UNUSED and "spec" in obj:
        reduced["spec"] = obj["spec"]
    status = _status(kind, get_map(obj, "status"))
    if status:
        reduced["status"] = status
    fresh = fresh_texts(reduced)
    clean, secrets = (reduced, ()) if all_harmless(fresh) else sanitise(reduced)
    return Observed(
        kind=kind,
        obj=clean,
        managers=field_managers(metadata),
        secrets=secrets,
        names_secrets=any(SECRET_WORD in text for text in fresh),
    )


def field_managers(metadata: JsonObject) -> tuple[str, ...]:
    """Return who wrote fields other than the status, by name; entries of the status subresource never count."""
    entries = get_objects(metadata, "managedFields")
    names = {_shown(get_str(entry, "manager") or "") for entry in entries if entry.get("subresource") != "status"}
    return tuple(sorted(names))


@lru_cache(maxsize=1024)
def _shown(manager: str) -> str:
    return redact(manager)


def _status(kind: Kind, status: JsonObject) -> JsonObject:
    kept: JsonObject = {}
    for key in ("status", "observedGeneration", *_STATUS_FIELDS.get(kind.name, ())):
        if key in status:
            kept[key] = _without_raw_discovery(key, status[key])
    conditions: list[Json] = [
        condition if _CONDITION_FIELDS.issuperset(condition) else _condition(condition)
        for condition in get_objects(status, "conditions")
    ]
    if conditions:
        kept["conditions"] = conditions
    return kept


def _condition(condition: JsonObject) -> JsonObject:
    return {field: value for field, value in condition.items() if field in _CONDITION_FIELDS}


def _without_raw_discovery(key: str, value: Json) -> Json:
    """Drop what is large and never used: the raw discovery output and the image's descriptive labels."""
    if key == "profile" and isinstance(value, dict):
        return {name: item for name, item in value.items() if name != "originalDiscoveryOutput"}
    if key == "imageMetadata":
        return {"model": {"canonicalName": get_map(value, "model").get("canonicalName")}}
    return value
