"""The definitions on a real kube-apiserver: every rule refuses what it should and nothing else."""

import copy
from collections.abc import Iterator

import pytest

from aim_api.crds import load_crds
from aim_api.kinds import AIM_MODEL, AIM_SERVICE, Kind
from aim_api.tree import Json, JsonObject, get, get_int, get_list, get_map, get_objects, get_str
from tests.aim_api.crd_cases import TRAPS, DefaultCase, Example, RuleCase, default_cases, examples
from tests.aim_api.rule_server import CASES, DRY_RUN, STRICT, RuleServer, is_refused_by_a_rule, run_rule_server
from tests.support.controlplane.server import ControlPlane

EXAMPLES = examples()
DEFINITIONS = {get_str(crd, "spec", "names", "kind"): crd for crd in load_crds()}


@pytest.fixture(scope="module")
def server(aim_plane: ControlPlane) -> Iterator[RuleServer]:
    with run_rule_server(aim_plane) as server:
        yield server


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(server: RuleServer, case: RuleCase) -> None:
    answer = server.send(case)
    if case.refused is None:
        answer.expect(200, 201)
        return
    if not is_refused_by_a_rule(case):
        answer.expect(400)
        assert case.refused in (get_str(answer.body, "message") or "")
        return
    answer.expect(422)
    causes = get_objects(answer.body, "details", "causes")
    matching = [cause for cause in causes if case.refused in (get_str(cause, "message") or "")]
    assert case.field in [get_str(cause, "field") for cause in matching], answer.object["message"]


TOLERATED = [case for case in CASES if "stored-before" in case.name and case.refused is None]


@pytest.mark.parametrize("case", TOLERATED, ids=str)
def test_what_is_tolerated_on_a_stored_object_is_refused_on_a_new_one(server: RuleServer, case: RuleCase) -> None:
    new = {**case.object, "metadata": {"name": "new"}}
    answer = server.plane.client().post(server.path(case.kind), new, query=DRY_RUN).expect(422)
    causes = get_objects(answer.body, "details", "causes")
    assert TRAPS[case.trap or 0] & {get_str(cause, "field") for cause in causes}


