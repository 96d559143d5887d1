"""What the operator's framework does alike in every controller: child metadata, finalizers, environment merging.

Facts: legacy pipeline (reconcile framework, deletion), profile pipeline (finalizer).
"""

from collections.abc import Iterable

from aim_api import labels
from aim_api.kinds import Kind
from aim_api.tree import Json, JsonObject, get_list, get_objects, get_str, get_strings
from aim_rehearsal.operator.store import name, namespace
from aim_rehearsal.operator.writes import Patch


def manager_of(controller: str) -> str:
    """Return the field manager of a controller, for example ``aim-service-controller`` for ``service``."""
    return f"aim-{controller}-controller"


def child_labels(parent: JsonObject, controller: str, own: JsonObject) -> JsonObject:
    """Return a child's labels: its own, the framework's where absent, and the parent's AIM labels where absent."""
    propagated: JsonObject = {
        key: value for key, value in get_strings(parent, "metadata", "labels").items() if key.startswith(labels.PREFIX)
    }
    framework: JsonObject = {
        labels.MANAGED_BY: manager_of(controller),
        f"{labels.PREFIX}{controller}.name": name(parent),
    }
    return propagated | framework | own


def child(kind: Kind, parent: JsonObject, child_name: str, child_marks: JsonObject, spec: JsonObject) -> JsonObject:
    """Return the manifest of a child in its parent's namespace; empty fields of the spec are left out."""
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {"name": child_name, "namespace": namespace(parent), "labels": child_marks},
        "spec": {key: value for key, value in spec.items() if value not in (None, "", [], {})},
    }


def owned_by(manifest: JsonObject, owner_reference: JsonObject) -> JsonObject:
    """Return a manifest with one owner."""
    metadata = manifest["metadata"]
    assert isinstance(metadata, dict)
    return manifest | {"metadata": metadata | {"ownerReferences": [owner_reference]}}


def finalizers(obj: JsonObject) -> list[str]:
    """Return an object's finalizers."""
    return [item for item in get_list(obj, "metadata", "finalizers") if isinstance(item, str)]


def ensure_finalizer(kind: Kind, obj: JsonObject, finalizer: str, controller: str) -> list[Patch]:
    """Return the patch that adds a finalizer, or nothing where the object has it."""
    present = finalizers(obj)
    if finalizer in present:
        return []
    return [_set_finalizers(kind, obj, [*present, finalizer], controller)]


def drop_finalizer(kind: Kind, obj: JsonObject, finalizer: str, controller: str) -> list[Patch]:
    """Return the patch that removes a finalizer, or nothing where the object lacks it."""
    present = finalizers(obj)
    if finalizer not in present:
        return []
    return [_set_finalizers(kind, obj, [item for item in present if item != finalizer], controller)]


def merge_env(*levels: Iterable[JsonObject]) -> list[Json]:
    """Return environment lists merged by name: a later level replaces in place, new names are appended."""
    merged: dict[str, Json] = {}
    for level in levels:
        for item in level:
            merged[get_str(item, "name") or ""] = item
    return list(merged.values())


def env_of(obj: Json, *path: str) -> list[JsonObject]:
    """Return the environment list at ``path``."""
    return get_objects(obj, *path)


def _set_finalizers(kind: Kind, obj: JsonObject, wanted: list[str], controller: str) -> Patch:
    version = get_str(obj, "metadata", "resourceVersion")
    values: list[Json] = list(wanted)
    # Bound to the version it was read at, because the list is replaced whole.
    patch: JsonObject = {"metadata": {"finalizers": values, "resourceVersion": version}}
    return Patch(kind, obj, patch, manager_of(controller))
