"""Random objects of the AIM and KServe kinds and of the sample kind get the same answers as on a real API server."""

from collections.abc import Iterator

import pytest

from aim_api.crds import load_crds
from aim_api.tree import Json, JsonObject, get, get_map, get_objects, get_str
from aim_schema import FieldError, StructuralSchema
from aim_schema.errors import TYPE_INVALID
from aim_schema.nodes import Node, parse
from tests.aim_schema import live, widgets
from tests.aim_schema.random_objects import RandomObjects
from tests.support.controlplane.crds import collection_path, install_crds
from tests.support.controlplane.server import ControlPlane

OBJECTS_PER_VERSION = 8
GROUP = "random.example.com"


def with_lax_version(crd: JsonObject) -> JsonObject:
    """Return a definition in a group and with names of its own, with one version more, which admits everything.

    The names are new, since other tests on the same server ask for the kinds by their names without a group.
    """
    versions: list[Json] = [*get_objects(crd, "spec", "versions")]
    schema: JsonObject = {"openAPIV3Schema": widgets.LAX}
    status: JsonObject = {"status": {}}
    versions.append({"name": "v1lax", "served": True, "storage": False, "subresources": status, "schema": schema})
    kind, plural = f"Random{get_str(crd, 'spec', 'names', 'kind')}", f"random{get_str(crd, 'spec', 'names', 'plural')}"
    names: JsonObject = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower()}
    spec: JsonObject = {**get_map(crd, "spec"), "group": GROUP, "names": names, "versions": versions}
    return {**crd, "metadata": {"name": f"{plural}.{GROUP}"}, "spec": spec}


def first_version_only(crd: JsonObject) -> JsonObject:
    return {**crd, "spec": {**get_map(crd, "spec"), "versions": [*get_objects(crd, "spec", "versions")[:1]]}}


CRDS = [with_lax_version(crd) for crd in (*load_crds(), first_version_only(widgets.CRD))]


def versions(crd: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for version in get_objects(crd, "spec", "versions"):
        name = get_str(version, "name") or ""
        if name != "v1lax":
            yield name, get_map(version, "schema", "openAPIV3Schema")


class Kind:
    """One version of one kind, here and on a real API server."""

    def __init__(self, plane: ControlPlane, crd: JsonObject, version: str, schema: JsonObject, namespace: str) -> None:
        scope = namespace if get(crd, "spec", "scope") == "Namespaced" else None
        self.client = plane.client()
        self.path = collection_path(crd, version, scope)
        self.lax_path = collection_path(crd, "v1lax", scope)
        self.kind = get_str(crd, "spec", "names", "kind") or ""
        self.version = version
        self.root: Node = parse(schema)
        self.schema = StructuralSchema.compile(schema)

    def object(self, content: JsonObject, version: str | None = None, **more: Json) -> JsonObject:
        api_version = f"{GROUP}/{version or self.version}"
        return {"apiVersion": api_version, "kind": self.kind, "metadata": {"name": "example"}, **content, **more}

    def prepared(self, content: JsonObject) -> JsonObject:
        return self.schema.default(self.schema.prune(self.object(content))[0])

    def create(self, content: JsonObject) -> Json:
        answer = self.client.post(
            self.path, self.object(content), query={"dryRun": "All", "fieldValidation": "Ignore"}
        ).expect(201, 422)
        return live.causes_of(answer.body) if answer.status == 422 else without_metadata(answer.object)

    def update(self, old: JsonObject, new: JsonObject) -> Json:
        created = self.client.post(self.lax_path, self.object(old, "v1lax")).expect(201).object
        try:
            target = {**self.object(new), "metadata": created["metadata"]}
            answer = self.client.put(f"{self.path}/example", target, query={"fieldValidation": "Ignore"}).expect(
                200, 422
            )
            return live.causes_of(answer.body) if answer.status == 422 else without_metadata(answer.object)
        finally:
            self.client.delete(f"{self.lax_path}/example").expect(200, 404)


def without_metadata(obj: JsonObject) -> JsonObject:
    return {key: value for key, value in obj.items() if key != "metadata"}


def verdict(found: list[FieldError], stored: JsonObject) -> Json:
    if found:
        return live.sorted_causes([(error.reason, error.field, error.message) for error in found])
    return without_metadata(stored)


@pytest.fixture(scope="module")
def plane(control_plane: ControlPlane) -> ControlPlane:
    install_crds(control_plane, CRDS)
    return control_plane


@pytest.mark.parametrize("crd", CRDS, ids=[get_str(crd, "spec", "names", "plural") for crd in CRDS])
def test_random_objects(crd: JsonObject, plane: ControlPlane, namespace: str) -> None:
    for version, schema in versions(crd):
        kind = Kind(plane, crd, version, schema, namespace)
        for seed in range(OBJECTS_PER_VERSION):
            maker = RandomObjects(seed, wrong=(0, 0.01, 0.03, 0.1)[seed % 4], present=(0.15, 0.3, 0.5)[seed % 3])
            content = {key: value for key, value in maker.object(kind.root).items() if key != "status"}
            before = kind.prepared(content)
            found = kind.schema.validate(before)
            assert kind.create(content) == verdict(found, before), (version, seed)
            if any(error.reason == TYPE_INVALID for error in found):
                continue  # rules that compare whole objects read wrong types differently
            changed = maker.changed(kind.root, content)
            new = {key: changed[key] for key in changed if key in content} if isinstance(changed, dict) else content
            after = kind.prepared(new)
            assert kind.update(content, new) == verdict(kind.schema.validate(after, before), after), (version, seed)
