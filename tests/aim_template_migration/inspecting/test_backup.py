"""Live objects against backup.yaml."""

import yaml

from aim_api.kinds import AIM_ARTIFACT, AIM_PROFILE, AIM_SERVICE
from aim_api.labels import EVICTION_PROTECTED
from aim_template_migration.documents.backup_yaml import emit, join_documents
from aim_template_migration.inspecting.backup import compare, index_backup
from aim_template_migration.planning.reduction import reduce
from tests.support.fleet import happy_fleet


def backup_of(fleet):
    return fleet.files().files["backup.yaml"].decode()


def test_every_document_is_found_again_under_its_key():
    text = backup_of(happy_fleet())
    documents = [item for item in yaml.safe_load_all(text) if item]
    keys = {(item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]) for item in documents}
    found = index_backup(text)
    assert set(found) == keys
    assert all(yaml.safe_load(text)["kind"] == key[0] for key, text in found.items())


def test_names_that_need_quotes_are_found():
    text = join_documents("head", [emit({"kind": "AIMService", "metadata": {"name": "123", "namespace": "on"}})])
    assert set(index_backup(text)) == {("AIMService", "on", "123")}


def test_documents_of_others_are_left_out():
    assert index_backup("# nothing here\n") == {}
    assert index_backup("---\nkind: X\n") == {}
    assert index_backup("# head\n---\nfoo: bar\n") == {}


def compared(fleet, change=lambda obj: None):
    backup = index_backup(backup_of(fleet))
    obj = fleet.only("AIMService")
    change(obj)
    return compare(backup, reduce(AIM_SERVICE, obj), ("AIMService", "team-a", "qwen-chat"))


def test_an_untouched_object_equals_its_backup():
    assert compared(happy_fleet()) == ("equal", ())


def test_status_and_identity_are_no_difference():
    def change(obj):
        obj["metadata"] |= {"uid": "other", "generation": 9, "resourceVersion": "77"}
        obj["status"] = {}

    assert compared(happy_fleet(), change) == ("equal", ())


def test_fields_that_differ_are_named():
    def change(obj):
        obj["spec"]["replicas"] = 5
        del obj["spec"]["template"]

    assert compared(happy_fleet(), change) == ("differs", ("spec.replicas", "spec.template"))


def test_an_object_that_is_gone_or_was_not_backed_up():
    backup = index_backup(backup_of(happy_fleet()))
    assert compare(backup, None, ("AIMService", "team-a", "qwen-chat")) == ("differs", ())
    assert compare(backup, None, ("AIMService", "team-a", "other")) == ("notInBackup", ())
    assert compare(backup, None, (AIM_PROFILE.name, "team-a", "x")) == ("", ())


def test_a_document_that_was_edited_beyond_reading():
    key = ("AIMService", "team-a", "qwen-chat")
    live = reduce(AIM_SERVICE, happy_fleet().only("AIMService"))
    assert compare({key: "kind: [\n"}, live, key) == ("differs", ())
    assert compare({key: "- a\n"}, live, key) == ("differs", ())


def test_the_protection_that_apply_sets_is_no_difference():
    fleet = happy_fleet()
    backup = index_backup(backup_of(fleet))
    artifact = fleet.only("AIMArtifact")
    key = ("AIMArtifact", "team-a", artifact["metadata"]["name"])
    artifact["metadata"]["annotations"] = {EVICTION_PROTECTED: "true"}
    assert compare(backup, reduce(AIM_ARTIFACT, artifact), key) == ("equal", ())
    artifact["metadata"]["annotations"]["other"] = "x"
    assert compare(backup, reduce(AIM_ARTIFACT, artifact), key) == ("differs", ("metadata.annotations",))


def test_a_protection_that_was_there_before_and_is_gone_is_one():
    fleet = happy_fleet()
    artifact = fleet.only("AIMArtifact")
    artifact["metadata"]["annotations"] = {EVICTION_PROTECTED: "true"}
    backup = index_backup(backup_of(fleet))
    key = ("AIMArtifact", "team-a", artifact["metadata"]["name"])
    assert compare(backup, reduce(AIM_ARTIFACT, artifact), key) == ("equal", ())
    del artifact["metadata"]["annotations"]
    assert compare(backup, reduce(AIM_ARTIFACT, artifact), key)[0] == "differs"
