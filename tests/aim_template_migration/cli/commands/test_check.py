"""``check`` on a plan that was really made, as it is and edited by hand."""

import msgspec
import pytest

from aim_template_migration.documents.canonical import digest_bytes
from aim_template_migration.documents.plan import EvidenceReference, decode_plan
from aim_template_migration.documents.private_files import write_new
from tests.aim_template_migration.cli.plans import dedicated_unit, manual_unit, plan_of, write_plan

PROFILE = "AIMProfile/team-a/qwen3-32b-mi300x-fp8-tp1-latency"
UNIT = "AIMService/team-a/qwen-chat"


@pytest.fixture
def generated(recorded):
    """Return a plan as it was made, with one manual unit beside its automatic ones."""
    plan = decode_plan((recorded.directory / "plan.generated.json").read_bytes())
    return msgspec.structs.replace(plan, units=(*plan.units, manual_unit("odd", "Paused", namespace="team-b")))


def with_profile_field(field, value):
    def edit(plan):
        targets = [
            msgspec.structs.replace(target, body={**target.body, "spec": {**target.body["spec"], field: value}})
            if target.id == PROFILE
            else target
            for target in plan.targets
        ]
        return msgspec.structs.replace(plan, targets=tuple(targets))

    return edit


def with_disposition(unit_id, disposition):
    def edit(plan):
        units = [
            msgspec.structs.replace(unit, disposition=disposition) if unit.id == unit_id else unit
            for unit in plan.units
        ]
        return msgspec.structs.replace(plan, units=tuple(units))

    return edit


def without_first_unit(plan):
    return msgspec.structs.replace(plan, units=plan.units[1:])


def with_another_namespace(plan):
    return msgspec.structs.replace(plan, namespaces=(*plan.namespaces, "team-c"))


def test_a_plan_as_it_was_made_is_sound(aim, tmp_path, generated):
    plan = write_plan(tmp_path / "plan", generated)
    ran = aim("check", "--plan", plan)
    assert ran.code == 0
    assert "as it was made" in ran.out


@pytest.mark.parametrize(
    ("edit", "where"),
    [
        (without_first_unit, f"units[{UNIT}]"),
        (with_disposition(UNIT, "manual"), f"units[{UNIT}].disposition"),
        (with_profile_field("engineArgs", {"max-model-len": 4096}), f"targets[{PROFILE}].body.spec.engineArgs"),
    ],
    ids=["deleted", "made manual", "engineArgs"],
)
def test_allowed_edits_are_shown_and_accepted(aim, tmp_path, generated, edit, where):
    plan = write_plan(tmp_path / "plan", edit(generated), generated=generated)
    ran = aim("check", "--plan", plan, "-o", "json")
    assert ran.code == 0
    assert ran.document["kind"] == "PlanCheck"
    assert ran.document["accepted"] is True
    assert [(found["where"], found["allowed"]) for found in ran.document["edits"]] == [(where, True)]
    text = aim("check", "--plan", plan).out
    assert where in text
    assert "with 1 allowed edit" in text


@pytest.mark.parametrize(
    "edit",
    [
        with_profile_field("image", "evil.example/aim:1"),
        with_disposition("AIMService/team-b/odd", "automatic"),
        with_another_namespace,
    ],
    ids=["image", "made automatic", "namespace"],
)
def test_other_edits_are_findings(aim, tmp_path, generated, edit):
    plan = write_plan(tmp_path / "plan", edit(generated), generated=generated)
    ran = aim("check", "--plan", plan)
    assert ran.code == 3
    assert "EDITS that apply refuses" in ran.out
    assert "apply would refuse this plan" in ran.out


def test_what_is_no_plan_is_a_finding(aim, tmp_path, generated):
    plan = write_plan(tmp_path / "plan", generated)
    text = (plan / "plan.json").read_text()
    (plan / "plan.json").write_text(text.replace('"disposition"', '"dispositoin"', 1))
    ran = aim("check", "--plan", plan, "-o", "json")
    assert ran.code == 3
    assert "dispositoin" in ran.document["problems"][0]


def test_a_missing_generated_copy_is_a_finding(aim, tmp_path, generated):
    plan = write_plan(tmp_path / "plan", generated)
    (plan / "plan.generated.json").unlink()
    ran = aim("check", "--plan", plan)
    assert ran.code == 3
    assert "plan.generated.json is missing" in " ".join(ran.out.split())


