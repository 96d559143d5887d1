"""What an inspection shows of objects that are as they should be, and where it sends the reader."""

from aim_template_migration.cli.console import PLAIN
from aim_template_migration.cli.rendering.inspection import inspection_lines
from aim_template_migration.documents.inspection import InspectedObject, InspectedRun, InspectedUnit, Inspection
from aim_template_migration.documents.plan import API_VERSION, Reference

UNIT = "AIMService/a/s"


def item(role, kind, name, condition):
    return InspectedObject(
        role=role,
        reference=Reference(api_version="v1", kind=kind, name=name, namespace="a"),
        condition=condition,
        message="",
        identity=None,
        backup="",
        backup_differences=(),
    )


def shown(*objects, finding="PartlyApplied", code="ProfileNotReady"):
    unit = InspectedUnit(
        id=UNIT,
        disposition="automatic",
        outcome="SharedNoRollout",
        finding=finding,
        message="m",
        attention=True,
        status="failed",
        code=code,
        objects=objects,
    )
    inspection = Inspection(
        schema="s",
        api_version=API_VERSION,
        kind="PlanInspection",
        tool_version="0",
        inspected_at="t",
        server="s",
        plan="p",
        plan_id="i",
        plan_sha256="h",
        run=InspectedRun(result="r", journal="j"),
        counts={finding: 1},
        units=(unit,),
    )
    return "\n".join(inspection_lines(inspection, PLAIN, 80))


def test_only_targets_count_as_not_there_yet():
    text = shown(
        item("service", "AIMService", "s", "asPlanned"),
        item("runtimeConfig", "AIMRuntimeConfig", "default", "absent"),
        item("targetProfile", "AIMProfile", "p", "absent"),
        item("targetProfileCache", "AIMProfileCache", "c", "absent"),
    )
    assert "2 other objects as planned, 2 targets not there yet" in text


def test_an_absent_object_that_must_be_absent_is_as_planned():
    text = shown(item("runtimeConfig", "AIMRuntimeConfig", "default", "absent"))
    assert "1 other object as planned\n" in text
    assert "not there yet" not in text


def test_a_failed_unit_names_the_page_of_its_code():
    text = shown()
    assert "docs/how-to/failures/profile-not-ready.md" in text
    assert text.count("docs/how-to/failures/") == 1


def test_a_unit_without_an_ending_names_the_page_of_how_far_it_came():
    assert "docs/how-to/failures/killed-before-the-cutover.md" in shown(code="")


def test_a_finding_that_says_more_than_the_ending_has_its_page_too():
    text = shown(finding="CutOverChanged", code="CutoverNotObserved")
    assert text.count("docs/how-to/failures/") == 2


def test_a_page_is_named_once():
    text = shown(finding="UnitDiffers", code="PinEdited")
    assert text.count("docs/how-to/failures/changed-since-the-plan.md") == 1
