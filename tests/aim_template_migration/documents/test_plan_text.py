"""The plan's text in pieces is the text of the plan as a whole."""

import hashlib

import msgspec
import pytest

from aim_template_migration.documents.plan import encode_plan
from aim_template_migration.documents.plan_text import content_digest, item_text, plan_text
from aim_template_migration.documents.private_files import new_directory
from aim_template_migration.planning.make import write_plan
from tests.support.fleet import NOW, FleetCluster, add_service, happy_fleet


def varied_fleet():
    """Return services of three namespaces whose names sort unlike their paths, unreferenced and Dedicated ones too."""
    fleet = happy_fleet()
    for namespace in ("team-a-b", "team"):
        add_service(fleet, "qwen-chat", namespace)
        add_service(fleet, "qwen-batch", namespace, template="qwen3-32b-throughput", uri="hf://Qwen/Other")
    fleet.objects["AIMService/team/qwen-batch"]["spec"]["caching"]["mode"] = "Dedicated"
    fleet.add("AIMServiceTemplate", "aim.eai.amd.com/v1alpha1", "unused", "team-a", spec={"modelName": "none"})
    return fleet


def test_the_pieces_are_the_whole():
    files = varied_fleet().files()
    assert {unit.id.partition("/")[0] for unit in files.plan.units} == {"AIMService", "AIMServiceTemplate"}
    assert files.evidence_files
    assert len(files.plan.targets) > 2
    assert files.files["plan.json"] == encode_plan(files.plan)


def test_units_and_targets_are_sorted_by_kind_namespace_and_name():
    plan = varied_fleet().plan()
    for items in (plan.units, plan.targets):
        assert [item.id for item in items] == sorted((item.id for item in items), key=lambda text: text.split("/"))


def test_a_plan_without_units_and_targets_is_written_too():
    plan = msgspec.structs.replace(happy_fleet().plan(), units=(), targets=())
    assert b"".join(plan_text(plan, (), ())) == encode_plan(plan)


@pytest.mark.parametrize("cut", [1, 7, 1000])
def test_items_may_be_cut_anywhere(cut):
    plan = varied_fleet().plan()
    text = b"".join(map(item_text, plan.units))
    head = msgspec.structs.replace(plan, units=(), targets=())
    pieces = [text[start : start + cut] for start in range(0, len(text), cut)]
    assert b"".join(plan_text(head, pieces, map(item_text, plan.targets))) == encode_plan(plan)


def test_the_content_digest_is_that_of_the_text_without_itself_id_and_time():
    plan = varied_fleet().plan()
    bare = msgspec.structs.replace(plan, content_digest="", plan_id="", generated_at="")
    assert plan.content_digest == hashlib.sha256(encode_plan(bare)).hexdigest()
    head = msgspec.structs.replace(plan, units=(), targets=(), plan_id="other", generated_at="later")
    assert content_digest(head, map(item_text, plan.units), map(item_text, plan.targets)) == plan.content_digest


def test_on_disk_a_plan_is_the_same_as_in_memory(tmp_path):
    fleet = varied_fleet()
    made = fleet.files()
    with new_directory(tmp_path / "plan") as directory:
        outline = write_plan(FleetCluster(fleet), fleet.settings(), directory, now=NOW, plan_id="0000")
    assert {file.name: file.read_bytes() for file in (tmp_path / "plan").iterdir()} == made.files
    assert outline.sha256 == hashlib.sha256(made.files["plan.json"]).hexdigest()
    assert outline.evidence_files == made.evidence_files
    for short, unit in zip(outline.plan.units, made.plan.units, strict=True):
        assert (short.id, short.outcome, short.evidence) == (unit.id, unit.outcome, unit.evidence)
        assert [finding.code for finding in short.reasons] == [finding.code for finding in unit.reasons]
        assert [finding.code for finding in short.warnings] == [finding.code for finding in unit.warnings]
