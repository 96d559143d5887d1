"""The audit checker on the log of a real kube-apiserver."""

from collections.abc import Callable

import pytest

from aim_api.tree import JsonObject
from tests.support.audit import AuditTrail
from tests.support.controlplane.client import APPLY_PATCH, Client
from tests.support.controlplane.server import ControlPlane

EVERYTHING: JsonObject = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}


@pytest.fixture
def tool(control_plane: ControlPlane, namespace: str) -> Client:
    control_plane.grant("tool", [EVERYTHING], namespace)
    return control_plane.client("tool")


@pytest.fixture
def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


def config_map(name: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def shown(trail: AuditTrail, identity: str, namespace: str) -> list[str]:
    return [str(event).replace(namespace, "NS") for event in trail.mutations(identity)]


def test_every_write_is_there_in_order_with_its_dry_run_flag(
    control_plane: ControlPlane, tool: Client, path: str, namespace: str, audit: Callable[[], AuditTrail]
) -> None:
    dry = {"dryRun": "All"}
    tool.post(path, config_map("one"), query=dry).expect(201)
    tool.post(path, config_map("one")).expect(201)
    tool.post(path, config_map("one")).expect(409)
    tool.patch(f"{path}/one", {"data": {"a": "1"}}, query=dry).expect(200)
    tool.patch(f"{path}/one", config_map("one"), content_type=APPLY_PATCH, query={"fieldManager": "t"}).expect(200)
    tool.put(f"{path}/one", config_map("one"), query=dry).expect(200)
    tool.get(f"{path}/one").expect(200)
    control_plane.client("nobody").post(path, config_map("two")).expect(403)
    tool.delete(f"{path}/one").expect(200)
    trail = audit()
    assert shown(trail, "tool", namespace) == [
        "create configmaps NS/one (dry run) 201",
        "create configmaps NS/one 201",
        "create configmaps NS/one 409",
        "patch configmaps NS/one (dry run) 200",
        "patch configmaps NS/one 200",
        "update configmaps NS/one (dry run) 200",
        "delete configmaps NS/one 200",
    ]
    assert [event.verb for event in trail.writes("tool")] == ["create", "patch", "delete"]
    assert [event.code for event in trail.mutations("nobody")] == [403]
    assert trail.writers("configmaps") == ["tool"]


def test_request_and_response_objects_are_there(tool: Client, path: str, audit: Callable[[], AuditTrail]) -> None:
    stored = tool.post(path, config_map("one")).expect(201).object
    (event,) = audit().writes("tool")
    assert isinstance(event.request_object, dict)
    assert isinstance(event.response_object, dict)
    assert event.request_object["kind"] == "ConfigMap"
    response_metadata, stored_metadata = event.response_object["metadata"], stored["metadata"]
    assert isinstance(response_metadata, dict)
    assert isinstance(stored_metadata, dict)
    assert response_metadata["uid"] == stored_metadata["uid"]


def test_a_run_of_dry_runs_reads_and_reviews_passes(
    tool: Client, path: str, namespace: str, audit: Callable[[], AuditTrail]
) -> None:
    review: JsonObject = {"spec": {"resourceAttributes": {"namespace": namespace, "verb": "get", "resource": "pods"}}}
    tool.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review).expect(201)
    tool.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", {"spec": {"namespace": namespace}}).expect(201)
    tool.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).expect(201)
    tool.get(path).expect(200)
    tool.post(path, config_map("one"), query={"dryRun": "All"}).expect(201)
    trail = audit()
    trail.assert_only_dry_runs("tool")
    trail.assert_no_deletes("tool")
    trail.assert_no_secret_reads("tool")
    with pytest.raises(AssertionError, match=r"create configmaps .*/one \(dry run\) 201"):
        trail.assert_no_mutations("tool")


