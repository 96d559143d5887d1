"""A Dedicated service walked through R's ten phases by an administrator, right and wrong, on the local API."""

import json
import time

import pytest

from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_PROFILE_CACHE, AIM_SERVICE, INFERENCE_SERVICE
from aim_rehearsal.session import RehearsalSession
from aim_rehearsal.worlds import load_world
from aim_template_migration.documents.handoff import decode_record
from aim_template_migration.handoff.check import HandoffRefused, append_record, read_evidence, read_record
from tests.aim_template_migration.handoff.administrator import ARTIFACT, NAMESPACE, SERVICE, TEMPLATE, Handoff


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


def test_detection_stays_at_the_work_of_people_that_is_on_record(handoff):
    handoff.check(1, record=True)
    assert handoff.check(record=True).phase == 1
    assert handoff.check(2, record=True).verdict == "go if"
    checked = handoff.check(record=True)
    assert (checked.phase, checked.detected, checked.verdict) == (2, True, "go if")


def test_a_source_that_was_paused_before_quiescence_was_on_record_is_a_stop(handoff):
    assert handoff.check(record=True).phase == 1
    handoff.pause_source()
    checked = handoff.check(record=True)
    assert (checked.phase, checked.verdict) == (3, "stop")
    assert "the record has no GO for phase 2, which comes before phase 3" in said(checked)


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
    append_record(handoff.record, (), other)
    with pytest.raises(HandoffRefused, match="other evidence"):
        read_record(handoff.record, read_evidence(handoff.evidence_file))


def test_a_torn_record_is_refused(handoff):
    handoff.record.write_bytes(b'{"apiVersion": "x')
    with pytest.raises(HandoffRefused, match="unfinished"):
        read_record(handoff.record, read_evidence(handoff.evidence_file))
