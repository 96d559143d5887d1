"""What was once applied with kubectl says nothing about what is live."""

import json

import pytest

from tests.support.fleet import happy_fleet

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
CLAIMS = (
    {"spec": {"profile": {"name": "another"}}},
    {"spec": {"caching": {"mode": "Dedicated"}, "template": {"name": "another"}}},
    {"spec": {"overrides": {"engineArgs": {"a": "b"}}, "adapterMode": "dynamic"}},
    {"metadata": {"annotations": {"aim.eai.amd.com/reconciliation-paused": "true"}}},
    {"metadata": {"labels": {"app.kubernetes.io/managed-by": "Helm", "argocd.argoproj.io/instance": "x"}}},
)


def judged(fleet):
    """Return how a unit is judged and which steps it has; the annotation itself only warns."""
    unit = fleet.unit()
    return unit.outcome, unit.disposition, unit.reasons, unit.imputations, [type(step) for step in unit.steps]


@pytest.mark.parametrize("kind", ["AIMService", "AIMServiceTemplate", "AIMTemplateCache", "AIMArtifact", "AIMModel"])
@pytest.mark.parametrize("claim", CLAIMS, ids=json.dumps)
def test_an_applied_manifest_that_claims_otherwise_changes_no_verdict(kind, claim):
    fleet = happy_fleet()
    expected = judged(fleet)
    metadata = fleet.of(kind)[0]["metadata"]
    metadata["annotations"] = {**metadata.get("annotations", {}), LAST_APPLIED: json.dumps({"kind": kind, **claim})}
    assert judged(fleet) == expected