def test_a_deletion_whose_body_overrides_its_uri_really_deletes(
    tool: Client, path: str, audit: Callable[[], AuditTrail]
) -> None:
    for name in ("bare", "body", "empty"):
        tool.post(path, config_map(name)).expect(201)
    dry = {"dryRun": "All"}
    tool.delete(f"{path}/bare", query=dry).expect(200)
    tool.delete(f"{path}/body", {"dryRun": ["All"]}).expect(200)
    tool.delete(f"{path}/empty", {}, query=dry).expect(200)
    assert [tool.get(f"{path}/{name}").status for name in ("bare", "body", "empty")] == [200, 200, 404]
    trail = audit()
    assert [event.is_dry_run for event in trail.deletes("tool")] == [True, True, False]
    with pytest.raises(AssertionError, match="sent 3 deletes"):
        trail.assert_no_deletes("tool")


@pytest.mark.parametrize("value", ["", "all", "None"])
def test_other_values_of_dry_run_are_refused_and_are_no_dry_run(
    tool: Client, path: str, audit: Callable[[], AuditTrail], value: str
) -> None:
    answer = tool.post(path, config_map("one"), query={"dryRun": value})
    (event,) = audit().mutations("tool")
    assert (answer.status, event.code, event.is_dry_run) == (422, 422, False)


def test_reading_secrets_is_found_even_when_refused_or_still_running(
    control_plane: ControlPlane, namespace: str, audit: Callable[[], AuditTrail]
) -> None:
    secrets = f"/api/v1/namespaces/{namespace}/secrets"
    control_plane.client("nobody").get(f"{secrets}/one").expect(403)
    control_plane.client("nobody").get("/api/v1/secrets", query={"watch": "true"}).expect(403)
    trail = audit()
    assert [event.verb for event in trail.secret_requests("nobody")] == ["get", "watch"]
    with pytest.raises(AssertionError, match="sent 2 requests about Secrets"):
        trail.assert_no_secret_reads("nobody")


def test_an_open_watch_is_in_the_log(
    control_plane: ControlPlane, namespace: str, audit: Callable[[], AuditTrail]
) -> None:
    control_plane.grant("reader", [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["watch"]}], namespace)
    watch = control_plane.client("reader").stream(f"/api/v1/namespaces/{namespace}/secrets", query={"watch": "true"})
    with watch, pytest.raises(AssertionError, match="watch secrets"):
        audit().assert_no_secret_reads("reader")


def test_what_is_done_in_anothers_name_counts_for_both(
    control_plane: ControlPlane, path: str, audit: Callable[[], AuditTrail], tool: Client
) -> None:
    as_tool = {"Impersonate-User": "tool"}
    control_plane.client().request("POST", path, config_map("one"), headers=as_tool).expect(201)
    trail = audit()
    assert [event.user for event in trail.writes("tool")] == ["admin"]
    assert trail.writers("configmaps") == ["tool"]


def test_an_unauthenticated_request_has_no_identity(
    control_plane: ControlPlane, audit: Callable[[], AuditTrail]
) -> None:
    Client(control_plane.url, control_plane.ca_file, "unknown").get("/api/v1/namespaces").expect(401)
    (event,) = [event for event in audit().events if event.code == 401]
    assert event.user == ""


def test_deletions_by_the_garbage_collector_are_the_controllers_own(
    controllers: ControlPlane, tool: Client, path: str, audit: Callable[[], AuditTrail]
) -> None:
    owner = tool.post(path, config_map("owner")).expect(201).object["metadata"]
    assert isinstance(owner, dict)
    reference: JsonObject = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    tool.post(path, {**config_map("child"), "metadata": {"name": "child", "ownerReferences": [reference]}}).expect(201)
    tool.delete(f"{path}/owner").expect(200)
    controllers.wait_until(lambda: tool.get(f"{path}/child").status == 404, "the child is gone")
    trail = audit()
    assert [str(event.target).rpartition("/")[2] for event in trail.deletes("tool")] == ["owner"]
    assert "child" in [str(event.target).rpartition("/")[2] for event in trail.deletes("controllers")]
