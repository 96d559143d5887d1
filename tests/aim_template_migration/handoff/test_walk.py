"""A Dedicated service walked through R's ten phases by an administrator, right and wrong, on the local API."""

import json
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from aim_api.bridge import RECONCILIATION_PAUSED, Pin
from aim_api.kinds import (
    AIM_ARTIFACT,
    AIM_MODEL,
    AIM_PROFILE,
    AIM_PROFILE_CACHE,
    AIM_SERVICE,
    AIM_SERVICE_TEMPLATE,
    AIM_TEMPLATE_CACHE,
    INFERENCE_SERVICE,
)
from aim_api.names import dedicated_profile_cache_name
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.documents.handoff import decode_record
from aim_template_migration.documents.private_files import publish_directory
from aim_template_migration.handoff.check import (
    HandoffRefused,
    append_record,
    check_handoff,
    read_evidence,
    read_record,
)
from aim_template_migration.kube import ConnectionOptions, connect
from aim_template_migration.planning.make import make_plan
from aim_template_migration.planning.settings import Settings

NAMESPACE, SERVICE = "team-a", "qwen-chat"
CACHE = "qwen3-32b-mi300x-fp8-tp1-latency-qwen-chat-1f6c2b0d"
ARTIFACT = "hf---qwen-qwen3-32b-fp8-9d1c40e7a2"
TEMPLATE = "qwen3-32b-mi300x-fp8-tp1-latency"


