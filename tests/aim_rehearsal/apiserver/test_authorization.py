import pytest

from tests.aim_rehearsal.apiserver.api import Api, widget

W = Api.widgets
RBAC = "/apis/rbac.authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"


def grant(api, rules, subject, namespace="default", kind="Role"):
    """Bind a role with these rules to a subject, in a namespace or, without one, in the cluster."""
    place = f"{RBAC}/namespaces/{namespace}" if namespace else RBAC
    where = f"{place}/roles" if kind == "Role" else f"{RBAC}/clusterroles"
    assert api.post(where, {"metadata": {"name": "r"}, "rules": rules}).status == 201
    bindings = "rolebindings" if namespace else "clusterrolebindings"
    role = {"apiGroup": GROUP, "kind": kind, "name": "r"}
    assert (
        api.post(f"{place}/{bindings}", {"metadata": {"name": "b"}, "roleRef": role, "subjects": [subject]}).status
        == 201
    )


def rule(*verbs, resources=("widgets",), **more):
    return {"apiGroups": ["example.com"], "resources": list(resources), "verbs": list(verbs), **more}


BOB = {"kind": "User", "name": "bob", "apiGroup": GROUP}
DEV = {"kind": "Group", "name": "dev", "apiGroup": GROUP}


def test_nobody_may_anything_without_a_role(bob):
    answer = bob.get(W)
    assert (answer.status, answer.reason) == (403, "Forbidden")
    assert answer.message == (
        'widgets.example.com is forbidden: User "bob" cannot list resource "widgets" in API group "example.com" '
        'in the namespace "default"'
    )
    assert answer.body["details"] == {"group": "example.com", "kind": "widgets"}
    assert bob.get("/api/v1/namespaces").message.endswith("at the cluster scope")
    assert bob.get("/metrics").message == 'forbidden: User "bob" cannot get path "/metrics"'


@pytest.mark.parametrize("subject", [BOB, DEV])
def test_a_role_reaches_as_far_as_its_namespace(api, bob, subject):
    grant(api, [rule("get", "list", "create")], subject)
    api.post("/api/v1/namespaces", {"metadata": {"name": "other"}})
    assert bob.post(W, widget("a")).status == 201
    assert bob.get(f"{W}/a").status == 200
    assert bob.delete(f"{W}/a").status == 403
    assert bob.merge(f"{W}/a/status", {}).status == 403
    assert bob.get(W.replace("default", "other")).status == 403
    assert bob.get("/apis/example.com/v2/widgets").status == 403
    assert Api(api.server, "alice").get(W).status == 403


def test_a_cluster_role_bound_in_a_namespace_stays_there(api, bob):
    grant(api, [rule("list")], BOB, kind="ClusterRole")
    assert bob.get(W).status == 200
    assert bob.get("/apis/example.com/v2/widgets").status == 403


def test_a_cluster_role_bound_in_the_cluster_reaches_everywhere(api, bob):
    grant(api, [rule("list", "get", resources=["*"])], BOB, namespace="", kind="ClusterRole")
    assert bob.get("/apis/example.com/v2/widgets").status == 200
    assert bob.get("/apis/example.com/v2/gadgets").status == 200
    assert bob.get("/api/v1/pods").status == 403


def test_subresources_and_names_are_separate_permissions(api, bob):
    api.post(W, widget("a"))
    api.post(W, widget("b"))
    grant(api, [rule("patch", resources=["widgets/status"]), rule("get", "watch", "list", resourceNames=["a"])], BOB)
    assert bob.merge(f"{W}/a/status", {"status": {"phase": "x"}}).status == 200
    assert bob.merge(f"{W}/a", {}).status == 403
    assert bob.get(f"{W}/a").status == 200
    assert bob.get(f"{W}/b").status == 403
    assert bob.get(f"{W}?fieldSelector=metadata.name%3Da").status == 200
    assert bob.get(W).status == 403


def test_a_dry_run_needs_the_permission_to_write(api, bob):
    grant(api, [rule("get")], BOB)
    assert bob.post(f"{W}?dryRun=All", widget("a")).status == 403


def test_everybody_may_discover_and_ask(server, bob):
    for path in ("/version", "/apis", "/apis/example.com/v2", "/openapi/v3"):
        assert bob.get(path).status == 200
    nobody = Api(server, None)
    assert nobody.get("/version").status == 200
    assert nobody.get("/readyz").status == 200
    answer = nobody.get(W)
    assert (answer.status, 'User "system:anonymous"' in answer.message) == (403, True)


def ask(api, **attributes):
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    return api.post(path, {"spec": {"resourceAttributes": attributes}}).body["status"]


def test_access_reviews_tell_what_would_happen(api, bob):
    grant(api, [rule("get")], BOB)
    allowed = ask(bob, verb="get", group="example.com", resource="widgets", namespace="default")
    assert allowed["allowed"] is True
    assert allowed["reason"] == 'RBAC: allowed by RoleBinding "b/default" of Role "r" to User "bob"'
    assert ask(bob, verb="delete", group="example.com", resource="widgets", namespace="default") == {"allowed": False}
    assert ask(api, verb="delete", group="", resource="nodes")["allowed"] is True
    path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    asked = {"spec": {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}}
    assert bob.post(path, asked).body["status"]["allowed"] is False
    assert bob.post(path, {"spec": {}}).status == 422


def test_rules_reviews_list_what_is_granted(api, bob):
    grant(api, [rule("get")], BOB)
    path = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
    status = bob.post(path, {"spec": {"namespace": "default"}}).body["status"]
    assert rule("get") in status["resourceRules"]
    assert status["incomplete"] is False


def test_who_am_i(bob):
    body = bob.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}).body
    assert body["status"]["userInfo"]["username"] == "bob"
    assert body["status"]["userInfo"]["groups"] == ["dev", "system:authenticated"]


@pytest.mark.parametrize(
    ("headers", "status", "message"),
    [
        ({"impersonate-user": "bob"}, 403, 'User "bob" cannot list'),
        ({"impersonate-user": "root", "impersonate-group": "system:masters"}, 200, ""),
        ({"impersonate-group": "dev"}, 400, "without impersonating a user name"),
    ],
)
def test_impersonation(api, headers, status, message):
    answer = api.get(W, **headers)
    assert answer.status == status
    assert message in (answer.message or "")


def test_impersonation_needs_a_permission(api, bob):
    answer = bob.get(W, **{"impersonate-user": "alice"})
    assert (answer.status, "impersonate-on:user-info:list" in answer.message) == (403, True)
    rules = [{"apiGroups": [""], "resources": ["users"], "verbs": ["impersonate"], "resourceNames": ["alice"]}]
    grant(api, rules, BOB, namespace="", kind="ClusterRole")
    assert 'User "alice" cannot list' in bob.get(W, **{"impersonate-user": "alice"}).message
    account = "system:serviceaccount:default:bot"
    assert bob.get(W, **{"impersonate-user": account}).status == 403


def test_service_accounts_are_subjects(api):
    grant(api, [rule("list")], {"kind": "ServiceAccount", "name": "bot", "namespace": "default"})
    assert api.get(W, **{"impersonate-user": "system:serviceaccount:default:bot"}).status == 200
    assert api.get(W, **{"impersonate-user": "system:serviceaccount:default:other"}).status == 403
