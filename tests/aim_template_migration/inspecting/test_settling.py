"""Open attempts settled by reading, in both directions, and never too early."""

from datetime import UTC, datetime, timedelta

import pytest

from aim_template_migration.inspecting.records import Attempt
from aim_template_migration.inspecting.settling import settle

AT = datetime(2026, 6, 2, 9, 0, tzinfo=UTC)


def attempt(**changes):
    return Attempt(**{"unit": "u", "step": "CutOver", "object": "o", "at": "2026-06-02T09:00:00.000000Z", **changes})


def settled(found, *, after=3600.0, may_live=False, **changes):
    return settle(attempt(**changes), found, "seen", now=AT + timedelta(seconds=after), may_live=may_live)


@pytest.mark.parametrize(
    ("found", "after", "may_live", "left", "code", "wait"),
    [
        ("stored", 0, True, True, "AttemptStored", None),
        ("stored", 3600, False, False, "AttemptStored", None),
        ("notStored", 56, False, True, "AttemptNotStored", None),
        ("notStored", 55, False, True, "AttemptNotStored", None),
        ("notStored", 54.2, False, True, "AttemptOpen", 1),
        ("notStored", 0, False, True, "AttemptOpen", 55),
        ("notStored", 0, False, False, "AttemptNotStored", None),
        ("notStored", 3600, True, True, "AttemptOpen", None),
        ("notStored", 3600, True, False, "AttemptOpen", None),
        ("other", 56, False, True, "AttemptDiffers", None),
        ("other", 10, False, True, "AttemptOpen", 45),
        (None, 3600, False, True, "AttemptOpen", None),
    ],
)
def test_what_reading_says(found, after, may_live, left, code, wait):
    result = settled(found, after=after, may_live=may_live, left=left)
    assert (result.code, result.look_again_in_seconds) == (code, wait)
    assert result.message.startswith("CutOver on o")


def test_a_longer_time_limit_of_the_server_is_waited_for():
    assert settled("notStored", after=36, server_seconds=120.0).look_again_in_seconds == 109


def test_a_clock_that_ran_ahead_gives_no_more_than_the_whole_wait():
    assert settled("notStored", after=-86400).look_again_in_seconds == 55


@pytest.mark.parametrize("at", ["", "yesterday"])
def test_nothing_is_concluded_from_a_time_that_is_none(at):
    assert settled("notStored", at=at).code == "AttemptOpen"


def test_a_time_without_a_zone_is_read_as_utc():
    assert settled("notStored", at="2026-06-02T09:00:00", after=56).code == "AttemptNotStored"
