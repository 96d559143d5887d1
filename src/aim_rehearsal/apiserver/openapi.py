"""OpenAPI v3: the index and one document per group and version, as kubectl reads them for apply, diff and explain."""

import hashlib
from collections.abc import Sequence

from aim_api.tree import Json, JsonObject, get_map
from aim_rehearsal.apiserver.discovery import SERVER_VERSION
from aim_rehearsal.apiserver.registry import Registry
from aim_rehearsal.apiserver.resources import Resource

_META_SCHEMA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
_TYPE_META: JsonObject = {
    "apiVersion": {"type": "string", "description": "Group and version of this representation."},
    "kind": {"type": "string", "description": "Which kind of object this is."},
    "metadata": {
        "allOf": [{"$ref": f"#/components/schemas/{_META_SCHEMA}"}],
        "description": "What every object has: name, labels, annotations and the like.",
    },
}
_OBJECT_META: JsonObject = {
    "type": "object",
    "description": "What every stored object has.",
    "properties": {
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
        "creationTimestamp": {"type": "string", "format": "date-time"},
        "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
        "deletionTimestamp": {"type": "string", "format": "date-time"},
        "finalizers": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "generateName": {"type": "string"},
        "generation": {"type": "integer", "format": "int64"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "managedFields": {"type": "array", "items": {"type": "object"}},
        "name": {"type": "string"},
        "namespace": {"type": "string"},
        "ownerReferences": {
            "type": "array",
            "items": {"type": "object"},
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
        },
        "resourceVersion": {"type": "string"},
        "selfLink": {"type": "string"},
        "uid": {"type": "string"},
    },
}
_WRITE_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "pretty")
_LIST_PARAMETERS = ("limit", "continue", "labelSelector", "fieldSelector", "resourceVersion", "timeoutSeconds", "watch")


def openapi_index(registry: Registry) -> JsonObject:
    """Return the index of ``/openapi/v3``: the documents and where they are, with a hash of their state."""
    paths: JsonObject = {}
    for prefix in sorted({_prefix(item.group, version) for item in registry.all() for version in item.versions}):
        served = [item for item in registry.all() if any(_prefix(item.group, name) == prefix for name in item.versions)]
        state = "".join(f"{item.plural}{id(item)}" for item in served)
        digest = hashlib.sha256(state.encode()).hexdigest().upper()
        paths[prefix] = {"serverRelativeURL": f"/openapi/v3/{prefix}?hash={digest}"}
    return {"paths": paths}


def openapi_document(registry: Registry, path: str) -> JsonObject | None:
    """Return the document of ``api/v1`` or ``apis/<group>/<version>``, or None if nothing is served there."""
    parts = path.strip("/").split("/")
    group, version = (parts[1], parts[2]) if parts[0] == "apis" and len(parts) == 3 else ("", parts[-1])
    served = [item for item in registry.all() if item.group == group and version in item.versions]
    if not served or path.strip("/") != _prefix(group, version):
        return None
    return _document(served, group, version)


def _prefix(group: str, version: str) -> str:
    return f"apis/{group}/{version}" if group else f"api/{version}"


def _document(served: Sequence[Resource], group: str, version: str) -> JsonObject:
    schemas: JsonObject = {_META_SCHEMA: _OBJECT_META}
    paths: JsonObject = {}
    for item in served:
        name = _schema_name(item, version)
        kinds: list[Json] = [{"group": group, "kind": item.kind, "version": version}]
        schema = item.versions[version].schema
        properties: JsonObject = {**get_map(schema, "properties"), **_TYPE_META}
        described: JsonObject = {**schema, "properties": properties, "x-kubernetes-group-version-kind": kinds}
        selectable: list[Json] = [{"fieldPath": path} for path in item.versions[version].selectable]
        if item.custom and selectable:
            described["x-kubernetes-selectable-fields"] = selectable
        schemas[name] = described
        paths.update(_paths(item, version, name))
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": SERVER_VERSION["gitVersion"]},
        "paths": paths,
        "components": {"schemas": schemas},
    }


def _schema_name(item: Resource, version: str) -> str:
    reverse = ".".join(reversed(item.group.split("."))) if item.group else "io.k8s.api.core"
    return f"{reverse}.{version}.{item.kind}"


def _paths(item: Resource, version: str, name: str) -> JsonObject:
    base = f"/{_prefix(item.group, version)}"
    scope = f"{base}/namespaces/{{namespace}}" if item.namespaced else base
    collection, single = f"{scope}/{item.plural}", f"{scope}/{item.plural}/{{name}}"
    kind: JsonObject = {"group": item.group, "kind": item.kind, "version": version}
    reading = _operation(item, kind, name, _LIST_PARAMETERS)
    writing = _operation(item, kind, name, _WRITE_PARAMETERS)
    patching = _operation(item, kind, name, (*_WRITE_PARAMETERS, "force"))
    found: JsonObject = {
        collection: {"get": {**reading, "x-kubernetes-action": "list"}, "post": writing},
        single: {
            "get": {**reading, "x-kubernetes-action": "get"},
            "put": writing,
            "patch": patching,
            "delete": writing,
        },
    }
    if item.namespaced:
        found[f"{base}/{item.plural}"] = {"get": {**reading, "x-kubernetes-action": "list"}}
    if item.has_status:
        found[f"{single}/status"] = {"get": reading, "put": writing, "patch": patching}
    return found


def _operation(item: Resource, kind: JsonObject, name: str, parameters: Sequence[str]) -> JsonObject:
    listed: list[Json] = [{"name": each, "in": "query", "schema": {"type": "string"}} for each in parameters]
    content: JsonObject = {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}
    return {
        "tags": [item.group or "core"],
        "parameters": listed,
        "responses": {"200": {"description": "OK", "content": content}},
        "x-kubernetes-group-version-kind": kind,
    }
