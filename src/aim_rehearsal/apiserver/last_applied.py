"""The annotation of kubectl's client-side apply, which the server keeps in step when kubectl applies server-side.

Source: Kubernetes documentation, "Server-Side Apply" (upgrading from client-side apply), and the answers of a
kube-apiserver 1.36.
"""

import msgspec

from aim_api.tree import Json, JsonObject, get_map, get_str, get_strings
from aim_rehearsal.apiserver.field_paths import Path, applied_fields
from aim_rehearsal.apiserver.managed_fields import FieldTracker
from aim_rehearsal.apiserver.messages import encode_sorted
from aim_schema.metadata_rules import ANNOTATIONS_LIMIT

KUBECTL = "kubectl"
"""The field manager that kubectl's server-side apply names unless it is told another."""

ANNOTATION = "kubectl.kubernetes.io/last-applied-configuration"


def forgiven_fields(live: JsonObject, kind: str, tracker: FieldTracker) -> set[Path]:
    """Return the fields that client-side apply wrote last and nobody has changed since: kubectl may take them over."""
    try:
        last: Json = msgspec.json.decode(get_str(live, "metadata", "annotations", ANNOTATION) or "null")
    except msgspec.DecodeError:
        return set()
    if not isinstance(last, dict) or (last.get("apiVersion"), last.get("kind")) != (tracker.api_version, kind):
        return set()
    difference = tracker.compare(last, live)
    return applied_fields(last, tracker.schema) - difference.modified - difference.added - difference.removed


def with_renewed_annotation(applied: JsonObject, config: JsonObject) -> JsonObject:
    """Return an applied object whose annotation, if it has one, holds the configuration that was applied.

    Args:
        applied: the object after the apply.
        config: the configuration in the request.
    """
    metadata = get_map(applied, "metadata")
    annotations = get_strings(metadata, "annotations")
    if not annotations.get(ANNOTATION):
        return applied
    annotations[ANNOTATION] = f"{encode_sorted(_without_annotation(config)).decode()}\n"
    if sum(len(key.encode()) + len(value.encode()) for key, value in annotations.items()) > ANNOTATIONS_LIMIT:
        del annotations[ANNOTATION]
    renewed: JsonObject = {**annotations}
    return {**applied, "metadata": {**metadata, "annotations": renewed}}


def _without_annotation(config: JsonObject) -> JsonObject:
    metadata = get_map(config, "metadata")
    if "annotations" not in metadata:
        return config
    kept = {key: value for key, value in get_map(metadata, "annotations").items() if key != ANNOTATION}
    return {**config, "metadata": {**metadata, "annotations": kept}}
