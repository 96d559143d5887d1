"""Hand-authored legacy objects that no service uses are listed, and nothing else is."""

import pytest

from tests.support.fleet import AIM1, AIM2, Fleet, happy_fleet, owner

CUSTOM = {"image": "i:1", "custom": {"type": "preview"}}


def units(fleet: Fleet) -> list[str]:
    found = [unit for unit in fleet.plan().units if unit.outcome == "Unreferenced"]
    assert all((unit.disposition, unit.steps) == ("manual", ()) for unit in found)
    assert all(unit.reasons[0].code == "Unreferenced" and unit.pins for unit in found)
    return [unit.id for unit in found]


def template(fleet: Fleet, **metadata: object):
    return fleet.add("AIMServiceTemplate", AIM1, "spare", "team-a", metadata=metadata, spec={"modelName": "qwen3-32b"})


def test_a_fleet_in_use_lists_nothing():
    assert units(happy_fleet()) == []


@pytest.mark.parametrize(
    ("add", "expected"),
    [
        (template, ["AIMServiceTemplate/team-a/spare"]),
        (
            lambda fleet: fleet.add("AIMTemplateCache", AIM1, "warm", "team-a", spec={"templateName": "x"}),
            ["AIMTemplateCache/team-a/warm"],
        ),
        (
            lambda fleet: fleet.add("AIMModel", AIM2, "tuned", "team-a", spec=CUSTOM),
            ["AIMModel/team-a/tuned"],
        ),
    ],
)
def test_each_kind_is_listed(add, expected):
    fleet = happy_fleet()
    add(fleet)
    assert units(fleet) == expected


def test_generated_and_owned_objects_are_not_listed():
    fleet = happy_fleet()
    template(fleet, ownerReferences=[owner(fleet.only("AIMModel"))])
    labels = {"aim.eai.amd.com/origin": "derived"}
    fleet.add("AIMServiceTemplate", AIM1, "derived", "team-a", metadata={"labels": labels}, spec={})
    assert units(fleet) == []


def test_a_model_without_legacy_fields_needs_nothing():
    fleet = happy_fleet()
    fleet.add("AIMModel", AIM2, "plain", "team-a", spec={"image": "i:1"})
    assert units(fleet) == []


def test_a_model_that_a_migrated_service_names_is_used():
    fleet = happy_fleet()
    fleet.add("AIMModel", AIM2, "tuned", "team-a", spec=CUSTOM)
    spec = {"model": {"name": "tuned"}, "profile": {"name": "tuned"}}
    fleet.add("AIMService", AIM2, "migrated", "team-a", spec=spec)
    assert units(fleet) == []


def test_units_are_sorted_by_kind_namespace_and_name():
    fleet = happy_fleet()
    template(fleet)
    fleet.add("AIMModel", AIM2, "tuned", "team-a", spec=CUSTOM)
    assert [unit.id for unit in fleet.plan().units] == [
        "AIMModel/team-a/tuned",
        "AIMService/team-a/qwen-chat",
        "AIMServiceTemplate/team-a/spare",
    ]
