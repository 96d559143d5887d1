"""Storage quota: who is evicted, in which order, and who never is."""

import pytest

from aim_rehearsal.operator import Settings, quota
from aim_rehearsal.operator.store import Store
from aim_rehearsal.operator.view import View

NAMESPACE = {
    "kind": "Namespace",
    "metadata": {"name": "ns", "annotations": {"aim.eai.amd.com/artifact-storage-quota": "100Gi"}},
}


def artifact(name, *, size="40Gi", priority=1, status="Ready", created="2026-01-01T00:00:00Z", **metadata):
    spec = {"sourceUri": f"hf://a/{name}", "size": size}
    if priority is not None:
        spec["retentionPriority"] = priority
    return {
        "kind": "AIMArtifact",
        "metadata": {"name": name, "namespace": "ns", "uid": f"u-{name}", "creationTimestamp": created} | metadata,
        "spec": spec,
        "status": {"status": status, "allocatedSize": size} if status else {},
    }


def evicted(*others, new_size="40Gi", extra=()):
    new = artifact("new", size=new_size, status="")
    view = View(Store([NAMESPACE, new, *others, *extra]), Settings(), "2026-06-01T00:00:00Z")
    writes, condition = quota.check(new, view)
    return [write.target["metadata"]["name"] for write in writes], condition and condition.reason


def test_within_the_quota_nothing_happens():
    assert evicted(artifact("old", size="50Gi")) == ([], None)


def test_the_lowest_priority_goes_first_then_the_oldest():
    low = artifact("low", priority=1, created="2026-03-01T00:00:00Z")
    high = artifact("high", priority=9)
    assert evicted(low, high) == (["low"], "Evicting")
    older = artifact("older", priority=1, created="2026-02-01T00:00:00Z")
    assert evicted(low, older)[0] == ["older"]


@pytest.mark.parametrize(
    "kept",
    [
        artifact("kept", size="90Gi", annotations={"aim.eai.amd.com/eviction-protected": "true"}),
        artifact("kept", size="90Gi", priority=None),
        artifact("kept", size="90Gi", status="Progressing"),
        artifact("kept", size="90Gi", ownerReferences=[{"uid": "x"}]),
        artifact("kept", size="90Gi", deletionTimestamp="2026-05-01T00:00:00Z"),
    ],
    ids=["protected", "no-priority", "not-ready", "owned", "terminating"],
)
def test_these_are_never_evicted(kept):
    assert evicted(kept) == ([], "NamespaceQuotaExceeded")


def test_a_template_cache_protects_and_a_profile_cache_does_not():
    old = artifact("old", size="90Gi")
    status = {"artifacts": {"old": {"uid": "u-old"}}}
    template_cache = {"kind": "AIMTemplateCache", "metadata": {"name": "c", "namespace": "ns"}, "status": status}
    assert evicted(old, extra=[template_cache]) == ([], "NamespaceQuotaExceeded")
    assert evicted(old, extra=[template_cache | {"kind": "AIMProfileCache"}]) == (["old"], "Evicting")
