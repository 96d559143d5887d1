import msgspec
import pytest

from tests.aim_template_migration.cli.plans import (
    PROFILE,
    automatic_unit,
    dedicated_unit,
    manual_unit,
    plan_of,
    write_plan,
)

GENERATED = plan_of(automatic_unit(), manual_unit("odd", "Paused"))


def with_profile_field(plan, field, value):
    targets = [
        msgspec.structs.replace(target, body={**target.body, "spec": {**target.body["spec"], field: value}})
        if target.id == PROFILE
        else target
        for target in plan.targets
    ]
    return msgspec.structs.replace(plan, targets=tuple(targets))


def test_a_plan_as_it_was_made_is_sound(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", GENERATED)
    ran = aim("check", "--plan", plan)
    assert ran.code == 0
    assert "as it was made" in ran.out


@pytest.mark.parametrize(
    ("edited", "where"),
    [
        (plan_of(manual_unit("odd", "Paused")), "units[AIMService/team-a/chat]"),
        (
            plan_of(automatic_unit(disposition="manual"), manual_unit("odd", "Paused")),
            "units[AIMService/team-a/chat].disposition",
        ),
        (
            with_profile_field(GENERATED, "engineArgs", {"max-model-len": 4096}),
            f"targets[{PROFILE}].body.spec.engineArgs",
        ),
    ],
    ids=["deleted", "made manual", "engineArgs"],
)
def test_allowed_edits_are_shown_and_accepted(aim, tmp_path, edited, where):
    plan = write_plan(tmp_path / "plan", edited, generated=GENERATED)
    ran = aim("check", "--plan", plan, "-o", "json")
    assert ran.code == 0
    assert ran.document["kind"] == "PlanCheck"
    assert ran.document["accepted"] is True
    assert [(edit["where"], edit["allowed"]) for edit in ran.document["edits"]] == [(where, True)]
    assert where in aim("check", "--plan", plan).out


@pytest.mark.parametrize(
    "edited",
    [
        with_profile_field(GENERATED, "image", "evil.example/aim:1"),
        plan_of(automatic_unit(), automatic_unit("odd")),
        msgspec.structs.replace(GENERATED, namespaces=("team-a", "team-b", "team-c")),
    ],
    ids=["image", "made automatic", "namespace"],
)
def test_other_edits_are_findings(aim, tmp_path, edited):
    plan = write_plan(tmp_path / "plan", edited, generated=GENERATED)
    ran = aim("check", "--plan", plan)
    assert ran.code == 3
    assert "EDITS that apply refuses" in ran.out
    assert "apply would refuse this plan" in ran.out


def test_what_is_no_plan_is_a_finding(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", GENERATED)
    text = (plan / "plan.json").read_text()
    (plan / "plan.json").write_text(text.replace('"disposition"', '"dispositoin"', 1))
    ran = aim("check", "--plan", plan, "-o", "json")
    assert ran.code == 3
    assert "dispositoin" in ran.document["problems"][0]


def test_a_missing_generated_copy_is_a_finding(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", GENERATED)
    (plan / "plan.generated.json").unlink()
    ran = aim("check", "--plan", plan)
    assert ran.code == 3
    assert "plan.generated.json is missing" in " ".join(ran.out.split())


def test_evidence_that_was_changed_is_a_finding(aim, tmp_path):
    plan = write_plan(tmp_path / "plan", plan_of(dedicated_unit("own")))
    ran = aim("check", "--plan", plan)
    assert ran.code == 3
    assert "dedicated-handoff-team-a.own.json" in ran.out


def test_a_file_that_cannot_be_read_is_not_a_finding(aim, tmp_path):
    assert aim("check", "--plan", tmp_path / "nowhere").code == 4
