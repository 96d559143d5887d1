"""A record proves that phases were verified in order, on one target, and that nobody edited it."""

import json

import msgspec
import pytest

from aim_template_migration.documents.handoff import (
    HandoffCheck,
    RecordError,
    TargetIdentity,
    decode_record,
    encode_check,
    sealed,
)
from aim_template_migration.handoff.check import HandoffRefused, append_record
from aim_template_migration.handoff.course import course_differences, furthest
from aim_template_migration.handoff.phases import phase

TARGET = TargetIdentity("AIMProfile/a/p", "u1", "d1", "AIMProfileCache/a/c", "u2", "d2")
UNIT = "AIMService/a/s"


def check(number, *, verdict="go if", at="2026-11-27T18:00:00Z"):
    return HandoffCheck(
        api_version="v1",
        kind="HandoffCheck",
        unit=UNIT,
        evidence_digest="e",
        plan_checked=True,
        at=at,
        phase=number,
        title="t",
        detected=False,
        verdict=verdict,
        differences=(),
        confirmations=("someone looked",),
        target=TARGET if number >= 4 else None,
    )


def record(*checks):
    kept = ()
    for item in checks:
        kept = (*kept, sealed(item, kept))
    return kept


def said(kept, number, *, target=TARGET, now="2026-11-27T18:00:00Z"):
    found = course_differences(UNIT, kept, phase(number), target if number >= 4 else None, now=now)
    return " | ".join(item.message for item in found)


@pytest.mark.parametrize(
    ("before", "number"), [((), 1), ((1,), 1), ((1,), 2), ((1, 2), 3), (range(1, 9), 9), (range(1, 10), 10)]
)
def test_a_phase_that_follows_is_a_go(before, number):
    assert said(record(*map(check, before)), number) == ""


@pytest.mark.parametrize(
    ("before", "number", "missing"),
    [
        ((), 2, "1"),
        ((), 3, "1, 2"),
        ((), 9, "1, 2, 3, 4, 5, 6, 7, 8"),
        ((1, 2, 3, 4, 5), 7, "6"),
        ((1, 2, 3, 5), 6, "4"),
    ],
)
def test_a_phase_that_skips_another_is_a_stop(before, number, missing):
    assert f"no GO for phase {missing}," in said(record(*map(check, before)), number)


@pytest.mark.parametrize(("number", "work"), [(3, 2), (9, 8), (10, 9)])
def test_work_that_no_read_can_show_must_be_on_record_before_the_next_phase(number, work):
    kept = record(*(check(item) for item in range(1, number) if item != work))
    assert said(kept, number) == f"the record has no GO for phase {work}, which comes before phase {number}"


def test_a_stop_on_record_is_no_go():
    kept = record(check(1), check(2), check(3, verdict="stop"))
    assert "no GO for phase 3," in said(kept, 4)


def test_the_furthest_phase_is_the_last_with_a_go():
    assert furthest(record(check(1), check(2), check(3, verdict="stop"))) == 2
    assert furthest(()) == 0


def test_going_back_is_a_stop():
    assert "has passed phase 4" in said(record(*map(check, (1, 2, 3, 4))), 3)


@pytest.mark.parametrize("field", ["profile", "profile_uid", "cache", "cache_uid"])
def test_another_target_is_a_stop(field):
    other = msgspec.structs.replace(TARGET, **{field: "other"})
    assert "not the recorded target" in said(record(*map(check, (1, 2, 3, 4))), 5, target=other)


@pytest.mark.parametrize("field", ["profile_digest", "cache_digest"])
def test_a_target_that_was_edited_since_is_a_stop(field):
    other = msgspec.structs.replace(TARGET, **{field: "other"})
    assert "not the one that was recorded first" in said(record(*map(check, (1, 2, 3, 4))), 5, target=other)


def test_a_clock_that_runs_behind_the_record_is_a_stop():
    assert "mend the clock" in said(record(check(1)), 2, now="2026-11-27T17:00:00Z")
    assert said(record(check(1)), 2, now="2026-11-27T17:58:00Z") == ""


def lines(*numbers):
    return [encode_check(item) for item in record(*map(check, numbers))]


def edited(line, **facts):
    return json.dumps({**json.loads(line), **facts}).encode() + b"\n"


def test_a_record_reads_back():
    assert [item.phase for item in decode_record(b"".join(lines(1, 3, 4)))] == [1, 3, 4]


@pytest.mark.parametrize(
    "damage",
    [
        lambda kept: [edited(kept[0], verdict="stop"), *kept[1:]],
        lambda kept: [edited(kept[0], phase=9), *kept[1:]],
        lambda kept: [*kept[:2], edited(kept[2], target=None)],
        lambda kept: [*kept[:2], edited(kept[2], ownDigest="")],
        lambda kept: [kept[0], kept[2]],
        lambda kept: [kept[1], kept[0], kept[2]],
        lambda kept: [*kept, kept[2]],
        lambda kept: kept[1:],
    ],
    ids=["verdict", "phase", "target", "unsealed", "line gone", "reordered", "repeated", "first gone"],
)
def test_a_record_that_was_edited_by_hand_is_refused(damage):
    with pytest.raises(RecordError, match="not as it was written"):
        decode_record(b"".join(damage(lines(1, 3, 4))))


def test_a_line_without_a_time_is_refused_whoever_sealed_it():
    (line,) = record(check(1, at="yesterday"))
    with pytest.raises(RecordError, match="line 1 is no handoff check"):
        decode_record(encode_check(line))


def test_two_checks_at_once_never_write_the_same_record(tmp_path):
    path = tmp_path / "record.jsonl"
    append_record(path, (), check(1))
    with pytest.raises(HandoffRefused, match="changed while the check ran"):
        append_record(path, (), check(1))
    assert len(decode_record(path.read_bytes())) == 1
