"""What the server refuses in roles and bindings, and what a missing role does to whom it is bound."""

import pytest

from tests.aim_rehearsal.apiserver.api import Api

NAMESPACED = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
AUTHORIZATION = "/apis/authorization.k8s.io/v1"
GROUP = "rbac.authorization.k8s.io"


def binding(name="b", role="none", kind="Role"):
    return {
        "metadata": {"name": name},
        "roleRef": {"kind": kind, "name": role},
        "subjects": [{"kind": "User", "name": "bob"}, {"kind": "ServiceAccount", "name": "s", "namespace": "default"}],
    }


@pytest.mark.parametrize(
    ("rule", "field"),
    [
        ({"apiGroups": [""], "resources": ["pods"]}, "rules[0].verbs"),
        ({"resources": ["pods"], "verbs": ["get"]}, "rules[0].apiGroups"),
        ({"apiGroups": [""], "verbs": ["get"]}, "rules[0].resources"),
    ],
)
def test_a_rule_must_be_complete(api, rule, field):
    answer = api.post(f"{NAMESPACED}/roles", {"metadata": {"name": "r"}, "rules": [rule]})
    assert answer.status == 422
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == [field]


def test_a_binding_needs_a_role_and_keeps_it(api):
    answer = api.post(f"{NAMESPACED}/rolebindings", binding(role="", kind="Nothing"))
    assert [cause["field"] for cause in answer.body["details"]["causes"]] == ["roleRef.kind", "roleRef.name"]
    made = api.post(f"{NAMESPACED}/rolebindings", binding()).body
    assert made["roleRef"]["apiGroup"] == GROUP
    assert [subject.get("apiGroup") for subject in made["subjects"]] == [GROUP, None]
    moved = api.merge(f"{NAMESPACED}/rolebindings/b", {"roleRef": {"name": "other"}})
    assert (moved.status, moved.message.endswith("cannot change roleRef")) == (422, True)


def test_a_missing_role_is_named_in_refusals_and_reviews(api, bob):
    api.post(f"{NAMESPACED}/rolebindings", binding())
    why = f'RBAC: role.{GROUP} "none" not found'
    assert bob.get(Api.widgets).message.endswith(f": {why}")
    attributes = {"verb": "list", "group": "example.com", "resource": "widgets", "namespace": "default"}
    asked = bob.post(f"{AUTHORIZATION}/selfsubjectaccessreviews", {"spec": {"resourceAttributes": attributes}})
    assert asked.body["status"] == {"allowed": False, "reason": why}
    rules = bob.post(f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {"namespace": "default"}}).body
    assert rules["status"]["evaluationError"] == f'role.{GROUP} "none" not found'


def test_rules_are_of_a_namespace(bob):
    answer = bob.post(f"{AUTHORIZATION}/selfsubjectrulesreviews", {"spec": {}})
    assert (answer.status, answer.message) == (400, "no namespace on request")
