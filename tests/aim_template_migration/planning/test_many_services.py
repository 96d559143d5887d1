"""Many services in one namespace: what a plan says and does for each does not grow with all the others."""

import json

import pytest

from aim_template_migration.planning.checks import capture
from aim_template_migration.planning.enumeration import few_of
from tests.support.fleet import Fleet, add_service

MANY = 30


def fleet_of_many(*, change=None):
    """Return a fleet whose services share all that can be shared."""
    fleet = Fleet()
    for number in range(MANY):
        name = f"svc-{number:02d}"
        add_service(fleet, name)
        if change:
            change(fleet.named("AIMService", name), number)
    return fleet


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, ""),
        (2, "a, b"),
        (10, "a, b, c, d, e, f, g, h, i, j"),
        (12, "a, b, c, d, e, f, g, h, i, j and 2 more"),
    ],
)
def test_a_sentence_names_a_few(count, text):
    assert few_of(iter("abcdefghijkl"[:count]), count) == text


def test_a_cache_that_many_share_is_told_with_a_few_of_them():
    (warning,) = (item for item in fleet_of_many().plan().units[11].warnings if item.code == "CacheShared")
    named = ", ".join(f"svc-{number:02d}" for number in range(10))
    assert warning.message == f"it is used by 29 other services: {named} and 19 more"
    (warning,) = (item for item in fleet_of_many().plan().units[0].warnings if item.code == "CacheShared")
    assert warning.message.endswith(
        ": svc-01, svc-02, svc-03, svc-04, svc-05, svc-06, svc-07, svc-08, svc-09, svc-10 and 19 more"
    )


def test_many_that_want_different_targets_are_told_with_a_few_of_them():
    def change(service, number):
        service["spec"]["caching"]["env"] = [{"name": "A", "value": str(number)}]

    units = fleet_of_many(change=change).plan().units
    assert {unit.outcome for unit in units} == {"TargetDisagreement"}
    assert all(reason.message.endswith(" and 19 more") for unit in units for reason in unit.reasons)
    assert len(json.dumps([reason.message for unit in units for reason in unit.reasons])) < MANY * 1000


def test_equal_selectors_are_judged_once_for_each_new_profile(monkeypatch):
    def change(service, number):
        if number:
            del service["spec"]["template"]
            service["spec"].pop("model", None)
            service["spec"]["profile"] = {"selector": {"aimId": "other/model"}}

    judged = []
    monkeypatch.setattr(capture, "would_choose", lambda selector, *_: judged.append(selector))
    fleet_of_many(change=change).plan()
    assert judged == [{"aimId": "other/model"}]
