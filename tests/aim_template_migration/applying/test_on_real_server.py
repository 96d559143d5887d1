"""The same way on a real kube-apiserver: its patches, its generations, its escapes, its dry runs."""

import secrets
import threading
import time

import pytest

from aim_api.bridge import PRESERVE_GENERATION, PRESERVE_UID
from aim_api.kinds import AIM_SERVICE, Kind
from tests.aim_template_migration.applying.on_server import Applied, live, staged

WORLD = "shared-happy-path"
NOTE = "a < b && c > d \u2028 \x7f é"


@pytest.fixture
def stage(aim_plane):
    """The world in namespaces of its own; the first service has annotations that Go writes with escapes."""
    with staged(WORLD, aim_plane) as made:
        unit = made.unit(0)
        patch = {"metadata": {"annotations": {"note": NOTE}}}
        made.client.merge_patch(AIM_SERVICE, unit.namespace, unit.name, patch, manager="kubectl-patch")
        made.operator.settle()
        yield made


@pytest.fixture
def applied(stage, aim_plane, tmp_path):
    return Applied(stage, aim_plane, tmp_path)


def test_dry_run_commit_and_rerun(stage, applied):
    before = live(stage)
    dry = applied.apply("dry.json")
    assert [(unit.status, unit.message) for unit in dry.result.units] == [("succeeded", "")] * 2
    assert stage.unit(0).service["metadata"]["generation"] == 1
    outcome = applied.apply("commit.json", commit=True)
    assert [(unit.status, unit.message) for unit in outcome.result.units] == [("succeeded", "")] * 2
    assert live(stage) == before
    for place in (0, 1):
        service = stage.unit(place).service
        annotations = service["metadata"]["annotations"]
        assert (service["metadata"]["generation"], annotations[PRESERVE_GENERATION]) == (2, "2")
        assert annotations[PRESERVE_UID] == stage.unit(place).inference_service["metadata"]["uid"]
        assert "template" not in service["spec"]
    assert stage.unit(0).service["metadata"]["annotations"]["note"] == NOTE
    again = applied.apply("again.json", commit=True)
    assert [unit.code for unit in again.result.units] == ["AlreadyCutOver"] * 2


def test_status_writers_do_not_break_the_guard(stage, applied):
    done, admin, unit = threading.Event(), stage.client, stage.unit(1)

    def write_status():
        number = 0
        while not done.wait(0.02):
            number += 1
            patch = {"status": {"runtime": {"replicas": str(number)}}}
            admin.merge_patch(AIM_SERVICE, unit.namespace, unit.name, patch, subresource="status")

    writer = threading.Thread(target=write_status)
    writer.start()
    try:
        outcome = applied.apply("commit.json", commit=True)
    finally:
        done.set()
        writer.join()
    assert [(unit.status, unit.message) for unit in outcome.result.units] == [("succeeded", "")] * 2


def test_an_edit_between_read_and_write_is_refused_by_the_server_and_named(stage, applied, monkeypatch):
    from aim_template_migration.applying import cutover

    first, admin = stage.unit(0), stage.client
    real = cutover._note_workload

    def racing(state, service):
        real(state, service)
        if first.name in state.unit.id:
            patch = {"metadata": {"annotations": {"note": "edited"}}}
            admin.merge_patch(AIM_SERVICE, first.namespace, first.name, patch, manager="kubectl-patch")

    monkeypatch.setattr(cutover, "_note_workload", racing)
    outcome = applied.apply("commit.json", commit=True)
    unit = next(unit for unit in outcome.result.units if first.name in unit.id)
    assert (unit.status, unit.code, unit.http_status) == ("failed", "PinEdited", 422)
    assert "its annotations changed" in unit.message
    assert "profile" not in first.service["spec"]


def admission_kind(name, plural):
    return Kind(name, "admissionregistration.k8s.io", "v1", plural, namespaced=False)


POLICY = admission_kind("MutatingAdmissionPolicy", "mutatingadmissionpolicies")
BINDING = admission_kind("MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings")
MARK = "policy.example/mark"


@pytest.fixture
def marked_services(stage):
    """The server adds an annotation to every AIMService of these namespaces that is written."""
    admin, name = stage.client, f"marks-{secrets.token_hex(3)}"
    chosen = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": list(stage.world.namespaces)}
    rule = {"apiGroups": [AIM_SERVICE.group], "apiVersions": ["*"], "resources": [AIM_SERVICE.plural]}
    mark = f'Object{{metadata: Object.metadata{{annotations: {{"{MARK}": "x"}}}}}}'
    spec = {
        "matchConstraints": {
            "resourceRules": [{**rule, "operations": ["UPDATE"]}],
            "namespaceSelector": {"matchExpressions": [chosen]},
        },
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": mark}}],
    }
    unit = stage.unit(0)
    for kind, content in ((POLICY, spec), (BINDING, {"policyName": name})):
        admin.create(
            kind, {"apiVersion": kind.api_version, "kind": kind.name, "metadata": {"name": name}, "spec": content}
        )
    try:
        for _ in range(600):  # the server acts a moment after it has stored a policy
            seen = admin.json_patch(AIM_SERVICE, unit.namespace, unit.name, [], dry_run=True)
            if MARK in seen["metadata"].get("annotations", {}):
                break
            time.sleep(0.05)
        else:
            pytest.fail("the policy has not taken effect")
        yield
    finally:
        admin.delete(BINDING, None, name)
        admin.delete(POLICY, None, name)


@pytest.mark.usefixtures("marked_services")
@pytest.mark.parametrize("commit", [False, True])
def test_admission_that_would_change_the_cutover_is_found_before_anything_is_moved(stage, applied, commit):
    units = applied.apply("result.json", commit=commit).result.units
    assert [(unit.status, unit.code) for unit in units] == [("failed", "CutoverDiffers")] * 2
    assert all(MARK in unit.message for unit in units)
    for place in (0, 1):
        service = stage.unit(place).service
        assert service["metadata"]["generation"] == 1
        assert MARK not in service["metadata"].get("annotations", {})