class Handoff:
    """The administrator's side: each method does what one phase asks for."""

    def __init__(self, session: RehearsalSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        self.admin = session.client
        self.cluster = connect(ConnectionOptions(kubeconfig=str(session.kubeconfig("migration"))))
        settings = Settings(namespaces=(NAMESPACE,), runtime_projection_mode="Both")
        made = make_plan(self.cluster, settings, now=datetime.now(UTC), plan_id="handoff")
        publish_directory(folder / "plan", made.files)
        self.evidence_file = folder / "plan" / made.evidence_files[0]
        self.record = folder / "record.jsonl"

    def check(self, phase=None, *, record=False):
        evidence = read_evidence(self.evidence_file)
        known = read_record(self.record if record else None, evidence)
        checked = check_handoff(self.cluster, evidence, known, phase, at="2026-11-27T18:00:00Z")
        if record:
            append_record(self.record, checked)
        return checked

    def get(self, kind, name):
        return self.admin.get(kind, NAMESPACE, name)

    def patch(self, kind, name, patch):
        self.admin.merge_patch(kind, NAMESPACE, name, patch, manager="kubectl-patch")
        self.session.operator.settle()

    def pause_source(self):
        self.patch(AIM_TEMPLATE_CACHE, CACHE, {"metadata": {"annotations": {RECONCILIATION_PAUSED: "true"}}})

    def prepare_target(self):
        template = self.get(AIM_SERVICE_TEMPLATE, TEMPLATE)
        service = self.get(AIM_SERVICE, SERVICE)
        model = self.get(AIM_MODEL, template["spec"]["modelName"])
        spec = template["spec"]
        self.admin.create(
            AIM_PROFILE,
            {
                "apiVersion": AIM_PROFILE.api_version,
                "kind": "AIMProfile",
                "metadata": {"name": TEMPLATE, "namespace": NAMESPACE},
                "spec": {
                    "aimId": spec["aimId"],
                    "modelId": spec["modelId"],
                    "image": model["spec"]["image"],
                    "metric": spec["metric"],
                    "precision": spec["precision"],
                    "acceleratorModel": "MI300X",
                    "acceleratorType": "gpu",
                    "acceleratorCount": 1,
                    "modelSources": spec["modelSources"],
                },
            },
        )
        self.target = dedicated_profile_cache_name(TEMPLATE, SERVICE, service["metadata"]["uid"], "Namespace")
        self.admin.create(
            AIM_PROFILE_CACHE,
            {
                "apiVersion": AIM_PROFILE_CACHE.api_version,
                "kind": "AIMProfileCache",
                "metadata": {
                    "name": self.target,
                    "namespace": NAMESPACE,
                    "annotations": {RECONCILIATION_PAUSED: "true"},
                    "ownerReferences": [
                        {
                            "apiVersion": "aim.eai.amd.com/v1alpha1",
                            "kind": "AIMService",
                            "name": SERVICE,
                            "uid": service["metadata"]["uid"],
                            "controller": True,
                        }
                    ],
                },
                "spec": {"profileName": TEMPLATE, "profileScope": "Namespace", "mode": "Dedicated"},
            },
        )
        self.session.operator.settle()

    def target_owner(self, **flags):
        cache = self.get(AIM_PROFILE_CACHE, self.target)
        entry = {"apiVersion": AIM_PROFILE_CACHE.api_version, "kind": "AIMProfileCache", "name": self.target}
        return {**entry, "uid": cache["metadata"]["uid"], **flags}

    def stage_ownership(self):
        owners = self.get(AIM_ARTIFACT, ARTIFACT)["metadata"]["ownerReferences"]
        self.patch(
            AIM_ARTIFACT, ARTIFACT, {"metadata": {"ownerReferences": [*owners, self.target_owner(controller=False)]}}
        )

    def activate_target(self):
        self.patch(AIM_PROFILE_CACHE, self.target, {"metadata": {"annotations": {RECONCILIATION_PAUSED: None}}})

    def transfer_control(self):
        self.patch(AIM_ARTIFACT, ARTIFACT, {"metadata": {"ownerReferences": [self.target_owner(controller=True)]}})

    def cut_over(self):
        service = self.get(AIM_SERVICE, SERVICE)
        (isvc,) = self.admin.list_all(INFERENCE_SERVICE, NAMESPACE).items
        pin = Pin(isvc["metadata"]["uid"], service["metadata"]["generation"] + 1)
        patch = {
            "metadata": {"annotations": pin.annotations()},
            "spec": {"template": None, "profile": {"name": TEMPLATE}},
        }
        self.patch(AIM_SERVICE, SERVICE, patch)

    def walk(self, to):
        """Do everything up to a phase, and check each phase on the way."""
        steps = {
            3: self.pause_source,
            4: self.prepare_target,
            5: self.stage_ownership,
            6: self.activate_target,
            7: self.transfer_control,
            9: self.cut_over,
        }
        for number in range(1, to + 1):
            if number in steps:
                steps[number]()
            checked = self.check(number, record=True)
            assert checked.verdict == "go if", (number, [f"{d.object}: {d.message}" for d in checked.differences])


@pytest.fixture
def handoff(tmp_path):
    with RehearsalSession(load_world("dedicated-caching"), work_dir=tmp_path) as session:
        handoff = Handoff(session, tmp_path)
        yield handoff
        handoff.cluster.close()


def test_the_whole_procedure_is_a_go_at_every_phase_and_leaves_the_workload_alone(handoff):
    before = handoff.admin.list_all(INFERENCE_SERVICE, NAMESPACE).items[0]
    handoff.walk(10)
    after = handoff.admin.list_all(INFERENCE_SERVICE, NAMESPACE).items[0]
    assert [after["metadata"][key] for key in ("uid", "generation")] == [
        before["metadata"][key] for key in ("uid", "generation")
    ]
    record = decode_record(handoff.record.read_bytes())
    assert [check.phase for check in record] == list(range(1, 11))
    assert all(check.confirmations and check.plan_checked for check in record)
    assert (handoff.record.stat().st_mode & 0o777) == 0o600
    targets = {check.target for check in record if check.phase >= 4}
    assert len(targets) == 1
    assert handoff.session.audit("migration").mutations == 0


@pytest.mark.parametrize(("done", "detected"), [(2, 1), (3, 3), (4, 4), (5, 5), (6, 6), (8, 7), (10, 9)])
def test_the_phase_is_found_by_reading(handoff, done, detected):
    handoff.walk(done)
    checked = handoff.check()
    assert (checked.phase, checked.verdict, checked.detected) == (detected, "go if", True)


@pytest.mark.parametrize("skipped", [3, 4, 5, 6, 7, 9])
def test_a_phase_whose_work_is_not_done_is_a_stop(handoff, skipped):
    handoff.walk(skipped - 1)
    checked = handoff.check(skipped)
    assert checked.verdict == "stop"
    assert checked.differences


def said(checked):
    return " | ".join(f"{item.object}: {item.message}" for item in checked.differences)


def test_an_edited_service_is_a_stop(handoff):
    handoff.patch(AIM_SERVICE, SERVICE, {"metadata": {"labels": {"aim.eai.amd.com/team": "x"}}})
    checked = handoff.check(1)
    assert checked.verdict == "stop"
    assert f"AIMService/{NAMESPACE}/{SERVICE}: its desired state differs" in said(checked)


def test_another_edit_of_the_service_beside_the_cutover_is_a_stop(handoff):
    handoff.walk(9)
    handoff.patch(AIM_SERVICE, SERVICE, {"spec": {"replicas": 2}})
    checked = handoff.check(9)
    assert checked.verdict == "stop"
    assert "more than the cutover was changed" in said(checked)


def test_owners_in_another_order_or_with_another_flag_are_a_stop(handoff):
    handoff.walk(4)
    owners = handoff.get(AIM_ARTIFACT, ARTIFACT)["metadata"]["ownerReferences"]
    for wrong in (
        [handoff.target_owner(controller=False), *owners],
        [{**owners[0], "controller": False}, handoff.target_owner(controller=True)],
        [{**owners[0], "blockOwnerDeletion": True}, handoff.target_owner(controller=False)],
    ):
        handoff.patch(AIM_ARTIFACT, ARTIFACT, {"metadata": {"ownerReferences": wrong}})
        checked = handoff.check(5)
        assert checked.verdict == "stop"
        assert "its owners are" in said(checked)


def test_a_target_that_is_not_paused_before_the_staging_is_a_stop(handoff):
    handoff.walk(4)
    handoff.activate_target()
    assert "not paused at this phase" in said(handoff.check(5))


def test_a_replaced_target_is_no_longer_the_recorded_one(handoff):
    handoff.walk(4)
    old = handoff.target
    handoff.admin.delete(AIM_PROFILE_CACHE, NAMESPACE, old)
    handoff.admin.delete(AIM_PROFILE, NAMESPACE, TEMPLATE)
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        handoff.session.operator.settle()
        names = {item["metadata"]["name"] for item in handoff.admin.list_all(AIM_PROFILE_CACHE, NAMESPACE).items}
        if old not in names:
            break
        time.sleep(0.05)
    handoff.prepare_target()
    checked = handoff.check(4, record=True)
    assert checked.verdict == "stop"
    assert "it is not the recorded target" in said(checked)


def test_going_back_is_a_stop(handoff):
    handoff.walk(4)
    assert "the record has passed phase 4" in said(handoff.check(3, record=True))


def test_a_managed_service_is_a_stop(handoff):
    handoff.patch(AIM_SERVICE, SERVICE, {"metadata": {"annotations": {"argocd.argoproj.io/tracking-id": "x"}}})
    assert "managed by Argo CD" in said(handoff.check(1))


def test_edited_evidence_is_refused(handoff):
    data = json.loads(handoff.evidence_file.read_text())
    data["objects"][0]["uid"] = "00000000-0000-4000-8000-000000000000"
    handoff.evidence_file.write_text(json.dumps(data))
    with pytest.raises(HandoffRefused, match="edited after planning"):
        read_evidence(handoff.evidence_file)


def test_evidence_alone_checks_its_own_digest_only(handoff):
    alone = handoff.folder / "alone.json"
    alone.write_bytes(handoff.evidence_file.read_bytes())
    assert read_evidence(alone).plan_checked is False


def test_a_record_of_other_evidence_is_refused(handoff):
    checked = handoff.check(1)
    other = checked.__class__(
        **{**{name: getattr(checked, name) for name in checked.__struct_fields__}, "evidence_digest": "0" * 64}
    )
    append_record(handoff.record, other)
    with pytest.raises(HandoffRefused, match="other evidence"):
        read_record(handoff.record, read_evidence(handoff.evidence_file))


def test_a_torn_record_is_refused(handoff):
    handoff.record.write_bytes(b'{"apiVersion": "x')
    with pytest.raises(HandoffRefused, match="unfinished"):
        read_record(handoff.record, read_evidence(handoff.evidence_file))
