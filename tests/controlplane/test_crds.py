"""Kinds can be defined, and what is defined can be used at once."""

import pytest

from aim_api.tree import JsonObject, get, get_objects
from tests.support.controlplane.crds import (
    CRDS_PATH,
    collection_path,
    condition,
    install_crds,
    name_of,
    served_versions,
)
from tests.support.controlplane.server import ControlPlane


def version(name: str, *, storage: bool, served: bool = True) -> JsonObject:
    properties: JsonObject = {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}
    schema: JsonObject = {"openAPIV3Schema": {"type": "object", "properties": properties}}
    return {"name": name, "served": served, "storage": storage, "schema": schema}


def definition(plural: str, *versions: JsonObject) -> JsonObject:
    kind = plural.removesuffix("s").capitalize()
    names: JsonObject = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.example.com"},
        "spec": {"group": "example.com", "scope": "Namespaced", "names": names, "versions": list(versions)},
    }


def test_what_is_installed_answers_at_once_at_every_served_version(control_plane: ControlPlane) -> None:
    crd = definition(
        "widgets", version("v1", storage=True), version("v2", storage=False), version("v3", storage=False, served=False)
    )
    install_crds(control_plane, [crd])
    assert served_versions(crd) == ["v1", "v2"]
    statuses = [control_plane.client().get(collection_path(crd, name)).status for name in ("v1", "v2", "v3")]
    assert statuses == [200, 200, 404]


def test_an_older_definition_is_replaced(control_plane: ControlPlane) -> None:
    install_crds(control_plane, [definition("gadgets", version("v1", storage=True))])
    newer = definition("gadgets", version("v1", storage=True), version("v2", storage=False))
    install_crds(control_plane, [newer])
    control_plane.client().get(collection_path(newer, "v2")).expect(200)


def test_a_schema_that_is_not_structural_is_refused(control_plane: ControlPlane) -> None:
    broken = version("v1", storage=True)
    schema = get(broken, "schema", "openAPIV3Schema")
    assert isinstance(schema, dict)
    schema["properties"] = {"spec": {"properties": {}}}
    with pytest.raises(AssertionError, match="must not be empty for specified object fields"):
        install_crds(control_plane, [definition("cogs", broken)])


def test_conditions_are_read_from_the_server(control_plane: ControlPlane) -> None:
    crd = definition("sprockets", version("v1", storage=True))
    install_crds(control_plane, [crd])
    live = control_plane.client().get(f"{CRDS_PATH}/{name_of(crd)}").expect(200).object
    assert {entry["type"] for entry in get_objects(live, "status", "conditions")} == {"NamesAccepted", "Established"}
    assert (condition(live, "Established") or {})["status"] == "True"
    assert condition(live, "NonStructuralSchema") is None


def test_new_kinds_are_garbage_collected_at_once(controllers: ControlPlane, namespace: str) -> None:
    crd = definition("levers", version("v1", storage=True))
    install_crds(controllers, [crd])
    admin, path = controllers.client(), collection_path(crd, "v1", namespace)
    lever: JsonObject = {"apiVersion": "example.com/v1", "kind": "Lever"}
    owner = admin.post(path, {**lever, "metadata": {"name": "owner"}}).expect(201).object
    reference: JsonObject = {**lever, "name": "owner", "uid": get(owner, "metadata", "uid")}
    child: JsonObject = {**lever, "metadata": {"name": "child", "ownerReferences": [reference]}}
    admin.post(path, child).expect(201)
    admin.delete(f"{path}/owner").expect(200)
    controllers.wait_until(lambda: admin.get(f"{path}/child").status == 404, "the child is gone", timeout=20)
