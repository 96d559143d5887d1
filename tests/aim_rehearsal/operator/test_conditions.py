"""Conditions: merged, never removed; the root word is the worst of those that end in Ready."""

import pytest

from aim_rehearsal.operator.conditions import Condition, merge, roll_up
from tests.aim_rehearsal.operator.objects import said

OLD = [{"type": "CacheReady", "status": "True", "reason": "CacheReady", "message": "m", "lastTransitionTime": "t0"}]


def test_an_unknown_condition_stays_and_a_new_one_is_appended():
    merged = merge(OLD, [Condition("ProfileReady", true=True, reason="ProfileResolved", message="")], "t1")
    assert [item["type"] for item in merged] == ["CacheReady", "ProfileReady"]
    assert merged[0] == OLD[0]


@pytest.mark.parametrize(
    ("true", "reason", "time"), [(True, "CacheReady", "t0"), (True, "Other", "t1"), (False, "CacheReady", "t1")]
)
def test_the_transition_time_stays_while_status_and_reason_do(true, reason, time):
    (merged,) = merge(OLD, [Condition("CacheReady", true, reason, "another message")], "t1")
    assert (merged["lastTransitionTime"], merged["message"]) == (time, "another message")


@pytest.mark.parametrize(
    ("states", "word"),
    [
        ([], "Ready"),
        ([("AReady", False, "Failed"), ("BReady", False, "Degraded")], "Failed"),
        ([("AReady", False, "Degraded"), ("BReady", True, "Progressing")], "Degraded"),
        ([("AReady", False, "NotAvailable")], "NotAvailable"),
        ([("AReady", False, "Pending")], "Pending"),
        ([("AReady", False, "Progressing")], "Progressing"),
        ([("Adopted", False, "Failed")], "Ready"),
    ],
)
def test_the_root_word_is_the_worst_component(states, word):
    found = [Condition(kind, true, "R", "", state=state) for kind, true, state in states]
    rolled = roll_up([], found, "t1")
    assert rolled.word == word
    assert said(rolled.conditions)["Ready"][0] == ("True" if word == "Ready" else "False")


def test_a_stale_false_condition_of_the_other_pipeline_holds_ready_back():
    stale = [{"type": "TemplateReady", "status": "False", "reason": "TemplateNotReady"}]
    rolled = roll_up(stale, [Condition("ProfileReady", true=True, reason="ProfileResolved", message="")], "t1")
    assert rolled.word == "Progressing"
    assert said(rolled.conditions)["Ready"] == ("False", "Progressing")