def test_missing_evidence_is_a_finding(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", plan_of(dedicated_unit("own")))
    ran = aim("check", "--plan", plan)
    assert ran.code == 3
    assert "dedicated-handoff-team-a.own.json" in ran.out


def test_an_automatic_unit_that_is_dedicated_is_called_that_first(aim, tmp_path):
    evidence = EvidenceReference("dedicated-handoff-team-a.own.json", digest_bytes(b"{}"))
    unit = msgspec.structs.replace(dedicated_unit("own"), evidence=evidence)
    generated = plan_of(unit)
    plan = write_plan(tmp_path / "plan", with_disposition(unit.id, "automatic")(generated), generated=generated)
    write_new(plan / evidence.file, b"{}")
    said = f"{unit.id} is automatic in the plan, but the plan was made with Dedicated evidence for it"
    ran = aim("check", "--plan", plan, "-o", "json")
    assert ran.code == 3
    assert ran.document["problems"][0].startswith(said)
    assert [edit["allowed"] for edit in ran.document["edits"]] == [False]
    out = " ".join(aim("check", "--plan", plan).out.split())
    assert out.index(said) < out.index("EDITS that apply refuses")


def test_a_file_that_cannot_be_read_is_not_a_finding(aim, tmp_path):
    assert aim("check", "--plan", tmp_path / "nowhere").code == 4


@pytest.mark.parametrize(
    ("stated", "doubled", "path"),
    [
        ('"disposition": "automatic"', '"disposition": "manual", "disposition": "automatic"', "units[0].disposition"),
        ('"kind": "AIMProfile"', '"kind": "AIMService", "kind": "AIMProfile"', "targets[0].body.kind"),
        ('"schemaVersion": 1', '"schemaVersion": 2, "schemaVersion": 1', "schemaVersion"),
    ],
)
def test_a_key_that_is_stated_twice_is_refused_by_its_path(aim, tmp_path, generated, stated, doubled, path):
    plan = write_plan(tmp_path / "plan", generated)
    text = (plan / "plan.json").read_text()
    if "targets" in path:
        head, targets = text.split('"targets":', 1)
        edited = f'{head}"targets":{targets.replace(stated, doubled, 1)}'
    else:
        edited = text.replace(stated, doubled, 1)
    assert edited != text
    (plan / "plan.json").write_text(edited)
    ran = aim("check", "--plan", plan, "-o", "json")
    assert ran.code == 3
    assert f"it states {path} twice" in ran.document["problems"][0]
    ran = aim("apply", "--plan", plan)
    assert ran.code == 4
    assert f"it states {path} twice" in ran.err


def test_another_schema_version_is_named(aim, tmp_path, generated):
    plan = write_plan(tmp_path / "plan", generated)
    text = (plan / "plan.json").read_text()
    (plan / "plan.json").write_text(text.replace('"schemaVersion": 1', '"schemaVersion": 2', 1))
    ran = aim("check", "--plan", plan, "-o", "json")
    assert ran.document["problems"] == ["its schemaVersion is 2, and this tool reads schemaVersion 1 only"]


def test_control_characters_of_a_plan_never_reach_the_terminal(aim, tmp_path, generated):
    edited = msgspec.structs.replace(generated.units[0], id="AIMService/team-a/x\x1b]0;owned\x07")
    plan = write_plan(
        tmp_path / "plan", msgspec.structs.replace(generated, units=(edited, *generated.units[1:])), generated=generated
    )
    for command in ("check", "show"):
        ran = aim(command, "--plan", plan)
        assert not {"\x1b", "\x07"} & {*ran.out, *ran.err}
        assert "x\\u001b]0;owned\\u0007" in ran.out


def assert_refused_by_check_and_apply(aim, plan, words):
    ran = aim("check", "--plan", plan)
    assert (ran.code, "apply would refuse this plan" in ran.out) == (3, True)
    assert words in " ".join(ran.out.split())
    ran = aim("apply", "--plan", plan)
    assert ran.code == 4
    assert words in ran.err


def test_a_plan_of_which_every_unit_was_deleted(aim, tmp_path, generated):
    plan = write_plan(tmp_path / "plan", msgspec.structs.replace(generated, units=()), generated=generated)
    assert_refused_by_check_and_apply(aim, plan, "the plan has no units")


def test_a_directory_that_others_can_write(aim, tmp_path, generated):
    plan = write_plan(tmp_path / "plan", generated)
    plan.chmod(0o777)
    assert_refused_by_check_and_apply(aim, plan, "can be written by others")


def test_a_directory_that_is_a_link(aim, tmp_path, generated):
    write_plan(tmp_path / "plan", generated)
    (tmp_path / "link").symlink_to("plan")
    assert_refused_by_check_and_apply(aim, tmp_path / "link", "is a symbolic link")


def test_a_plan_that_is_nested_too_deeply_is_a_finding(aim, tmp_path, generated):
    plan = write_plan(tmp_path / "plan", generated)
    text = (plan / "plan.json").read_text()
    deep = f'"kind": {"[" * 5000}{"]" * 5000}'
    head, targets = text.split('"targets":', 1)
    (plan / "plan.json").write_text(f'{head}"targets":' + targets.replace('"kind": "AIMProfile"', deep, 1))
    assert aim("check", "--plan", plan).code == 3
    assert aim("apply", "--plan", plan).code == 4
