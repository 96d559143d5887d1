import hashlib
import json

import msgspec
import pytest

from aim_template_migration.documents.evidence import (
    EvidenceError,
    decode_evidence,
    encode_evidence,
    evidence_file_name,
)
from tests.support.fleet import Fleet, happy_fleet, owner


def dedicated_fleet() -> Fleet:
    fleet = happy_fleet()
    fleet.only("AIMService")["spec"]["caching"]["mode"] = "Dedicated"
    fleet.only("AIMTemplateCache")["spec"]["mode"] = "Dedicated"
    service = owner(fleet.only("AIMService"), blockOwnerDeletion=False)
    fleet.only("AIMTemplateCache")["metadata"]["ownerReferences"] = [service]
    fleet.only("AIMArtifact")["metadata"]["ownerReferences"] = [owner(fleet.only("AIMTemplateCache"))]
    return fleet


def test_one_file_for_each_dedicated_unit_with_its_digest_in_the_plan():
    files = dedicated_fleet().files()
    assert files.evidence_files == ("dedicated-handoff-team-a.qwen-chat.json",)
    (unit,) = files.plan.units
    assert unit.outcome == "DedicatedHandoffRequiresQuiescence"
    data = files.files[unit.evidence.file]
    assert unit.evidence.sha256 == hashlib.sha256(data).hexdigest()


def test_a_unit_that_is_manual_for_another_reason_has_none():
    fleet = happy_fleet()
    fleet.only("AIMService")["spec"]["env"] = [{"name": "A", "value": "1"}]
    assert fleet.files().evidence_files == ()


def test_it_states_every_source_object_with_exact_owners_and_phases():
    files = dedicated_fleet().files()
    evidence = decode_evidence(files.files[files.evidence_files[0]])
    by_role = {item.role: item for item in evidence.objects}
    assert list(by_role) == [
        "service",
        "model",
        "template",
        "templateCache",
        "artifact",
        "pvc",
        "inferenceService",
        "deployment",
    ]
    (cache_owner,) = by_role["templateCache"].owner_references
    assert (cache_owner.kind, cache_owner.controller, cache_owner.block_owner_deletion) == ("AIMService", True, False)
    assert by_role["pvc"].phase == "Bound"
    assert by_role["inferenceService"].ready == "True"
    assert by_role["inferenceService"].observed_generation == 1
    (report,) = by_role["templateCache"].artifacts
    assert report.uid == by_role["artifact"].uid
    assert report.persistent_volume_claim == by_role["pvc"].reference.name


def test_its_digest_is_inside_and_an_edit_is_seen():
    files = dedicated_fleet().files()
    data = files.files[files.evidence_files[0]]
    edited = data.replace(b'"Bound"', b'"Lost"')
    with pytest.raises(EvidenceError, match="edited after planning"):
        decode_evidence(edited)
    with pytest.raises(EvidenceError, match="not JSON"):
        decode_evidence(b"{")
    with pytest.raises(EvidenceError, match="does not fit"):
        decode_evidence(json.dumps({**json.loads(data), "more": 1}).encode())


def test_it_is_no_manifest():
    files = dedicated_fleet().files()
    value = json.loads(files.files[files.evidence_files[0]])
    assert "apiVersion" not in value
    assert "kind" not in value
    assert "never apply" in value["notice"]


def test_the_same_state_gives_the_same_bytes():
    first, second = dedicated_fleet().files(), dedicated_fleet().files()
    assert first.files[first.evidence_files[0]] == second.files[second.evidence_files[0]]


def test_it_encodes_and_decodes_without_loss():
    files = dedicated_fleet().files()
    data = files.files[files.evidence_files[0]]
    evidence = decode_evidence(data)
    assert encode_evidence(evidence) == data
    assert msgspec.structs.replace(evidence, unit="x") != evidence


def test_file_names_never_collide_and_fit_a_file_system():
    long = "s" * 253
    names = {
        evidence_file_name("a", "b.c"),
        evidence_file_name("a-b", "c"),
        evidence_file_name("n" * 63, long),
        evidence_file_name("n" * 63, long[:-1] + "t"),
        evidence_file_name("n" * 62 + "m", long),
    }
    assert len(names) == 5
    assert all(len(name) <= 255 for name in names)
    assert evidence_file_name("team-a", "qwen") == "dedicated-handoff-team-a.qwen.json"
