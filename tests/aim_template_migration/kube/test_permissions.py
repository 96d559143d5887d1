"""From the table of permissions to the rules of roles."""

from aim_template_migration.cli.commands.rbac import role_objects
from aim_template_migration.cli.options.rbac import RbacArguments
from aim_template_migration.kube.permissions import (
    OPERATOR,
    PERMISSIONS,
    OperatorPlace,
    operator_rules,
    permissions_of,
    rules,
)


def test_applying_grants_what_reading_grants_and_more():
    assert set(permissions_of("read")) < set(permissions_of("apply")) == set(PERMISSIONS)


def test_only_reads_are_optional():
    assert {row.verb for row in PERMISSIONS if row.optional} == {"get", "list"}


def test_selected_namespaces_are_read_by_name():
    (namespaces,) = [rule for rule in rules("read", ["b", "a"], namespaced=False) if "namespaces" in rule.resources]
    assert namespaces.names == ("a", "b", "kube-system")


def test_the_operators_deployment_alone_is_granted_where_the_operator_lives():
    (granted,) = operator_rules(OperatorPlace("elsewhere", "bridge"))
    assert (granted.resources, granted.verbs, granted.names) == (("deployments",), ("get",), ("bridge",))
    roles = role_objects(RbacArguments("read", ("a",), ("elsewhere", "bridge")))
    assert [role["metadata"].get("namespace") for role in roles] == [None, "a", "elsewhere"]
    assert [rule["resourceNames"] for rule in roles[2]["rules"]] == [["bridge"]]
    assert not [rule for rule in rules("read", ["a"], namespaced=True) if rule.names]


def test_a_selected_namespace_may_be_the_operators_own():
    roles = role_objects(RbacArguments("read", (OPERATOR.namespace,)))
    assert [role["metadata"].get("namespace") for role in roles] == [None, OPERATOR.namespace]
    named = [rule for rule in roles[1]["rules"] if "resourceNames" in rule]
    assert len(named) == 1
    assert len(roles[1]["rules"]) > 1
