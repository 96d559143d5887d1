"""The control plane itself: it is what the other tests take it for."""

import os
import stat
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import urllib3

from aim_api.tree import JsonObject, get, get_objects, get_str
from tests.support.controlplane.client import APPLY_PATCH, JSON_PATCH, Client
from tests.support.controlplane.server import ADMIN, POWERLESS, ControlPlane, ControlPlaneError

CONFIG_MAPS: JsonObject = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create"]}


def config_maps(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


def config_map(name: str, **metadata: object) -> JsonObject:
    return {"metadata": {"name": name, **metadata}, "data": {"key": "value"}}  # type: ignore[dict-item]


def test_it_starts_and_says_its_version(control_plane: ControlPlane) -> None:
    assert control_plane.start_seconds is not None
    version = control_plane.client("nobody").get("/version").expect(200).object
    assert version["major"] == "1"


def test_the_certificate_is_verified(control_plane: ControlPlane) -> None:
    with (
        urllib3.PoolManager(retries=False) as pool,
        pytest.raises(urllib3.exceptions.SSLError, match="CERTIFICATE_VERIFY_FAILED"),
    ):
        pool.request("GET", f"{control_plane.url}/version")


def test_identities_are_who_they_say(control_plane: ControlPlane) -> None:
    path = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    for identity in (ADMIN, *POWERLESS):
        body = control_plane.client(identity).post(path, {}).expect(201).body
        assert get(body, "status", "userInfo", "username") == identity
        groups = get(body, "status", "userInfo", "groups")
        assert groups == (["system:masters", "system:authenticated"] if identity == ADMIN else ["system:authenticated"])


def test_an_unknown_token_is_no_identity(control_plane: ControlPlane) -> None:
    answer = Client(control_plane.url, control_plane.ca_file, "unknown").get("/api/v1/namespaces")
    assert (answer.status, answer.reason) == (401, "Unauthorized")


def test_the_admin_may_do_everything_and_nobody_else_anything(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.client().post(config_maps(namespace), config_map("one")).expect(201)
    for identity in (*POWERLESS, None):
        client = control_plane.client(identity)
        for answer in (
            client.get(config_maps(namespace)),
            client.post(config_maps(namespace), config_map("two")),
            client.delete(f"{config_maps(namespace)}/one"),
            client.get("/api/v1/namespaces"),
        ):
            assert (answer.status, answer.reason) == (403, "Forbidden")
    control_plane.client().get(f"{config_maps(namespace)}/one").expect(200)


def test_a_grant_holds_where_it_is_given(control_plane: ControlPlane, make_namespace: Callable[[], str]) -> None:
    inside, outside = make_namespace(), make_namespace()
    control_plane.grant("reader", [CONFIG_MAPS], inside)
    reader = control_plane.client("reader")
    reader.post(config_maps(inside), config_map("one")).expect(201)
    reader.get(f"{config_maps(inside)}/one").expect(200)
    reader.delete(f"{config_maps(inside)}/one").expect(403)
    reader.get(f"{config_maps(outside)}/one").expect(403)


def test_a_grant_without_a_namespace_holds_everywhere(control_plane: ControlPlane) -> None:
    control_plane.grant("operator", [{"apiGroups": [""], "resources": ["namespaces/status"], "verbs": ["get"]}])
    operator = control_plane.client("operator")
    operator.get("/api/v1/namespaces/kube-system/status").expect(200)
    operator.get("/api/v1/namespaces/kube-system").expect(403)


def test_every_test_has_namespaces_of_its_own(make_namespace: Callable[[], str], namespace: str) -> None:
    assert len({make_namespace(), make_namespace(), namespace}) == 3


def test_pods_can_be_created_without_service_accounts(control_plane: ControlPlane, namespace: str) -> None:
    pod: JsonObject = {"metadata": {"name": "pod"}, "spec": {"containers": [{"name": "c", "image": "example.com/i:1"}]}}
    control_plane.client().post(f"/api/v1/namespaces/{namespace}/pods", pod).expect(201)


@pytest.mark.kubectl
def test_kubectl_uses_the_kubeconfig(control_plane: ControlPlane, namespace: str) -> None:
    def kubectl(identity: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": os.environ["PATH"], **control_plane.kubectl_environment(identity)}
        return subprocess.run(["kubectl", *arguments], env=environment, capture_output=True, text=True, check=False)

    control_plane.client().post(config_maps(namespace), config_map("one")).expect(201)
    assert kubectl(ADMIN, "get", "configmaps", "-n", namespace, "-o", "name").stdout == "configmap/one\n"
    refused = kubectl("nobody", "get", "configmaps", "-n", namespace)
    assert refused.returncode == 1
    assert 'User "nobody" cannot list resource "configmaps"' in refused.stderr


def test_kubeconfigs_and_keys_are_private(control_plane: ControlPlane) -> None:
    for file in (
        control_plane.kubeconfig("tool"),
        control_plane.folder / "tokens.csv",
        control_plane.folder / "server.key",
    ):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


@pytest.mark.slow
def test_pages_of_a_compacted_past_are_gone(control_plane: ControlPlane, namespace: str) -> None:
    admin = control_plane.client()
    for name in ("one", "two", "three"):
        admin.post(config_maps(namespace), config_map(name)).expect(201)
    page = admin.get(config_maps(namespace), query={"limit": "1"}).expect(200).body
    rest = {"limit": "1", "continue": get_str(page, "metadata", "continue") or ""}
    admin.get(config_maps(namespace), query=rest).expect(200)
    admin.post(config_maps(namespace), config_map("four")).expect(201)
    control_plane.compact_history()
    control_plane.wait_until(lambda: admin.get(config_maps(namespace), query=rest).status == 410, "the page is gone")
    assert admin.get(config_maps(namespace), query=rest).reason == "Expired"


def test_two_creations_at_once_make_one_object(control_plane: ControlPlane, namespace: str) -> None:
    admin = control_plane.client()
    barrier = threading.Barrier(2)

    def create(name: str) -> int:
        barrier.wait(10)
        return admin.post(config_maps(namespace), config_map(name)).status

    with ThreadPoolExecutor(2) as pool:
        for round_number in range(20):
            name = f"race-{round_number}"
            assert sorted(pool.map(create, (name, name))) == [201, 409]


@pytest.mark.parametrize("kind", ["post", "apply", "patch"])
def test_annotations_may_be_262144_bytes_and_not_one_more(
    control_plane: ControlPlane, namespace: str, kind: str
) -> None:
    admin = control_plane.client()
    # Two annotations: keys count as much as values, and all of them together.
    full = {"a": "x" * 200_000, "bb": "y" * (262_144 - 200_000 - 3)}
    over = full | {"bb": full["bb"] + "y"}

    def write(name: str, annotations: dict[str, str]) -> tuple[int, str | None, str]:
        path = f"{config_maps(namespace)}/{name}"
        if kind == "post":
            answer = admin.post(config_maps(namespace), config_map(name, annotations=annotations))
        elif kind == "apply":
            whole = {"apiVersion": "v1", "kind": "ConfigMap"} | config_map(name, annotations=annotations)
            answer = admin.patch(path, whole, content_type=APPLY_PATCH, query={"fieldManager": "tests"})
        else:
            admin.post(config_maps(namespace), config_map(name)).expect(201)
            operation: JsonObject = {"op": "add", "path": "/metadata/annotations", "value": dict(annotations)}
            answer = admin.patch(path, [operation], content_type=JSON_PATCH)
        return answer.status, answer.reason, get_str(answer.body, "message") or ""

    assert write("full", full)[0] in (200, 201)
    status, reason, message = write("over", over)
    assert (status, reason) == (422, "Invalid")
    assert "metadata.annotations: Too long: may not be more than 262144 bytes" in message


def test_a_condition_that_never_holds_is_reported_with_the_logs(control_plane: ControlPlane) -> None:
    with pytest.raises(ControlPlaneError, match=r"(?s)waited until pigs fly: not within 0\.1 s.*kube-apiserver \(pid"):
        control_plane.wait_until(lambda: False, "pigs fly", timeout=0.1)


# Controllers


def owned_by(owner: JsonObject, *, blocking: bool = False) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": get(owner, "metadata", "name"),
        "uid": get(owner, "metadata", "uid"),
        "blockOwnerDeletion": blocking,
    }


def names(plane: ControlPlane, namespace: str) -> set[str | None]:
    items = get_objects(plane.client().get(config_maps(namespace)).expect(200).body, "items")
    return {get_str(item, "metadata", "name") for item in items}


def test_what_is_owned_goes_with_its_last_owner(controllers: ControlPlane, namespace: str) -> None:
    admin, path = controllers.client(), config_maps(namespace)
    one = admin.post(path, config_map("one")).expect(201).object
    two = admin.post(path, config_map("two")).expect(201).object
    admin.post(path, config_map("of-one", ownerReferences=[owned_by(one)])).expect(201)
    admin.post(path, config_map("of-both", ownerReferences=[owned_by(one), owned_by(two)])).expect(201)
    admin.delete(f"{path}/one").expect(200)
    controllers.wait_until(lambda: "of-one" not in names(controllers, namespace), "of-one is gone")
    assert names(controllers, namespace) >= {"two", "of-both"}
    admin.delete(f"{path}/two").expect(200)
    controllers.wait_until(lambda: "of-both" not in names(controllers, namespace), "of-both is gone")


def test_an_owner_deleted_in_the_foreground_goes_last(controllers: ControlPlane, namespace: str) -> None:
    admin, path = controllers.client(), config_maps(namespace)
    owner = admin.post(path, config_map("owner")).expect(201).object
    child = config_map("child", ownerReferences=[owned_by(owner, blocking=True)], finalizers=["example.com/hold"])
    admin.post(path, child).expect(201)
    admin.delete(f"{path}/owner", {"propagationPolicy": "Foreground"}).expect(200)

    def child_is_terminating() -> bool:
        return get(admin.get(f"{path}/child").expect(200).body, "metadata", "deletionTimestamp") is not None

    controllers.wait_until(child_is_terminating, "the child is being deleted")
    assert get(admin.get(f"{path}/owner").expect(200).body, "metadata", "finalizers") == ["foregroundDeletion"]
    admin.patch(f"{path}/child", {"metadata": {"finalizers": None}}).expect(200)
    controllers.wait_until(lambda: admin.get(f"{path}/owner").status == 404, "the owner is gone")


def test_what_is_orphaned_stays_without_its_owner(controllers: ControlPlane, namespace: str) -> None:
    admin, path = controllers.client(), config_maps(namespace)
    owner = admin.post(path, config_map("owner")).expect(201).object
    admin.post(path, config_map("child", ownerReferences=[owned_by(owner)])).expect(201)
    admin.delete(f"{path}/owner", {"propagationPolicy": "Orphan"}).expect(200)
    controllers.wait_until(lambda: admin.get(f"{path}/owner").status == 404, "the owner is gone")
    assert get(admin.get(f"{path}/child").expect(200).body, "metadata", "ownerReferences") is None


@pytest.mark.slow
def test_a_deleted_namespace_goes_with_its_content(controllers: ControlPlane) -> None:
    admin, name = controllers.client(), controllers.create_namespace()
    admin.post(config_maps(name), config_map("one")).expect(201)
    controllers.delete_namespace(name)
    assert get(admin.get(f"/api/v1/namespaces/{name}").body, "status", "phase") == "Terminating"
    controllers.wait_until(lambda: admin.get(f"/api/v1/namespaces/{name}").status == 404, "the namespace is gone")
    assert names(controllers, name) == set()


@pytest.mark.slow
def test_the_strict_server_guards_blocking_references(
    strict_control_plane: ControlPlane, control_plane: ControlPlane
) -> None:
    for plane, status in ((strict_control_plane, 403), (control_plane, 201)):
        name = plane.create_namespace()
        plane.grant("operator", [CONFIG_MAPS], name)
        owner = plane.client().post(config_maps(name), config_map("owner")).expect(201).object
        child = config_map("child", ownerReferences=[owned_by(owner, blocking=True)])
        answer = plane.client("operator").post(config_maps(name), child)
        assert answer.status == status
        if status == 403:
            assert "cannot set blockOwnerDeletion" in (get_str(answer.body, "message") or "")
