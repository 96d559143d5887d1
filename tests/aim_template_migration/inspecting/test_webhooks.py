"""Which admission webhooks would refuse the migration's dry runs."""

import pytest

from aim_template_migration.inspecting.webhooks import refusing

RULE = {
    "operations": ["CREATE", "UPDATE"], "apiGroups": ["aim.eai.amd.com"], "apiVersions": ["v1alpha2"],
    "resources": ["aimservices"],
}  # fmt: skip


def configuration(side_effects="Unknown", rules=(RULE,), **webhook):
    body = {"name": "check.example.org", "rules": list(rules), **webhook}
    if side_effects is not None:
        body["sideEffects"] = side_effects
    return {"kind": "ValidatingWebhookConfiguration", "metadata": {"name": "guard"}, "webhooks": [body]}


def found(*arguments, **webhook):
    return list(refusing([configuration(*arguments, **webhook)]))


@pytest.mark.parametrize(
    ("side_effects", "refuses"),
    [("Unknown", True), ("Some", True), (None, True), ("None", False), ("NoneOnDryRun", False)],
)
def test_only_declared_harmlessness_counts(side_effects, refuses):
    assert bool(found(side_effects)) == refuses


def test_what_it_sees_is_named():
    (refusal,) = found("Some")
    assert (refusal.configuration, refusal.webhook, refusal.side_effects, refusal.certain) == (
        "ValidatingWebhookConfiguration/guard", "check.example.org", "Some", True
    )  # fmt: skip
    assert refusal.writes == ("UPDATE of AIMService",)


def sees(**rule):
    return [refusal.writes for refusal in found("Unknown", [RULE | rule])]


def test_wildcards_see_every_write_of_the_migration():
    everything = {"operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"]}
    for resources in (["*"], ["*/*"]):
        (writes,) = sees(**everything, resources=resources)
        assert writes == (
            "CREATE of AIMProfile", "CREATE of AIMProfileCache", "UPDATE of AIMArtifact", "UPDATE of AIMService",
        )  # fmt: skip


@pytest.mark.parametrize(
    "rule",
    [
        {"operations": ["CREATE"]},
        {"operations": ["DELETE"]},
        {"apiGroups": ["apps"]},
        {"resources": ["aimservices/status"]},
        {"resources": ["pods"]},
        {"scope": "Cluster"},
    ],
)
def test_rules_that_match_no_write(rule):
    assert sees(**rule) == []


def test_another_version_of_the_resource_matches_unless_the_policy_is_exact():
    rule = RULE | {"apiVersions": ["v1alpha1"]}
    assert found("Unknown", [rule])
    assert found("Unknown", [rule], matchPolicy="Equivalent")
    assert not found("Unknown", [rule], matchPolicy="Exact")
    assert found("Unknown", [rule | {"apiVersions": ["v1alpha2"]}], matchPolicy="Exact")


@pytest.mark.parametrize(
    "selector",
    [
        {"namespaceSelector": {"matchLabels": {"a": "b"}}},
        {"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
        {"matchConditions": [{"name": "some", "expression": "true"}]},
    ],
)
def test_selectors_make_it_uncertain(selector):
    assert not found("Unknown", **selector)[0].certain


def test_empty_selectors_select_everything():
    assert found("Unknown", namespaceSelector={}, objectSelector={}, matchConditions=[])[0].certain