def contained(part: Json, whole: Json) -> bool:
    """Return whether ``whole`` is ``part`` with nothing but further fields."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(
            key in whole and contained(item, whole[key]) for key, item in part.items()
        )
    if isinstance(part, list):
        return isinstance(whole, list) and len(part) == len(whole) and all(map(contained, part, whole))
    return part == whole


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_example(server: RuleServer, example: Example) -> None:
    client = server.plane.client()
    created = client.post(server.path(example.kind), example.object, query=STRICT).expect(201).object
    path = server.path(example.kind, example.name)
    try:
        if "status" in example.object:
            # The subresource takes status alone.
            assert "status" not in created
            written = {**created, "status": example.object["status"]}
            created = client.put(f"{path}/status", written, query=STRICT).expect(200).object
        expected = {key: example.object[key] for key in ("spec", "status") if key in example.object}
        assert contained(expected, created), created
        assert contained(get_map(example.object, "metadata"), created["metadata"])
    finally:
        client.delete(path).expect(200)


@pytest.mark.parametrize("case", default_cases(), ids=str)
def test_defaults(server: RuleServer, case: DefaultCase) -> None:
    answer = server.plane.client().post(server.path(case.kind), case.object, query=DRY_RUN).expect(201)
    assert get(answer.body, "spec") == case.stored


DUAL_STATUSES: list[tuple[Kind, JsonObject, JsonObject]] = [
    (
        AIM_SERVICE,
        {"model": {"name": "qwen-qwen3-32b"}, "template": {"name": "fp8-latency"}},
        {
            "observedGeneration": 1,
            "status": "Running",
            "conditions": [],
            "resolvedTemplate": {"name": "fp8-latency"},
            "resolvedProfile": {"name": "fp8-latency", "scope": "Namespace"},
            "cache": {"templateCacheRef": {"name": "a"}, "profileCacheRef": {"name": "b"}, "retryAttempts": 1},
            "adapters": [{"name": "legal", "state": "Loaded"}],
            "adapterMaxRank": 16,
        },
    ),
    (
        AIM_MODEL,
        {"image": "registry.example.org/aim/qwen3-32b:0.10.0"},
        {
            "observedGeneration": 1,
            "status": "Ready",
            "sourceType": "Image",
            "kind": "Image",
            "imageMetadata": {"model": {"canonicalName": "Qwen/Qwen3-32B"}},
            "profileGeneration": {"strategy": "RuntimeFallback", "matchedFallbacks": ["rocm"]},
            "profileSetRef": {"name": "a", "namespace": "b"},
            "managedProfiles": {"total": 1, "ready": 1, "notAvailable": 0, "deployable": 1, "base": 0},
        },
    ),
]


@pytest.mark.parametrize("writer", ["v1alpha1", "v1alpha2"])
@pytest.mark.parametrize(("kind", "spec", "status"), DUAL_STATUSES, ids=lambda value: getattr(value, "name", ""))
def test_a_status_write_through_either_version_loses_nothing(
    server: RuleServer, kind: Kind, spec: JsonObject, status: JsonObject, writer: str
) -> None:
    client = server.plane.client()
    name = f"status-{writer}"
    old, new = kind.at("v1alpha1"), kind.at("v1alpha2")
    created: JsonObject = {"apiVersion": old.api_version, "kind": kind.name, "metadata": {"name": name}, "spec": spec}
    client.post(server.path(old), created, query=STRICT).expect(201)
    live = client.get(server.path(new, name)).expect(200).object
    written = client.put(server.path(new, name, "status"), {**live, "status": status}, query=STRICT).expect(200).object

    # A writer that knows one version changes one field and sends back everything it has read.
    version = kind.at(writer)
    read = client.get(server.path(version, name)).expect(200).object
    change = copy.deepcopy(get_map(read, "status")) | {"observedGeneration": 2}
    client.put(server.path(version, name, "status"), {**read, "status": change}, query=STRICT).expect(200)
    client.put(server.path(version, name, "status"), {**read, "status": change}, query=STRICT).expect(409)
    for reader in (old, new):
        found = client.get(server.path(reader, name)).expect(200).object
        assert found["status"] == status | {"observedGeneration": 2}
        assert found["spec"] == written["spec"]
        assert get_int(found, "metadata", "generation") == 1


def test_the_cutover_is_one_patch_with_tests(server: RuleServer) -> None:
    client = server.plane.client()
    old, new = AIM_SERVICE.at("v1alpha1"), AIM_SERVICE
    spec: JsonObject = {
        "model": {"name": "qwen-qwen3-32b"},
        "template": {"name": "fp8-latency"},
        "caching": {"mode": "Auto"},
    }
    manifest: JsonObject = {
        "apiVersion": old.api_version,
        "kind": old.name,
        "metadata": {"name": "cutover"},
        "spec": spec,
    }
    created = client.post(server.path(old), manifest, query=STRICT).expect(201).object
    operations: list[Json] = [
        {"op": "test", "path": "/metadata/uid", "value": get(created, "metadata", "uid")},
        {"op": "test", "path": "/metadata/generation", "value": 1},
        {"op": "test", "path": "/spec", "value": created["spec"]},
        {"op": "remove", "path": "/spec/template"},
        {"op": "add", "path": "/spec/profile", "value": {"name": "fp8-latency"}},
    ]
    path = server.path(new, "cutover")
    sent = client.patch(path, operations, content_type="application/json-patch+json", query=STRICT).expect(200)
    assert "Warning" not in sent.headers
    assert get_map(sent.body, "spec") == {
        **{key: value for key, value in get_map(created, "spec").items() if key != "template"},
        "profile": {"name": "fp8-latency"},
    }
    assert get_int(sent.body, "metadata", "generation") == 2
    # Afterwards both versions' status writers still work.
    for version in (old, new):
        live = client.get(server.path(version, "cutover")).expect(200).object
        status: JsonObject = {"observedGeneration": 2, "resolvedProfile": {"name": "fp8-latency"}}
        client.put(server.path(version, "cutover", "status"), {**live, "status": status}, query=STRICT).expect(200)


@pytest.mark.parametrize("kind", [kind.at("v1alpha1") for kind in (AIM_SERVICE, AIM_MODEL)], ids=lambda kind: kind.name)
def test_the_older_version_warns_and_the_newer_does_not(server: RuleServer, kind: Kind) -> None:
    client = server.plane.client()
    warning = client.get(server.path(kind)).expect(200).headers["Warning"]
    assert f"aim.eai.amd.com/v1alpha1 {kind.name} is deprecated; use aim.eai.amd.com/v1alpha2 {kind.name}" in warning
    assert "Warning" not in client.get(server.path(kind.at("v1alpha2"))).expect(200).headers


@pytest.mark.parametrize("name", ["AIMProfile", "AIMClusterProfile"])
def test_profiles_are_selected_by_family(server: RuleServer, name: str) -> None:
    client = server.plane.client()
    kind = next(case.kind for case in CASES if case.kind.name == name)
    made = {"one": "acme/selected", "two": "acme/other"}
    try:
        for profile, family in made.items():
            spec: JsonObject = {
                "image": "a",
                "aimId": family,
                "modelSources": [{"modelId": "acme/bot", "sourceUri": "s3://weights/bot"}],
            }
            manifest: JsonObject = {
                "apiVersion": kind.api_version,
                "kind": name,
                "metadata": {"name": profile},
                "spec": spec,
            }
            created = client.post(server.path(kind), manifest, query=STRICT).expect(201).object
            assert get(created, "spec", "primary") is False
            assert get(created, "spec", "acceleratorPartitioningMode") == "unpartitioned"
        found = client.get(server.path(kind), query={"fieldSelector": "spec.aimId=acme/selected"}).expect(200)
        assert [get_str(item, "metadata", "name") for item in get_objects(found.body, "items")] == ["one"]
        client.get(server.path(kind), query={"fieldSelector": "spec.engine=vllm"}).expect(400)
    finally:
        for profile in made:
            client.delete(server.path(kind, profile))


TABLES = {
    ("AIMService", "v1alpha1"): ["Name", "Status", "Model", "Template", "Profile*", "Replicas", "Age"],
    ("AIMService", "v1alpha2"): ["Name", "Status", "Model", "Profile", "Replicas", "Age"],
    ("AIMModel", "v1alpha1"): ["Name", "Status", "Source", "Image", "Version", "Model", "Age"],
    ("AIMModel", "v1alpha2"): ["Name", "Status", "Kind", "AimID", "Version", "Managed", "Ready", "Base", "Age"],
    ("AIMServiceTemplate", "v1alpha1"): ["Name", "Model", "Status", "Hardware", "Metric", "Precision"],
    ("AIMTemplateCache", "v1alpha1"): ["Name", "Template", "Mode", "Status", "Kind", "Age"],
    ("AIMProfileCache", "v1alpha2"): ["Name", "Profile", "Scope", "Mode", "Status", "Age"],
    ("AIMRuntimeConfig", "v1alpha1"): ["Name", "Age"],
    ("InferenceService", "v1beta1"): [
        "Name",
        "URL",
        "Ready",
        "Prev",
        "Latest",
        "PrevRolledoutRevision",
        "LatestReadyRevision",
        "Age",
    ],
}


@pytest.mark.parametrize(("name", "version"), TABLES, ids=lambda value: value)
def test_what_kubectl_get_shows(server: RuleServer, name: str, version: str) -> None:
    kind = next(case.kind for case in CASES if case.kind.name == name).at(version)
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    table = server.plane.client().request("GET", server.path(kind), headers=accept).expect(200).object
    shown = [
        f"{column['name']}{'*' if column['priority'] else ''}" for column in get_objects(table, "columnDefinitions")
    ]
    assert shown == TABLES[name, version]
    assert isinstance(get_list(table, "rows"), list)
