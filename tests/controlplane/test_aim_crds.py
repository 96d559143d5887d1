"""The project's own CustomResourceDefinitions on a real kube-apiserver."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from aim_api.crds import load_crds
from aim_api.kinds import AIM_GROUP, AIM_PROFILE, AIM_RUNTIME_CONFIG, AIM_SERVICE
from aim_api.tree import JsonObject, get, get_map, get_objects, get_str
from tests.support.controlplane.client import APPLY_PATCH, JSON_PATCH
from tests.support.controlplane.crds import (
    CRDS_PATH,
    collection_path,
    condition,
    group_version_path,
    name_of,
    served_versions,
)
from tests.support.controlplane.server import ControlPlane

CRDS = load_crds()
ENDPOINTS = [(crd, version) for crd in CRDS for version in served_versions(crd)]
ENDPOINT_NAMES = [f"{name_of(crd)}-{version}" for crd, version in ENDPOINTS]

ANNOTATIONS_LIMIT = 262_144


@pytest.fixture(params=["aim_plane", pytest.param("strict_aim_plane", marks=pytest.mark.slow)])
def plane(request: pytest.FixtureRequest) -> ControlPlane:
    found: ControlPlane = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def own_namespace(plane: ControlPlane) -> Iterator[str]:
    name = plane.create_namespace()
    yield name
    plane.delete_namespace(name)


def test_there_are_definitions() -> None:
    assert {AIM_SERVICE.crd_name, AIM_PROFILE.crd_name, AIM_RUNTIME_CONFIG.crd_name} <= {name_of(crd) for crd in CRDS}


@pytest.mark.parametrize("crd", CRDS, ids=name_of)
def test_they_are_established_without_a_complaint(plane: ControlPlane, crd: JsonObject) -> None:
    live = plane.client().get(f"{CRDS_PATH}/{name_of(crd)}").expect(200).object
    for kind in ("NamesAccepted", "Established"):
        assert (condition(live, kind) or {}).get("status") == "True", live["status"]
    assert condition(live, "NonStructuralSchema") is None
    # Nothing that was written may have been dropped as unknown.
    assert get_objects(live, "spec", "versions") == get_objects(crd, "spec", "versions")


@pytest.mark.parametrize("crd", CRDS, ids=name_of)
def test_strict_validation_knows_every_field_of_the_definition(plane: ControlPlane, crd: JsonObject) -> None:
    live = plane.client().get(f"{CRDS_PATH}/{name_of(crd)}").expect(200).object
    renewed = {**crd, "metadata": {"name": name_of(crd), "resourceVersion": get(live, "metadata", "resourceVersion")}}
    query = {"dryRun": "All", "fieldValidation": "Strict"}
    answer = plane.client().put(f"{CRDS_PATH}/{name_of(crd)}", renewed, query=query).expect(200)
    assert "Warning" not in answer.headers


@pytest.mark.parametrize(("crd", "version"), ENDPOINTS, ids=ENDPOINT_NAMES)
def test_every_endpoint_answers(plane: ControlPlane, crd: JsonObject, version: str, own_namespace: str) -> None:
    admin = plane.client()
    names = get_map(crd, "spec", "names")
    listed = admin.get(collection_path(crd, version)).expect(200).object
    assert (listed["apiVersion"], listed["kind"]) == (f"{get_str(crd, 'spec', 'group')}/{version}", names["listKind"])
    namespaced = get_str(crd, "spec", "scope") == "Namespaced"
    path = collection_path(crd, version, own_namespace if namespaced else None)
    admin.get(path).expect(200)
    with admin.stream(path, query={"watch": "true", "timeoutSeconds": "5"}):
        pass
    for suffix in ("", "/status") if _has_status(crd, version) else ("",):
        missing = admin.get(f"{path}/missing{suffix}")
        assert (missing.status, missing.reason) == (404, "NotFound")
        assert get(missing.body, "details", "name") == "missing"
    # Whatever the schema demands, the answer is about the object and not about the endpoint.
    empty: JsonObject = {"apiVersion": listed["apiVersion"], "kind": names["kind"], "metadata": {"name": "empty"}}
    admin.post(path, empty, query={"dryRun": "All"}).expect(201, 422)


@pytest.mark.parametrize(("crd", "version"), ENDPOINTS, ids=ENDPOINT_NAMES)
def test_every_endpoint_is_discovered(plane: ControlPlane, crd: JsonObject, version: str) -> None:
    names = get_map(crd, "spec", "names")
    path = group_version_path(crd, version)
    entries = {entry["name"]: entry for entry in get_objects(plane.client().get(path).expect(200).body, "resources")}
    entry = entries[names["plural"]]
    assert entry["kind"] == names["kind"]
    assert entry["namespaced"] == (get_str(crd, "spec", "scope") == "Namespaced")
    assert entry.get("shortNames", []) == names.get("shortNames", [])
    assert (f"{names['plural']}/status" in entries) == _has_status(crd, version)

    def is_published() -> bool:
        answer = plane.client().get(f"/openapi/v3{path}")
        return answer.status == 200 and f'"{names["kind"]}"'.encode() in answer.content

    plane.wait_until(is_published, f"the schema of {names['kind']} {version} is published")


def _has_status(crd: JsonObject, version: str) -> bool:
    versions = get_objects(crd, "spec", "versions")
    return any(get(entry, "subresources", "status") == {} for entry in versions if entry["name"] == version)


def runtime_config(name: str, **metadata: object) -> JsonObject:
    kind = AIM_RUNTIME_CONFIG
    return {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name, **metadata}, "spec": {}}  # type: ignore[dict-item]


@pytest.mark.parametrize("write", ["create", "apply", "patch"])
def test_annotations_may_be_262144_bytes_and_not_one_more(aim_plane: ControlPlane, namespace: str, write: str) -> None:
    admin = aim_plane.client()
    # Bytes and not characters, and keys and values of all annotations together.
    full = {"a": "é" * 100_000, "bb": "y" * (ANNOTATIONS_LIMIT - 1 - 200_000 - 2)}
    over = full | {"bb": full["bb"] + "y"}

    def answer(name: str, annotations: dict[str, str]) -> tuple[int, str | None, str]:
        path = AIM_RUNTIME_CONFIG.path(namespace)
        config = runtime_config(name, annotations=annotations)
        if write == "create":
            answer = admin.post(path, config)
        elif write == "apply":
            answer = admin.patch(f"{path}/{name}", config, content_type=APPLY_PATCH, query={"fieldManager": "tests"})
        else:
            admin.post(path, runtime_config(name)).expect(201)
            operation: JsonObject = {"op": "add", "path": "/metadata/annotations", "value": dict(annotations)}
            answer = admin.patch(f"{path}/{name}", [operation], content_type=JSON_PATCH)
        return answer.status, answer.reason, get_str(answer.body, "message") or ""

    assert answer("full", full)[0] == (200 if write == "patch" else 201)
    status, reason, message = answer("over", over)
    assert (status, reason) == (422, "Invalid")
    assert f"metadata.annotations: Too long: may not be more than {ANNOTATIONS_LIMIT} bytes" in message


def test_of_two_creations_at_once_exactly_one_succeeds(aim_plane: ControlPlane, namespace: str) -> None:
    barrier = threading.Barrier(2)

    def create(name: str) -> tuple[int, str | None]:
        barrier.wait(10)
        answer = aim_plane.client().post(AIM_RUNTIME_CONFIG.path(namespace), runtime_config(name))
        return answer.status, None if answer.status == 201 else answer.reason

    with ThreadPoolExecutor(2) as pool:
        for number in range(20):
            outcomes = sorted(pool.map(create, [f"race-{number}"] * 2), key=lambda outcome: outcome[0])
            assert outcomes == [(201, None), (409, "AlreadyExists")]


@pytest.mark.slow
@pytest.mark.parametrize("may_finalize", [True, False])
def test_the_strict_server_wants_the_right_to_finalize_the_owner(
    strict_aim_plane: ControlPlane, may_finalize: bool
) -> None:
    namespace = strict_aim_plane.create_namespace()
    path = AIM_RUNTIME_CONFIG.path(namespace)
    owner = strict_aim_plane.client().post(path, runtime_config("owner")).expect(201).object
    plural = AIM_RUNTIME_CONFIG.plural
    rules: list[JsonObject] = [{"apiGroups": [AIM_GROUP], "resources": [plural], "verbs": ["create"]}]
    if may_finalize:
        finalizers = f"{plural}/finalizers"
        rules.append({"apiGroups": [AIM_GROUP], "resources": [finalizers], "verbs": ["update"]})
    strict_aim_plane.grant("operator", rules, namespace)
    reference: JsonObject = {
        "apiVersion": AIM_RUNTIME_CONFIG.api_version,
        "kind": AIM_RUNTIME_CONFIG.name,
        "name": "owner",
        "uid": get(owner, "metadata", "uid"),
        "blockOwnerDeletion": True,
    }
    child = runtime_config("child", ownerReferences=[reference])
    answer = strict_aim_plane.client("operator").post(path, child)
    assert answer.status == (201 if may_finalize else 403), str(answer)
    if not may_finalize:
        assert "cannot set blockOwnerDeletion" in (get_str(answer.body, "message") or "")
