"""Defining kinds on the control plane, and waiting until they can be used."""

from collections.abc import Sequence

from aim_api.tree import JsonObject, get, get_objects, get_str
from tests.support.controlplane.server import ControlPlane

CRDS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def name_of(crd: JsonObject) -> str:
    """Return the name of a definition, as in ``aimservices.aim.eai.amd.com``."""
    return get_str(crd, "metadata", "name") or ""


def served_versions(crd: JsonObject) -> list[str]:
    """Return the names of the versions that the definition serves."""
    versions = get_objects(crd, "spec", "versions")
    return [get_str(version, "name") or "" for version in versions if version.get("served") is True]


def group_version_path(crd: JsonObject, version: str) -> str:
    """Return the path of the API version of a definition."""
    return f"/apis/{get_str(crd, 'spec', 'group')}/{version}"


def collection_path(crd: JsonObject, version: str, namespace: str | None = None) -> str:
    """Return the path of the definition's objects in one namespace, or in all."""
    scope = "" if namespace is None else f"/namespaces/{namespace}"
    return f"{group_version_path(crd, version)}{scope}/{get_str(crd, 'spec', 'names', 'plural')}"


def condition(crd: JsonObject, kind: str) -> JsonObject | None:
    """Return one condition of a definition that was read from the server."""
    conditions = get_objects(crd, "status", "conditions")
    return next((entry for entry in conditions if entry.get("type") == kind), None)


def install_crds(plane: ControlPlane, crds: Sequence[JsonObject]) -> None:
    """Define kinds, replacing older definitions, and wait until each of their endpoints answers.

    The controllers, where they run, are restarted so that they know the new kinds.
    """
    admin = plane.client()
    for crd in crds:
        answer = admin.post(CRDS_PATH, crd)
        if answer.status == 409:
            path = f"{CRDS_PATH}/{name_of(crd)}"
            version = get(admin.get(path).expect(200).body, "metadata", "resourceVersion")
            metadata = crd.get("metadata")
            renewed = {**(metadata if isinstance(metadata, dict) else {}), "resourceVersion": version}
            answer = admin.put(path, {**crd, "metadata": renewed})
        answer.expect(200, 201)
    for crd in crds:
        plane.wait_until(lambda crd=crd: is_usable(plane, crd), f"{name_of(crd)} is usable")  # type: ignore[misc]
    plane.restart_controllers()


def is_usable(plane: ControlPlane, crd: JsonObject) -> bool:
    """Return whether the definition is established, and every version is discovered and answers a list."""
    live = plane.client().get(f"{CRDS_PATH}/{name_of(crd)}").expect(200).object
    established = condition(live, "Established")
    if established is None or established.get("status") != "True":
        return False
    return all(_answers(plane, crd, version) for version in served_versions(crd))


def _answers(plane: ControlPlane, crd: JsonObject, version: str) -> bool:
    admin = plane.client()
    discovery = admin.get(group_version_path(crd, version))
    listing = admin.get(collection_path(crd, version), query={"limit": "1"})
    if discovery.status != 200 or listing.status != 200:
        return False
    names = {get_str(entry, "name") for entry in get_objects(discovery.body, "resources")}
    return get_str(crd, "spec", "names", "plural") in names
